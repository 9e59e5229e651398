"""Kernels of the greedy algorithms: partial overlays, contributions, topic components."""
