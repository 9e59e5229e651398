"""Exact methods for Steiner trees."""
