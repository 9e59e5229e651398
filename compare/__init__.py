"""Floor: to come."""
