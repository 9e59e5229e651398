"""Polish for fault-tolerant overlays: a local search that never makes one worse."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cache

from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import FaultTolerantTCO
from .gm2 import gm2
from .harary_per_topic import harary_per_topic
from .heuristic import trial_instance
from .local_search.fault_tolerant_search import FaultTolerantSearch
from .local_search.overlay_search import candidate_lists
from .polish import starts

_STEPS, _ANY = 100_000, 10**15
_AT_ONCE = 50
START = Option(
    "start",
    "gm2",
    "the method whose overlay is polished, with its default options",
    choices=lambda: tuple(starts("k-tco")),
)
STEPS = Option("steps", _STEPS, "steps of local search, where no time limit is given", least=0, most=10**12)


def fault_tolerant_polish(
    instance: TopicInstance,
    overlay: Overlay,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    steps: int | None = None,
    clock: Clock | None = None,
) -> Overlay:
    """A fault-tolerant overlay with no more edges than the given one.

    Redundant edges are dropped. Then each step adds an edge to a near node and drops all edges at its ends that have
    become redundant; if none has, it takes the edge out again. A step that adds one edge and drops one changes the
    overlay at equal cost, so the search moves on.

    Parameters
    ----------
    instance : TopicInstance
    overlay : Overlay
        Valid for ``k-tco``.
    seed : int
        Without a time limit one seed gives one answer.
    time_limit : float, optional
        Seconds; it is checked every 50 steps.
    steps : int, optional
        The most steps; by default 100,000 if there is no time limit, else as many as the time allows.
    clock : Clock, optional
        The time and the interruption of the run that this search is a part of, instead of `time_limit`.

    Raises
    ------
    BadInput
        If the overlay is not valid.

    Notes
    -----
    From no paper. A step takes the links of all topics of each edge at two nodes. Memory O(Σ|T_v| + Σ_edges |T_u ∩
    T_v|), and 16 bytes for each of about 40 candidate edges a node.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(5)})
    >>> fault_tolerant_polish(instance, gm2(instance), steps=100).num_edges
    5
    """
    clock = clock or Clock(time_limit)
    if steps is None:
        steps = _STEPS if math.isinf(clock.left) else _ANY
    if violations := FaultTolerantTCO().violations(instance, overlay):
        raise BadInput(f"{violations[0]}: give an overlay that is valid for k-tco")
    search = FaultTolerantSearch(instance, overlay, candidate_lists(instance), seed)
    with suppress(KeyboardInterrupt):
        while search.drop_redundant(_AT_ONCE) and not clock.passed:
            pass
        taken = 0
        while overlay.num_edges and not clock.passed and taken < steps:
            search.run(min(_AT_ONCE, steps - taken))
            taken += _AT_ONCE
    return search.overlay


def _solve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    steps: int,
    overlay: Overlay | None = None,
) -> Proposal[Overlay]:
    clock = Clock(time_limit)
    if overlay is None:
        if time_limit is not None:  # the start may take longer
            offer(harary_per_topic(instance, order="number"))
        method = starts(problem.name)[start]
        overlay = method.solve(
            instance, problem, seed=seed, time_limit=None, **method.complete({}, problem.name)
        ).answer
        assert overlay is not None
    offer(overlay)
    most = steps if time_limit is None else None
    polished = fault_tolerant_polish(instance, overlay, seed=seed, steps=most, clock=clock)
    return Proposal(polished, counters={"start": overlay.num_edges})


@cache
def _warm_up() -> None:
    for method in starts("k-tco").values():
        method.prepare()
    small = trial_instance()
    fault_tolerant_polish(small, gm2(small), steps=100)


FAULT_TOLERANT_POLISH: Method[TopicInstance, Overlay] = Method(
    name="polish",
    problems=("k-tco",),
    summary="local search from a fault-tolerant overlay: an edge in, all that are redundant then out",
    source="none; docs/topics.md",
    guarantee="never worse than its start",
    cost="a step takes the links of all topics of the edges at two nodes; memory O(Σ|T_v| + Σ_edges |T_u ∩ T_v|)",
    solve=_solve,
    options=(START, STEPS),
    warm_up=_warm_up,
    inputs=("overlay",),
    random=True,
    colour="#117733",
    marker="s",
)
