"""The parts of a level on Spark, and their edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ...heuristics.topics.kernels.ties import TieOrder
from .conquer import Subscriptions, conquer
from .nearest import nearest
from .numbering import Numbered, long_array
from .plan import Level

LOCALITIES = ("random", "min-hash", "rare")
_BUCKETS = 4096
_EDGES = "u long, v long"


def edges_of_level(
    instance: Numbered, level: Level, locality: str, core: str, candidates: int, seed: int, order: TieOrder
) -> tuple[DataFrame, int]:
    """The edges (u < v) that a level adds, one task a part, and the number of parts.

    Parameters
    ----------
    locality : {"random", "min-hash", "rare"}
        What brings nodes into one part: nothing; the topic of lowest hash of each (which two nodes share with a
        probability of |T_u ∩ T_v| ÷ |T_u ∪ T_v|); its topic with fewest subscribers. Where more nodes have one topic
        than a part holds, they are spread at random.
    core : str
        Path of the rows ``id``, ``topics``, ``x`` of all cores.
    """
    members = instance.nodes.where((F.col("x") >= level.first) & (F.col("x") < level.last))
    members, parts = in_parts(members, instance, level.parts, locality, seed)
    members = members.select("part", "id", "topics")
    # A topic is in the core if its anchor is.
    outside = instance.topics.where(F.col("anchor_x") >= level.core).select("topic", F.col("anchor").alias("id"))
    rows = members.withColumn("visits", F.lit(False))
    if (parts > 1 or level.core) and not outside.isEmpty():
        visitors = members.select("part", F.explode("topics").alias("topic")).join(outside, "topic").distinct()
        gathered = visitors.groupBy("part", "id").agg(F.sort_array(F.collect_set("topic")).alias("topics"))
        rows = rows.unionByName(gathered.withColumn("visits", F.lit(True)))
    conquered = partial(_conquered, core=core, below=level.core, candidates=candidates, order=order)
    return rows.repartitionById(parts, F.col("part").cast("int")).drop("part").mapInArrow(conquered, _EDGES), parts


def in_parts(members: DataFrame, instance: Numbered, parts: int, locality: str, seed: int) -> tuple[DataFrame, int]:
    """The nodes with a column ``part``, and the number of parts."""
    chance = F.xxhash64("id", F.lit(seed), F.lit("part"))
    if parts == 1 or locality == "random":
        return members.withColumn("part", F.pmod(chance, F.lit(parts))), parts
    if locality == "min-hash":
        key = F.array_min(F.transform("topics", lambda topic: F.xxhash64(topic, F.lit(seed))))
    else:
        wants = members.select("id", F.explode("topics").alias("topic"))
        wants = wants.join(instance.topics.select("topic", "size"), "topic")
        rarest = wants.groupBy("id").agg(F.min(F.struct("size", "topic")).alias("rarest"))
        members, key = members.join(rarest, "id"), F.xxhash64("rarest.topic", F.lit(seed))
    members = members.withColumn("bucket", F.pmod(key, F.lit(_BUCKETS)).cast("int"))
    sizes: dict[int, int] = dict(members.groupBy("bucket").count().collect())
    first, spread, parts = packed(sizes, parts)
    at = F.col("bucket") + 1
    part = F.element_at(long_array(first), at) + F.pmod(chance, F.element_at(long_array(spread), at))
    return members.withColumn("part", part), parts


def packed(sizes: Mapping[int, int], parts: int) -> tuple[list[int], list[int], int]:
    """Consecutive buckets in parts of about equal sizes; a bucket larger than a part gets several parts of its own.

    Returns the first part and the number of parts of each bucket, and the number of all parts.
    """
    most = -(-sum(sizes.values()) // parts)
    first, spread, part, filled = [0] * _BUCKETS, [1] * _BUCKETS, 0, 0
    for bucket in range(_BUCKETS):
        size = sizes.get(bucket, 0)
        if filled and filled + size > most:
            part, filled = part + 1, 0
        first[bucket], spread[bucket] = part, max(1, -(-size // most))
        part, filled = part + spread[bucket] - 1, filled + size if spread[bucket] == 1 else most
    return first, spread, part + 1


def _conquered(
    batches: Iterable[pa.RecordBatch], *, core: str, below: int, candidates: int, order: TieOrder
) -> Iterator[pa.RecordBatch]:
    """The task of one part."""
    given = list(batches)
    if not sum(batch.num_rows for batch in given):
        return
    rows = pa.Table.from_batches(given)
    part = Subscriptions.of([rows.filter(pc.invert(rows["visits"]))])
    visitors = Subscriptions.of([rows.filter(rows["visits"])])
    strangers = np.flatnonzero(~np.isin(visitors.nodes, part.nodes))
    part = part.joined(visitors.taken(strangers))
    near = nearest(part, _core(core, below), candidates) if below else Subscriptions.of([])
    edges = conquer(part, near, order)
    yield pa.RecordBatch.from_arrays([pa.array(edges.min(axis=1)), pa.array(edges.max(axis=1))], ["u", "v"])


def _core(path: str, below: int) -> Iterator[Subscriptions]:
    """The core of a level, in pieces."""
    for batch in ds.dataset(path).to_batches(columns=["id", "topics"], filter=ds.field("x") < below):
        yield Subscriptions.of([batch])
