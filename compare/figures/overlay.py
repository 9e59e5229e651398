"""A proven optimal overlay beside a heuristic's for one small instance, each edge in the colours of its topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.topics.files import TOPICS
from ...instances.topics.instance import TopicInstance
from ..studies.bounds import TOLERANCE, problem_order
from .draw import Cell, grid
from .panels import TopicOverlays
from .style import Drawing, DrawOptions, drawing, styled

_LARGEST = 80


class RunPair(NamedTuple):
    """Two runs on one instance and problem: a proven optimal one, and another, a heuristic's where there is one."""

    optimal: Any
    other: Any
    worse: bool


def overlay_drawing(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance]) -> Drawing | None:
    """Draw an optimal overlay beside a heuristic's, with equal node positions; None if no run proved an optimum.

    The runs (`judged_runs`) have the column answer (u0, v0, u1, v1, … or None); `load_instance` maps a digest to its
    instance.
    """
    pair = most_informative_pair(runs)
    if pair is None:
        return None
    instance = load_instance(pair.optimal.instance)
    optimal, other = (TOPICS.unpack(run.answer, instance) for run in (pair.optimal, pair.other))
    look = DrawOptions(by_topic=True, differences=True)
    with styled() as options:
        both = TopicOverlays(instance, (optimal, other), look)
        runs_of = zip((pair.optimal, pair.other), (optimal, other), strict=True)
        titles = [_title(run, overlay, pair.optimal) for run, overlay in runs_of]
        figure = grid([Cell(both, number, -1, title) for number, title in enumerate(titles)], options)
        caption = _caption(pair, instance, optimal, other, len(both.colours))
        shown = dict.fromkeys([pair.optimal.anchor, pair.other.anchor])
        return drawing(figure, "overlay", caption, anchors=tuple(shown))


def most_informative_pair(runs: pd.DataFrame) -> RunPair | None:
    """The runs to draw: an optimum of Min-TCO and a worse answer of Greedy Merge, on the smallest such instance.

    Otherwise, in this order: a worse answer for another problem or by another heuristic, an equally good answer, the
    proven run alone.
    """
    small = runs[(runs["nodes"] <= _LARGEST) & runs["answer"].notna()]
    rank = {name: index for index, name in enumerate(problem_order(runs))}
    found: list[tuple[tuple[Any, ...], RunPair]] = []
    proofs = small[(small["status"] == Status.OPTIMAL)].sort_values(["exact", "key"], ascending=[False, True])
    proofs = proofs.drop_duplicates(["problem", "instance"])
    others: dict[tuple[str, str], list[Any]] = {}
    for run in small[~small["exact"].astype(bool)].itertuples():
        others.setdefault((run.problem, run.instance), []).append(run)
    for proof in proofs.itertuples():
        for other in others.get((proof.problem, proof.instance), [proof]):
            worse = other.value > proof.value + TOLERANCE
            usual = other.method == "gm" and proof.problem == "min-tco"
            # An overlay without edges shows nothing.
            preferred = (not proof.edges > 0, not worse, not usual, other is proof, other.method != "gm")
            size = (proof.nodes, proof.subscriptions, rank[proof.problem], proof.instance, -other.value, other.key)
            found.append(((*preferred, *size), RunPair(proof, other, bool(worse))))
    return min(found, key=lambda entry: entry[0])[1] if found else None


def _title(run: Any, overlay: Overlay, optimal: Any) -> str:
    edges = f"{overlay.num_edges} {'edge' if overlay.num_edges == 1 else 'edges'}"
    value = "" if run.problem in ("min-tco", "2d-star", "2d-true") else f", value {run.value:g}"
    if run.key == optimal.key:
        return f"{run.label}: {edges}{value} (proven optimal)"
    above = run.value - optimal.value
    return f"{run.label}: {edges}{value} ({f'+{above:g}' if above > TOLERANCE else 'as good'})"


def _caption(pair: RunPair, instance: TopicInstance, optimal: Overlay, other: Overlay, coloured: int) -> str:
    run = pair.optimal
    same = len({*map(tuple, optimal.edges.tolist())} & {*map(tuple, other.edges.tolist())})
    chosen = (
        f"the smallest instance on which {pair.other.method} is worse than the proven optimum"
        if pair.worse
        else "the smallest instance with a proven optimum; no heuristic that can be drawn was worse"
    )
    colouring = (
        "Each edge shows the topics both its ends subscribe to"
        if coloured == instance.num_topics
        else f"Each edge shows the topics both its ends subscribe to, the {coloured} largest in a colour each"
    )
    return (
        f"Two overlays of one instance ({run.family}, {instance.num_nodes} nodes, {instance.num_topics} topics, "
        f"{instance.num_subscriptions} subscriptions, {run.instance[:8]}) for {run.problem}: {chosen}. "
        f"{colouring}. Nodes have the same positions in both; {same} edges are in both overlays, the others are "
        "highlighted in yellow."
    )
