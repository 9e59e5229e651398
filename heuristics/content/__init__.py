"""P4's heuristics: users to brokers, then trees."""
