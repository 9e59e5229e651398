"""The papers' figures and tables: their grids, their axes, their published numbers."""
