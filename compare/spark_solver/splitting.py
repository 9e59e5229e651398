"""A bound and an overlay along it by splitting costs among topics, in one task of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ...instances.contract.overlay import Overlay
from ...instances.runtime.run import Clock
from ...instances.topics.instance import TopicInstance
from ...models.engine.relaxation import UNIT
from ...models.topics.lp_heuristics.lp_guided import GuidedIncumbent
from ...models.topics.relaxation.cost_splitting import split_by_pricing
from ...models.topics.relaxation.separation import Goal
from .conquer import SubscriptionRows
from .numbering import Numbered
from .tables import SparkTables

MOST_ROWS = 4_000_000
_BOUND = -1  # in place of the first end of an edge


def improved(tables: SparkTables, instance: Numbered, edges: DataFrame, seconds: float) -> tuple[DataFrame, int]:
    """The edges of an overlay no larger than the given one, and a proven lower bound on those of every overlay.

    The task holds the instance and, for about 5 pairs a node, 120 bytes for each of their common topics. Two thirds of
    the seconds go into the bound.
    """
    later = edges.groupBy(F.col("u").alias("id")).agg(F.collect_list("v").alias("later"))
    nodes = instance.nodes.select("id", "topics").join(later, "id", "left")
    given = nodes.withColumn("later", F.coalesce("later", F.array().cast("array<bigint>")))
    task = given.repartition(1).mapInArrow(partial(_improved, seconds=seconds), "u long, v long")
    found = tables.stored(task, "improved")
    return found.where(F.col("u") != _BOUND), found.where(F.col("u") == _BOUND).collect()[0]["v"]


def _improved(batches: Iterable[pa.RecordBatch], *, seconds: float) -> Iterator[pa.RecordBatch]:
    if not (given := list(batches)):
        return
    rows, later = SubscriptionRows.of(given), [batch["later"] for batch in given]
    ends = np.concatenate([column.flatten().to_numpy() for column in later])
    starts = [np.repeat(batch["id"].to_numpy(), np.diff(batch["later"].offsets.to_numpy())) for batch in given]
    instance = TopicInstance(rows.offsets, rows.topics)  # nodes and topics have numbers from 0 on
    start = Overlay.from_edges(instance.num_nodes, np.stack([np.concatenate(starts), ends], axis=1))
    clock = Clock(seconds)
    splitting = split_by_pricing(instance, start, clock.share(2 / 3))
    bound, incumbent = -(-splitting.units // UNIT), GuidedIncumbent(instance, Goal(), start, 0)
    incumbent.improve_along(*splitting.used_or_in(start), clock, goal=bound, steps=10_000)
    best = start if incumbent.overlay is None else incumbent.overlay
    table = np.concatenate([[[_BOUND, bound]], best.edges])
    yield pa.RecordBatch.from_arrays([pa.array(column) for column in table.T.astype(np.int64)], ["u", "v"])
