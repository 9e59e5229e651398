"""The levels and parts of an instance, each part connected by Greedy Merge to the nearest nodes of the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ...heuristics.topics.greedy_merge import extend_greedily
from ...heuristics.topics.kernels.common_topics import BLOCK, block_of, sharing
from ...heuristics.topics.kernels.partial_overlay import Edges, PartialOverlay
from ...heuristics.topics.tie_breaking.ties import TieOrder
from ...instances.contract.arrays import Ids, Offsets, entries_of
from ...instances.runtime.compiled import kernel
from ...instances.topics.instance import TopicInstance
from ...models.topics.relaxation.price_join import processors
from .numbering import X_END, Numbered, long_array
from .tables import TableFiles

LOCALITIES = ("random", "min-hash", "rare")
_BUCKETS = 4096
_EDGES = "u long, v long"
Nodes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
NOBODY, _LARGEST_SHARE = 2**63 - 1, 16


@dataclass(frozen=True)
class Level:
    """The nodes with ``first`` ≤ x < ``last``, in ``parts`` parts; the core are the nodes with x < ``core``."""

    first: int
    last: int
    core: int
    parts: int


def levels(nodes: int, rows: int, part_rows: int, core_rows: int) -> list[Level]:
    """The levels of `nodes` nodes with `rows` subscriptions; x is uniform on 0 … 2^62 − 1.

    Parts have about `part_rows` subscriptions, the core at most about `core_rows`. Up to the size of the core, a level
    doubles the connected nodes; the last level has all others.

    Examples
    --------
    >>> [(level.parts, level.core > 0) for level in levels(1000, 10_000, 500, 2000)]
    [(1, False), (1, True), (2, True), (16, True)]
    """
    part, core = max(1, part_rows * nodes // rows), max(1, core_rows * nodes // rows)
    found: list[Level] = []
    reached = 0
    while reached < nodes:
        end = part if not reached else nodes if reached >= core else min(2 * reached, max(core, reached + part))
        end = min(end, nodes)
        first, last, below = (X_END * count // nodes for count in (reached, end, min(reached, core)))
        found.append(Level(first, last, below, -(-(end - reached) // part)))
        reached = end
    return found


class SubscriptionRows(NamedTuple):
    """Some nodes of an instance, sorted, with some of their topics, as CSR arrays."""

    nodes: npt.NDArray[np.int64]
    offsets: Offsets
    topics: Ids

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch | pa.Table]) -> SubscriptionRows:
        """From batches in any order with columns ``id`` and ``topics``, the sorted topics of a node."""
        nodes, sizes, topics = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        for batch in batches:
            for column in batch["topics"].chunks if isinstance(batch, pa.Table) else (batch["topics"],):
                sizes.append(np.diff(column.offsets.to_numpy()).astype(np.int64))
                topics.append(column.flatten().to_numpy())
            nodes.append(batch["id"].to_numpy())
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        given = cls(np.concatenate(nodes), offsets, np.concatenate(topics).astype(np.int32, copy=False))
        return given.taken(np.argsort(given.nodes, kind="stable"))

    def joined(self, other: SubscriptionRows) -> SubscriptionRows:
        """With the nodes of another, none of which is here. Cost O(Σ|T_v| + |V| log |V|)."""
        nodes = np.concatenate([self.nodes, other.nodes])
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        both = SubscriptionRows(nodes, offsets, np.concatenate([self.topics, other.topics]))
        return both.taken(np.argsort(nodes, kind="stable"))

    def taken(self, rows: npt.NDArray[np.integer]) -> SubscriptionRows:
        """The nodes of the given rows, in their order. Cost O(Σ|T_v|) of these nodes."""
        offsets, at = entries_of(self.offsets, rows)
        return SubscriptionRows(self.nodes[rows], offsets, self.topics[at])

    def only(self, wanted: npt.NDArray[np.bool_]) -> SubscriptionRows:
        """Without the topics that are not wanted, and without nodes that have no other. `wanted` has a flag a topic."""
        kept = wanted[self.topics]
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        some = np.flatnonzero(np.diff(offsets))
        return SubscriptionRows(self.nodes[some], np.append(offsets[some], offsets[-1]), self.topics[kept])


def edges_of_level(
    instance: Numbered, level: Level, locality: str, core: TableFiles, candidates: int, seed: int, order: TieOrder
) -> tuple[DataFrame, int]:
    """The edges (u < v) that a level adds, one task a part, and the number of parts.

    `core` are files of the rows ``id``, ``topics``, ``x`` of all cores.
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
    conquered = partial(_conquered, core=core, below=level.core, candidates=candidates, order=order, alone=parts == 1)
    return rows.repartitionById(parts, F.col("part").cast("int")).drop("part").mapInArrow(conquered, _EDGES), parts


def in_parts(members: DataFrame, instance: Numbered, parts: int, locality: str, seed: int) -> tuple[DataFrame, int]:
    """The nodes with a column ``part``, and the number of parts.

    What brings nodes into one part, the `locality`, is nothing; the topic of lowest hash of each (which two nodes share
    with a probability of |T_u ∩ T_v| ÷ |T_u ∪ T_v|); or its topic with fewest subscribers. Where more nodes have one
    topic than a part holds, they are spread at random.
    """
    chance = F.xxhash64("id", F.lit(seed), F.lit("part"))
    if parts == 1 or locality == "random":
        return members.withColumn("part", F.pmod(chance, F.lit(parts))), parts
    if locality == "min-hash":
        key = F.array_min(F.transform("topics", lambda topic: F.xxhash64(topic, F.lit(seed))))
    else:
        wants = members.select("id", F.explode("topics").alias("topic"))
        rarest = wants.join(instance.topics.select("topic", "size"), "topic")
        rarest = rarest.groupBy("id").agg(F.min(F.struct("size", "topic")).alias("rarest"))
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
    batches: Iterable[pa.RecordBatch], *, core: TableFiles, below: int, candidates: int, order: TieOrder, alone: bool
) -> Iterator[pa.RecordBatch]:
    """The task of one part."""
    given = list(batches)
    if not sum(batch.num_rows for batch in given):
        return
    rows = pa.Table.from_batches(given)
    part = SubscriptionRows.of([rows.filter(pc.invert(rows["visits"]))])
    visitors = SubscriptionRows.of([rows.filter(rows["visits"])])
    strangers = np.flatnonzero(~np.isin(visitors.nodes, part.nodes))
    part = part.joined(visitors.taken(strangers))
    near = SubscriptionRows.of([])
    if below:
        pieces = ds.dataset(core.here()).to_batches(columns=["id", "topics"], filter=ds.field("x") < below)
        near = nearest(part, (SubscriptionRows.of([piece]) for piece in pieces), candidates)
    edges = conquer(part, near, order, alone)
    yield pa.RecordBatch.from_arrays([pa.array(edges.min(axis=1)), pa.array(edges.max(axis=1))], ["u", "v"])


def conquer(part: SubscriptionRows, core: SubscriptionRows, order: TieOrder, alone: bool = False) -> Edges:
    """The edges, shape (m, 2), that connect each topic of a part of one or more nodes within it and with the core.

    The core are other nodes, or none, among which every topic is connected already. Greedy Merge (P1 §6.1) runs on the
    union of both, in which the core's subscribers of a topic start as one component (as the combine phase of P3,
    Algorithm 12, starts from the components of the parts). Topics that only the core has are left out. Memory about 70
    bytes a subscription of both; time O(|part| · Σ_t |V_t|² ÷ |V|) for every value of the maximum contribution, with V
    and V_t those of the union; on the processors of a task that is `alone`.
    """
    wanted = np.zeros(1 + max(int(each.topics.max(initial=0)) for each in (part, core)), np.bool_)
    wanted[part.topics] = True
    core = core.only(wanted)
    number = (np.cumsum(wanted) - 1).astype(np.int32)
    union = part.joined(core)
    instance = TopicInstance(union.offsets, number[union.topics])
    overlay = PartialOverlay(instance, order, threads=processors(instance) if alone else 1)
    if len(core.nodes):
        of_core = np.repeat(np.isin(union.nodes, core.nodes), np.diff(union.offsets))
        connected = np.where(of_core, instance.node_topics, np.int32(-1))
        overlay.start_from(connected, np.zeros(instance.num_nodes, np.int32), 0)
    extend_greedily(overlay)
    return np.stack([union.nodes[end] for end in np.divmod(overlay.edges, instance.num_nodes)], axis=1)


def nearest(part: SubscriptionRows, core: Iterable[SubscriptionRows], candidates: int) -> SubscriptionRows:
    """The candidates of the core, other nodes in pieces of any size, for the edges of a part.

    For each node v and topic t of the part, the `candidates` (1 or more) nodes of the core with t that have most topics
    in common with v, of those with at least two (of equal ones the first), with topic t; and for each topic of the part
    the first node of the core that has it. At most `candidates` rows for each of the part, whatever the size of the
    core, and 28 bytes for each of them. Time O(Σ_t |V_t|·|W_t|) for V_t and W_t in part and core, a 64th of it for
    frequent topics (:func:`.sharing`). Topics of more than a sixteenth of the part's nodes do not count for the search
    (a topic of 40% of all nodes would be seen in 16% of all pairs), but for the number of common topics of the pairs it
    finds.
    """
    present, local, sizes = np.unique(part.topics, return_inverse=True, return_counts=True)
    number = np.full(int(present.max(initial=-1)) + 2, -1, np.int32)
    number[present] = np.arange(len(present))
    sought = np.where((sizes <= max(1, len(part.nodes) // _LARGEST_SHARE))[local], local, -1).astype(np.int32)
    found = np.full((len(local), candidates), NOBODY, np.int64)
    common, weakest = np.zeros(found.shape, np.int32), np.zeros(len(found), np.int32)
    first = np.full(len(present), NOBODY, np.int64)
    index = _Index(part.offsets, local.astype(np.int32), sought, len(present))
    for piece in core:
        topics = number[np.minimum(piece.topics, len(number) - 1)]
        earliest = np.full(len(present) + 1, NOBODY, np.int64)
        earliest[topics[::-1]] = np.repeat(piece.nodes, np.diff(piece.offsets))[::-1]
        first = np.where(first == NOBODY, earliest[:-1], first)
        for begin in range(0, len(part.nodes), BLOCK):
            _search(piece.nodes, piece.offsets, topics, index, begin, found, common, weakest)
    del common
    width, some = 1 + len(number), np.flatnonzero(first != NOBODY)
    rows = np.flatnonzero(found != NOBODY)
    keys = found.ravel()[rows]
    del found
    keys = keys * width + part.topics[rows // candidates]
    nodes, topics = np.divmod(np.unique(np.concatenate([keys, first[some] * width + present[some]])), width)
    distinct, starts = np.unique(nodes, return_index=True)
    return SubscriptionRows(distinct, np.append(starts, len(nodes)), topics.astype(np.int32))


class _Index(NamedTuple):
    """The nodes of a part with their topics, which are numbered 0, 1, … here."""

    offsets: Offsets
    topics: Ids
    sought: Ids  # -1 in place of the topics that do not count for the search
    num_topics: int


@kernel
def _search(
    nodes: Nodes, offsets: Offsets, topics: Ids, part: _Index, begin: int, found: Nodes, common: Counts, weakest: Counts
) -> None:
    """Compare the nodes of a piece of the core with a block of the part's, from the one at `begin` on."""
    members = np.arange(begin, min(begin + BLOCK, len(part.offsets) - 1), dtype=np.int32)
    block = block_of(members, part.offsets, part.sought, part.num_topics)
    here, listed = np.zeros(part.num_topics + 1, np.bool_), np.empty(len(members), np.int32)
    rows = np.empty(np.diff(part.offsets[begin : begin + len(members) + 1]).max() + 1, np.int64)
    for u in range(len(nodes)):
        mine = topics[offsets[u] : offsets[u + 1]]
        many = sharing(mine, 2, block, listed)
        if not many:
            continue
        here[mine] = True
        here[-1] = False
        for v in members[listed[:many]]:
            shared = 0
            for i in range(part.offsets[v], part.offsets[v + 1]):
                rows[shared] = i
                shared += here[part.topics[i]]
            for i in rows[:shared]:
                if shared > weakest[i]:
                    _enter(nodes[u], shared, i, found, common)
                    weakest[i] = common[i, -1]
        here[mine] = False


@kernel
def _enter(node: int, shared: int, row: int, found: Nodes, common: Counts) -> None:
    """Enter a node in the row of one subscription, which is descending by common topics."""
    at = found.shape[1] - 1
    while at and common[row, at - 1] < shared:
        found[row, at], common[row, at] = found[row, at - 1], common[row, at - 1]
        at -= 1
    found[row, at], common[row, at] = node, shared
