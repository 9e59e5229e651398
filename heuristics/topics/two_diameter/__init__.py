"""Overlays in which every topic has a centre: topic diameter two."""
