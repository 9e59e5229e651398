"""Figures of studies and of constructions, in one style."""
