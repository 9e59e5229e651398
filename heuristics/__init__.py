"""Floor 2: polynomial algorithms. An instance in, an answer out."""
