"""Figures, drawn the same way everywhere."""
