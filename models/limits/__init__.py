"""Exact methods for overlays with relays, short distances or limited degrees."""
