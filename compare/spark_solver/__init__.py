"""Min-TCO on one instance that no machine holds: divide and conquer in levels, from Parquet to Parquet, on Spark.

Data
    A node is a row (``id``, ``label``, ``topics``, ``x``) of a Spark data frame: its number and those of its topics in
    the natural order of the labels, as on one machine, and a hash of its number and the seed (:mod:`.numbering`). The
    order of x is a random order of the nodes. What several stages read is written to a folder beside the output.
Levels
    The first nodes in that order are one part, which Greedy Merge connects. Every level doubles the connected nodes, in
    parts of a stated number of subscriptions; the core are the nodes of earlier levels, as far as a task can read them
    (:func:`.levels`). The core is connected already, as the components of parts are in the combine phase of P3
    (Algorithm 12). A task reads the core in pieces, keeps the nodes with most topics in common for each subscription
    of its part (:func:`.nearest`), and connects the part to them by Greedy Merge's kernels (:func:`.conquer`), so that
    no later phase has to combine the parts.
Topics outside the core
    The first subscriber of each topic in the order is its anchor. A part gets the anchors of those of its topics that
    the core lacks; every part then connects such a topic to the same node (:mod:`.conquer`).
Driver
    It holds the plan, 4,096 counts of nodes a level (:mod:`.conquer`), and numbers: no list of nodes, topics,
    subscriptions or edges.
Equal results
    Numbers, x, levels and parts depend on the data, the seed and the options, not on Spark's partitions, and a task
    sorts what it gets. A task that is repeated therefore gives the same edges.
Judge
    :mod:`.judge` counts components on the rows of the two files, and shares no code with the method.
Bound
    :mod:`.bound` proves a lower bound by dual values that are equal on all topics.
"""
