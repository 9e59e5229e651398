"""Exact formulations, lower bounds, and searches that these guide."""
