"""What the greedy algorithms compute with: growth, contributions, topic components, ties, last links."""
