"""Floor 3: exact formulations, lower bounds, and searches that these guide."""
