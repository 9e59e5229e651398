"""Method `diameter-cp-sat`: the model of :mod:`.diameter_model` on the topic-diameter problems of P1 §9."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...heuristics.topics.limits import Limits, limits_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import as_soc
from ..engine.exact_method import START
from ..engine.ilp_solvers import THREADS


def solve_diameter(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    threads: int,
) -> Proposal[Overlay]:
    """The least degree under a limit on the topic diameters, their least under one on the degree, or the Pareto front.

    Parameters are those of :func:`.solve_filtering`.

    Notes
    -----
    Chockler, Melamed, Tock and Vitenberg 2007 (P1), §9, state the decision problem; the model was designed here.
    O(|V|³ C) variables for topic diameters up to C; solving is exponential in the worst case. Two bounds come without
    it. An overlay has at least |V| − c edges (see :class:`.Limits`), which a star on each component attains as soon as
    C ≥ 2. And a node of degree at most d reaches at most d Σ_{i<C} (d − 1)^i others within C hops (Moore's bound), so d
    must be large enough for the nodes with which each node shares a topic.
    """
    from .compact.diameter_model import build_diameter
    from .compact.overlay_variables import OverlayVariables
    from .objectives.soc_search import SocBounds, solve_soc

    soc = as_soc(problem)
    limits = limits_of(soc, instance)
    average = soc.routing.name == "average-topic-diameter"
    connected = int((np.diff(instance.topic_offsets) > 1).sum())

    def build(most_cost: int | None, clock: Clock) -> OverlayVariables:
        largest = instance.num_nodes - 1
        if most_cost is not None:  # each of the other topics has a diameter of 1 or more
            largest = min(largest, most_cost - (connected - 1) if average else most_cost)
        return build_diameter(instance, largest, clock, average=average)

    least_cost = connected if average else min(connected, 1)
    known = SocBounds(least_degree(instance, limits, average=average), least_cost, sweep_cost=True)
    run = partial(solve_soc, instance, soc, build, known)
    return run(start=start, seed=seed, time_limit=time_limit, threads=threads)


def least_degree(instance: TopicInstance, limits: Limits, *, average: bool) -> int:
    """A lower bound on the degree function, in its unit; Moore's bound where all topic diameters are limited."""
    if not limits.counts_max_degree or average or limits.cost is None:
        return limits.least_degree
    most = 0
    for v in range(instance.num_nodes):
        topics = [instance.subscribers(t) for t in instance.topics_of(v).tolist()]
        most = max(most, len({int(u) for subscribers in topics for u in subscribers}) - 1)
    degree = limits.least_degree
    while degree < most and _within(degree, limits.cost) < most:
        degree += 1
    return degree


def _within(degree: int, hops: int) -> int:
    """The most nodes that a node can reach within some hops where no degree exceeds `degree`."""
    reached, layer = 0, degree
    for _ in range(hops):
        reached += layer
        layer *= degree - 1
        if layer <= 0 or reached > 2**31:
            break
    return reached


def _warm_up() -> None:
    from .objectives.soc_search import prepare_heuristics

    prepare_heuristics("topic-diameter")


DIAMETER_CP_SAT = Method(
    name="diameter-cp-sat",
    colour="#6B5B00",
    marker="H",
    problems=("topic-diameter", "average-topic-diameter"),
    summary="CP-SAT: an overlay on all pairs of nodes with distance layers between the subscribers of each topic",
    source="P1 §9; models/topics/compact/diameter_model.py",
    guarantee="the optimum or the Pareto front with proof; when stopped, the incumbent with a proven bound",
    cost="exponential in the worst case; O(|V|³ C) variables for topic diameters up to C",
    exact=True,
    solve=solve_diameter,
    options=(START, THREADS),
    warm_up=_warm_up,
)
