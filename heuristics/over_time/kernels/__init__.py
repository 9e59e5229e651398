"""Compiled inner loops of the overlays of traces."""
