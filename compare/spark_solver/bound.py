"""A certified lower bound on the edges, as a sum of integers over Spark's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, partial
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from ...instances.contract.arrays import connected_components
from ...models.topics.relaxation.dual_fitting import DROPPED, count_excess_links
from .conquer import SubscriptionRows
from .numbering import Numbered

STEPS = 20_000_000_000
_ROWS_OF_TASK = 2_000_000
_SAMPLED = 16


def lower_bound(
    session: SparkSession, instance: Numbered, edges: int, folder: str, steps: int = STEPS
) -> tuple[int, str]:
    """A proven lower bound on the edges of every topic-connected overlay, and what proves it.

    The best of: |V_t| − 1 of the largest topic; |V| less the components of the graph of all subscribers; and
    :func:`.count_links` for a contribution near that of the edges of an overlay with `edges` edges: on average, rounded
    down, up, one more, or twice as much, whichever is best by a sample of topics. Each is a sum of integers.

    Parameters
    ----------
    edges : int
        Those of an overlay: they only say for which contributions a bound is sought.
    steps : int
        Comparisons per topic after which it leaves the last bound; 0 leaves that bound out.
    """
    largest = instance.topics.agg(F.max("size")).collect()[0][0] - 1
    found = [(largest, "the largest topic"), (_connecting(instance), "the components of all subscribers")]
    widest = instance.nodes.agg(F.max(F.size("topics"))).collect()[0][0]
    merges = instance.num_rows - instance.num_topics
    found.append((-(-merges // widest), f"no edge contributes more than {widest}"))
    if steps and edges:
        mean = Fraction(merges, edges)
        low, high = max(2, int(mean)), max(2, ceil(mean))
        folder = f"{folder}/ranks"
        rank = F.row_number().over(Window.orderBy("size", "topic")) - 1
        instance.topics.withColumn("rank", rank).select("topic", "rank", "size").write.parquet(folder)
        ranks = session.read.parquet(folder)
        by_pairs = partial(_by_pairs, instance, ranks, folder, steps=steps)
        sought = [most for most in sorted({low, high, high + 1, 2 * high}) if most < widest]
        if most := max(sought, key=lambda most: by_pairs(most, sampled=_SAMPLED), default=0):
            found.append((by_pairs(most), f"no edge contributes more than {most} once few components are united"))
    return max(found)


def _by_pairs(instance: Numbered, ranks: DataFrame, folder: str, most: int, *, steps: int, sampled: int = 1) -> int:
    """Σ_t max(0, |V_t| − 1 − links of t) ÷ `most`, rounded up; an estimate if pairs are sought at a share of topics."""
    tasks = max(1, instance.num_rows // _ROWS_OF_TASK)
    sought = partial(_sought, ranks=folder, most=most, sampled=sampled)
    rows = instance.nodes.where(F.size("topics") > most).select("id", "topics")
    rows = rows.mapInArrow(sought, "first int, id long, topics array<int>")
    rows = rows.repartition(tasks, "first")
    counted = rows.mapInArrow(partial(_counted, most=most, steps=steps), "rank int, links long")
    links = counted.groupBy("rank").agg((sampled * F.sum("links")).alias("links"))
    left = F.col("size") - 1 - F.coalesce("links", F.lit(0))
    total = ranks.join(links, "rank", "left").agg(F.sum(F.greatest(F.lit(0), left))).collect()[0][0]
    return -(-int(total) // most)


def _sought(batches: Iterable[pa.RecordBatch], *, ranks: str, most: int, sampled: int) -> Iterator[pa.RecordBatch]:
    """Every node with each topic at which its pairs are sought; topics become ranks, of which some are sampled."""
    rank_of = _ranks(ranks)
    for batch in batches:
        nodes = SubscriptionRows.of([batch])
        sizes, width = np.diff(nodes.offsets), len(rank_of)
        keys = np.repeat(np.arange(len(sizes)), sizes) * width + rank_of[nodes.topics]
        keys.sort()
        ranked = nodes._replace(topics=(keys % width).astype(np.int32))
        copies = np.repeat(np.arange(len(sizes)), sizes - most)
        position = np.arange(len(copies)) - np.repeat(np.cumsum(sizes - most) - (sizes - most), sizes - most)
        first = ranked.topics[ranked.offsets[copies] + position]
        some = np.flatnonzero(first % sampled == 0)
        yield from _in_pieces(first[some], ranked, copies[some])


def _in_pieces(
    first: npt.NDArray[np.int32], nodes: SubscriptionRows, rows: npt.NDArray[np.int64]
) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(rows), 2**16):
        piece = nodes.taken(rows[at : at + 2**16])
        lists = pa.ListArray.from_arrays(pa.array(piece.offsets, pa.int32()), pa.array(piece.topics, pa.int32()))
        columns = [pa.array(first[at : at + 2**16], pa.int32()), pa.array(piece.nodes, pa.int64()), lists]
        yield pa.RecordBatch.from_arrays(columns, ["first", "id", "topics"])


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


@cache
def _ranks(folder: str) -> npt.NDArray[np.int64]:
    """The rank of each topic by rarity."""
    table = pq.read_table(folder, columns=["topic", "rank"])
    rank_of = np.empty(table.num_rows, np.int64)
    rank_of[table["topic"].to_numpy()] = table["rank"].to_numpy()
    return rank_of


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
