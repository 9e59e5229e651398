"""Proven cheapest Steiner trees."""
