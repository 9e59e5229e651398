"""Heuristics for overlays with relays, short distances or limited degrees."""
