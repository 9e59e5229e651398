"""Exact and approximate optimisation of publish/subscribe overlays."""
