"""Exact models of content-based overlays (P4)."""
