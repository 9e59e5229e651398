"""Method `gm-incremental` on subscriptions: an overlay of yesterday's, with few changes, and a bound."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...instances.contract.method import Method
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .stages import FIRST_ANSWERS, REPAIR, Run, Stage, simple_bound, solve_in_stages


def stages(run: Run) -> Iterator[Stage]:
    """Repair and a simple bound; stars only if the time does not suffice."""
    if run.earlier is None:
        run.earlier = Overlay.from_edges(run.instance.num_nodes, [])
    yield from (REPAIR, Stage(FIRST_ANSWERS.name, simple_bound))
    if run.best is None:
        yield FIRST_ANSWERS


GM_INCREMENTAL: Method[TopicInstance, Overlay] = Method(
    name="gm-incremental",
    problems=("min-tco",),
    summary="repairs an earlier overlay: Greedy Merge of what it leaves apart; redundant links are dropped",
    source="P1 §6.1; docs/traces.md",
    guarantee="connected; nothing is proven of links and changes",
    cost="as gm for the components that are left, and the subscribers of each dropped link's topics",
    bounds=True,
    engine="branch-and-cut",
    solve=partial(solve_in_stages, stages),
    inputs=("overlay",),
    repairs=True,
    compiled=True,
)
