"""Overlays to begin with, and overlays built along LP values."""
