"""Divide and conquer (P3 §IV): the overlays of random parts are built independently and then combined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ...instances.contract.arrays import Ids
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .division import (
    AIMS,
    Division,
    Partition,
    best_division,
    bulk_threshold,
    divide,
    groups_of,
    random_order,
    restricted,
)
from .gm_m import DATA, EXTENSIONS
from .greedy_merge import extend_greedily
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.partial_overlay import Degrees, OverlayBuild, PartialOverlay
from .kernels.ties import TIES, TieOrder, tie_order

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


@heuristic(PARTITIONS, DATA, TIES)
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


@heuristic(ETA, PARTITIONS, DATA, TIES)
def dcb_m(instance: TopicInstance, *, data: str = "rows", **options: Any) -> OverlayBuild:
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
    return _built(instance, EXTENSIONS[data], all_combine=True, **options)


@heuristic(ETA, PARTITIONS, COVERAGE, AIM, DATA, TIES)
def dcbr_m(instance: TopicInstance, *, data: str = "rows", **options: Any) -> OverlayBuild:
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
    aim : {"lemma-16", "time", "parallel-time", "pn-ratio", "equation-11"}
        What a chosen p minimises: the paper's estimate of the time (P3 §V, Lemma 16), the candidate edges on one
        machine (Lemma 7), those with one machine for each part, the share of the nodes that one node must know, or
        the paper's estimate with one machine for each part (eq. 11).
    ties : {"lowest", "highest", "random"}
        Of edges as in :func:`.gm_m`, and of representatives that cover equally many topics.
    seed : int
        For the parts, and for random ties.
    data : {"rows", "table"}
        How GM-M keeps contributions, see :func:`.gm_m`.
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
    return _built(instance, EXTENSIONS[data], **options)


@heuristic(ETA, PARTITIONS, COVERAGE, AIM, TIES)
def dc_gm(instance: TopicInstance, **options: Any) -> OverlayBuild:
    """:func:`dcbr_m` with Greedy Merge in place of GM-M: few edges instead of a low degree.

    Parameters, result and errors are those of :func:`dcbr_m`, without `data`.

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
    return _built(instance, extend_greedily, **options)


def _built(
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
    """Divide, conquer and combine; with `all_combine` every lightweight node is a representative."""
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
    colour="#999933",
    marker="^",
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
    colour="#EE6677",
    marker="p",
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
    promising=("minmax-tco",),
    colour="#A6761D",
    marker="H",
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
    promising=("min-tco",),
    colour="#661100",
    marker="v",
)
