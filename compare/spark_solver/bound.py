"""A certified lower bound on the edges, as a sum of integers over Spark's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from math import ceil

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ...instances.contract.arrays import connected_components
from .excess_links import DROPPED, count_excess_links
from .numbering import Numbered
from .tables import SparkTables

STEPS = 20_000_000_000
_ROWS_OF_TASK = 2_000_000
_SAMPLED = 16


def lower_bound(tables: SparkTables, instance: Numbered, edges: int, steps: int = STEPS) -> tuple[int, str]:
    """A proven lower bound on the edges of every topic-connected overlay, and what proves it.

    The best of: |V_t| − 1 of the largest topic; |V| less the components of the graph of all subscribers; and
    :func:`.count_excess_links` for a contribution near that of the edges of an overlay with `edges` edges: on average,
    rounded down, up, one more, or twice as much, whichever is best by a sample of topics. Each is a sum of integers.
    `edges` only says for which contributions a bound is sought. A topic leaves the last bound after `steps`
    comparisons; 0 leaves that bound out.
    """
    largest = instance.topics.agg(F.max("size")).collect()[0][0] - 1
    found = [(largest, "the largest topic"), (_connecting(instance), "the components of all subscribers")]
    widest = instance.nodes.agg(F.max(F.size("topics"))).collect()[0][0]
    merges = instance.num_rows - instance.num_topics
    found.append((-(-merges // widest), f"no edge contributes more than {widest}"))
    if steps and edges:
        mean = Fraction(merges, edges)
        low, high = max(2, int(mean)), max(2, ceil(mean))
        rank = (F.row_number().over(Window.orderBy("size", "topic")) - 1).cast("int")
        ranks = tables.stored(instance.topics.select("topic", rank.alias("rank"), "size"), "ranks")
        wants = instance.nodes.select("id", F.explode("topics").alias("topic")).join(ranks, "topic")
        ranked = wants.groupBy("id").agg(F.sort_array(F.collect_list("rank")).alias("topics"))
        ranked = tables.stored(ranked, "ranked")
        by_pairs = partial(_by_pairs, ranks, ranked, instance.num_rows, steps=steps)
        sought = [most for most in sorted({low, high, high + 1, 2 * high}) if most < widest]
        if most := max(sought, key=lambda most: by_pairs(most, sampled=_SAMPLED), default=0):
            found.append((by_pairs(most), f"no edge contributes more than {most} once few components are united"))
    return max(found)


def _by_pairs(ranks: DataFrame, nodes: DataFrame, rows: int, most: int, *, steps: int, sampled: int = 1) -> int:
    """Σ_t max(0, |V_t| − 1 − links of t) ÷ `most`, rounded up; an estimate if pairs are sought at a share of topics."""
    first = F.explode(F.slice("topics", 1, F.size("topics") - most)).alias("first")
    sought = nodes.where(F.size("topics") > most).select(first, "topics").where(F.col("first") % sampled == 0)
    of_topics = sought.repartition(max(1, rows // _ROWS_OF_TASK), "first")
    counted = of_topics.mapInArrow(partial(_counted, most=most, steps=steps), "rank int, links long")
    links = counted.groupBy("rank").agg((sampled * F.sum("links")).alias("links"))
    left = F.col("size") - 1 - F.coalesce("links", F.lit(0))
    total = ranks.join(links, "rank", "left").agg(F.sum(F.greatest(F.lit(0), left))).collect()[0][0]
    return -(-int(total) // most)


def _counted(batches: Iterable[pa.RecordBatch], *, most: int, steps: int) -> Iterator[pa.RecordBatch]:
    """The links of the pairs that are found at the topics of these rows."""
    table = pa.Table.from_batches(given) if (given := list(batches)) else None
    if table is None or not table.num_rows:
        return
    table = table.sort_by("first").combine_chunks()
    first, lists = table["first"].combine_chunks().to_numpy(), table["topics"].combine_chunks()
    topics = lists.flatten().to_numpy()
    offsets = lists.offsets.to_numpy().astype(np.int64)
    links = np.zeros(int(topics.max()) + 1, np.int64)
    count_excess_links(first.copy(), offsets - offsets[0], topics.copy(), most, steps, links)
    some = np.flatnonzero(links)
    values = np.minimum(links[some], DROPPED)
    yield pa.RecordBatch.from_arrays([pa.array(some, pa.int32()), pa.array(values)], ["rank", "links"])


def _connecting(instance: Numbered) -> int:
    """|V| less the components of the graph in which all subscribers of a topic are adjacent."""
    joining = partial(_joining, topics=instance.num_topics)
    schema = "a int, b int"
    wants = instance.nodes.select(
        F.slice("topics", 1, F.size("topics") - 1).alias("a"), F.slice("topics", 2, F.size("topics")).alias("b")
    )
    pairs = wants.select(F.explode(F.arrays_zip("a", "b")).alias("pair")).select("pair.*")
    joined = pairs.mapInArrow(joining, schema).repartition(1).mapInArrow(joining, schema).count()
    return instance.num_nodes - (instance.num_topics - joined)


def _joining(batches: Iterable[pa.RecordBatch], *, topics: int) -> Iterator[pa.RecordBatch]:
    """A spanning forest of the given pairs of topics: at most |T| − 1 rows, each a topic and its root."""
    root = np.arange(topics)
    for batch in batches:
        tails, heads = (batch[name].to_numpy().astype(np.int64) for name in ("a", "b"))
        others = np.flatnonzero(root != np.arange(topics))
        root = connected_components(topics, np.concatenate([tails, others]), np.concatenate([heads, root[others]]))
    others = np.flatnonzero(root != np.arange(topics))
    yield pa.RecordBatch.from_arrays([pa.array(others, pa.int32()), pa.array(root[others], pa.int32())], ["a", "b"])
