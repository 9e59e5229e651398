"""GM-M (P3 §III): MinMax-ODA without the edges of contribution 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ...instances.contract.method import Method
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, solve_by, warm_up_by
from .kernels.contribution_table import extend_by_table
from .kernels.degree_rule import degree_first, extend_by_degree
from .kernels.partial_overlay import OverlayBuild, PartialOverlay
from .kernels.ties import TIES, tie_order
from .tie_search.extremes import with_extreme_ties
from .tie_search.steps import Degrees, Edge, EdgeSteps, heaviest, least_raising

DATA = Option(
    "data",
    "rows",
    "rows: contributions are counted a node at a time, when needed; table: of all pairs, as in P3, Algorithms 3–6",
    choices=("rows", "table"),
)


def gm_m(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0, data: str = "rows") -> Overlay:
    """A topic-connected overlay built as by :func:`.minmax_oda`, but only of edges that contribute.

    An edge that contributes is added even if it raises the maximum degree and an edge of contribution 0 would not.

    Notes
    -----
    Chen, Vitenberg and Jacobsen 2011 (P3), Algorithms 1 and 2, which leave ties open; P3's Algorithm 5 breaks them by
    rising degree, which decides nothing here: all edges that can be added in a phase have the same larger degree.
    `data` does not change the overlay: "table" is the paper's own way, a yardstick for its claims about time (see
    :func:`.extend_by_table`). Other parameters, result and errors are those of :func:`.greedy_merge`. Time and memory
    as for :func:`.extend_by_degree`. D is at most 2.2 max|T_v| on the workloads of claim P3.L5, which refutes Lemma 5's
    D = O(max|T_v|) for ties that are broken badly.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> gm_m(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build(instance, ties=ties, seed=seed, data=data).overlay


def extend_gm_m(partial: PartialOverlay) -> None:
    """Add GM-M's edges until every topic is connected (P3, Algorithm 2). Cost as for :func:`gm_m`."""
    extend_by_degree(partial, degree_first)


EXTENSIONS = {"rows": extend_gm_m, "table": extend_by_table}
"""How GM-M extends a partial overlay, by the option ``data``."""


def _build(instance: TopicInstance, *, ties: str, seed: int, data: str = "rows") -> OverlayBuild:
    partial = PartialOverlay(instance, tie_order(ties, seed))
    EXTENSIONS[str(DATA.parse(data))](partial)
    return OverlayBuild(partial.overlay(), partial.counters() | {"phases": int(partial.degrees.max())})


@cache
def _warm_up() -> None:
    for data in EXTENSIONS:
        warm_up_by(_build, data=data)()


def _steps(instance: TopicInstance, **_: Any) -> EdgeSteps:
    def choose(contributions: Mapping[Edge, int], degrees: Degrees) -> Sequence[Edge]:
        useful = {edge: contribution for edge, contribution in contributions.items() if contribution}
        return heaviest(least_raising(useful, degrees))

    return EdgeSteps(instance, choose, "degrees")


GM_M = with_extreme_ties(
    Method(
        name="gm-m",
        problems=TOPIC_CONNECTED,
        summary="GM-M: MinMax-ODA without edges of contribution 0",
        source="P3 §III",
        guarantee="at most O(log |V||T|) times the smallest maximum degree (P3 Lemma 2)",
        cost="time O(D C Σ_t |V_t|²) for maximum degree D and maximum contribution C, memory O(Σ|T_v|); "
        "data=table: time O(|V|²|T|), memory O(|V|²)",
        solve=solve_by(_build),
        warm_up=_warm_up,
        options=(TIES, DATA),
        anytime=False,
        pace=32,
        starts=TOPIC_CONNECTED,
        promising=("minmax-tco", "low-tco"),
        colour="#332288",
        marker="h",
    ),
    _steps,
)
