"""Topic instances: the subscriptions of nodes to topics (P1 §3: V, T and the interest function Int)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, entries_of, frozen, offsets_of, rises, sampled, sorted_distinct, transposed
from ..contract.errors import BadInput
from ..contract.files import Coded, distinct_labels, natural_order
from ..contract.shown import Digested, matrix, spread_of
from .link_costs import LinkCosts

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import scipy.sparse as sp

FORMAT = "topics/1"
_TINY = 64


@dataclass(frozen=True, eq=False, repr=False)
class TopicInstance(Digested):
    """An immutable subscription relation, stored as two CSR structures: topics by node and nodes by topic.

    Every topic has at least one subscriber; a node may have no topic. Nodes and topics are the integers 0…|V|-1 and
    0…|T|-1; their labels do not enter the digest. The arrays given are copied. Memory: 8 bytes for each subscription,
    node and topic; labels come on top. Raises BadInput if no node has a topic, a topic no subscriber, a node's topics
    are not strictly increasing, labels are empty, repeated, or not one for each node or topic, or the costs are for
    another number of nodes.

    Parameters
    ----------
    node_offsets : int64 array, shape (|V| + 1,)
        The topics of node v are ``node_topics[node_offsets[v]:node_offsets[v + 1]]``.
    node_topics : int32 array, shape (Σ|T_v|,)
        Topics, strictly increasing within each node.
    node_labels, topic_labels : sequences of str, optional
        Names; by default ``n0, n1, …`` and ``t0, t1, …``.
    costs : LinkCosts, optional
        What edges cost, for ``weighted-tco``; 1 each by default. Other problems ignore it.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.TopicInstance.from_subscriptions({"ann": ["chess", "news"], "bob": ["news"]})
    >>> [instance.topic_label(t) for t in instance.topics_of(0).tolist()]
    ['chess', 'news']
    """

    node_offsets: Offsets
    node_topics: Ids
    node_labels: Sequence[str] | None = None
    topic_labels: Sequence[str] | None = None
    costs: LinkCosts | None = None
    topic_offsets: Offsets = field(init=False)
    topic_nodes: Ids = field(init=False)

    def __post_init__(self) -> None:
        offsets = frozen(self.node_offsets, np.int64)
        topics = frozen(self.node_topics, np.int32)
        self._check(offsets, topics)
        if self.costs is not None and self.costs.num_nodes != len(offsets) - 1:
            raise BadInput(f"costs of {self.costs.num_nodes} nodes for {len(offsets) - 1}: give one of each a node")
        count = int(topics.max()) + 1
        topic_offsets, topic_nodes = transposed(offsets, topics, count)
        self._set(
            node_offsets=offsets,
            node_topics=topics,
            topic_offsets=frozen(topic_offsets, np.int64),
            topic_nodes=frozen(topic_nodes, np.int32),
            node_labels=distinct_labels(self.node_labels, len(offsets) - 1, "node"),
            topic_labels=distinct_labels(self.topic_labels, count, "topic"),
        )

    @staticmethod
    def _check(offsets: Offsets, topics: Ids) -> None:
        if offsets.ndim != 1 or topics.ndim != 1:
            raise BadInput("node_offsets and node_topics must have one dimension")
        if len(offsets) < 2 or len(topics) == 0:
            raise BadInput("an instance needs at least one node with one topic")
        if offsets[-1] != len(topics):
            raise BadInput("node_offsets must end at the number of subscriptions")
        if not rises(offsets, topics) or topics.min() < 0:
            raise BadInput("node_offsets must rise from 0, and a node's topics be distinct, sorted and not negative")
        subscribed = np.zeros(min(int(topics.max()), len(topics)) + 1, dtype=np.bool_)
        subscribed[topics[topics < len(subscribed)]] = True
        if not subscribed.all():
            raise BadInput(f"topic {np.argmin(subscribed)} has no subscriber: remove it or subscribe a node to it")

    @classmethod
    def from_subscriptions(cls, subscriptions: Mapping[str, Iterable[str]]) -> TopicInstance:
        """Build from ``{node label: topic labels}``; labels are put in natural order (n2 before n10)."""
        for node, topics in subscriptions.items():
            if isinstance(topics, str):
                raise BadInput(f"node '{node}' has the text '{topics}' for its topics: give a list of topics")
        pairs = [(node, topic) for node, topics in subscriptions.items() for topic in topics]
        nodes, listed = [node for node, _ in pairs], [topic for _, topic in pairs]
        return cls.from_pairs(nodes, listed, list(subscriptions))[0]

    @classmethod
    def from_pairs(
        cls, nodes: Sequence[str] | Coded, topics: Sequence[str] | Coded, further_nodes: Sequence[str] = ()
    ) -> tuple[TopicInstance, int]:
        """Build from (node label, topic label) rows in any order, and the labels of nodes that may have no topic.

        Labels are put in natural order, so that the order of the rows does not matter. Cost O(P log P) for P rows.
        Raises BadInput if there is no row, the two columns differ in length, or a label is empty or not a text.

        Returns
        -------
        instance : TopicInstance
        duplicates : int
            The number of rows that repeat an earlier one; each is counted once.
        """
        if len(nodes) != len(topics):
            raise BadInput(f"{len(nodes)} nodes and {len(topics)} topics: give one of each a row")
        if len(nodes) == 0:
            raise BadInput("an instance needs at least one node with one topic")
        node_labels, node_ids = natural_order(nodes)
        if without_topics := set(further_nodes) - set(node_labels):
            node_labels, rank = natural_order([*node_labels, *without_topics])
            node_ids = rank[node_ids]
        topic_labels, topic_ids = natural_order(topics)
        keys = node_ids * len(topic_labels) + topic_ids
        distinct = sorted_distinct(keys)
        instance = cls.from_keys(distinct, len(node_labels), len(topic_labels), node_labels, topic_labels)
        return instance, len(keys) - len(distinct)

    @classmethod
    def from_keys(
        cls,
        keys: npt.NDArray[np.int64],
        num_nodes: int,
        num_topics: int,
        node_labels: Sequence[str] | None = None,
        topic_labels: Sequence[str] | None = None,
    ) -> TopicInstance:
        """Build from sorted distinct keys ``node · num_topics + topic``; see :meth:`from_sorted`."""
        offsets = offsets_of(keys // num_topics, num_nodes)
        return cls.from_sorted(offsets, (keys % num_topics).astype(np.int32), num_topics, node_labels, topic_labels)

    @classmethod
    def from_sorted(
        cls,
        node_offsets: Offsets,
        node_topics: Ids,
        num_topics: int,
        node_labels: Sequence[str] | None = None,
        topic_labels: Sequence[str] | None = None,
    ) -> TopicInstance:
        """Build from CSR arrays over `num_topics` topics, of which those without subscriber are dropped.

        The other topics keep their labels: ``t0, t2`` stay ``t0, t2`` when ``t1`` has no subscriber.
        """
        subscribed = np.bincount(node_topics, minlength=num_topics) > 0
        if not subscribed.all():
            kept = np.flatnonzero(subscribed).tolist()
            topic_labels = [f"t{t}" if topic_labels is None else topic_labels[t] for t in kept]
            node_topics = (np.cumsum(subscribed) - 1).astype(np.int32)[node_topics]
        return cls(node_offsets, node_topics, node_labels, topic_labels)

    def with_costs(self, costs: LinkCosts | None) -> TopicInstance:
        """The same subscriptions with these costs of edges, by node number; None for 1 each."""
        return TopicInstance(self.node_offsets, self.node_topics, self.node_labels, self.topic_labels, costs)

    def edge_costs(self, u: npt.ArrayLike, v: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The costs of the edges between the nodes in two arrays of equal shape."""
        return np.ones(np.shape(u), np.int64) if self.costs is None else self.costs.between(u, v)

    def total_cost(self, edges: Ids) -> int:
        """The sum of the costs of the edges in an array of shape (m, 2)."""
        return int(self.edge_costs(edges[:, 0], edges[:, 1]).sum())

    @property
    def num_nodes(self) -> int:
        """|V|."""
        return len(self.node_offsets) - 1

    @property
    def num_topics(self) -> int:
        """|T|."""
        return len(self.topic_offsets) - 1

    @property
    def num_subscriptions(self) -> int:
        """Σ|T_v|."""
        return len(self.node_topics)

    @property
    def size(self) -> dict[str, int]:
        """|V|, |T| and Σ|T_v|."""
        return {"nodes": self.num_nodes, "topics": self.num_topics, "subscriptions": self.num_subscriptions}

    @property
    def has_nodes_without_topics(self) -> bool:
        """Whether a node has no topic."""
        return not np.diff(self.node_offsets).all()

    @property
    def is_tiny(self) -> bool:
        return self.num_subscriptions <= _TINY

    def trial(self) -> TopicInstance:
        rows = {f"n{v}": [f"t{v * k % 7}" for k in range(1, 4)] for v in range(1, 14)}
        small = TopicInstance.from_subscriptions(rows)
        return small if self.costs is None else small.with_costs(self.costs.plane([[v, v * v % 7] for v in range(13)]))

    def topics_of(self, node: int) -> Ids:
        """T_v, sorted."""
        return self.node_topics[self.node_offsets[node] : self.node_offsets[node + 1]]

    def subscribers(self, topic: int) -> Ids:
        """V_t, sorted."""
        return self.topic_nodes[self.topic_offsets[topic] : self.topic_offsets[topic + 1]]

    def node_label(self, node: int) -> str:
        """The label of a node."""
        return self.node_labels[node] if self.node_labels is not None else f"n{node}"

    def topic_label(self, topic: int) -> str:
        """The label of a topic."""
        return self.topic_labels[topic] if self.topic_labels is not None else f"t{topic}"

    def sample(self, size: int, seed: int) -> TopicInstance:
        """The instance on `size` nodes drawn without replacement, in their order; the seed lies from 0 to 2^63 - 1."""
        return self.induced(sampled(self.num_nodes, size, seed, "nodes"))

    def induced(self, nodes: npt.NDArray[np.integer]) -> TopicInstance:
        """The instance on distinct nodes, in the order given, with their labels and costs."""
        if len(nodes) == 0:
            raise BadInput("an instance needs at least one node with one topic")
        offsets, entries = entries_of(self.node_offsets, nodes)
        part = TopicInstance.from_sorted(
            offsets,
            self.node_topics[entries],
            self.num_topics,
            [self.node_label(int(v)) for v in nodes],
            [self.topic_label(t) for t in range(self.num_topics)],
        )
        return part if self.costs is None else part.with_costs(self.costs.induced(nodes))

    def _content(self) -> tuple[str, Iterable[npt.NDArray[Any]]]:
        sizes = np.array([self.num_nodes, self.num_topics], dtype=np.int64)
        costs = () if self.costs is None else (np.frombuffer(self.costs.contents, np.uint8),)
        return FORMAT, (sizes, self.node_offsets, self.node_topics, *costs)

    def to_arrow(self) -> pa.Table:
        """A pyarrow table with the columns ``node`` and ``topic``, a row a subscription."""
        import pyarrow as pa

        nodes = pa.array([self.node_label(v) for v in range(self.num_nodes)], pa.string())
        topics = pa.array([self.topic_label(t) for t in range(self.num_topics)], pa.string())
        node_ids = np.repeat(np.arange(self.num_nodes), np.diff(self.node_offsets))
        return pa.table({"node": nodes.take(pa.array(node_ids)), "topic": topics.take(pa.array(self.node_topics))})

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame with the columns ``node`` and ``topic``, a row a subscription."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame with the columns ``node`` and ``topic``, a row a subscription."""
        import polars as pl

        return pl.DataFrame(self.to_arrow())

    def to_networkx(self) -> nx.Graph[tuple[str, str]]:
        """A bipartite networkx graph on ("node", label) and ("topic", label) with attribute ``bipartite`` 0 and 1."""
        import networkx as nx

        graph: nx.Graph[tuple[str, str]] = nx.Graph()
        nodes = [("node", self.node_label(v)) for v in range(self.num_nodes)]
        topics = [("topic", self.topic_label(t)) for t in range(self.num_topics)]
        graph.add_nodes_from(nodes, bipartite=0)
        graph.add_nodes_from(topics, bipartite=1)
        graph.add_edges_from((nodes[v], topics[t]) for v in range(self.num_nodes) for t in self.topics_of(v).tolist())
        return graph

    def to_scipy(self) -> sp.csr_array:
        """A SciPy sparse matrix of booleans, nodes × topics."""
        import scipy.sparse as sp

        ones = np.ones(self.num_subscriptions, dtype=np.bool_)
        return sp.csr_array((ones, self.node_topics, self.node_offsets), shape=(self.num_nodes, self.num_topics))

    def _shown(self) -> tuple[Mapping[str, object], str]:
        rows = {
            "topics of a node": spread_of(np.diff(self.node_offsets)),
            "subscribers of a topic": spread_of(np.diff(self.topic_offsets)),
        }
        labelled = (self.num_nodes, self.node_label), (self.num_topics, self.topic_label)
        return rows, matrix(*labelled, self.topics_of)
