"""Problems on topic instances under a limit on degrees: fewest edges, or as much connectivity as the limit allows."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..contract.arrays import connected_components
from ..contract.errors import BadInput
from ..contract.overlay import Overlay
from ..contract.problem import family_of, stated_limits
from ..topics.instance import TopicInstance
from ..topics.objective import Objective
from ..topics.problems import TopicProblem

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

    def limit_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        """How an overlay exceeds the limit. Time O(|V| + |E|)."""
        caps = self.caps(instance)
        over = np.flatnonzero(answer.degrees > caps).tolist()
        reasons = [f"node '{instance.node_label(v)}' has degree {answer.degrees[v]}, above {caps[v]}" for v in over]
        if answer.num_edges > (most := self.most_edges(instance)) and not over:
            reasons.append(f"the overlay has {answer.num_edges} edges, above {most}")
        return reasons


class CappedTCO(DegreeLimited):
    """Fewest edges among the overlays that connect every topic and keep a limit on degrees.

    Where the limit is one for all nodes, its objective opens it to the searches and bounds of `min-tco`.
    """

    family = "capped-tco"
    source = "none; P1 §4 with a limit"

    def __init__(
        self, rule: str = "max-degree", limit: float = 5, *, degrees: Sequence[int] | None = None, name: str = ""
    ) -> None:
        super().__init__(rule, limit, degrees, name, "fewest edges, every topic connected")
        caps = {int(limit)} if self.rule == "max-degree" else set() if degrees is None else {*map(int, degrees)}
        if len(caps) == 1:
            self.objective = Objective(cap=caps.pop(), starts=("min-tco", "minmax-tco"))
            self.default_method = "auto"

    def variant(self, name: str) -> CappedTCO:
        return CappedTCO(*_limit_in(name, name.split("@")[1:]))

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        return super()._topic_violations(instance, answer) + self.limit_violations(instance, answer)


class PartialTCO(DegreeLimited):
    """As much connectivity as a limit on degrees allows; the value counts the missing connectivity, 0 where everything
    is connected.

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
        return self.limit_violations(instance, answer)

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


DEGREE_PROBLEMS: tuple[DegreeLimited, ...] = (CappedTCO(name="capped-tco"), PartialTCO(name="partial-tco"))
"""Each family with the limit that it has where a name states none."""
