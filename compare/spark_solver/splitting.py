"""A bound and an overlay along it by splitting costs among topics, in one task of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from math import ceil

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ...instances.contract.overlay import Overlay
from ...instances.runtime.run import Clock
from ...instances.topics.instance import TopicInstance
from ...models.topics.lp_bound import lower_bound
from .conquer import SubscriptionRows
from .numbering import Numbered
from .tables import SparkTables

_BOUND = -1  # in place of the first end of an edge


def improved(tables: SparkTables, instance: Numbered, edges: DataFrame, seconds: float) -> tuple[DataFrame, int]:
    """The edges of an overlay no larger than the given one, and a proven lower bound on those of every overlay.

    The task is :func:`.lower_bound` by cost splitting, with its memory.
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
    found = lower_bound(instance, Clock(seconds), method="splitting", start=start)
    table = np.concatenate([[[_BOUND, ceil(found.value)]], (found.overlay or start).edges])
    yield pa.RecordBatch.from_arrays([pa.array(column) for column in table.T.astype(np.int64)], ["u", "v"])
