"""Edge exchange: local search for any problem on a degree function and a routing cost (P1 §9)."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np

from ...instances.contract.catalogue import methods_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.limits.soc import SOC, as_soc
from ...instances.runtime.run import Clock, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem
from ..topics.greedy_merge import greedy_merge
from .limits import answers_of, offer_star

STEPS = Option("steps", 1000, "overlays to evaluate, if the time limit allows", least=0, most=10**9)
_STARTS_SHARE = 0.3
Edge = tuple[int, int]
Score = tuple[float, float, float]


def edge_exchange(
    instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, time_limit: float | None, steps: int
) -> Proposal[Overlay]:
    """From the best heuristic overlay, remove, add and exchange random edges as long as nothing gets worse.

    It knows nothing of the two functions but their values, so they may be anyone's. Overlays that exceed a limit are
    compared by how much; equal overlays replace each other.

    One seed gives one answer if the time limit does not end the search; it fails if no overlay meets the limits.
    Counters: ``start``, the value of the first overlay if it is valid, and ``steps``, the overlays evaluated.

    Notes
    -----
    Designed here. Cost: `steps` evaluations of both functions.

    Examples
    --------
    >>> from overlaybench.instances.contract.catalogue import PROBLEMS
    >>> instance = TopicInstance.from_subscriptions({"x": ["a", "b"], "y": ["b", "c"], "z": ["c", "a"]})
    >>> problem = PROBLEMS["filtering@edges=2"]
    >>> edge_exchange(instance, problem, seed=0, time_limit=None, steps=50).answer.edges.tolist()
    [[0, 1], [0, 2]]
    """
    soc, clock = as_soc(problem), Clock(time_limit)
    if time_limit is not None:
        offer_star(instance)
    draw = np.random.default_rng(seed)
    others = [each for each in methods_of("overlaybench.heuristics.limits") if each.name != EDGE_EXCHANGE.name]
    answers = answers_of(others, instance, soc, seed=seed, clock=clock.share(_STARTS_SHARE))
    starts = chain([greedy_merge(instance)], answers)
    current = min(starts, key=lambda overlay: _score(soc, overlay, instance))
    score = _score(soc, current, instance)
    counters: dict[str, float | str] = {} if score[0] else {"start": score[1]}
    if not score[0]:
        offer(current)
    done = 0
    while done < steps and not clock.passed and instance.num_nodes > 1:
        done += 1
        following = _neighbour(current, draw)
        if (found := _score(soc, following, instance)) <= score:
            better, current, score = found < score, following, found
            if better and not score[0]:
                offer(current)
    if score[0]:
        return Proposal(status=Status.FAILED, reason="no overlay found that keeps the limits")
    return Proposal(current, counters={**counters, "steps": done})


def _score(problem: SOC, overlay: Overlay, instance: TopicInstance) -> Score:
    """The excess over the limits, the value, and δ + ρ, which guides where the value alone does not change."""
    degree, cost = problem.degree.of(overlay), problem.routing.of(overlay, instance)
    limits = ((degree, problem.most_degree), (cost, problem.most_cost))
    excess = sum(max(0.0, value - limit) for value, limit in limits if limit is not None)
    value = cost if problem.most_degree is not None else degree if problem.most_cost is not None else degree + cost
    if math.isinf(cost):
        excess = math.inf
    return (excess if excess > 1e-9 else 0.0), value, degree + cost


def _neighbour(overlay: Overlay, draw: np.random.Generator) -> Overlay:
    """The overlay with one or two random edges less, more or elsewhere."""
    n, edges = overlay.num_nodes, overlay.edges
    move = draw.integers(4)
    kept = edges
    if move != 1 and len(edges):
        kept = np.delete(edges, draw.integers(len(edges)), axis=0)
    if move == 0:
        return Overlay(n, kept)
    u, v = draw.choice(n, 2, replace=False).tolist()
    if move == 3 and len(kept) < len(edges):  # an end of the removed edge stays
        gone = set(map(tuple, edges.tolist())) - set(map(tuple, kept.tolist()))
        u = int(gone.pop()[draw.integers(2)])
    return Overlay.from_edges(n, np.concatenate([kept, [[u, v]]])) if u != v else Overlay(n, kept)


EDGE_EXCHANGE = Method(
    name="edge-exchange",
    problems=("filtering", "topic-diameter", "average-topic-diameter", "soc"),
    summary="local search that removes, adds and exchanges edges, for any degree function and routing cost",
    source="none; P1 §9 states the problem",
    guarantee="never worse than the problem's other heuristics",
    cost="`steps` evaluations of both functions",
    random=True,
    solve=edge_exchange,
    options=(STEPS,),
    compiled=True,
    pace=10_000,
)
