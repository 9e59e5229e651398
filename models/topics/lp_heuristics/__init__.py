"""Starts, and heuristics guided by the values of an LP solution."""
