"""Exact methods for soft links over a broker tree, and optimal routes over given links."""
