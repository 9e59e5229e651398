"""Compiled kernels of the topic workloads."""
