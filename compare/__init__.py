"""The layer above the methods: studies, claims, reports, figures, commands, the Python interface."""
