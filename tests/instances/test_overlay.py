"""Overlay: its normal form, degrees, topic links and topic components, against networkx, and its files."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.contract import overlay as overlay_module
from overlaybench.instances.topics.files import TOPICS
from tests.instances.topics.test_bad_files import refused, table, written
from tests.instances.topics.test_files import LABELS
from tests.properties import property_test
from tests.topic_strategies import instances_with_overlays, overlays

INSTANCE = ob.TopicInstance.from_subscriptions({"n2": ["x"], "n10": ["x", "y"], "n1": ["y"]})


def random_case(rng: np.random.Generator, most_nodes: int = 12) -> tuple[ob.TopicInstance, ob.Overlay]:
    """An instance and an edge set, both of random density."""
    nodes, topics = int(rng.integers(1, most_nodes + 1)), int(rng.integers(1, 8))
    wanted = rng.random((nodes, topics)) < rng.random()
    wanted[np.arange(nodes), rng.integers(topics, size=nodes)] = True
    instance = ob.TopicInstance.from_subscriptions(
        {f"n{v}": [f"t{t}" for t in range(topics) if wanted[v, t]] for v in range(nodes)}
    )
    density = rng.random()
    edges = [edge for edge in combinations(range(nodes), 2) if rng.random() < density]
    return instance, ob.Overlay.from_edges(nodes, edges)


def subgraphs(instance: ob.TopicInstance, overlay: ob.Overlay) -> list[nx.Graph[int]]:
    """G_t for each topic, by definition."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(instance.num_nodes))
    graph.add_edges_from((int(u), int(v)) for u, v in overlay.edges)
    subscribers = [
        [v for v in range(instance.num_nodes) if t in instance.topics_of(v).tolist()]
        for t in range(instance.num_topics)
    ]
    return [graph.subgraph(some) for some in subscribers]


def links_by_definition(instance: ob.TopicInstance, overlay: ob.Overlay) -> list[tuple[int, int, int]]:
    sets = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
    return sorted((int(u), int(v), t) for u, v in overlay.edges for t in sets[u] & sets[v])


def links(instance: ob.TopicInstance, overlay: ob.Overlay) -> list[tuple[int, int, int]]:
    at_u, at_v = overlay.topic_links(instance)
    node_of = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    assert (instance.node_topics[at_u] == instance.node_topics[at_v]).all()
    return sorted(zip(node_of[at_u].tolist(), node_of[at_v].tolist(), instance.node_topics[at_u].tolist(), strict=True))


@property_test(100, st.integers(2, 9), st.data())
def test_edges_come_out_distinct_sorted_and_smaller_end_first(num_nodes: int, data: st.DataObject) -> None:
    end = st.integers(0, num_nodes - 1)
    given_edges = data.draw(st.lists(st.tuples(end, end).filter(lambda e: e[0] != e[1])))
    overlay = ob.Overlay.from_edges(num_nodes, given_edges)
    assert [tuple(edge) for edge in overlay.edges.tolist()] == sorted({(min(e), max(e)) for e in given_edges})
    assert overlay.edges.dtype == np.int32
    assert overlay == ob.Overlay.from_edges(num_nodes, [(v, u) for u, v in reversed(given_edges)])


def test_node_numbers_near_the_top_of_their_type_stay_apart() -> None:
    top = 2**31 - 1
    overlay = ob.Overlay.from_edges(top, [(top - 1, 0), (top - 2, top - 1)])
    assert overlay.edges.tolist() == [[0, top - 1], [top - 2, top - 1]]


@property_test(100, instances_with_overlays())
def test_degrees_are_those_of_networkx(case: tuple[ob.TopicInstance, ob.Overlay]) -> None:
    _, overlay = case
    graph = overlay.to_networkx()
    degrees = [graph.degree(v) for v in range(overlay.num_nodes)]
    assert overlay.degrees.tolist() == degrees
    assert overlay.max_degree == max(degrees)
    assert overlay.average_degree == pytest.approx(sum(degrees) / len(degrees))


@pytest.mark.parametrize("cases", [30, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ends_at_once", [1, 3, 5_000_000])
def test_topic_links_and_components_are_right(ends_at_once: int, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay_module, "_ENDS_AT_ONCE", ends_at_once)
    rng = np.random.default_rng(ends_at_once)
    for _ in range(cases):
        instance, overlay = random_case(rng)
        assert links(instance, overlay) == links_by_definition(instance, overlay)
        expected = [nx.number_connected_components(graph) for graph in subgraphs(instance, overlay)]
        assert overlay.topic_components(instance).tolist() == expected


@property_test(50, instances_with_overlays())
def test_networkx_gives_the_overlay_back(case: tuple[ob.TopicInstance, ob.Overlay]) -> None:
    instance, overlay = case
    assert ob.Overlay.from_networkx(overlay.to_networkx(instance), instance) == overlay
    assert set(overlay.to_networkx().nodes) == set(range(overlay.num_nodes))


def edges(*pairs: Any) -> ob.Overlay:
    return ob.Overlay.from_edges(3, list(pairs))


def labels(*pairs: Any) -> ob.Overlay:
    return ob.Overlay.from_labels(pairs, INSTANCE)


def normal(*pairs: Any) -> ob.Overlay:
    return ob.Overlay(3, np.array(pairs))


def graph_with(stranger: str) -> ob.Overlay:
    graph = ob.Overlay.from_edges(3, []).to_networkx(INSTANCE)
    graph.add_node(stranger)
    return ob.Overlay.from_networkx(graph, INSTANCE)


@pytest.mark.parametrize(
    ("build", "given", "fragment"),
    [
        (edges, [(0, 1), (2, 2)], "edge 1: a loop at node 2"),
        (edges, [(0, 1), (1, 3)], r"edge 1: its end 3 is outside 0…2"),
        (edges, [(-1, 1)], r"edge 0: its end -1 is outside 0…2"),
        (edges, [(0, 1, 2)], "pairs of nodes"),
        (edges, [(0, 1, 2), (0, 1, 2)], "pairs of nodes"),  # six numbers are not three pairs
        (edges, [(0, 1), (1,)], "pairs of nodes"),
        (edges, [0, 1], "pairs of nodes"),
        (edges, [(0.5, 1)], "do not fit"),
        (edges, [(2**40, 1)], "outside"),
        *((normal, given, "sort them") for given in ([(1, 0)], [(0, 0)], [(0, 1), (0, 1)], [(1, 2), (0, 1)])),
        *((normal, given, "outside") for given in ([(0, 3)], [(-1, 0)])),
        (normal, [(2**32, 2**32 + 1)], "do not fit"),
        (normal, [(0, 1, 2)], "pairs of nodes"),
        (labels, [("n1", "n2"), ("n1", "n3")], "edge 1: unknown node 'n3'"),
        (labels, [("n3", "n1")], "edge 0: unknown node 'n3'"),
        (labels, [("n1", "n2"), ("n2", "n2")], "edge 1: a loop at 'n2'"),
        (graph_with, ["stranger"], "unknown node 'stranger'"),
    ],
)
def test_what_joins_no_two_nodes_is_refused(build: Any, given: list[Any], fragment: str) -> None:
    with pytest.raises(ob.BadInput, match=fragment):
        build(*given)


@pytest.mark.parametrize("copy", [lambda overlay: overlay, lambda overlay: pickle.loads(pickle.dumps(overlay))])
def test_an_overlay_cannot_be_changed(copy: Callable[[ob.Overlay], ob.Overlay]) -> None:
    overlay = copy(ob.Overlay.from_edges(3, [(0, 1)]))
    with pytest.raises(ValueError, match="read-only"):
        overlay.edges[0, 0] = 2
    with pytest.raises(AttributeError):
        overlay.num_nodes = 4  # type: ignore[misc]


def test_an_overlay_keeps_a_copy_and_equals_those_of_the_same_nodes_and_edges() -> None:
    edges = np.array([[0, 1]], dtype=np.int32)
    overlay = ob.Overlay(3, edges)
    edges[0, 1] = 2
    assert overlay.edges.tolist() == [[0, 1]]
    overlay = ob.Overlay.from_edges(3, [(0, 1)])
    assert overlay == pickle.loads(pickle.dumps(overlay))
    assert hash(overlay) == hash(ob.Overlay.from_edges(3, [(1, 0)]))
    assert overlay != ob.Overlay.from_edges(4, [(0, 1)])
    assert overlay != ob.Overlay.from_edges(3, [(0, 2)])
    assert overlay != "another thing"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("overlays")


@property_test(100, labels=st.sets(LABELS, min_size=1, max_size=6), data=st.data())
def test_what_is_written_is_read_back(folder: Path, labels: set[str], data: st.DataObject) -> None:
    instance = ob.TopicInstance.from_subscriptions({label: ["x"] for label in labels})
    overlay = data.draw(overlays(len(labels)))
    for path in (folder / "overlay.json", folder / "overlay.parquet"):
        TOPICS.write_answer(overlay, instance, path)
        assert TOPICS.read_answer(path, instance) == overlay
    assert sorted(file.name for file in folder.iterdir()) == ["overlay.json", "overlay.parquet"]
    with pytest.raises(ob.BadInput, match=r"overlay\.csv: .* choose the ending \.json or"):
        TOPICS.write_answer(overlay, instance, folder / "overlay.csv")


def test_parts_in_parquet_as_spark_writes_them_are_one_overlay(tmp_path: Path) -> None:
    parts = tmp_path / "overlay.parquet"
    parts.mkdir()
    for number, (u, v) in enumerate([("n1", "n10"), ("n10", "n2")]):
        pq.write_table(pa.table({"u": [u], "v": [v]}), parts / f"part-{number}.parquet")
    overlay = ob.read_overlay(parts, INSTANCE)
    assert overlay == ob.Overlay.from_edges(3, [(0, 2), (1, 2)])
    assert ob.read_overlay(parts / "part-0.parquet", INSTANCE).num_edges == 1
    for columns, said in (
        ({"u": ["n1"], "w": ["n2"]}, "no column 'v' among 'u', 'w'"),
        ({"u": ["n1"], "v": ["n3"]}, "edge 0: unknown node 'n3'"),
        ({"u": ["n1"], "v": [None]}, "row 1: an empty v"),
    ):
        pq.write_table(pa.table(columns), tmp_path / "bad.parquet")
        with refused(tmp_path / "bad.parquet", said):
            ob.read_overlay(tmp_path / "bad.parquet", INSTANCE)


OVERLAY = ob.Overlay.from_edges(3, [(0, 1), (1, 2)])


def on(labels: list[str]) -> ob.TopicInstance:
    return ob.TopicInstance.from_subscriptions({label: ["t"] for label in labels})


@property_test(60, labels=st.lists(LABELS, min_size=3, max_size=3, unique=True))
@example(labels=["a b", 'say "hi"', "<&>"])
@example(labels=["tab\there", "two\nlines", "\\"])
@example(labels=["\x00", "a", "b"])
def test_graphml_gives_the_overlay_back(tmp_path_factory: pytest.TempPathFactory, labels: list[str]) -> None:
    instance, path = on(labels), tmp_path_factory.mktemp("graph") / "overlay.graphml"
    try:
        ob.write_overlay(OVERLAY, instance, path)
    except ob.BadInput:
        assert not path.exists()
        return
    assert ob.read_overlay(path, instance).edges.tolist() == OVERLAY.edges.tolist()
    graph = nx.read_graphml(path)
    assert {*graph} == {*labels}
    assert {*map(frozenset, graph.edges)} == {*map(frozenset, OVERLAY.to_networkx(instance).edges)}


HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d0" for="node" attr.name="name"/><graph>'


def test_nodes_are_known_by_their_attribute_label_or_name_else_by_their_identifier(tmp_path: Path) -> None:
    nodes = '<node id="62"><data key="d0">a</data></node><node id="63"><data key="d0">b</data></node><node id="c"/>'
    edges = '<edge source="62" target="63"/><edge directed="true" source="c" target="63"/>'
    path = written(tmp_path / "o.graphml", f"{HEAD}{nodes}{edges}</graph></graphml>")
    assert ob.read_overlay(path, on(["a", "b", "c"])).edges.tolist() == [[0, 1], [1, 2]]


ENTITIES = "".join(
    f'<!ENTITY {one} "{40 * ("&" + other + ";")}">' for one, other in zip("bcdefgh", "abcdefg", strict=True)
)
BOMB = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{ENTITIES}]><graphml>&h;</graphml>'
BAD = [
    ("empty", "", "line 1, column 1: no element found: correct the XML"),
    ("cut off", HEAD + '\n<edge source="a"', "line 2, column 1: unclosed token"),
    ("no target", HEAD + '<edge source="n0"/></graph></graphml>', "edge 0 has no source or no target: add it"),
    ("unknown", HEAD + '<edge source="n0" target="x"/></graph></graphml>', "edge 0: unknown node 'x': name a node"),
    ("loop", HEAD + '<edge source="n0" target="n0"/></graph></graphml>', "edge 0: a loop at 'n0': remove it"),
    ("expansion", BOMB, "limit on input amplification"),
]


@table(BAD)
def test_bad_graphml(tmp_path: Path, content: str, fragment: str) -> None:
    path = written(tmp_path / "overlay.graphml", content)
    with refused(path, fragment):
        ob.read_overlay(path, on(["n0", "n1"]))


@pytest.mark.parametrize("ending", [".dot", ".gv"])
def test_dot_quotes_every_label(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"overlay{ending}"
    ob.write_overlay(OVERLAY, on(["a b", 'c"', "d\\"]), path)
    assert path.read_text().split("\n")[1:-2] == [
        '  "a b";',
        '  "c\\"";',
        '  "d\\\\";',
        '  "a b" -- "c\\"";',
        '  "c\\"" -- "d\\\\";',
    ]
