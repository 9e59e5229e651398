"""An overlay: an undirected graph on the nodes of an instance; in files, overlay/1 JSON."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..runtime.compiled import kernel
from .arrays import Ids, Offsets, check_ends, connected_components, entries_of, frozen, ordered_edges, sorted_distinct
from .errors import BadInput
from .files import atomic_write, errors_in, read_json, read_text, unpacked_name, write_json
from .graph_files import (
    DOT,
    GRAPHML,
    TABLES,
    GraphInFile,
    columns_of_ends,
    dot_of,
    edges_of_table,
    graph_of_dot,
    graph_of_graphml,
    graphml_of,
    table_of,
)
from .kind import Kind
from .shown import Drawn, circle, facts, spread_of
from .tables import parquet_labels, separated
from .terms import said

if TYPE_CHECKING:
    import networkx as nx


_ENDS_AT_ONCE, _FAR_MORE = 500_000, 16
_COMPILED_FROM = 2**17  # subscriptions and edges: fewer are judged before a kernel is loaded


class LabelledNodes(Protocol):
    """An instance whose nodes have distinct labels."""

    @property
    def num_nodes(self) -> int: ...
    def node_label(self, node: int) -> str: ...


class SubscriptionArrays(Protocol):
    """The topics of each node as CSR arrays (see :class:`.TopicInstance`)."""

    @property
    def num_nodes(self) -> int: ...
    @property
    def num_topics(self) -> int: ...
    @property
    def node_offsets(self) -> Offsets: ...
    @property
    def node_topics(self) -> Ids: ...


@dataclass(frozen=True, eq=False)
class Overlay(Drawn):
    """A graph on nodes 0…n-1 with distinct edges u < v in lexicographic order.

    Raises BadInput if an edge is a loop, repeated, out of order, or has an end outside 0…n-1.

    Parameters
    ----------
    num_nodes : int
        n, at least 1.
    edges : int32 array, shape (m, 2)
        A copy is kept. Build it from edges in any order and direction with :meth:`from_edges`.

    Examples
    --------
    >>> import overlaybench as ob
    >>> overlay = ob.Overlay.from_edges(3, [(2, 0), (0, 1)])
    >>> overlay.num_edges, overlay.max_degree
    (2, 2)
    """

    num_nodes: int
    edges: Ids

    def __post_init__(self) -> None:
        if self.num_nodes < 1:
            raise BadInput("an overlay needs at least one node")
        self._set(edges=ordered_edges(_pairs(self.edges), self.num_nodes, "edge"))

    @classmethod
    def from_edges(cls, num_nodes: int, edges: Iterable[tuple[int, int]] | npt.NDArray[np.integer]) -> Overlay:
        """Build from edges in any order and direction; a repeated edge counts once.

        Cost O(m log m). Raises BadInput for a loop, or an end outside 0…n-1, naming the edge by its index.
        """
        array = frozen(_pairs(edges if isinstance(edges, np.ndarray) else list(edges)), np.int64)
        check_ends(array, num_nodes, "edge")
        if (loops := np.flatnonzero(array[:, 0] == array[:, 1])).size:
            raise BadInput(f"edge {loops[0]}: a loop at node {array[loops[0], 0]}: remove it")
        keys = sorted_distinct(array.min(axis=1) * num_nodes + array.max(axis=1))
        return cls(num_nodes, np.stack([keys // num_nodes, keys % num_nodes], axis=1).astype(np.int32))

    @property
    def num_edges(self) -> int:
        """|E|."""
        return len(self.edges)

    @cached_property
    def degrees(self) -> npt.NDArray[np.int64]:
        """The degree of each node, shape (n,)."""
        return np.bincount(self.edges.ravel(), minlength=self.num_nodes)

    @property
    def max_degree(self) -> int:
        """The largest degree."""
        return int(self.degrees.max())

    @property
    def average_degree(self) -> float:
        """2|E| ÷ |V|."""
        return 2 * self.num_edges / self.num_nodes

    def topic_links(self, instance: SubscriptionArrays) -> tuple[Offsets, Offsets]:
        """Every (edge, common topic of its ends), as two indices into ``instance.node_topics``: of (u, t) and (v, t).

        Cost O(Σ_edges |T_u| log Σ|T_v|). Memory: the result, O(Σ|T_v| + |E|), and a bounded buffer.
        """
        offsets, topics, count = instance.node_offsets, instance.node_topics, instance.num_topics
        keys = np.repeat(np.arange(instance.num_nodes), np.diff(offsets)) * count + topics
        links: list[tuple[Offsets, Offsets]] = []
        ends = np.cumsum(np.diff(offsets)[self.edges[:, 0]])
        cuts = np.searchsorted(ends, np.arange(_ENDS_AT_ONCE, ends[-1] if len(ends) else 0, _ENDS_AT_ONCE))
        for part in np.split(self.edges, np.unique(cuts)):
            u, v = part.astype(np.int64).T
            taken, at_u = entries_of(offsets, u)
            sought = np.repeat(v, np.diff(taken)) * count + topics[at_u]
            at_v = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
            common = keys[at_v] == sought
            links.append((at_u[common], at_v[common]))
        return np.concatenate([at_u for at_u, _ in links]), np.concatenate([at_v for _, at_v in links])

    def topic_components(self, instance: SubscriptionArrays) -> npt.NDArray[np.int64]:
        """The number of components of G_t for each topic t, shape (|T|,) (P1 §3).

        Cost O(Σ|T_v| + Σ_edges min(|T_v|, |T_u| log |T_v|)) for u < v, memory O(Σ|T_v|).
        """
        topics = instance.node_topics
        if self.num_nodes != instance.num_nodes:
            raise BadInput(
                f"an overlay on {self.num_nodes} nodes for {instance.num_nodes}: give one on the instance's nodes"
            )
        if len(topics) + self.num_edges > _COMPILED_FROM:
            return _components(instance.node_offsets, topics, instance.num_topics, self.edges)
        root = connected_components(len(topics), *self.topic_links(instance))
        return np.bincount(topics[root == np.arange(len(root))], minlength=instance.num_topics)

    def to_networkx(self, instance: LabelledNodes | None = None) -> nx.Graph[int | str]:
        """The graph in networkx; its nodes are the labels of the instance if it is given."""
        import networkx as nx

        name = instance.node_label if instance is not None else int
        graph: nx.Graph[int | str] = nx.Graph()
        graph.add_nodes_from(name(v) for v in range(self.num_nodes))
        graph.add_edges_from((name(int(u)), name(int(v))) for u, v in self.edges)
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], instance: LabelledNodes) -> Overlay:
        """The overlay of a networkx graph whose nodes, or an attribute such as ``label``, are labels of the instance.

        Raises BadInput if a node has no label of its own, or the labels may be read in two ways.
        """
        nodes = {
            str(v): {str(name): str(value) for name, value in given.items()} for v, given in graph.nodes(data=True)
        }
        return cls._of_graph(GraphInFile(nodes, ((str(u), str(v)) for u, v in graph.edges())), instance)

    @classmethod
    def _of_graph(cls, graph: GraphInFile, instance: LabelledNodes, *, known_only: bool = False) -> Overlay:
        edges = graph.labelled_edges(_labels(instance), some=known_only)
        return cls.from_labels(edges, instance, known_only=known_only)

    @classmethod
    def from_labels(
        cls, edges: Iterable[tuple[Hashable, Hashable]], instance: LabelledNodes, *, known_only: bool = False
    ) -> Overlay:
        """The overlay of edges given by node labels, or objects with their text.

        A loop is bad input, and so is an unknown label; with `known_only` its edges are left out.
        """
        ids = {instance.node_label(v): v for v in range(instance.num_nodes)}
        pairs = []
        for number, edge in enumerate(edges):
            try:
                a, b = map(str, edge)
            except (TypeError, ValueError):
                raise BadInput(f"edge {number}: {edge!r:.40} is not two labels: give two") from None
            if known_only and (a not in ids or b not in ids):
                continue
            if a not in ids or b not in ids:
                where, fix = said(f"edge {number}: unknown node"), said("name a node of the instance")
                raise BadInput(f"{where} '{b if a in ids else a}': {fix}")
            if a == b:
                raise BadInput(f"{said('edge')} {number}: a loop at '{a}': remove it")
            pairs.append((ids[a], ids[b]))
        return cls.from_edges(instance.num_nodes, pairs)

    def __repr__(self) -> str:
        return f"Overlay({self.num_nodes} nodes, {self.num_edges} edges, maximum degree {self.max_degree})"

    def _repr_html_(self) -> str:
        rows = {"nodes": self.num_nodes, "edges": self.num_edges, "degrees": spread_of(self.degrees)}
        return facts("Overlay", rows, circle((self.num_nodes, str), self.edges))


@kernel
def _components(offsets: Offsets, topics: Ids, num_topics: int, edges: Ids) -> npt.NDArray[np.int64]:
    """The number of components of each topic, by a union-find on subscriptions.

    `entry_of` has the entry of each topic of node u, whose edges follow each other; those of former nodes are smaller.
    """
    components = np.bincount(topics, minlength=num_topics)
    root, entry_of, listed = np.arange(len(topics)), np.full(num_topics, -1), -1
    for k in range(len(edges)):
        u, v = edges[k, 0], edges[k, 1]
        first, last, begin, end = offsets[u], offsets[u + 1], offsets[v], offsets[v + 1]
        if end - begin > _FAR_MORE * (last - first):  # a node of most topics need not be read for each neighbour
            for at in range(first, last):
                found = begin + np.searchsorted(topics[begin:end], topics[at])
                if found < end and topics[found] == topics[at] and _joins(root, at, found):
                    components[topics[at]] -= 1
            continue
        if u != listed:
            entry_of[topics[first:last]] = np.arange(first, last)
            listed = u
        for at in range(begin, end):
            if entry_of[topics[at]] >= first and _joins(root, entry_of[topics[at]], at):
                components[topics[at]] -= 1
    return components


@kernel
def _joins(root: Offsets, a: int, b: int) -> bool:
    """Join the trees of two vertices, if they are two, and return whether; paths to the roots are halved."""
    while root[a] != a:
        root[a] = root[root[a]]
        a = root[a]
    while root[b] != b:
        root[b] = root[root[b]]
        b = root[b]
    root[max(a, b)] = min(a, b)
    return a != b


def _pairs(edges: npt.ArrayLike) -> npt.NDArray[Any]:
    try:
        array = np.asarray(edges)
    except ValueError:
        raise BadInput("the edges of an overlay must be pairs of nodes") from None
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 2:
        raise BadInput(f"the edges of an overlay must be pairs of nodes, not an array of shape {array.shape}")
    return array


FORMAT = "overlay/1"
PARQUET, _ENDS = ".parquet", ("u", "v")


class _OverlayInFile(Struct):
    edges: list[tuple[str, str]]


def read_overlay(path: str | Path, instance: LabelledNodes, *, known_only: bool = False) -> Overlay:
    """Read an overlay of an instance: JSON, GraphML, DOT, or edges by label in CSV, TSV or Parquet (a file, a folder).

    Columns are named source and target, u and v, or from and to. An edge given twice counts once. With `known_only`
    edges of nodes that the instance lacks are left out.

    Raises BadInput if the file cannot be used; the message names the file, the edge (counted from 0) and the fix.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_overlay(ob.Overlay.from_edges(2, [(0, 1)]), instance, f"{folder}/overlay.json")
    ...     ob.read_overlay(f"{folder}/overlay.json", instance)
    Overlay(2 nodes, 1 edges, maximum degree 1)
    """
    path, of_labels = Path(path), partial(Overlay.from_labels, instance=instance, known_only=known_only)
    with errors_in(path):
        ending = unpacked_name(path).suffix
        if ending == PARQUET:
            ends, _ = parquet_labels(path, columns_of_ends)
            edges = zip(*([one.distinct[at] for at in one.codes.tolist()] for one in ends), strict=True)
            return of_labels(edges)
        if ending == GRAPHML:
            return Overlay._of_graph(graph_of_graphml(read_text(path)), instance, known_only=known_only)
        if ending in DOT:
            return Overlay._of_graph(graph_of_dot(read_text(path)), instance, known_only=known_only)
        if ending in TABLES:
            return of_labels(edges_of_table(separated(path), _labels(instance)))
    document = read_json(path, FORMAT, _OverlayInFile)
    with errors_in(path):
        return of_labels(document.edges)


def write_overlay(overlay: Overlay, instance: LabelledNodes, path: str | Path) -> None:
    """Write an overlay with the labels of its instance: JSON, or GraphML, DOT, CSV, TSV or Parquet by its suffix.

    The inverse of :func:`read_overlay`.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_overlay(ob.Overlay.from_edges(2, [(0, 1)]), instance, f"{folder}/overlay.json")
    ...     ob.check(instance, f"{folder}/overlay.json", "min-tco")
    []
    """
    path, edges = Path(path), labelled_edges(overlay, instance)
    if path.suffix in (GRAPHML, *DOT):
        with errors_in(path):
            labels = map(instance.node_label, range(instance.num_nodes))
            atomic_write(path, (graphml_of if path.suffix == GRAPHML else dot_of)(labels, edges))
    elif path.suffix in TABLES:
        atomic_write(path, table_of(edges, _labels(instance), "," if path.suffix == ".csv" else "\t"))
    elif path.suffix == PARQUET:
        import pyarrow as pa
        import pyarrow.parquet as pq

        ends = {name: pa.array([edge[at] for edge in edges], pa.string()) for at, name in enumerate(_ENDS)}
        atomic_write(path, partial(pq.write_table, pa.table(ends)))
    else:
        write_json(path, {"format": FORMAT, "edges": edges})


def _labels(instance: LabelledNodes) -> set[str]:
    return {instance.node_label(v) for v in range(instance.num_nodes)}


def labelled_edges(overlay: Overlay, instance: LabelledNodes) -> list[tuple[str, str]]:
    """The edges by node label, in the overlay's order."""
    return [(instance.node_label(int(u)), instance.node_label(int(v))) for u, v in overlay.edges]


_Nodes = TypeVar("_Nodes", bound=LabelledNodes)


class OverlayKind(Kind[_Nodes, Overlay]):
    """A kind of instances that overlays answer."""

    answer_type, shown, answer_format, answer_endings = Overlay, ("edges",), FORMAT, (PARQUET, *TABLES, GRAPHML, *DOT)

    def read_answer(self, path: Path, instance: _Nodes) -> Overlay:
        self.check_ending(unpacked_name(path))
        return read_overlay(path, instance)

    def write_answer(self, answer: Overlay, instance: _Nodes, path: Path) -> None:
        self.check_ending(path)
        write_overlay(answer, instance, path)

    def labelled(self, answer: Overlay, instance: _Nodes) -> dict[str, object]:
        return {"edges": labelled_edges(answer, instance)}

    def pack(self, answer: Overlay) -> npt.NDArray[np.int32]:
        """The ends of the edges in order: u0, v0, u1, v1 and so on."""
        return answer.edges.ravel()

    def unpack(self, packed: npt.NDArray[np.int32], instance: _Nodes) -> Overlay:
        return Overlay.from_edges(instance.num_nodes, np.asarray(packed, dtype=np.int64).reshape(-1, 2))
