"""Subscriptions of nodes to topics: the instance, its files and workloads, and the problems asked of it."""
