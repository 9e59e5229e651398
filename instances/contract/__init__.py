"""What a problem, a method, an option, a result and a trace are, and how they are found by name."""
