"""Traces in studies and drawings: the section of a report, and overlays over time as a page."""
