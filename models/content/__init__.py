"""Exact methods for content-based overlays (P4)."""
