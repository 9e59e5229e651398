"""Figures of the papers' constructions: the instance, with a greedy answer beside the optimum where they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from overlaybench.compare.catalogue import method_named, problem_named, workload_named
from overlaybench.compare.claims.enumeration import smallest_degree_of
from overlaybench.compare.figures.draw import Cell, grid
from overlaybench.compare.figures.panels import ContentOverlays, SubscriptionMatrix, TopicOverlays
from overlaybench.compare.figures.style import Drawing, DrawOptions, drawing, styled
from overlaybench.heuristics.topics.merge.divide_and_conquer import Division, Partition, conquer_and_combine
from overlaybench.heuristics.topics.merge.gm_m import extend_gm_m
from overlaybench.heuristics.topics.tie_breaking.ties import tie_order
from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Status
from overlaybench.instances.topics.constructions import root_and_leaves
from overlaybench.instances.topics.instance import TopicInstance

_SECONDS = 60.0
DEGREE_OF_V = "the degree of v"
"""What P1, Lemma 5.2 minimises (SN-TCO): v is the last node."""
_ROUTINGS = {"content-mst": "without relays", "content-steiner": "with relays"}


@dataclass(frozen=True)
class DrawnConstruction:
    """What is drawn of a construction: the smallest parameters at which the heuristic's answer and the optimum differ.

    `problem` is "" for content, whose two routings are drawn, or `DEGREE_OF_V`; `answer`, if any, builds the answer
    instead of a plain run of the method, and `remark` says what is special about it.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    method: str = ""
    ties: str = "lowest"
    answer: Callable[[TopicInstance], Overlay] | None = None
    remark: str = ""


def _root_apart(instance: TopicInstance) -> Overlay:
    """GM-M by parts, one of which has the root and the leaves of a binary tree of topics (P3, Lemma 8)."""
    height = instance.num_nodes.bit_length() - 1
    part_of = np.ones(instance.num_nodes, np.int32)
    part_of[root_and_leaves(h=height)] = 0
    division = Division(Partition(part_of, 2), np.arange(instance.num_nodes, dtype=np.int32))
    return conquer_and_combine(instance, division, extend_gm_m, tie_order("lowest", 0)).overlay


DRAWN: Mapping[str, DrawnConstruction] = {
    "greedy-merge-cuboid": DrawnConstruction({"k": 3, "m": 2}, "min-tco", "gm"),
    "minmax-oda-matchings": DrawnConstruction({"n": 4}, "min-tco", "minmax-oda"),
    "nested-subscriptions": DrawnConstruction({"n": 3}, "2d-true", "cd-oda"),
    "weighted-nested-subscriptions": DrawnConstruction({"n": 3}, "2d-true", "cd-oda-1"),
    "case-seven": DrawnConstruction({"n": 6}, "2d-true", "cd-oda-2"),
    "binary-tree-of-topics": DrawnConstruction(
        {"h": 2}, "minmax-tco", "gm-m", answer=_root_apart, remark=" by parts, one with the root and the leaves,"
    ),
    "set-cover-single-node": DrawnConstruction({"elements": 5, "sets": 3, "seed": 5}, DEGREE_OF_V, "gm"),
    "set-cover-duplicated": DrawnConstruction(
        {"elements": 4, "sets": 3, "seed": 1}, "minmax-tco", "minmax-oda", "highest"
    ),
    "set-cover-repeated": DrawnConstruction({"elements": 4, "sets": 3, "seed": 3}, "min-tco", "gm"),
    "steiner-overlay": DrawnConstruction({"nodes": 9, "edges": 12, "terminals": 4, "seed": 12}),
    "relay-star": DrawnConstruction({"rim": 5}),
}
"""Every construction that has a figure."""


@dataclass(frozen=True)
class Pair:
    """The instance of a construction with the heuristic's answer and a proven optimal one, and their values."""

    instance: TopicInstance
    answers: tuple[Overlay, Overlay]
    values: tuple[float, float]


def pair_of(name: str) -> Pair:
    """The instance of a topic construction, the heuristic's answer and a proven optimum."""
    chosen, instance = DRAWN[name], _instance(name)
    problem = problem_named("min-tco" if chosen.problem == DEGREE_OF_V else chosen.problem)
    if chosen.answer is not None:
        greedy = chosen.answer(instance)
    else:
        found = method_named(chosen.method).run(instance, problem, ties=chosen.ties).answer
        assert found is not None
        greedy = found
    if chosen.problem == DEGREE_OF_V:
        degree, best = smallest_degree_of(instance, instance.num_nodes - 1)
        return Pair(instance, (greedy, best), (float(greedy.degrees[-1]), degree))
    optimum = method_named(problem.default_method).run(instance, problem, time_limit=_SECONDS)
    if optimum.answer is None or optimum.value is None or optimum.status is not Status.OPTIMAL:
        raise RuntimeError(f"no proven optimum of {name}: {optimum}")
    return Pair(instance, (greedy, optimum.answer), (problem.value(instance, greedy), optimum.value))


def construction_drawing(name: str) -> Drawing:
    """A construction at a small size: for topics the subscriptions, the heuristic's answer and a proven optimum.

    For content, overlays of proven least cost for two routings.

    Raises
    ------
    BadInput
        If `name` is not in `DRAWN`.
    """
    if name not in DRAWN:
        raise BadInput(f"no figure of '{name}': choose one of {', '.join(DRAWN)}")
    chosen = DRAWN[name]
    with styled() as options:
        cells, shown = _topics(name) if chosen.problem else _content(_instance(name))
        values = ", ".join(f"{key} = {value}" for key, value in chosen.parameters.items())
        caption = f"{workload_named(name).source}, `{name}` with {values}: {shown}."
        return drawing(grid(cells, options, panel=2.6), name, caption)


def _instance(name: str) -> Any:
    return workload_named(name).generate(**{"seed": 1, **DRAWN[name].parameters})


def _topics(name: str) -> tuple[list[Cell], str]:
    """The subscriptions as a matrix beside the two overlays on one circle, of which the differences are marked."""
    chosen, pair = DRAWN[name], pair_of(name)
    look = DrawOptions(differences=True, circle=True, centres=chosen.problem.startswith("2d-"))
    overlays = TopicOverlays(pair.instance, pair.answers, look)
    ties = "" if chosen.ties == "lowest" else f" with ties={chosen.ties}"
    value, optimum = pair.values
    shown = (
        f"{pair.instance.num_nodes} nodes, {pair.instance.num_topics} topics. For {chosen.problem}, "
        f"{chosen.method}{ties}{chosen.remark} gives {value:g}; the proven optimum is {optimum:g}. Edges that only one "
        "of the overlays has are orange"
    )
    matrix = Cell(SubscriptionMatrix(pair.instance), 0, -1, "subscriptions")
    titles = f"{chosen.method}: {value:g}", f"optimum: {optimum:g}"
    return [matrix, *(Cell(overlays, number, -1, title) for number, title in enumerate(titles))], shown


def _content(instance: ContentInstance) -> tuple[list[Cell], str]:
    """The overlays without and with relays, side by side."""
    exact = method_named("cp-sat")
    solved = [exact.run(instance, problem_named(name), time_limit=_SECONDS) for name in _ROUTINGS]
    overlays = ContentOverlays(instance, [one.answer for one in solved if one.answer is not None], DrawOptions())
    cells = [
        Cell(overlays, number, -1, f"{title}: {best.value:g} ({best.status})")
        for number, (title, best) in enumerate(zip(_ROUTINGS.values(), solved, strict=True))
    ]
    return cells, "overlays of proven least cost for content-mst and for content-steiner"
