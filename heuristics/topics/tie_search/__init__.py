"""Exhaustive search over all ways to break the ties of a greedy method."""
