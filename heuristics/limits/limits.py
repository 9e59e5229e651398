"""The limits of a SOC problem (P1 §9) on an instance, in integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...instances.contract.arrays import Offsets, connected_components
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.limits.soc import SOC
from ...instances.runtime.run import Clock, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class DegreeLimits:
    """δ and ρ of the named functions are integers times a unit; limits are rounded down to these integers.

    `fewest_edges` is |V| − c, where c counts the components of the relation "a common topic": every overlay that
    connects all topics has as many edges, and a tree on each component has no more.
    """

    degree: int | None  # the largest number of edges or maximum degree, in units
    cost: int | None  # the largest routing cost, in units
    degree_unit: float  # 2 ÷ |V| for the average degree, else 1
    cost_unit: float  # 1 ÷ |T| for the average topic diameter, else 1
    counts_max_degree: bool  # whether δ is the maximum degree; else it is the number of edges
    fewest_edges: int
    largest_component: int  # the number of nodes in the largest of these components
    problem: SOC

    @property
    def least_degree(self) -> int:
        """The least δ of an overlay that connects all topics, in its unit; a path on each component has degree 2."""
        return min(2, self.largest_component - 1) if self.counts_max_degree else self.fewest_edges

    @property
    def most_edges(self) -> int | None:
        """The largest number of edges; None without a limit."""
        return None if self.counts_max_degree else self.degree

    @property
    def most_degree(self) -> int | None:
        """The largest maximum degree; None without a limit."""
        return self.degree if self.counts_max_degree else None

    def degree_of(self, overlay: Overlay) -> int:
        """δ in its unit."""
        return round(self.problem.degree.of(overlay) / self.degree_unit)

    def cost_of(self, overlay: Overlay, instance: TopicInstance) -> int:
        """ρ in its unit; the overlay must connect every topic."""
        return round(self.problem.routing.of(overlay, instance) / self.cost_unit)

    def limited(self, *, degree: int | None = None, cost: int | None = None) -> DegreeLimits:
        """The same functions under other limits, in units."""
        return replace(self, degree=degree, cost=cost)


def limits_of(problem: SOC, instance: TopicInstance) -> DegreeLimits:
    """The limits of a problem on the functions that have names. Cost O(Σ|T_v| log |V|)."""
    degree_unit = 2 / instance.num_nodes if problem.degree.name == "average-degree" else 1.0
    cost_unit = 1 / instance.num_topics if problem.routing.name == "average-topic-diameter" else 1.0
    sizes = np.unique(components_by_topic(instance), return_counts=True)[1]
    return DegreeLimits(
        _in_units(problem.most_degree, degree_unit),
        _in_units(problem.most_cost, cost_unit),
        degree_unit,
        cost_unit,
        problem.degree.name == "max-degree",
        instance.num_nodes - len(sizes),
        int(sizes.max()),
        problem,
    )


def _in_units(limit: float | None, unit: float) -> int | None:
    return None if limit is None else int(limit / unit + _TOLERANCE)


def components_by_topic(instance: TopicInstance) -> Offsets:
    """The smallest node of each node's component under the relation "a common topic"."""
    firsts = instance.topic_nodes[instance.topic_offsets[:-1]].astype(np.int64)
    heads = np.repeat(firsts, np.diff(instance.topic_offsets))
    return connected_components(instance.num_nodes, heads, instance.topic_nodes.astype(np.int64))


def star(instance: TopicInstance) -> list[tuple[int, int]]:
    """A star on each of these components, around a node of most topics. Cost O(Σ|T_v| log |V|)."""
    component = components_by_topic(instance)
    sizes = np.diff(instance.node_offsets)
    centre: dict[int, int] = {}
    for v in np.lexsort((np.arange(len(sizes)), -sizes)).tolist():
        centre.setdefault(int(component[v]), v)
    return [(centre[c], v) for v, c in enumerate(component.tolist()) if centre[c] != v]


def offer_star(instance: TopicInstance) -> None:
    """Offer :func:`star`, which keeps every limit on the number of edges, before an algorithm that may take long."""
    offer(Overlay.from_edges(instance.num_nodes, star(instance)))


def answers_of(
    methods: Sequence[Method[TopicInstance, Overlay]], instance: TopicInstance, problem: SOC, *, seed: int, clock: Clock
) -> Iterator[Overlay]:
    """The valid overlays of those methods that answer the problem, with their defaults; the time is divided evenly."""
    known = [method for method in methods if method.answers(problem.name)]
    for index, method in enumerate(known):
        part = clock.share(1 / (len(known) - index)).left
        limit = part if math.isfinite(part) else None
        if (overlay := method.valid_answer(instance, problem, seed=seed, time_limit=limit)) is not None:
            yield overlay


def best_of(
    candidates: Callable[[TopicInstance, AnyTopicProblem], Iterable[tuple[str, Overlay]]],
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    seed: int,
    time_limit: float | None,
) -> Proposal[Overlay]:
    """The best of the overlays of a function by the problem's own functions, with the counter ``built``: its name.

    Nothing is random. Status ``failed`` if none is valid. No further overlay is built once the time limit has passed.
    """
    clock, best = Clock(time_limit), None
    for name, overlay in candidates(instance, problem):
        if not problem.violations(instance, overlay):
            value = problem.value(instance, overlay)
            if best is None or value < best[0]:
                best = value, name, overlay
                offer(overlay)
        if clock.passed:
            break
    if best is None:
        return Proposal(status=Status.FAILED, reason="no overlay of this method keeps the limits")
    return Proposal(best[2], counters={"built": best[1]})
