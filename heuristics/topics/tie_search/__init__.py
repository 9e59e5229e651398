"""The worst and the best breaking of ties of a greedy method, by exhaustive search."""
