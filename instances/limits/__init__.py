"""Topic-connected overlays under limits: relays, distances, degrees, partial overlays."""
