"""Topic-connected overlays by the algorithms of P1, P2 and P3, a file each, and by local search."""

FAMILIES = ("merge", "two_diameter", "local_search")
"""The folders beside this file whose files define methods, too."""
