"""The judge of overlays on Spark: the topic components of a file of edges. It shares no code with the method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ...instances.contract.arrays import connected_components
from ...instances.contract.errors import BadInput
from .numbering import Numbered
from .tables import SparkTables

_MOST_LISTED = 5
HEAVY_LINKS = 4_000_000


@dataclass(frozen=True)
class OverlayJudgement:
    """The value of an overlay and its violations of topic-connectedness."""

    edges: int
    max_degree: int
    average_degree: float
    violations: list[str]

    @property
    def measures(self) -> dict[str, float]:
        """As a problem on topics has them."""
        return {"edges": self.edges, "max_degree": self.max_degree, "average_degree": self.average_degree}


def edges_by_number(tables: SparkTables, instance: Numbered, rows: DataFrame, name: str) -> DataFrame:
    """The distinct edges u < v of label rows ``u``, ``v``; a loop, or a label that is no node's, is bad input."""
    edges = rows
    for end in ("u", "v"):
        known = instance.nodes.select(F.col("label").alias(end), F.col("id").alias(f"{end}_id"))
        edges = edges.join(known, end, "left")
    unknown = F.when(F.col("u_id").isNull(), F.col("u")).when(F.col("v_id").isNull(), F.col("v"))
    ends = F.least("u_id", "v_id").alias("u"), F.greatest("u_id", "v_id").alias("v")
    loop = F.when(F.col("u_id") == F.col("v_id"), F.col("u"))
    edges = edges.select(*ends, unknown.alias("unknown"), loop.alias("loop")).distinct()
    edges = tables.stored(edges, "judged")
    for row in edges.where("unknown is not null").limit(1).collect():
        raise BadInput(f"{name}: unknown node '{row['unknown']}': name a node of the instance")
    for row in edges.where("loop is not null").limit(1).collect():
        raise BadInput(f"{name}: a loop at '{row['loop']}': remove it")
    return edges.select("u", "v")


def judge(tables: SparkTables, instance: Numbered, edges: DataFrame, heavy: int = HEAVY_LINKS) -> OverlayJudgement:
    """Count the edges and the components of every topic.

    A link is an edge (a distinct pair u < v of numbers) with a topic that both its ends subscribe to. A topic has |V_t|
    components less the edges of a spanning forest of its links. One task counts those of topics with up to `heavy`
    links, in about 100 bytes a link; larger topics are counted over all tasks by alternating large and small stars
    (Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii 2014, doi:10.1145/2670979.2670997).
    """
    degrees = edges.select(F.explode(F.array("u", "v")).alias("node")).groupBy("node").count()
    count, most = edges.count(), degrees.agg(F.max("count")).collect()[0][0] or 0
    ends = edges
    for end in ("u", "v"):
        wants = instance.nodes.select(F.col("id").alias(end), F.col("topics").alias(f"of_{end}"))
        ends = ends.join(wants, end)
    both = ends.select("u", "v", F.explode(F.array_intersect("of_u", "of_v")).alias("topic"))
    links = tables.stored(both, "links")
    sizes = links.groupBy("topic").agg(F.count("*").alias("links"))
    heaviest = sizes.where(F.col("links") > heavy).select("topic")
    tasks = max(1, -(-(sizes.agg(F.sum("links")).collect()[0][0] or 0) // heavy))
    light = links.join(heaviest, "topic", "left_anti").repartition(tasks, "topic")
    forests = light.mapInArrow(partial(_forests, nodes=instance.num_nodes), "topic int, joined long")
    if not heaviest.isEmpty():
        stars = _stars(tables, links.join(heaviest, "topic", "left_semi"))
        forests = forests.union(stars.groupBy("topic").agg(F.count("*").alias("joined")))
    left = F.col("size") - F.coalesce("joined", F.lit(0))
    components = instance.topics.join(forests, "topic", "left").withColumn("components", left)
    bad = components.where("components > 1").select("topic", "label", "components").persist()
    listed = [
        f"topic '{row['label']}' has {row['components']} components"
        for row in bad.orderBy("topic").limit(_MOST_LISTED).collect()
    ]
    more = bad.count() - len(listed)
    bad.unpersist()
    violations = [*listed, *([f"and {more} more topics"] if more else [])]
    return OverlayJudgement(count, most, 2 * count / instance.num_nodes, violations)


def _forests(batches: Iterable[pa.RecordBatch], *, nodes: int) -> Iterator[pa.RecordBatch]:
    """How many edges a spanning forest of each topic's links has; all links of a topic are in these batches."""
    given = [[batch[name].to_numpy().astype(np.int64) for name in ("topic", "u", "v")] for batch in batches]
    if not given:
        return
    topic, u, v = (np.concatenate(column) for column in zip(*given, strict=True))
    vertices, ends = np.unique(np.concatenate([topic * nodes + u, topic * nodes + v]), return_inverse=True)
    root = connected_components(len(vertices), ends[: len(u)], ends[len(u) :])
    inner = vertices[root != np.arange(len(vertices))] // nodes
    topics, joined = np.unique(inner, return_counts=True)
    yield pa.RecordBatch.from_arrays([pa.array(topics, pa.int32()), pa.array(joined, pa.int64())], ["topic", "joined"])


def _stars(tables: SparkTables, links: DataFrame) -> DataFrame:
    """Rows (topic, a, b), where b is the lowest node of the component of a, for every other node a of a component."""
    pairs, before, step = links.select("topic", F.col("v").alias("a"), F.col("u").alias("b")), None, 0
    while True:
        step += 1
        pairs = tables.stored(_small(_large(pairs)), f"stars-{step}")
        # Both steps keep the components; a fixed point is a set of stars. Sums are exact: they are decimals.
        digest = pairs.agg(
            F.count("*"), F.sum(F.col("b").cast("decimal(38,0)")), F.bit_xor(F.xxhash64("topic", "a", "b"))
        )
        now = tuple(digest.collect()[0])
        if now == before:
            return pairs
        before = now


def _large(pairs: DataFrame) -> DataFrame:
    """Every neighbour above a node gets the lowest neighbour of that node, or the node itself where it is lower."""
    both = pairs.union(pairs.select("topic", F.col("b").alias("a"), F.col("a").alias("b")))
    lowest = both.groupBy("topic", "a").agg(F.least(F.min("b"), F.first("a")).alias("low"))
    above = both.where("b > a").join(lowest, ["topic", "a"])
    return above.select("topic", F.col("b").alias("a"), F.col("low").alias("b")).distinct()


def _small(pairs: DataFrame) -> DataFrame:
    """Every neighbour below a node, and the node itself, get the lowest of them."""
    lowest = pairs.groupBy("topic", "a").agg(F.min("b").alias("low"))
    below = pairs.join(lowest, ["topic", "a"]).where("b > low").select("topic", F.col("b").alias("a"), "low")
    return below.union(lowest.select("topic", "a", "low")).withColumnRenamed("low", "b").distinct()
