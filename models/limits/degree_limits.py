"""Methods `ilp` and `cp-sat` under a limit on degrees.

With x_e and the rows of the limit, each topic of a partial overlay has arcs of a forest on its subscribers: a node has
at most one parent, which requires their edge, and a higher level than its parent, which excludes cycles.

* ``topics``: y_t = 1 allows one root, and every other subscriber has a parent.
* ``components``: a forest of k arcs leaves |V_t| − 1 − k components beyond one.
* ``subscribers``: one root, and only members of its tree are parents; those of the tree count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

from ...heuristics.limits.degree_limits import as_limited, starts_within
from ...instances.limits.problems import DegreeLimited, PartialTCO
from ...instances.runtime.run import Clock
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem
from ..engine.exact_method import check_size
from ..engine.integer_model import minimise_with_cp_sat, minimise_with_ilp
from ..topics.compact.overlay_model import (
    MOST_VARIABLES,
    OverlayModel,
    Requirements,
    Subproblem,
    Subscribers,
    build_model,
)
from ..topics.ilp_and_cp_sat import CP_SAT as CONNECTED_BY_CP_SAT
from ..topics.ilp_and_cp_sat import ILP as CONNECTED_BY_ILP
from ..topics.ilp_and_cp_sat import Limits, compact_method

_INFEASIBLE = "no overlay that connects all topics keeps the limit"


def limited_model(
    instance: TopicInstance,
    limited: DegreeLimited,
    requirements: Requirements,
    subproblem: Subproblem,
    formulation: str,
    clock: Clock,
) -> OverlayModel:
    """The model of a problem under a limit; its rows are those of :func:`.build_model` where all must be connected.

    Else O(Σ_t |V_t|²) columns and rows, with a forest in each topic. Raises OutOfTime and ModelTooLarge.
    """
    if isinstance(limited, PartialTCO):
        model = _partial(instance, requirements, limited.measure, clock)
    else:
        model = build_model(requirements, subproblem, formulation, clock)
    caps = limited.caps(instance).tolist()
    for node, columns in sorted(model.incident().items()):
        if len(columns) > caps[node]:
            model.require(columns, most=caps[node])
    if len(model.edge) > (most := limited.most_edges(instance)):
        model.require(model.edge.values(), most=most)
    return model


def _forest(model: OverlayModel, topic: Subscribers) -> dict[tuple[int, int], int]:
    """Arcs by the indices of their ends, of which each requires an edge, without cycles."""
    arcs = {arc: model.column() for arc in permutations(range(len(topic)), 2)}
    for i, j in combinations(range(len(topic)), 2):
        model.require([model.edge[topic[i], topic[j]], arcs[i, j], arcs[j, i]], [1, -1, -1], least=0)
    model.require_levels(arcs, [model.column(0, len(topic) - 1) for _ in topic])
    return arcs


def _into(arcs: dict[tuple[int, int], int], head: int, size: int) -> list[int]:
    return [arcs[i, head] for i in range(size) if i != head]


def _count_topic(model: OverlayModel, topic: Subscribers, number: int) -> None:
    whole, arcs = model.column(cost=-number), _forest(model, topic)
    for column in _into(arcs, 0, len(topic)):
        model.upper[column] = 0
    for j in range(1, len(topic)):
        model.require([*_into(arcs, j, len(topic)), whole], [*[1] * (len(topic) - 1), -1], least=0, most=0)
    at_root = [model.edge[topic[0], v] for v in topic[1:]]
    model.require_some(at_root, of=whole)


def _count_components(model: OverlayModel, topic: Subscribers, number: int) -> None:
    arcs = _forest(model, topic)
    for column in arcs.values():
        model.costs[column] = -number
    for j in range(len(topic)):
        model.require(_into(arcs, j, len(topic)), most=1)


def _count_subscribers(model: OverlayModel, topic: Subscribers, number: int) -> None:
    arcs, members = _forest(model, topic), range(len(topic))
    root = [model.column() for _ in members]
    inside = [model.column(cost=-number) for _ in members]
    model.require(root, most=1)
    for j in members:
        model.require([root[j], *_into(arcs, j, len(topic)), inside[j]], [*[1] * len(topic), -1], least=0, most=0)
        for i in members:
            if i != j:
                model.imply(arcs[i, j], inside[i])


_MEASURES: dict[str, tuple[Callable[[OverlayModel, Subscribers, int], None], Callable[[int], int]]] = {
    "topics": (_count_topic, lambda size: 1),
    "components": (_count_components, lambda size: size - 1),
    "subscribers": (_count_subscribers, lambda size: size),
}
"""The rows that count what is connected of a topic, and the most that may be missing of it, by its subscribers."""


def _partial(instance: TopicInstance, requirements: Requirements, measure: str, clock: Clock) -> OverlayModel:
    topics = Counter(tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics))
    topics = Counter({topic: number for topic, number in topics.items() if len(topic) > 1})
    check_size(sum(2 * len(topic) ** 2 for topic in topics), MOST_VARIABLES["levels"])
    model = OverlayModel(instance.num_nodes, requirements.edges, clock=clock)
    count, most = _MEASURES[measure]
    for topic, number in topics.items():
        clock.check()
        if len(topic) == 2:  # the edge itself
            model.costs[model.edge[topic[0], topic[1]]] -= number
        else:
            count(model, topic, number)
        model.constant += number * (1 if len(topic) == 2 else most(len(topic)))
    return model


def _least(instance: TopicInstance, problem: AnyTopicProblem, edges: int, degree: int) -> float:
    """A partial overlay may lack nothing; a connected one has so many edges, if the limit allows them."""
    if isinstance(problem, PartialTCO):
        return 0
    limited = as_limited(problem)
    most_degree = int(limited.caps(instance).max())
    return edges if edges <= limited.most_edges(instance) and degree <= most_degree else math.inf


_SHARED: dict[str, Any] = {
    "problems": ("capped-tco", "partial-tco"),
    "limits": Limits(starts_within, limited_model, _INFEASIBLE, _least),
}
CP_SAT = compact_method(
    "cp-sat",
    minimise_with_cp_sat,
    summary="under a limit on degrees: the same, with rows of the limit, and forests of partial overlays",
    options=CONNECTED_BY_CP_SAT.options,
    **_SHARED,
)
ILP = compact_method(
    "ilp",
    minimise_with_ilp,
    summary="under a limit on degrees: the same, with rows of the limit, and forests of partial overlays",
    guarantee=CONNECTED_BY_ILP.guarantee,
    options=CONNECTED_BY_ILP.options,
    inputs=CONNECTED_BY_ILP.inputs,
    **_SHARED,
)
