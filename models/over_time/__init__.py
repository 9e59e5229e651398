"""Optima of snapshots, and of links and changes over a trace."""
