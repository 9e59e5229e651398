"""Divide and conquer (P3 §IV): overlays of random parts, each built apart, combined into one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .gm_m import extend_gm_m
from .greedy_merge import extend_greedily
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.growth import OverlayBuild
from .kernels.ties import TIES, TieOrder, tie_order
from .partitions.conquer_and_combine import Mapper, Rule, conquer_and_combine
from .partitions.division import AIMS, Division, best_division, divide
from .partitions.partition import bulk_threshold, random_order

_MOST = 2**31 - 1
ETA = Option("eta", 0, "topics above which a node is bulk; 0: the least with at most a fifth bulk", least=0, most=_MOST)
PARTITIONS = Option("partitions", 0, "parts of the lightweight nodes, at most one each; 0: chosen", least=0, most=_MOST)
COVERAGE = Option("coverage", 3, "representatives of a part for each of its outward topics", least=1, most=_MOST)
AIM = Option("aim", "time", "what a chosen number of parts is to make small", choices=tuple(AIMS))


def naive_dc(
    instance: TopicInstance, *, partitions: int = 0, ties: str = "lowest", seed: int = 0, mapper: Mapper = map
) -> Overlay:
    """GM-M within random parts of all nodes, then GM-M across them: DCB-M without bulk nodes.

    Parameters
    ----------
    instance : TopicInstance
    partitions : int
        p; at most |V| are made. 0 for the number that DCBR-M would choose without bulk nodes.
    ties : {"lowest", "highest", "random"}
        As in :func:`.gm_m`.
    seed : int
        For the parts, and for random ties.
    mapper : callable
        Conquers the parts; the overlay is the same whatever it is.

    Returns
    -------
    Overlay

    Raises
    ------
    BadInput
        If `partitions` is negative or there is no such rule for ties.

    Notes
    -----
    Chen, Vitenberg, Jacobsen, 2010 (P3), Algorithm 7, which leaves the parts uncombined; they are combined by
    Algorithm 10. The maximum degree within the parts alone is the counter ``inner_max_degree``: by Lemma 8 it may be
    Θ(|T|) times the smallest possible. Cost as for :func:`dcb_m`.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> naive_dc(instance, partitions=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    chosen = int(PARTITIONS.parse(partitions))
    return _build_naive_dc(instance, partitions=chosen, ties=ties, seed=seed, mapper=mapper).overlay


def dcb_m(
    instance: TopicInstance,
    *,
    eta: int = 0,
    partitions: int = 0,
    ties: str = "lowest",
    seed: int = 0,
    mapper: Mapper = map,
) -> Overlay:
    """GM-M within random parts of the lightweight nodes, then GM-M between bulk nodes and all, and across parts.

    Parameters
    ----------
    instance : TopicInstance
    eta : int
        η: a node with more topics is bulk. 0 for the least η that leaves at most 20% of the nodes bulk.
    partitions : int
        p; at most one part for each lightweight node is made. 0 for the number that DCBR-M would choose.
    ties : {"lowest", "highest", "random"}
        As in :func:`.gm_m`.
    seed : int
        For the parts, and for random ties.
    mapper : callable
        Conquers the parts; the overlay is the same whatever it is.

    Returns
    -------
    Overlay
        Maximum degree O(η + the smallest possible · log |V||T|) (P3, Lemma 12).

    Raises
    ------
    BadInput
        If an option is out of its range or there is no such rule for ties.

    Notes
    -----
    Chen, Vitenberg, Jacobsen, 2010 (P3), Algorithms 8–10. Time and memory as for GM-M on all nodes, which Lemma 7
    bounds by O(|V|²|T|). Pairs within parts contribute nothing when parts are combined, so they are no candidates.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> dcb_m(instance, eta=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    given = {"eta": int(ETA.parse(eta)), "partitions": int(PARTITIONS.parse(partitions))}
    return _build_dcb_m(instance, **given, ties=ties, seed=seed, mapper=mapper).overlay


def dcbr_m(
    instance: TopicInstance,
    *,
    eta: int = 0,
    partitions: int = 0,
    coverage: int = 3,
    aim: str = "time",
    ties: str = "lowest",
    seed: int = 0,
    mapper: Mapper = map,
) -> Overlay:
    """DCB-M in which only bulk nodes and representatives of the parts take part in combining.

    Parameters
    ----------
    instance : TopicInstance
    eta : int
        η: a node with more topics is bulk. 0 for the least η that leaves at most 20% of the nodes bulk.
    partitions : int
        p; at most one part for each lightweight node is made. 0 for the number that serves the aim best
        (:func:`.best_division`).
    coverage : int
        λ: how many representatives of a part cover each topic that is wanted outside of it too, where the part has as
        many. If λ is at least the size of the parts, the overlay is DCB-M's (for random ties: if every lightweight
        node has such a topic).
    aim : {"time", "parallel-time", "pn-ratio"}
        What is estimated to choose p: the time on one machine, the time with a machine for each part, or the share
        of the nodes that one node has to know.
    ties : {"lowest", "highest", "random"}
        As in :func:`.gm_m`; of equally useful representatives likewise.
    seed : int
        For the parts, and for random ties.
    mapper : callable
        Conquers the parts; the overlay is the same whatever it is.

    Returns
    -------
    Overlay
        Maximum degree as in P3, Lemma 15.

    Raises
    ------
    BadInput
        If an option is out of its range or there is no such rule for ties or no such aim.

    Notes
    -----
    Chen, Vitenberg, Jacobsen, 2010 (P3), Algorithms 8 and 11–13. With R representatives and B bulk nodes, time
    O(|T| (|L|²/p + (|B| + |R|)²)) by Lemma 7, and memory O(Σ|T_v|): no pair is listed.

    Line 12 of Algorithm 12 hands over only the inner edges between nodes of B ∪ R. Taken by the letter, GM-M would
    connect representatives that are connected within their part: on four instances of Table II's workload that gives
    maximum degree 16.0 and average degree 8.59, where the table has 10.88 and 8.19. Components and degrees are
    therefore those of the whole overlay so far, which gives 11.0 and 8.17.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> dcbr_m(instance, eta=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    given = _parsed(eta, partitions, coverage, aim)
    return _build_with_representatives(instance, rule=extend_gm_m, **given, ties=ties, seed=seed, mapper=mapper).overlay


def dc_gm(
    instance: TopicInstance,
    *,
    eta: int = 0,
    partitions: int = 0,
    coverage: int = 3,
    aim: str = "time",
    ties: str = "lowest",
    seed: int = 0,
    mapper: Mapper = map,
) -> Overlay:
    """Greedy Merge within parts and between bulk nodes and representatives: few edges instead of a low degree.

    Parameters
    ----------
    instance, eta, partitions, coverage, aim, ties, seed, mapper
        As in :func:`dcbr_m`.

    Returns
    -------
    Overlay

    Raises
    ------
    BadInput
        If an option is out of its range or there is no such rule for ties or no such aim.

    Notes
    -----
    The scheme of P3 §IV with Greedy Merge (P1 §6.1) for GM-M in both phases. P3 §II speaks of an earlier
    divide-and-conquer for fewest edges that is none of our texts; this is not it. Time and memory as for
    :func:`.greedy_merge` on each part and on B ∪ R.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> dc_gm(instance, eta=1).edges.tolist()
    [[0, 1], [0, 2]]
    """
    given = _parsed(eta, partitions, coverage, aim)
    return _build_with_representatives(
        instance, rule=extend_greedily, **given, ties=ties, seed=seed, mapper=mapper
    ).overlay


def _parsed(eta: int, partitions: int, coverage: int, aim: str) -> dict[str, Any]:
    given = {ETA: eta, PARTITIONS: partitions, COVERAGE: coverage, AIM: aim}
    return {option.name: option.parse(value) for option, value in given.items()}


def _build_naive_dc(
    instance: TopicInstance, *, seed: int, partitions: int = 0, ties: str = "lowest", mapper: Mapper = map
) -> OverlayBuild:
    most = int(np.diff(instance.node_offsets).max())
    return _build_dcb_m(instance, seed=seed, eta=most, partitions=partitions, ties=ties, mapper=mapper)


def _build_dcb_m(
    instance: TopicInstance,
    *,
    seed: int,
    eta: int = 0,
    partitions: int = 0,
    ties: str = "lowest",
    mapper: Mapper = map,
) -> OverlayBuild:
    order = tie_order(ties, seed)
    threshold = eta or bulk_threshold(instance)
    division = _divided(instance, threshold, partitions, int(COVERAGE.default), str(AIM.default), order, seed)
    everybody = replace(division, representatives=division.partition.lightweight)
    return conquer_and_combine(instance, everybody, extend_gm_m, order, mapper, {"eta": threshold})


def _build_with_representatives(
    instance: TopicInstance,
    *,
    rule: Rule,
    seed: int,
    eta: int = 0,
    partitions: int = 0,
    coverage: int = 3,
    aim: str = "time",
    ties: str = "lowest",
    mapper: Mapper = map,
) -> OverlayBuild:
    order = tie_order(ties, seed)
    threshold = eta or bulk_threshold(instance)
    division = _divided(instance, threshold, partitions, coverage, aim, order, seed)
    return conquer_and_combine(instance, division, rule, order, mapper, {"eta": threshold, "coverage": coverage})


def _divided(
    instance: TopicInstance, eta: int, partitions: int, coverage: int, aim: str, order: TieOrder, seed: int
) -> Division:
    lightweight = np.flatnonzero(np.diff(instance.node_offsets) <= eta).astype(np.int32)
    shuffled = random_order(lightweight, seed)
    if partitions:
        return divide(instance, shuffled, min(partitions, len(shuffled)), coverage, order)
    return best_division(instance, shuffled, coverage, order, aim)


NAIVE_DC = heuristic(
    "naive-dc",
    _build_naive_dc,
    problems=TOPIC_CONNECTED,
    summary="GM-M within random parts of all nodes, then across them",
    source="P3 §IV.B",
    options=(PARTITIONS, TIES),
    warm_up_with={"partitions": 3},
    inputs=("mapper",),
    pace=34,
    random=True,
)

DCB_M = heuristic(
    "dcb-m",
    _build_dcb_m,
    problems=TOPIC_CONNECTED,
    summary="DCB-M: GM-M within random parts of the lightweight nodes, then between bulk nodes and all",
    source="P3 §IV.C",
    options=(ETA, PARTITIONS, TIES),
    warm_up_with={"partitions": 3},
    inputs=("mapper",),
    pace=35,
    random=True,
)

DCBR_M = heuristic(
    "dcbr-m",
    partial(_build_with_representatives, rule=extend_gm_m),
    problems=TOPIC_CONNECTED,
    summary="DCBR-M: DCB-M combining only bulk nodes and representatives of each part",
    source="P3 §IV.C",
    options=(ETA, PARTITIONS, COVERAGE, AIM, TIES),
    warm_up_with={"partitions": 3},
    inputs=("mapper",),
    pace=21,
    random=True,
    promising=("minmax-tco",),
)

DC_GM = heuristic(
    "dc-gm",
    partial(_build_with_representatives, rule=extend_greedily),
    problems=TOPIC_CONNECTED,
    summary="Greedy Merge within random parts, then between bulk nodes and representatives of each part",
    source="P3 §IV, P1 §6.1",
    options=(ETA, PARTITIONS, COVERAGE, AIM, TIES),
    warm_up_with={"partitions": 3},
    inputs=("mapper",),
    pace=10,
    random=True,
    promising=("min-tco",),
)
