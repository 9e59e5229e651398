"""Scalable Overlay Construction (P1 §9): a degree function δ against a routing cost ρ.

P1 asks whether an overlay G has δ(G) ≤ d and ρ(G, Int) ≤ C. A problem here limits one of the two and minimises the
other, or minimises both. Its name states which: ``filtering@max-degree=4`` is the least filtering cost at a maximum
degree of at most 4, ``filtering=10@edges`` the fewest edges at a filtering cost of at most 10, ``filtering@edges`` the
Pareto front of both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..contract.arrays import connected_components
from ..contract.errors import BadInput, unknown
from ..contract.numbers import distinct
from ..contract.overlay import Overlay
from ..contract.terms import said
from ..topics.instance import TopicInstance
from ..topics.problems import AnyTopicProblem, TopicProblem
from .routing_costs import filtering_cost, topic_diameters

_NAME = re.compile(r"([^@=]+)(?:=([^@=]+))?@([^@=]+)(?:=([^@=]+))?")
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class DegreeFunction:
    """δ: how much an overlay costs its nodes.

    Attributes
    ----------
    name, summary : str
        As in the name of a problem, and in words.
    of : callable
        From an overlay to a number.
    integral : bool
        Whether the number is always an integer.

    Examples
    --------
    >>> import overlaybench as ob
    >>> squares = ob.DegreeFunction("squares", "sum of squares", lambda overlay: int((overlay.degrees**2).sum()))
    >>> squares.of(ob.Overlay.from_edges(3, [(0, 1), (1, 2)]))
    6
    """

    name: str
    summary: str
    of: Callable[..., float]
    integral: bool = True


class RoutingCost(DegreeFunction):
    """ρ: the cost of disseminating messages over an overlay.

    As a :class:`DegreeFunction`, but from an overlay and an instance; infinite where the overlay cannot deliver.

    Examples
    --------
    >>> import overlaybench as ob
    >>> parts = ob.RoutingCost("parts", "topic components", lambda overlay, inst: overlay.topic_components(inst).sum())
    >>> int(parts.of(ob.Overlay.from_edges(2, []), ob.read({"ann": ["news"], "bob": ["news"]})))
    2
    """


EDGES = DegreeFunction("edges", "number of edges", lambda overlay: overlay.num_edges)
MAX_DEGREE = DegreeFunction("max-degree", "maximum degree", lambda overlay: overlay.max_degree)
AVERAGE_DEGREE = DegreeFunction("average-degree", "average degree", lambda overlay: overlay.average_degree, False)
DEGREE_FUNCTIONS = {each.name: each for each in (EDGES, MAX_DEGREE, AVERAGE_DEGREE)}

FILTERING = RoutingCost(
    "filtering",
    "total filtering cost (non-subscribers in a cheapest tree of each topic)",
    lambda overlay, instance: filtering_cost(overlay, instance).total,
)
TOPIC_DIAMETER = RoutingCost(
    "topic-diameter",
    "largest topic diameter (distance in the overlay between two subscribers of a topic)",
    lambda overlay, instance: float(topic_diameters(overlay, instance).max()),
)
AVERAGE_TOPIC_DIAMETER = RoutingCost(
    "average-topic-diameter",
    "average topic diameter (distance in the overlay between two subscribers of a topic)",
    lambda overlay, instance: float(topic_diameters(overlay, instance).mean()),
    False,
)
ROUTING_COSTS = {each.name: each for each in (FILTERING, TOPIC_DIAMETER, AVERAGE_TOPIC_DIAMETER)}


class SOC(TopicProblem):
    """Minimise δ under a limit on ρ, ρ under a limit on δ, or without a limit the sum of both.

    Raises BadInput if there are two limits, or one is not a number of at least 0.

    Parameters
    ----------
    degree : DegreeFunction
        δ, one of `DEGREE_FUNCTIONS` or one's own.
    routing : RoutingCost
        ρ, one of `ROUTING_COSTS` or one's own.
    most_degree, most_cost : float, optional
        d and C; at most one of the two.
    name : str, optional
        By default the two functions with their limits. The family ``soc`` is that of functions of one's own.

    References
    ----------
    Chockler, Melamed, Tock, Vitenberg: Constructing scalable overlays for pub-sub with many topics, PODC 2007, §9,
    https://doi.org/10.1145/1281100.1281118

    Examples
    --------
    >>> import overlaybench as ob
    >>> from overlaybench.instances.limits.soc import EDGES, RoutingCost
    >>> busiest = RoutingCost("busiest", "largest degree squared", lambda overlay, instance: overlay.max_degree**2)
    >>> ob.SOC(EDGES, busiest, most_cost=4)
    SOC(soc@busiest=4@edges: least number of edges, largest degree squared at most 4)
    """

    def __init__(
        self,
        degree: DegreeFunction,
        routing: RoutingCost,
        *,
        most_degree: float | None = None,
        most_cost: float | None = None,
        name: str = "",
    ) -> None:
        limits = [(each.name, most) for each, most in ((degree, most_degree), (routing, most_cost)) if most is not None]
        if len(limits) > 1:
            raise BadInput(f"limits of both {degree.name} and {routing.name}: leave one out, it is then minimised")
        for function, limit in limits:
            if not 0 <= limit < math.inf:
                raise BadInput(f"the limit of {function} must be a number of at least 0, not {limit}")
        self.degree, self.routing, self.most_degree, self.most_cost = degree, routing, most_degree, most_cost
        own = ROUTING_COSTS.get(routing.name) is routing and DEGREE_FUNCTIONS.get(degree.name) is degree
        d, c = ("" if limit is None else f"={limit:.12g}" for limit in (most_degree, most_cost))
        self.name = name or f"{'' if own else 'soc@'}{routing.name}{c}@{degree.name}{d}"
        self.source = "P1 §9"
        self.default_method = _DEFAULT_METHODS[routing.name] if own else "edge-exchange"
        if most_degree is not None:
            self.integral = routing.integral
            self.summary = f"least {routing.summary}, {degree.summary} at most {most_degree:g}"
        elif most_cost is not None:
            self.integral = degree.integral
            self.summary = f"least {degree.summary}, {routing.summary} at most {most_cost:g}"
        else:
            self.integral = degree.integral and routing.integral
            self.summary = f"{degree.summary} + {routing.summary} (two objectives, a Pareto front)"

    def variant(self, name: str) -> SOC:
        """The problem on this routing cost that a name states: ``filtering@max-degree=4``."""
        parts = _NAME.fullmatch(name)
        if parts is None or parts[1] != self.routing.name:
            form = f"{self.routing.name}@DEGREE=d, {self.routing.name}=C@DEGREE or {self.routing.name}@DEGREE"
            raise BadInput(f"problem '{name}': write it as {form}, DEGREE being {', '.join(DEGREE_FUNCTIONS)}")
        if parts[3] not in DEGREE_FUNCTIONS:
            raise unknown("degree function", parts[3], DEGREE_FUNCTIONS)
        try:
            cost, degree = (None if text is None else float(text) for text in (parts[2], parts[4]))
        except ValueError as error:
            raise BadInput(f"problem '{name}': a limit must be a number ({error})") from None
        return SOC(DEGREE_FUNCTIONS[parts[3]], self.routing, most_cost=cost, most_degree=degree)

    def value(self, instance: TopicInstance, answer: Overlay) -> float:
        """The minimised value: δ, ρ, or δ + ρ without a limit."""
        if self.most_degree is not None:
            return self.routing.of(answer, instance)
        if self.most_cost is not None:
            return self.degree.of(answer)
        return self.degree.of(answer) + self.routing.of(answer, instance)

    def measures(self, instance: TopicInstance, answer: Overlay) -> dict[str, float]:
        """Number of edges, maximum and average degree, and the routing cost under its name."""
        return {
            **super().measures(instance, answer),
            self.routing.name.replace("-", "_"): self.routing.of(answer, instance),
        }

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        degree, cost = self.degree.of(answer), self.routing.of(answer, instance)
        if math.isinf(cost):
            apart = list(_topics_apart(instance, answer))
            return apart or [f"the {self.routing.summary} is infinite"]
        limited = ((self.degree, degree, self.most_degree), (self.routing, cost, self.most_cost))
        return [
            f"the {function.name.replace('-', ' ')} is " + ", more than ".join(distinct(value, limit))
            for function, value, limit in limited
            if limit is not None and value > limit + _TOLERANCE
        ]


def as_soc(problem: AnyTopicProblem) -> SOC:
    """The problem as an SOC; methods for SOC problems get no other problem."""
    if not isinstance(problem, SOC):
        raise TypeError(f"{problem!r} is not on a degree function and a routing cost")
    return problem


def _topics_apart(instance: TopicInstance, overlay: Overlay) -> Iterable[str]:
    """The topics with two subscribers that no path of the overlay connects."""
    ends = overlay.edges.astype(np.int64)
    root = connected_components(overlay.num_nodes, ends[:, 0], ends[:, 1])
    for t in range(instance.num_topics):
        if len(np.unique(root[instance.subscribers(t)])) > 1:
            yield f"{said('topic')} '{instance.topic_label(t)}' has {said('subscribers')} that no path connects"


_DEFAULT_METHODS = {
    "filtering": "filtering-cp-sat",
    "topic-diameter": "diameter-cp-sat",
    "average-topic-diameter": "diameter-cp-sat",
}

SOC_PROBLEMS: tuple[SOC, ...] = (
    SOC(AVERAGE_DEGREE, FILTERING, most_degree=2, name="filtering"),
    SOC(MAX_DEGREE, TOPIC_DIAMETER, most_cost=2, name="topic-diameter"),
    SOC(MAX_DEGREE, AVERAGE_TOPIC_DIAMETER, most_cost=2, name="average-topic-diameter"),
)
"""Each family with the limit that it has where a name states none."""
