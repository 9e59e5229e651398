"""Local search for topic-connected overlays: candidate edges, an overlay with its bridges, ruin and recreate."""
