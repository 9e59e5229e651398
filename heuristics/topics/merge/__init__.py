"""Greedy Merge and its kin: algorithms that add one edge after another, and divide and conquer."""
