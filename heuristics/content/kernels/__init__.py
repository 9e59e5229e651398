"""Compiled kernels of P4's heuristics: prices of trees, placements of users, message trees, routing."""
