"""The problems on topic instances: minimum topic-connected overlays, by edges, degrees, costs; fault-tolerant; 2d; and
under a limit on degrees, stated in a problem's name, fewest edges or as much connectivity as it allows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..contract.arrays import connected_components
from ..contract.errors import BadInput
from ..contract.overlay import Overlay
from ..contract.problem import Implication, Problem, family_of, shortened, stated_limits
from ..contract.terms import said
from .instance import TopicInstance
from .objective import Objective

if TYPE_CHECKING:
    import scipy.sparse as sp

_PAIRS_AT_ONCE = 20_000_000


AnyTopicProblem = Problem[TopicInstance, Overlay]
"""A problem on topic instances, also one of a plug-in, which need not be a `TopicProblem`."""


class TopicProblem(AnyTopicProblem):
    """A problem answered by overlays on the nodes of a topic instance.

    Unless overridden, its value is |E|, and every topic must be connected.
    """

    kind, default_method = "topics", "branch-and-cut"

    def value(self, instance: TopicInstance, answer: Overlay) -> float:
        return answer.num_edges

    def violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        if answer.num_nodes != instance.num_nodes:
            return [said(f"the overlay has {answer.num_nodes} nodes, the instance {instance.num_nodes}")]
        return shortened(self._topic_violations(instance, answer), said("topics"))

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        components = answer.topic_components(instance)
        broken = np.flatnonzero(components > 1).tolist()
        return [f"{said('topic')} '{instance.topic_label(t)}' has {components[t]} components" for t in broken]

    def measures(self, instance: TopicInstance, answer: Overlay) -> dict[str, float]:
        figures = answer.num_edges, answer.max_degree, answer.average_degree
        return dict(zip(("edges", "max_degree", "average_degree"), figures, strict=True))


class MinTCO(TopicProblem):
    """Fewest edges, every topic connected (P1 §4)."""

    name, summary, source = "min-tco", "fewest edges, every topic connected", "P1 §4"
    objective = Objective()
    implications = (
        Implication(("minmax-tco",), "a node of degree D ends D different edges: |E| ≥ D"),
        Implication(
            ("low-tco",),
            "D ≤ |E| and D ≤ |V| − 1, so |E|² ≥ |E| × D and |E| ≥ (|E| × D) ÷ (|V| − 1)",
            lambda nodes, product: max(math.sqrt(product), product / max(nodes - 1, 1)),
        ),
    )

    def variant(self, name: str) -> CappedTCO:
        """With a limit on degrees, ``min-tco@max-degree=5`` is ``capped-tco@max-degree=5``."""
        return CappedTCO(*_limit_in(name, name.split("@")[1:]))


class MinMaxTCO(TopicProblem):
    """Smallest maximum degree, every topic connected (P2 §2.1, P3 §III)."""

    name, summary, source = "minmax-tco", "smallest maximum degree, every topic connected", "P2 §2.1"
    objective = Objective(first="degree")
    implications = (
        Implication(
            ("min-tco",),
            "the degrees add up to 2|E| and none exceeds D: D ≥ 2|E| ÷ |V|",
            lambda nodes, edges: 2 * edges / nodes,
        ),
        Implication(
            ("low-tco",),
            "|E| ≤ |V| × D ÷ 2, so D² ≥ 2 × (|E| × D) ÷ |V|",
            lambda nodes, product: math.sqrt(2 * product / nodes),
        ),
    )

    def value(self, instance: TopicInstance, answer: Overlay) -> float:
        return answer.max_degree


class LowTCO(TopicProblem):
    """Few edges and a low maximum degree together (P2 §1.2).

    Answers are compared by the product of the two objectives, whose minimum lies on the Pareto front; both factors are
    measures, and exact methods return the front.
    """

    name, summary, source = "low-tco", "edges × maximum degree (two objectives, a Pareto front)", "P2 §1.2"
    objective = Objective(first="product")
    implications = (
        Implication(
            ("min-tco", "minmax-tco"),
            "every topic-connected overlay obeys both bounds, so |E| × D is at least their product",
            lambda nodes, edges, degree: edges * degree,
        ),
    )

    def value(self, instance: TopicInstance, answer: Overlay) -> float:
        return answer.num_edges * answer.max_degree


class WeightedTCO(TopicProblem):
    """Least total cost of the edges, every topic connected; the costs are the instance's, 1 each if it has none.

    References
    ----------
    MinAvg-WTCO of Chen, Tock, Jacobsen, Vitenberg: Weighted overlay design for topic-based publish/subscribe systems on
    geo-distributed data centers, ICDCS 2015, https://doi.org/10.1109/ICDCS.2015.55
    """

    name, summary = "weighted-tco", "least total cost of the edges, every topic connected"
    source = "Chen et al. 2015 (MinAvg-WTCO)"
    objective = Objective(first="cost")
    implications = (Implication(("min-tco",), "no edge costs less than 1"),)

    def value(self, instance: TopicInstance, answer: Overlay) -> float:
        return instance.total_cost(answer.edges)


class FaultTolerantTCO(TopicProblem):
    """Fewest edges, every topic connected also after any one of its subscribers has left (k = 2).

    A topic of two subscribers must be connected; nothing can be asked of it once one has left.

    References
    ----------
    MinAvg-kTCO of Chen, Vitenberg, Jacobsen: Building fault-tolerant overlays with low node degrees for topic-based
    publish/subscribe, IEEE TDSC 2022; brief announcement PODC 2013, https://doi.org/10.1145/2484239.2484292
    """

    name, summary = "k-tco", "fewest edges, every topic connected after any one subscriber has left (k = 2)"
    source = "Chen, Vitenberg, Jacobsen 2013 (MinAvg-2TCO)"
    objective = Objective(rule="two-connected")
    implications = (Implication(("min-tco",), "a fault-tolerant overlay is topic-connected"),)

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        from .kernels import topic_faults

        at_u, at_v = answer.topic_links(instance)
        reasons = []
        for t, leavers in topic_faults(instance, at_u, at_v):
            first = min(map(instance.node_label, leavers), default="")
            once = f" once '{first}' has left" if leavers else ""
            reasons.append(f"{said('topic')} '{instance.topic_label(t)}' is not connected{once}")
        return reasons


class TwoDiameterStar(TopicProblem):
    """Fewest edges such that every topic has a centre adjacent to all its other subscribers (P2 §6.3)."""

    name, summary, source = "2d-star", "fewest edges, every topic holds a star on its subscribers", "P2 §6.3"
    objective = Objective(rule="star")
    implications = (Implication(("2d-true",), "a star on a topic's subscribers has diameter at most 2"),)

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        missing = np.flatnonzero(~_has_centre(instance, answer))
        return [f"{said('topic')} '{instance.topic_label(int(t))}' has no centre" for t in missing]


class TwoDiameterTrue(TopicProblem):
    """Fewest edges such that every G_t has diameter at most 2 (P2 §6)."""

    name, summary, source = "2d-true", "fewest edges, every topic of diameter at most 2", "P2 §6"
    objective = Objective(rule="diameter-2")
    implications = (Implication(("min-tco",), "a topic of diameter at most 2 is connected: the overlay connects all"),)

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        import scipy.sparse as sp

        ones = np.ones(answer.num_edges, dtype=np.float32)
        shape = (answer.num_nodes, answer.num_nodes)
        upper = sp.csr_array((ones, (answer.edges[:, 0], answer.edges[:, 1])), shape=shape)
        graph = sp.csr_array(upper + upper.T)
        far = [
            int(t)
            for t in np.flatnonzero(~_has_centre(instance, answer))
            if not _within_two(graph[instance.subscribers(int(t))][:, instance.subscribers(int(t))])
        ]
        what = said("two subscribers further than 2 apart")
        return [f"{said('topic')} '{instance.topic_label(t)}' has {what}" for t in far]


def _has_centre(instance: TopicInstance, answer: Overlay) -> npt.NDArray[np.bool_]:
    """For each topic, whether one subscriber is adjacent to all the others."""
    at_u, at_v = answer.topic_links(instance)
    degrees = np.bincount(np.concatenate([at_u, at_v]), minlength=instance.num_subscriptions)
    largest = np.zeros(instance.num_topics, dtype=np.int64)
    np.maximum.at(largest, instance.node_topics, degrees)
    return np.asarray(largest == np.diff(instance.topic_offsets) - 1)


def _within_two(adjacency: sp.csr_array) -> bool:
    """Whether the diameter is at most 2; computed in blocks of rows."""
    size = adjacency.shape[0]
    step = max(1, _PAIRS_AT_ONCE // size)
    for start in range(0, size, step):
        rows = adjacency[start : start + step]
        near = (rows + rows @ adjacency).toarray() > 0
        near[np.arange(near.shape[0]), np.arange(start, start + near.shape[0])] = True
        if not near.all():
            return False
    return True


RULES = ("max-degree", "degree-per-topic", "average-degree")
"""The limits on degrees: every degree at most d; that of node v at most ⌈r·|T_v|⌉; at most ⌊a·|V| ÷ 2⌋ edges."""
_LARGEST = 10**9
Caps = npt.NDArray[np.int64]


class DegreeLimited(TopicProblem):
    """A problem on topic instances with a limit on degrees: one of `RULES` with its number, or one for each node."""

    family = ""
    default_method = "cp-sat"

    def __init__(
        self, rule: str, limit: float, degrees: Sequence[int] | None, name: str, summary: str, measure: str = ""
    ) -> None:
        self.rule, self.limit = rule, limit
        self._given = None if degrees is None else np.asarray(degrees, np.int64)
        if self._given is not None:
            if self._given.ndim != 1 or not len(self._given) or self._given.min() < 0:
                raise BadInput("degrees are a list of integers of at least 0, one a node")
            self.rule = f"given-{hashlib.sha256(self._given.tobytes()).hexdigest()[:12]}"
        elif rule not in RULES:
            raise BadInput(f"'{rule}' limits no degrees: take one of {', '.join(RULES)}")
        elif not 0 <= limit <= _LARGEST or (rule == "max-degree" and limit != int(limit)):
            kind = "an integer" if rule == "max-degree" else "a number"
            raise BadInput(f"{rule}={limit:g}: take {kind} from 0 to {_LARGEST:,}")
        self._exact = Fraction(f"{limit:.12g}")  # the decimal in the name
        limits = f"{rule}={limit:.12g}" if self._given is None else self.rule
        self.name, self.summary = name or f"{self.family}{measure}@{limits}", f"{summary}, {limits}"
        self.stated = "@" in self.name

    def caps(self, instance: TopicInstance) -> Caps:
        """The largest degree of each node, at most |V| − 1."""
        n = instance.num_nodes
        if self._given is not None:
            if len(self._given) != n:
                raise BadInput(f"{len(self._given)} limits on degrees for {n} nodes: give one a node")
            return np.minimum(self._given, n - 1)
        if self.rule == "max-degree":
            return np.full(n, min(self.limit, n - 1), np.int64)
        if self.rule == "degree-per-topic":
            sizes, of_node = np.unique(np.diff(instance.node_offsets), return_inverse=True)
            caps = [min(math.ceil(self._exact * size), n - 1) for size in sizes.tolist()]
            return np.array(caps, np.int64)[of_node]
        return np.full(n, n - 1, np.int64)

    def most_edges(self, instance: TopicInstance) -> int:
        """The largest number of edges, as far as degrees or their average are limited."""
        if self.rule == "average-degree":
            return math.floor(min(self._exact, Fraction(instance.num_nodes)) * instance.num_nodes / 2)
        return int(self.caps(instance).sum()) // 2

    def _limit_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        caps = self.caps(instance)
        over = np.flatnonzero(answer.degrees > caps).tolist()
        reasons = [f"node '{instance.node_label(v)}' has degree {answer.degrees[v]}, above {caps[v]}" for v in over]
        if answer.num_edges > (most := self.most_edges(instance)) and not over:
            reasons.append(f"the overlay has {answer.num_edges} edges, above {most}")
        return reasons


class CappedTCO(DegreeLimited):
    """Fewest edges among the overlays that connect every topic and keep a limit on degrees."""

    family = "capped-tco"
    source = "none; P1 §4 with a limit"

    def __init__(
        self, rule: str = "max-degree", limit: float = 5, *, degrees: Sequence[int] | None = None, name: str = ""
    ) -> None:
        super().__init__(rule, limit, degrees, name, "fewest edges, every topic connected")

    def variant(self, name: str) -> CappedTCO:
        return CappedTCO(*_limit_in(name, name.split("@")[1:]))

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        return super()._topic_violations(instance, answer) + self._limit_violations(instance, answer)


class PartialTCO(DegreeLimited):
    """As much connectivity as a limit on degrees allows; the value is what is missing, and 0 where all is connected.

    `measure` is ``topics``, the topics that are not connected as a whole; ``subscribers``, those outside the largest
    component of each topic; or ``components``, those beyond one a topic, which is what Greedy Merge lowers.

    References
    ----------
    Chen, Tock, Jacobsen: Overlay design for topic-based publish/subscribe under node degree constraints, ICDCS 2016,
    of which only the abstract was read: its support of a partial overlay may be another measure.
    """

    family = "partial-tco"
    source = "Chen, Tock, Jacobsen 2016"

    def __init__(
        self,
        measure: str = "topics",
        rule: str = "max-degree",
        limit: float = 3,
        *,
        degrees: Sequence[int] | None = None,
        name: str = "",
    ) -> None:
        if measure not in MEASURES:
            raise BadInput(f"'{measure}' measures no partial overlay: take one of {', '.join(MEASURES)}")
        self.measure, named = measure, "" if measure == "topics" else f"@{measure}"
        super().__init__(rule, limit, degrees, name, MEASURES[measure], named)

    def variant(self, name: str) -> PartialTCO:
        """The problem that a name states: ``partial-tco@subscribers@max-degree=3``."""
        parts = name.split("@")[1:]
        measure = parts.pop(0) if parts and parts[0] in MEASURES else "topics"
        return PartialTCO(measure, *_limit_in(name, parts))

    def value(self, instance: TopicInstance, answer: Overlay) -> float:
        return int(_missing(instance, answer)[self.measure])

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        return self._limit_violations(instance, answer)

    def measures(self, instance: TopicInstance, answer: Overlay) -> dict[str, float]:
        """Edges and degrees, and the shares of topics, subscribers and unions of components that are there."""
        missing, sizes = _missing(instance, answer), np.diff(instance.topic_offsets)
        of = {"topics": instance.num_topics, "subscribers": sizes.sum(), "components": (sizes - 1).sum()}
        shares = {f"connected_{name}": 1 - missing[name] / max(of[name], 1) for name in MEASURES}
        return {**super().measures(instance, answer), **{name: float(share) for name, share in shares.items()}}


MEASURES = {
    "topics": "fewest topics not connected as a whole",
    "subscribers": "fewest subscribers outside the largest component of each topic",
    "components": "fewest components beyond one a topic",
}


def _missing(instance: TopicInstance, answer: Overlay) -> dict[str, int]:
    """What the overlay lacks by each measure."""
    size = instance.num_subscriptions
    root = connected_components(size, *answer.topic_links(instance))
    members = np.bincount(root, minlength=size)
    largest = np.zeros(instance.num_topics, np.int64)
    np.maximum.at(largest, instance.node_topics, members)
    parts = np.bincount(instance.node_topics[members > 0], minlength=instance.num_topics)
    subscribers = np.diff(instance.topic_offsets)
    outside, beyond = int((subscribers - largest).sum()), int(parts.sum()) - instance.num_topics
    return {"topics": int((parts > 1).sum()), "subscribers": outside, "components": beyond}


def _limit_in(name: str, parts: Sequence[str]) -> tuple[str, float]:
    """The rule and the number in the only part of a name that is left."""
    forms = " or ".join(f"{family_of(name)}@{each}" for each in ("max-degree=5", "average-degree=3.5"))
    form = f"{forms}, the limit being one of {', '.join(RULES)}"
    found = list(stated_limits(name, parts, dict.fromkeys(RULES, float(_LARGEST)), form).items())
    if len(found) != 1:
        raise BadInput(f"problem '{name}': write it as {form}")
    return found[0]


TOPIC_PROBLEMS: tuple[TopicProblem, ...] = (
    *(MinTCO(), MinMaxTCO(), LowTCO(), WeightedTCO()),
    *(FaultTolerantTCO(), TwoDiameterStar(), TwoDiameterTrue()),
)

DEGREE_PROBLEMS: tuple[DegreeLimited, ...] = (CappedTCO(name="capped-tco"), PartialTCO(name="partial-tco"))
"""Each family with the limit that it has where a name states none."""
