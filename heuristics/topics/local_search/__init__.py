"""Local search for topic-connected overlays."""
