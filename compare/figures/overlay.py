"""A proven optimal overlay beside a heuristic's for one small instance, each edge in the colours of its topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

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

    @property
    def worse(self) -> bool:
        """Whether the other answer is no optimum."""
        return bool(self.other.value > self.optimal.value + TOLERANCE)


def overlay_drawing(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance]) -> Drawing | None:
    """Draw an optimal overlay beside a heuristic's, with equal node positions; None if no run proved an optimum.

    The runs (`judged_runs`) have the column answer (u0, v0, u1, v1, … or None); `load_instance` maps a digest to its
    instance.
    """
    pair = most_informative_pair(runs)
    if pair is None:
        return None
    instance = load_instance(pair.optimal.instance)
    overlays = [TOPICS.unpack(run.answer, instance) for run in (pair.optimal, pair.other)]
    above = f"+{pair.other.value - pair.optimal.value:g}" if pair.worse else "as good"
    titles = []
    for run, overlay in zip((pair.optimal, pair.other), overlays, strict=True):
        edges = f"{overlay.num_edges} {'edge' if overlay.num_edges == 1 else 'edges'}"
        edges += "" if run.value == overlay.num_edges else f", value {run.value:g}"
        what = "proven optimal" if run.key == pair.optimal.key else above
        titles.append(f"{run.label}: {edges} ({what})")
    with styled() as options:
        both = TopicOverlays(instance, overlays, DrawOptions(by_topic=True, differences=True))
        figure = grid([Cell(both, number, -1, title) for number, title in enumerate(titles)], options)
        anchors = tuple(dict.fromkeys([pair.optimal.anchor, pair.other.anchor]))
        return drawing(figure, "overlay", _caption(pair, instance, both), anchors=anchors)


def most_informative_pair(runs: pd.DataFrame) -> RunPair | None:
    """The runs to draw: an optimum of Min-TCO and a worse answer of Greedy Merge, on the smallest such instance.

    Otherwise, in this order: a worse answer for another problem or by another heuristic, an equally good answer, the
    proven run alone.
    """
    small = runs.loc[(runs["nodes"] <= _LARGEST) & runs["answer"].notna(), _SHOWN]
    rank = {name: index for index, name in enumerate(problem_order(runs))}
    proofs = small[small["status"] == Status.OPTIMAL].sort_values(["exact", "key"], ascending=[False, True])
    others = {at: list(own.itertuples()) for at, own in small[~small["exact"].astype(bool)].groupby(_PAIR)}
    pairs = [
        RunPair(proof, other)
        for proof in proofs.drop_duplicates(_PAIR).itertuples()
        for other in others.get((proof.problem, proof.instance), [proof])
    ]

    def preference(pair: RunPair) -> tuple[Any, ...]:
        one, other = pair
        usual = other.method == "gm" and one.problem == "min-tco"
        # An overlay without edges shows nothing.
        wanted = (one.edges > 0, pair.worse, usual, other is not one, other.method == "gm")
        size = (one.nodes, one.subscriptions, rank[one.problem], one.instance, -other.value, other.key)
        return (*(not each for each in wanted), *size)

    return min(pairs, key=preference, default=None)


_PAIR = ["problem", "instance"]
_SHOWN = [
    *(*_PAIR, "family", "nodes", "subscriptions", "key", "anchor", "method", "label", "exact", "status"),
    *("value", "edges", "answer"),
]


def _caption(pair: RunPair, instance: TopicInstance, both: TopicOverlays) -> str:
    run, colours = pair.optimal, len(both.colours)
    chosen = (
        f"the smallest instance on which {pair.other.method} is worse than the proven optimum"
        if pair.worse
        else "the smallest instance with a proven optimum; no heuristic that can be drawn was worse"
    )
    largest = "" if colours == instance.num_topics else f", the {colours} largest in a colour each"
    return (
        f"Two overlays of one instance ({run.family}, {instance.num_nodes} nodes, {instance.num_topics} topics, "
        f"{instance.num_subscriptions} subscriptions, {run.instance[:8]}) for {run.problem}: {chosen}. "
        f"Each edge shows the topics both its ends subscribe to{largest}. Nodes have the same positions in both; "
        f"{len(both.common)} edges are in both overlays, the others are highlighted in yellow."
    )
