"""Starts, and overlays built along LP values."""
