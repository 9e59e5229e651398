"""Broker networks (P5): a primary tree, subscriptions by predicates, publications."""
