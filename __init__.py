"""Exact and approximate optimisation of publish/subscribe overlays.

>>> import overlaybench as ob
>>> instance = ob.generate("zipf", nodes=12, topics=6, subscriptions=2, seed=1)
>>> result = ob.solve(instance, "min-tco", "gm")
>>> result.value, ob.lower_bound(instance, "min-tco")
(13, 13.0)

`read` and `generate` give an instance; `solve`, `compare_methods`, `lower_bound`, `check` and `draw` take one;
`study` runs thousands on Spark, and `compare_studies` compares two; `problems`, `methods` and `workloads` list what
there is; `method` and `workload` make your own.
docs/python.md has the ways in and out. Every name is imported at its first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
