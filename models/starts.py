"""Overlays of the heuristics: a start for a solver, and the incumbent if it finds nothing better."""

from __future__ import annotations

from heuristics import HEURISTICS
from instances import Method, Option, Overlay, Problem, TopicInstance
from models.deadline import Deadline

START = Option("start", "best", "the heuristic overlay handed in: the best one, or none", choices=("best", "none"))

_TOPIC_CONNECTED = ("gm", "gm-m", "minmax-oda", "low-oda")
_DIAMETER_TWO = ("2d-oda", "cd-oda", "cd-oda-1", "cd-oda-2")


def heuristic_overlays(
    instance: TopicInstance, problem: Problem[TopicInstance, Overlay], *, seed: int, deadline: Deadline
) -> list[Overlay]:
    """The overlays of the problem's own heuristics with their default options, the best first.

    No heuristic is begun after the deadline; one that runs is not interrupted. Cost: the heuristics'.
    """
    overlays = []
    for method in _heuristics_for(problem.name):
        if deadline.left > 0:
            answer = method.solve(
                instance, problem, seed=seed, time_limit=None, **method.complete({}, problem.name)
            ).answer
            if answer is not None:
                overlays.append(answer)
    return sorted(overlays, key=lambda overlay: problem.value(instance, overlay))


def warm_up_heuristics() -> None:
    """Compile what :func:`heuristic_overlays` runs."""
    for name in (*_TOPIC_CONNECTED, *_DIAMETER_TWO):
        for method in HEURISTICS:
            if method.name == name and method.warm_up is not None:
                method.warm_up()


def _heuristics_for(problem: str) -> list[Method[TopicInstance, Overlay]]:
    names = _DIAMETER_TWO if problem.startswith("2d-") else _TOPIC_CONNECTED
    return [method for method in HEURISTICS if method.name in names]
