"""Searches by objective: fewest edges, smallest maximum degree, and the Pareto front of both."""
