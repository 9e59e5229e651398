"""Steiner trees by approximation and local search."""
