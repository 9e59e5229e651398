"""Exhaustive search over all ways to break the ties of a greedy method, and the traces of its runs.

The search takes exponential time: it visits every set of edges that some choices lead to. It belongs to the heuristics
because each greedy method names its own steps (``ties=worst``, ``ties=best``); it answers for small instances only.
"""
