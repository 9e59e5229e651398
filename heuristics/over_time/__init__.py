"""Overlays of traces: incremental, recomputed and unstructured."""
