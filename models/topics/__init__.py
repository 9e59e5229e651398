"""Exact methods and lower bounds for topic-connected overlays, one file per method."""
