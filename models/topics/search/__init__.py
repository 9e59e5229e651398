"""Branch-and-cut searches: for edges, degrees and stars."""
