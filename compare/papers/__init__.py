"""The papers' figures and tables: grids, axes and published numbers."""
