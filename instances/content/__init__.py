"""Content-based overlays (P4): users, brokers, prices, traffic."""
