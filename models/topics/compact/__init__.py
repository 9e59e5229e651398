"""Compact formulations as ILP and CP-SAT models."""
