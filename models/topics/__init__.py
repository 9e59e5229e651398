"""Exact methods and lower bounds for topic-connected overlays, a file a method."""
