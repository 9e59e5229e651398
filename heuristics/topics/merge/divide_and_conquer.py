"""Divide and conquer (P3 §IV): the overlays of random parts are built independently and then combined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets, entries_of
from ....instances.contract.option import Option
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ..greedy_merge import extend_greedily
from ..heuristic import TOPIC_CONNECTED, heuristic
from ..kernels.interest import Interest, interest_of
from ..kernels.partial_overlay import Degrees, OverlayBuild, PartialOverlay
from ..tie_breaking.ties import TIES, TieOrder, ranks_of, tie_order
from .gm_m import extend_gm_m

BULK = -1


@dataclass(frozen=True)
class Partition:
    """The part of each node."""

    part_of: Ids  # 0…p-1 for a lightweight node, BULK for a bulk node
    num_parts: int  # p

    def parts(self) -> Iterator[Ids]:
        """The nodes of each part, sorted. Cost O(|V| log |V|) once."""
        by_part = np.argsort(self.part_of, kind="stable").astype(np.int32)
        light = by_part[np.searchsorted(self.part_of[by_part], 0) :]
        if self.num_parts:
            yield from np.split(light, np.cumsum(self.sizes())[:-1])

    def sizes(self, among: Ids | None = None) -> Ids:
        """The number of nodes in each part, or of the given nodes in each. Shape (p,)."""
        part_of = self.part_of if among is None else self.part_of[among]
        return np.bincount(part_of[part_of != BULK], minlength=self.num_parts).astype(np.int32)

    @property
    def bulk(self) -> Ids:
        """B, sorted."""
        return np.flatnonzero(self.part_of == BULK).astype(np.int32)

    @property
    def lightweight(self) -> Ids:
        """L, sorted."""
        return np.flatnonzero(self.part_of != BULK).astype(np.int32)


def bulk_threshold(instance: TopicInstance) -> int:
    """The least η for which at most 20% of the nodes have more than η topics (P3 §V). Cost O(|V| log |V|)."""
    sizes = np.sort(np.diff(instance.node_offsets))[::-1]
    return int(sizes[len(sizes) // 5])


def random_order(nodes: Ids, seed: int) -> Ids:
    """The nodes in a random order that is independent of random ties under the same seed. Cost O(|V| log |V|)."""
    return nodes[np.argsort(ranks_of(nodes.astype(np.int64), tie_order("random", ~seed)), kind="stable")]


def partition_of(num_nodes: int, shuffled: Ids, num_parts: int) -> Partition:
    """Distribute shuffled lightweight nodes over parts whose sizes differ by at most 1. Cost O(|V|)."""
    part_of = np.full(num_nodes, BULK, np.int32)
    part_of[shuffled] = np.arange(len(shuffled)) % max(num_parts, 1)
    return Partition(part_of, num_parts)


def restricted(instance: TopicInstance, nodes: Ids) -> TopicInstance:
    """The instance on the given sorted nodes, without labels. Cost O(Σ|T_v| + |T|) of these nodes."""
    offsets, entries = entries_of(instance.node_offsets, nodes)
    topics = instance.node_topics[entries]
    wanted = np.bincount(topics, minlength=instance.num_topics) > 0
    return TopicInstance(offsets, (np.cumsum(wanted) - 1)[topics].astype(np.int32))


_STOP_RATIO = 2.0


@dataclass(frozen=True)
class Division:
    """The nodes of an instance divided into bulk nodes and parts with representatives."""

    partition: Partition
    representatives: Ids  # R: the lightweight nodes that take part in combining, sorted

    @property
    def combined(self) -> Ids:
        """B ∪ R, sorted: the nodes among which the parts are combined."""
        return np.union1d(self.partition.bulk, self.representatives).astype(np.int32)

    @property
    def pn_ratio(self) -> float:
        """The largest share of the nodes that one node must know, itself included (P3 §IV.D)."""
        sizes, bulk = self.partition.sizes(), len(self.partition.bulk)
        chosen = self.partition.sizes(self.representatives)
        known = sizes + np.where(chosen > 0, bulk + len(self.representatives) - chosen, 0)
        at_bulk = bulk + len(self.representatives) if bulk else 0
        return max(at_bulk, int(known.max(initial=0))) / len(self.partition.part_of)

    @property
    def pn_ratio_formula(self) -> float:
        """The pn-ratio by P3, eq. 12, which assumes parts and representative sets of equal sizes."""
        bulk, light, chosen, parts = self._counts()
        inner = light / parts + chosen * (parts - 1) / parts if parts else 0.0
        return (bulk + inner) / len(self.partition.part_of)

    @property
    def pairs(self) -> float:
        """The number of candidate edges, within the parts and in the combine phase."""
        bulk, _, chosen, _ = self._counts()
        sizes = self.partition.sizes().astype(np.float64)
        of_chosen = self.partition.sizes(self.representatives).astype(np.float64)
        combined = bulk * (bulk - 1) / 2 + bulk * chosen + (chosen**2 - float((of_chosen**2).sum())) / 2
        return float((sizes * (sizes - 1) / 2).sum()) + combined

    def published_time(self, power: int) -> float:
        """(|B| + |R|)⁴ + |L|⁴/p^power: P3, Lemma 16 for power 3 and, one machine for each part, eq. 11 for power 4."""
        bulk, light, chosen, parts = map(float, self._counts())
        return (bulk + chosen) ** 4 + light**4 / max(parts, 1.0) ** power

    def _counts(self) -> tuple[int, int, int, int]:
        bulk = len(self.partition.bulk)
        return bulk, len(self.partition.part_of) - bulk, len(self.representatives), self.partition.num_parts


AIMS: Mapping[str, Callable[[Division], float]] = {
    "time": lambda division: division.pairs,
    "pn-ratio": lambda division: division.pn_ratio_formula,
    "lemma-16": lambda division: division.published_time(3),
    "equation-11": lambda division: division.published_time(4),
}


def divide(instance: TopicInstance, shuffled: Ids, num_parts: int, coverage: int, order: TieOrder) -> Division:
    """Distribute shuffled lightweight nodes over parts and choose representatives. Cost O(Σ|T_v| + |V| log |V|)."""
    partition = partition_of(instance.num_nodes, shuffled, num_parts)
    return Division(partition, representatives(instance, partition, coverage, order))


def best_division(instance: TopicInstance, shuffled: Ids, coverage: int, order: TieOrder, aim: str) -> Division:
    """The division whose number of parts minimises the estimate of an aim (P3 §V).

    Divisions into p = 1, 2, 3, … parts, up to |L|, are compared until the estimate is twice the least. ``lemma-16``
    is the estimate that the paper minimises, as printed, and ``equation-11`` that with a machine for each part; their
    exponents precede Lemma 7, by which the time is proportional to the number of candidate edges (``time``). Eq. 12
    gives ``pn-ratio``.

    Cost O(Σ|T_v| + |V| log |V|) a number of parts.
    """
    best = divide(instance, shuffled, min(1, len(shuffled)), coverage, order)
    least = AIMS[aim](best)
    for num_parts in range(2, len(shuffled) + 1):
        division = divide(instance, shuffled, num_parts, coverage, order)
        estimate = AIMS[aim](division)
        if estimate < least:
            best, least = division, estimate
        elif estimate > _STOP_RATIO * least:
            break
    return best


def representatives(instance: TopicInstance, partition: Partition, coverage: int, order: TieOrder) -> Ids:
    """Choose from each part, greedily, nodes that cover each of its outward topics λ times, or as often as possible.

    A topic of a part is outward if a lightweight or bulk node outside the part subscribes to it. (Line 6 of
    Algorithm 12 considers the lightweight parts alone, which leaves a topic of one part and of bulk nodes
    unconnected.) The next node is one that subscribes to most outward topics of its part that are not yet covered. A
    topic with fewer than λ subscribers in the part is covered by all of them (P3, eq. 8), where Algorithm 13 would not
    end.

    `coverage` is λ, at least 1; `order` breaks ties of nodes that cover equally many topics. Returns all
    representatives, sorted.

    P3, Definition 2 and Algorithm 13, for all parts at once. A node is evaluated at most |T_v| + 1 times, at O(|T_v|);
    memory O(Σ|T_v|).
    """
    slot_of, missing = _slots(interest_of(instance), partition.part_of, partition.num_parts, coverage)
    nodes = partition.lightweight
    ranked = nodes[np.argsort(ranks_of(nodes.astype(np.int64), order))]
    return np.flatnonzero(_chosen(ranked, instance.node_offsets, slot_of, missing)).astype(np.int32)


def groups_of(instance: TopicInstance, partition: Partition) -> Ids:
    """A number for each subscription, equal for a topic's subscribers in one part, -1 for bulk nodes. Shape (Σ|T_v|,).

    Cost O(Σ|T_v|).
    """
    slot_of, _ = _slots(interest_of(instance), partition.part_of, partition.num_parts, 1)
    return slot_of


@kernel
def _slots(interest: Interest, part_of: Ids, num_parts: int, coverage: int) -> tuple[Ids, Ids]:
    """Number the pairs (part, topic): the pair of each subscription (-1 for bulk nodes), and how many representatives
    each pair needs.
    """
    slot_of = np.empty(len(interest.node_topics), np.int32)
    missing = np.zeros(len(interest.node_topics) + 1, np.int32)
    cursor = interest.node_offsets[:-1].copy()
    newest = np.full(num_parts, -1, np.int32)
    num_slots = 0
    for topic in range(len(interest.topic_offsets) - 1):
        first = num_slots
        nodes = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        for node in nodes:
            part, i = part_of[node], cursor[node]
            cursor[node] += 1
            slot_of[i] = -1
            if part < 0:
                continue
            if newest[part] < first:
                newest[part] = num_slots
                num_slots += 1
            slot_of[i] = newest[part]
            missing[newest[part]] += 1
        for slot in range(first, num_slots):
            # A topic that one part has alone is not outward: it needs no representative.
            missing[slot] = 0 if missing[slot] == len(nodes) else min(missing[slot], coverage)
    return slot_of, missing


@kernel
def _chosen(ranked: Ids, offsets: Offsets, slot_of: Ids, missing: Ids) -> npt.NDArray[np.bool_]:
    """Of each node whether it is a representative; `ranked` are the candidates in the order of ties."""
    chosen, gains = np.zeros(len(offsets) - 1, np.bool_), np.zeros(len(offsets) - 1, np.int32)
    for node in ranked:
        gains[node] = _gain(node, offsets, slot_of, missing)
    # A gain only falls, so from the highest level down each node with an outdated gain moves to a lower level.
    for level in range(gains.max(), 0, -1):
        for node in ranked:
            if gains[node] == level:
                gains[node] = _gain(node, offsets, slot_of, missing)
                if gains[node] == level:
                    chosen[node], gains[node] = True, 0
                    for slot in slot_of[offsets[node] : offsets[node + 1]]:
                        missing[slot] = max(missing[slot] - 1, 0)
    return chosen


@kernel
def _gain(node: int, offsets: Offsets, slot_of: Ids, missing: Ids) -> int:
    """How many topics of a node lack a representative in its part."""
    gain = 0
    for slot in slot_of[offsets[node] : offsets[node + 1]]:
        gain += slot >= 0 and missing[slot] > 0
    return gain


_MOST = 2**31 - 1
ETA = Option("eta", 0, "topics above which a node is bulk; 0: the least with at most a fifth bulk", least=0, most=_MOST)
PARTITIONS = Option("partitions", 0, "parts of the lightweight nodes, at most one each; 0: chosen", least=0, most=_MOST)
COVERAGE = Option("coverage", 3, "representatives of a part for each of its outward topics", least=1, most=_MOST)
AIM = Option("aim", "lemma-16", "what a chosen number of parts minimises", choices=tuple(AIMS))

Extend = Callable[[PartialOverlay], None]
PartEdges = tuple[Ids, Mapping[str, int]]
_WORK = ("counted", "table_work")


class Mapper(Protocol):
    """Applies a function to every part and returns the results in the order of the parts, like the built-in map.

    Function and parts can be pickled, so the calls may run in other processes.
    """

    def __call__(
        self, function: Callable[[TopicInstance], PartEdges], parts: Iterable[TopicInstance], /
    ) -> Iterable[PartEdges]: ...


@heuristic(PARTITIONS, TIES)
def naive_dc(instance: TopicInstance, **options: Any) -> OverlayBuild:
    """GM-M within random parts of all nodes, then GM-M across them: :func:`dcb_m` without bulk nodes.

    Notes
    -----
    P3, Algorithm 7, followed by Algorithm 10, which combines the parts. The maximum degree within the parts is the
    counter ``inner_max_degree``: by Lemma 8 it may be Θ(|T|) times the optimum.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> naive_dc(instance, partitions=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return dcb_m.build(instance, eta=int(np.diff(instance.node_offsets).max()), **options)


@heuristic(ETA, PARTITIONS, TIES)
def dcb_m(instance: TopicInstance, **options: Any) -> OverlayBuild:
    """GM-M within random parts of the lightweight nodes, then GM-M between bulk nodes and all, and across parts.

    Parameters, result and errors are those of :func:`dcbr_m`, without `coverage` and `aim`.

    Notes
    -----
    P3, Algorithms 8–10. The maximum degree is O(η + the optimum · log |V||T|) (Lemma 12). Time and memory as for GM-M
    on all nodes, which Lemma 7 bounds by O(|V|²|T|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> dcb_m(instance, eta=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return divide_and_conquer(instance, extend_gm_m, all_combine=True, **options)


@heuristic(ETA, PARTITIONS, COVERAGE, AIM, TIES)
def dcbr_m(instance: TopicInstance, **options: Any) -> OverlayBuild:
    """DCB-M whose combine phase involves only bulk nodes and representatives of the parts.

    Parameters
    ----------
    instance : TopicInstance
    eta : int
        η: a node with more topics is bulk. 0 for the least η that leaves at most 20% of the nodes bulk.
    partitions : int
        p; at most one part for each lightweight node is made. 0 for the number of :func:`.best_division`.
    coverage : int
        λ, at least 1: the number of representatives of a part that cover each topic that nodes outside the part
        subscribe to, where the part has as many subscribers. If λ is at least the size of the parts, the overlay is
        that of :func:`dcb_m` (for random ties: if every lightweight node subscribes to an outward topic).
    aim : {"lemma-16", "time", "pn-ratio", "equation-11"}
        What a chosen p minimises: the paper's estimate of the time (P3 §V, Lemma 16), the candidate edges (Lemma 7),
        the share of the nodes that one node must know, or the estimate with one machine for each part (eq. 11).
    ties : {"lowest", "highest", "random"}
        Of edges as in :func:`.gm_m`, and of representatives that cover equally many topics.
    seed : int
        For the parts, and for random ties.
    mapper : callable
        Applies a function to the parts, like the built-in map. It does not change the overlay.

    Returns
    -------
    Overlay
        Its maximum degree is bounded by P3, Lemma 15.

    Raises
    ------
    BadInput
        If an option is out of its range.

    Notes
    -----
    Chen, Vitenberg and Jacobsen 2011 (P3), Algorithms 8 and 11–13. With R representatives and B bulk nodes, time
    O(|T| (|L|²/p + (|B| + |R|)²)) by Lemma 7, and memory O(Σ|T_v|).

    Line 12 of Algorithm 12 passes on only the inner edges between nodes of B ∪ R, after which GM-M would connect
    representatives that are connected within their part (claim P3.L14 runs it: the maximum degree of Table II is not
    reached). Components and degrees are therefore those of the whole overlay.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> dcbr_m(instance, eta=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return divide_and_conquer(instance, extend_gm_m, **options)


@heuristic(ETA, PARTITIONS, COVERAGE, AIM, TIES)
def dc_gm(instance: TopicInstance, **options: Any) -> OverlayBuild:
    """:func:`dcbr_m` with Greedy Merge in place of GM-M: few edges instead of a low degree.

    Parameters, result and errors are those of :func:`dcbr_m`.

    Notes
    -----
    P3 §IV with Greedy Merge (P1 §6.1) in both phases; this is not the earlier algorithm for few edges that P3 §II
    mentions. Time and memory as for :func:`.greedy_merge` on each part and on B ∪ R.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> dc_gm(instance, eta=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return divide_and_conquer(instance, extend_greedily, **options)


def divide_and_conquer(
    instance: TopicInstance,
    extend: Extend,
    *,
    eta: int = 0,
    partitions: int = 0,
    coverage: int = 3,
    aim: str = "lemma-16",
    ties: str = "lowest",
    seed: int = 0,
    mapper: Mapper = map,
    all_combine: bool = False,
) -> OverlayBuild:
    """Divide, conquer and combine; with `all_combine` every lightweight node is a representative.

    `extend` adds edges to a partial overlay until it is topic-connected; other parameters as for :func:`dcbr_m`.
    """
    order, eta = tie_order(ties, seed), eta or bulk_threshold(instance)
    lightweight = np.flatnonzero(np.diff(instance.node_offsets) <= eta).astype(np.int32)
    shuffled = random_order(lightweight, seed)
    if partitions:
        division = divide(instance, shuffled, min(partitions, len(shuffled)), coverage, order)
    else:
        division = best_division(instance, shuffled, coverage, order, aim)
    counters: dict[str, float | str] = {"eta": eta}
    if all_combine:
        division = replace(division, representatives=division.partition.lightweight)
    else:
        counters["coverage"] = coverage
    return conquer_and_combine(instance, division, extend, order, mapper, counters)


def conquer_and_combine(
    instance: TopicInstance,
    division: Division,
    extend: Extend,
    order: TieOrder,
    mapper: Mapper = map,
    counters: Mapping[str, float | str] = MappingProxyType({}),
) -> OverlayBuild:
    """Build the overlay of each part, then add edges between bulk nodes and representatives (P3, Algorithms 8, 10, 12).

    `extend` adds edges to a partial overlay until it is topic-connected, first within parts, then between them. Cost:
    that of `extend` on each part and on B ∪ R, and O(Σ|T_v|).
    """
    sizes, partition, nodes = np.diff(instance.node_offsets), division.partition, division.combined
    parts = [part for part in partition.parts() if sizes[part].any()]
    results = mapper(partial(build_part, extend=extend, order=order), (restricted(instance, part) for part in parts))
    found, conquering = [np.empty((0, 2), np.int32)], Counter[str]()
    for part, (ends, counted) in zip(parts, results, strict=True):
        found.append(part[ends])
        conquering.update(counted)
    inner, outer = np.concatenate(found), np.empty((0, 2), np.int32)
    combining: Mapping[str, int] = dict.fromkeys(("steps", "merges", "evaluations", "counted"), 0)
    if sizes[nodes].any():
        degrees = np.bincount(inner.ravel(), minlength=instance.num_nodes).astype(np.int32)
        core, within = restricted(instance, nodes), replace(partition, part_of=partition.part_of[nodes])
        ends, combining = combine_core(core, within, degrees[nodes], int(degrees.max()), extend, order)
        outer = nodes[ends]
    counts = {
        **counters,
        "partitions": partition.num_parts,
        "bulk": len(partition.bulk),
        "lightweight": len(partition.lightweight),
        "representatives": len(division.representatives),
        "pn_ratio": division.pn_ratio,
        "pn_ratio_formula": division.pn_ratio_formula,
        "inner_edges": len(inner),
        "inner_max_degree": int(np.bincount(inner.ravel(), minlength=1).max()),
        "outer_edges": len(outer),
        **{f"inner_{name}": count for name, count in conquering.items() if name in _WORK},
        **{name: conquering.get(name, 0) + combining.get(name, 0) for name in {**conquering, **combining}},
    }
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, np.concatenate([inner, outer])), counts)


def build_part(part: TopicInstance, *, extend: Extend, order: TieOrder) -> PartEdges:
    """The edges of a part by its own numbering, shape (m, 2), and the counters. Cost that of `extend`."""
    overlay = PartialOverlay(part, order)
    extend(overlay)
    return _ends(overlay), overlay.counters()


def combine_core(
    core: TopicInstance, partition: Partition, degrees: Degrees, max_degree: int, extend: Extend, order: TieOrder
) -> PartEdges:
    """The edges among bulk nodes and representatives by their own numbering, shape (m, 2), and the counters.

    `degrees` are theirs after the conquer phase, `max_degree` that of all nodes. Cost that of `extend`.
    """
    overlay = PartialOverlay(core, order)
    # Every part is topic-connected, so the representatives of a part that share a topic are connected in it.
    overlay.start_from(groups_of(core, partition), degrees, max_degree)
    extend(overlay)
    return _ends(overlay), overlay.counters()


def _ends(overlay: PartialOverlay) -> Ids:
    return np.stack(np.divmod(overlay.edges, overlay.instance.num_nodes), axis=1).astype(np.int32)


_SHARED: dict[str, Any] = {"inputs": ("mapper",), "random": True}
NAIVE_DC = naive_dc.method(
    "naive-dc",
    TOPIC_CONNECTED,
    **_SHARED,
    summary="GM-M within random parts of all nodes, then across them",
    source="P3 §IV.B",
    guarantee="the maximum degree may be Θ(|T|) times the smallest (P3 Lemma 8)",
    cost="time and memory as for gm-m on all nodes",
    pace=34,
)
DCB_M = dcb_m.method(
    "dcb-m",
    TOPIC_CONNECTED,
    **_SHARED,
    summary="DCB-M: GM-M within random parts of the lightweight nodes, then between bulk nodes and all",
    source="P3 §IV.C",
    guarantee="maximum degree O(η + the smallest · log |V||T|) (P3 Lemma 12)",
    cost="time and memory as for gm-m on all nodes",
    pace=35,
)
DCBR_M = dcbr_m.method(
    "dcbr-m",
    TOPIC_CONNECTED,
    **_SHARED,
    summary="DCBR-M: DCB-M combining only bulk nodes and representatives of each part",
    source="P3 §IV.C",
    guarantee="maximum degree O(η + the smallest that B ∪ R need · log |B ∪ R||T|), B bulk nodes, R representatives "
    "(P3 Lemma 15)",
    cost="time O(|T| (|L|²/p + (|B| + |R|)²)) for p parts of the lightweight nodes L; memory O(Σ|T_v|)",
    pace=21,
)
DC_GM = dc_gm.method(
    "dc-gm",
    TOPIC_CONNECTED,
    **_SHARED,
    summary="Greedy Merge within random parts, then between bulk nodes and representatives of each part",
    source="P3 §IV, P1 §6.1",
    guarantee="no ratio is proven",
    cost="time and memory as for gm on each part, and on bulk nodes and representatives",
    pace=10,
)
