"""Compact formulations, and the searches that solve them."""
