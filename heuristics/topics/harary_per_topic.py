"""HararyPT: a Harary graph on the subscribers of every topic, in one order of all nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import heuristic
from .kernels.partial_overlay import OverlayBuild
from .ring_per_topic import ranked, rings_through

ORDERS = ("interest", "number", "random")
ORDER = Option(
    "order", "interest", "the order of all nodes: by their topics, by number, or a random one", choices=ORDERS
)


@heuristic(ORDER)
def harary_per_topic(instance: TopicInstance, *, order: str = "interest", seed: int = 0) -> OverlayBuild:
    """The union over all topics of a Harary graph for k = 2, a ring, on the subscribers.

    A ring is 2-connected, so every topic stays connected when any one subscriber leaves. All rings pass the nodes in
    one order, so nodes that follow each other in it and have several topics in common share one edge for these.

    Parameters
    ----------
    instance : TopicInstance
    order : {"interest", "number", "random"}
        The order of the nodes: lexicographic by their topics, the most popular topic first; by number; or random.
    seed : int
        For the random order.

    Raises
    ------
    BadInput
        If `order` is none of the three.

    Notes
    -----
    HararyPT is from Chen, Vitenberg and Jacobsen (PODC 2013, IEEE TDSC 2022), of which only the abstracts were read: it
    "aligns nodes across different sub-overlays". How it orders them is not stated there; the order by interest is a
    design of our own. Time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)})
    >>> harary_per_topic(instance).edges.tolist()
    [[0, 1], [0, 3], [1, 2], [2, 3]]
    """
    n = instance.num_nodes
    if order == "interest":
        rank = _by_interest(instance)
    else:
        rank = np.arange(n) if order == "number" else np.random.default_rng(seed).permutation(n)
    rings = rings_through(ranked(instance, rank[instance.topic_nodes]), instance)
    overlay = Overlay.from_edges(n, rings)
    return OverlayBuild(overlay, {"steps": len(rings), "shared": len(rings) - overlay.num_edges})


def _by_interest(instance: TopicInstance) -> npt.NDArray[np.int64]:
    """The rank of each node in the lexicographic order of their topics, by falling popularity."""
    popularity = np.argsort(-np.diff(instance.topic_offsets), kind="stable")
    place = np.empty(instance.num_topics, np.int64)
    place[popularity] = np.arange(instance.num_topics)
    listed = [tuple(sorted(place[instance.topics_of(v)].tolist())) for v in range(instance.num_nodes)]
    rank = np.empty(instance.num_nodes, np.int64)
    rank[sorted(range(instance.num_nodes), key=listed.__getitem__)] = np.arange(instance.num_nodes)
    return rank


HARARY_PER_TOPIC = harary_per_topic.method(
    "harary-per-topic",
    ("k-tco",),
    summary="a ring on the subscribers of each topic, all in one order of the nodes",
    source="Chen, Vitenberg, Jacobsen 2013 (abstract); docs/topics.md",
    guarantee="the degree of v is at most 2|T_v|; nothing is proven of the edges",
    cost="time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|)",
    pace=1,
    starts=("k-tco",),
    colour="#8C8C8C",
    marker="h",
)
