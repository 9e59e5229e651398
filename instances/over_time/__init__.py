"""Topic traces: nodes come, go and change; overlays over time and their judge."""
