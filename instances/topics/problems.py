"""The problems on topic instances: minimum topic-connected overlays, by edges, degrees, costs; fault-tolerant; 2d."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..contract.overlay import Overlay
from ..contract.problem import Implication, Problem, shortened
from ..contract.terms import said
from .instance import TopicInstance
from .objective import Objective

if TYPE_CHECKING:
    import scipy.sparse as sp

_PAIRS_AT_ONCE = 20_000_000
_CONNECTING = ("gm", "gm-m", "low-oda", "minmax-oda")
_WITH_CENTRES = ("2d-oda", "cd-oda", "cd-oda-1", "cd-oda-2")


AnyTopicProblem = Problem[TopicInstance, Overlay]
"""A problem on topic instances, also one of a plug-in, which need not be a `TopicProblem`."""


class TopicProblem(AnyTopicProblem):
    """A problem answered by overlays on the nodes of a topic instance.

    Unless overridden, its value is |E|, and every topic must be connected.
    """

    kind, default_method = "topics", "auto"

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
    limits_by = "capped-tco"
    objective = Objective(heuristics=_CONNECTING, promising=("gm", "low-oda", "dc-gm"))
    implications = (
        Implication(("minmax-tco",), "a node of degree D ends D different edges: |E| ≥ D"),
        Implication(
            ("low-tco",),
            "D ≤ |E| and D ≤ |V| − 1, so |E|² ≥ |E| × D and |E| ≥ (|E| × D) ÷ (|V| − 1)",
            lambda nodes, product: max(math.sqrt(product), product / max(nodes - 1, 1)),
        ),
    )


class MinMaxTCO(TopicProblem):
    """Smallest maximum degree, every topic connected (P2 §2.1, P3 §III)."""

    name, summary, source = "minmax-tco", "smallest maximum degree, every topic connected", "P2 §2.1"
    objective = Objective(first="degree", heuristics=_CONNECTING, promising=("gm-m", "low-oda", "dcbr-m"))
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
    objective = Objective(first="product", heuristics=_CONNECTING, promising=("gm", "gm-m", "low-oda"))
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
    objective = Objective(first="cost", heuristics=("mst-per-topic", "weighted-gm"), promising=("weighted-gm",))
    implications = (Implication(("min-tco",), "no edge costs less than 1"),)

    def unit(self, instance: TopicInstance) -> int:
        return 1 if instance.costs is None else instance.costs.unit

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
    objective = Objective(rule="two-connected", heuristics=("harary-per-topic", "gm2"), promising=("gm2",))
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
    objective = Objective(rule="star", heuristics=_WITH_CENTRES)
    implications = (Implication(("2d-true",), "a star on a topic's subscribers has diameter at most 2"),)

    def _topic_violations(self, instance: TopicInstance, answer: Overlay) -> list[str]:
        missing = np.flatnonzero(~_has_centre(instance, answer))
        return [f"{said('topic')} '{instance.topic_label(int(t))}' has no centre" for t in missing]


class TwoDiameterTrue(TopicProblem):
    """Fewest edges such that every G_t has diameter at most 2 (P2 §6)."""

    name, summary, source = "2d-true", "fewest edges, every topic of diameter at most 2", "P2 §6"
    objective = Objective(rule="diameter-2", heuristics=_WITH_CENTRES)
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


TOPIC_PROBLEMS: tuple[TopicProblem, ...] = (
    *(MinTCO(), MinMaxTCO(), LowTCO(), WeightedTCO()),
    *(FaultTolerantTCO(), TwoDiameterStar(), TwoDiameterTrue()),
)
