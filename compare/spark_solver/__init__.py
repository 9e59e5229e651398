"""Min-TCO on one instance that no machine holds: divide and conquer in levels, from Parquet to Parquet, on Spark.

docs/cluster.md explains the method, its bound and its judge. A node is a row (``id``, ``label``, ``topics``, ``x``) of
a data frame: its number and those of its topics in the natural order of labels, as on one machine, and a hash of its
number and the seed (:mod:`.numbering`), in whose order levels take the nodes (:mod:`.conquer`). The driver holds the
plan and totals: no list of nodes, topics, subscriptions or edges. Numbers, x, levels and parts depend on the data, the
seed and the options only, and a task sorts what it gets: one that is repeated gives the same edges.
"""
