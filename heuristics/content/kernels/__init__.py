"""Prices of trees, placements of users, and trees of messages: what P4's heuristics compute with."""
