"""P4's heuristics: assign users to brokers, then choose trees between brokers."""
