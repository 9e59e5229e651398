"""Ties: their rules, and exhaustive searches over all ways to break them."""
