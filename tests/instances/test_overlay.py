"""Overlay: its normal form, degrees, topic links and topic components, against networkx, and its files."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
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
from overlaybench.instances.contract.graph_files import graph_of_dot
from overlaybench.instances.topics.files import TOPICS
from tests.instances.topics.test_bad_files import refused, written
from tests.instances.topics.test_files import LABELS
from tests.properties import property_test
from tests.topic_brute_force import members_of_topics
from tests.topic_strategies import Case, instances_with_overlays

INSTANCE = ob.TopicInstance.from_subscriptions({"n2": ["x"], "n10": ["x", "y"], "n1": ["y"]})


def random_case(rng: np.random.Generator, most_nodes: int = 12) -> Case:
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


def case_of_hubs(rng: np.random.Generator) -> Case:
    """An instance with nodes of one, two and all of 40 topics, in any order, and an edge set of random density."""
    sizes = rng.choice([1, 2, 40], size=rng.integers(2, 10))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    topics = np.concatenate([np.sort(rng.choice(40, size, replace=False)) for size in sizes]).astype(np.int32)
    instance, density = ob.TopicInstance.from_sorted(offsets, topics, 40), rng.random()
    edges = [edge for edge in combinations(range(len(sizes)), 2) if rng.random() < density]
    return instance, ob.Overlay.from_edges(len(sizes), edges)


def subgraphs(instance: ob.TopicInstance, overlay: ob.Overlay) -> list[nx.Graph[int]]:
    """G_t for each topic, by definition."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(instance.num_nodes))
    graph.add_edges_from((int(u), int(v)) for u, v in overlay.edges)
    return [graph.subgraph(members) for members in members_of_topics(instance)]


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
def test_degrees_are_those_of_networkx(case: Case) -> None:
    _, overlay = case
    graph = overlay.to_networkx()
    degrees = [graph.degree(v) for v in range(overlay.num_nodes)]
    assert overlay.degrees.tolist() == degrees
    assert overlay.max_degree == max(degrees)
    assert overlay.average_degree == pytest.approx(sum(degrees) / len(degrees))


@pytest.mark.parametrize("cases", [30, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ends_at_once", [1, 3, 5_000_000])
def test_topic_links_are_right(ends_at_once: int, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay_module, "_ENDS_AT_ONCE", ends_at_once)
    rng = np.random.default_rng(ends_at_once)
    for _ in range(cases):
        instance, overlay = random_case(rng)
        assert links(instance, overlay) == links_by_definition(instance, overlay)


@pytest.mark.parametrize("cases", [100, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("compiled_from", [-1, 10**9])
@pytest.mark.parametrize("random", [random_case, case_of_hubs])
def test_topic_components_are_those_of_networkx(
    random: Callable[..., Any], compiled_from: int, cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlay_module, "_COMPILED_FROM", compiled_from)
    rng, connected = np.random.default_rng(cases), list[bool]()
    for _ in range(cases):
        instance, overlay = random(rng)
        expected = [nx.number_connected_components(graph) for graph in subgraphs(instance, overlay)]
        assert overlay.topic_components(instance).tolist() == expected
        connected.append(max(expected) == 1)
    assert {True, False} == set(connected)


@pytest.mark.parametrize("compiled_from", [-1, 10**9])
def test_components_of_another_number_of_nodes_are_refused(compiled_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay_module, "_COMPILED_FROM", compiled_from)
    for nodes in (2, 4):
        with pytest.raises(ob.BadInput, match=f"on {nodes} nodes for 3"):
            ob.Overlay.from_edges(nodes, [(0, 1)]).topic_components(INSTANCE)


@property_test(50, instances_with_overlays())
def test_networkx_gives_the_overlay_back(case: Case) -> None:
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


ENDS = st.integers(0, 5)


@property_test(100, labels=st.sets(LABELS, min_size=1, max_size=6), pairs=st.sets(st.tuples(ENDS, ENDS)))
@example(labels={"a b", 'say "hi"', "<&>"}, pairs={(0, 1), (1, 2)})
@example(labels={"tab\there", "two\nlines", "\\"}, pairs={(0, 1), (1, 2)})
@example(labels={"\x00", "a", "b"}, pairs={(0, 1), (1, 2)})
def test_what_is_written_is_read_back(folder: Path, labels: set[str], pairs: set[tuple[int, int]]) -> None:
    instance = ob.TopicInstance.from_subscriptions({label: ["x"] for label in labels})
    overlay = ob.Overlay.from_edges(len(labels), [(u, v) for u, v in pairs if u < v < len(labels)])
    for ending in TOPICS.answer_endings:
        path = folder / f"overlay{ending}"
        try:
            TOPICS.write_answer(overlay, instance, path)
        except ob.BadInput:  # XML has no place for control characters, DOT none for the carriage return
            assert ending == ".graphml" or "\r" in "".join(labels)
            continue
        assert TOPICS.read_answer(path, instance) == overlay
        if ending == ".graphml":
            graph = nx.read_graphml(path)
            assert {*graph} == {*labels}
            assert {*map(frozenset, graph.edges)} == {*map(frozenset, overlay.to_networkx(instance).edges)}
        path.unlink()
        with pytest.raises(ob.BadInput, match=r"unknown ending '\.sif': use \.json, "):
            TOPICS.write_answer(overlay, instance, folder / "overlay.sif")
    assert not [*folder.iterdir()]


def test_parts_in_parquet_as_spark_writes_them_are_one_overlay(tmp_path: Path) -> None:
    parts = tmp_path / "overlay.parquet"
    parts.mkdir()
    for number, (u, v) in enumerate([("n1", "n10"), ("n10", "n2")]):
        pq.write_table(pa.table({"u": [u], "v": [v]}), parts / f"part-{number}.parquet")
    overlay = ob.read_overlay(parts, INSTANCE)
    assert overlay == ob.Overlay.from_edges(3, [(0, 2), (1, 2)])
    assert ob.read_overlay(parts / "part-0.parquet", INSTANCE).num_edges == 1
    for columns, said in (
        ({"u": ["n1"], "w": ["n2"]}, "which columns of 'u', 'w' hold the ends"),
        ({"u": ["n1"], "v": ["n3"]}, "edge 0: unknown node 'n3'"),
        ({"u": ["n1"], "v": [None]}, "row 1: an empty v"),
    ):
        pq.write_table(pa.table(columns), tmp_path / "bad.parquet")
        with refused(tmp_path / "bad.parquet", said):
            ob.read_overlay(tmp_path / "bad.parquet", INSTANCE)


def on(labels: list[str]) -> ob.TopicInstance:
    return ob.TopicInstance.from_subscriptions({label: ["t"] for label in labels})


HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d0" for="node" attr.name="name"/><graph>'
TWO = '<node id="n0"/><node id="n1"/>'


def graphml(labels: dict[str, str], edges: list[tuple[str, str]], name: str = "name", head: str = "") -> str:
    """A graph whose nodes have an identifier and, unless it is empty, a label in an attribute of some name."""
    data = {node: f'<data key="d0">{label}</data>' if label else "" for node, label in labels.items()}
    nodes = "".join(f'<node id="{node}">{data[node]}</node>' for node in labels)
    lines = "".join(f'<edge source="{u}" target="{v}"/>' for u, v in edges)
    key = f'<key id="d0" for="node" attr.name="{name}"/>'
    return f"<graphml>{head}{key}<graph>{nodes}{lines}</graph></graphml>"


def dot(labels: dict[str, str], edges: list[tuple[str, str]], name: str = "label", head: str = "") -> str:
    nodes = "".join(
        f'"{node}" [shape=box, {name}="{label}"];' if label else f"{node};" for node, label in labels.items()
    )
    return f'{head}strict graph {{ node [label="\\N"] {nodes} ' + " ".join(f"{u} -- {v}" for u, v in edges) + "}"


NUMBERED = {"n0": "n2", "n1": "n0", "n2": "n1"}
STAR = [("n0", "n1"), ("n1", "n2")]  # by identifier: its centre is the node of the label n0
IGRAPH = "<!-- Created by igraph -->"
YED_LABEL = "<y:ShapeNode><y:NodeLabel>{}<y:LabelModel/></y:NodeLabel></y:ShapeNode>"
YED = (
    graphml({node: YED_LABEL.format(label) for node, label in NUMBERED.items()}, STAR)
    .replace("<graphml>", '<graphml xmlns:y="http://www.yworks.com/xml/graphml">')
    .replace('attr.name="name"', 'yfiles.type="nodegraphics"')
)
OF_PROGRAMS = [
    ("networkx by igraph", ".graphml", graphml(NUMBERED, STAR, "_nx_name", IGRAPH)),
    ("GraphML by igraph", ".graphml", graphml(NUMBERED, STAR, "id", IGRAPH)),
    ("graph-tool", ".graphml", graphml(NUMBERED, STAR, "_graphml_vertex_id")),
    ("Cytoscape", ".graphml", graphml(NUMBERED, STAR, "shared name")),
    ("Gephi", ".graphml", graphml(NUMBERED, STAR, "label")),
    ("yEd", ".graphml", YED),
    ("Graphviz", ".dot", dot(NUMBERED, STAR)),
    ("DOT by igraph", ".dot", dot(NUMBERED, STAR, "_nx_name", "/* Created by igraph 1.0.0 */\n")),
]


@pytest.mark.parametrize(("ending", "text"), [case[1:] for case in OF_PROGRAMS], ids=[case[0] for case in OF_PROGRAMS])
def test_labels_that_a_program_keeps_in_an_attribute_name_the_nodes(tmp_path: Path, ending: str, text: str) -> None:
    star = ob.read_overlay(written(tmp_path / f"overlay{ending}", text), on(["n0", "n1", "n2"]))
    assert star.edges.tolist() == [[0, 1], [0, 2]]


RING = {"a": "b", "b": "c", "c": "a"}
UNSURE = [
    ("two ways", graphml(RING, [("a", "b")]), "other labels by name than by its identifier"),
    ("a label twice", graphml({"x1": "a", "x3": "a", "x2": "c"}, []), "two nodes have the label 'a'"),
    ("a stranger", graphml({"62": "a", "63": "z"}, []), "unknown node 'z': name a node of the instance"),
    ("no label", graphml({"62": "a", "63": ""}, []), "node '63' has no label, as others have"),
]


def test_a_networkx_graph_that_a_program_numbered_is_named_by_its_attributes() -> None:
    numbered = nx.relabel_nodes(nx.Graph([("n2", "n0"), ("n0", "n1")]), {"n2": "n0", "n0": "n1", "n1": "n2"})
    nx.set_node_attributes(numbered, NUMBERED, "_nx_name")
    assert ob.Overlay.from_networkx(numbered, on(["n0", "n1", "n2"])).edges.tolist() == [[0, 1], [0, 2]]


@property_test(60, st.permutations(range(4)), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))), st.data())
def test_a_graph_in_dot_is_that_of_its_statements(
    order: list[int], pairs: set[tuple[int, int]], data: st.DataObject
) -> None:
    """Chains, subgraphs, ports, comments and attributes say the same edges as a list of them."""
    wanted = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    statements = [f"{'abcd'[v]} [width=0.5, tooltip=<<b>a -- b</b>>]" for v in order]
    for u, v in wanted:
        one, two = "abcd"[u], "abcd"[v]
        forms = (f"{one} -- {two}", f'"{one}":n:w -> {{{two};}} [label="c -- d"]', f"subgraph s {{{one}}} -- {two};")
        statements.append(
            data.draw(st.sampled_from(forms)) + data.draw(st.sampled_from(["\n// a -- d\n", "/* c */ ;"]))
        )
    text = "# a -- b\nDiGraph { rankdir=LR; edge [a=b]\n" + "\n".join(statements) + "}\n"
    graph = graph_of_dot(text)
    assert {*graph.nodes} == {*"abcd"}
    assert {tuple(sorted(edge)) for edge in graph.edges} == {("abcd"[u], "abcd"[v]) for u, v in wanted}


BAD_DOT = [
    ("empty", "", "line 1: expected graph or digraph, found the end"),
    ("cut off", "graph {\na -- b", "line 2: expected a name, found the end"),
    ("no end", "graph { a -- }", "line 1: expected a name, found '}'"),
    ("two graphs", "graph { a -- b }\ngraph { b -- c }", "line 2: expected the end of the file, found 'graph'"),
    ("no DOT", "graph {\na -- §}", "line 2: '§' is not DOT"),
    ("deep", "graph " + 101 * "{", "nested too deeply"),
    ("long name", "graph { " + "a + " * 3000 + "a -- b }", "unknown node 'aaa"),
    ("unknown", "graph { a -- z }", "unknown node 'z': name a node"),
    ("loop", "graph { a -- a }", "edge 0: a loop at 'a': remove it"),
]


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("source,target\na,b\n", [[0, 1]]),
        ("Id,Source,Target,Weight\n7,c,a,1\n", [[0, 2]]),
        ("a,b\nb,c\n", [[0, 1], [1, 2]]),
        ("from,to\n", []),
        ("name,other\na,b\n", "which columns of 'name', 'other' hold the ends of edges is not said"),
        ("a,x\nb,c\n", "which columns of 'a', 'x' hold"),
        ("u,v,from,to\na,b,b,c\n", "which columns of 'u', 'v', 'from', 'to' hold"),
        ("u,v\na,b\n", "line 1 may be a header or an edge"),
    ],
)
def test_edges_in_a_table_have_their_ends_in_named_columns(tmp_path: Path, text: str, edges: Any) -> None:
    path, labels = written(tmp_path / "overlay.csv", text), ["a", "b", "c"]
    if text.startswith("u,v\n"):
        labels += ["u", "v"]
    if isinstance(edges, list):
        assert ob.read_overlay(path, on(labels)).edges.tolist() == edges
    else:
        with refused(path, edges):
            ob.read_overlay(path, on(labels))


def test_the_header_of_edges_that_are_written_is_no_edge(tmp_path: Path) -> None:
    instance = on(["source", "target", "u", "v", "w"])
    overlay = ob.Overlay.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    ob.write_overlay(overlay, instance, tmp_path / "overlay.tsv")
    assert (tmp_path / "overlay.tsv").read_text().startswith('"from"\t"to"\n')
    assert ob.read_overlay(tmp_path / "overlay.tsv", instance) == overlay


ENTITIES = "".join(
    f'<!ENTITY {one} "{40 * ("&" + other + ";")}">' for one, other in zip("bcdefgh", "abcdefg", strict=True)
)
BOMB = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{ENTITIES}]><graphml>&h;</graphml>'
BAD = [
    ("numbers without labels", graphml(dict.fromkeys(NUMBERED, ""), STAR, head=IGRAPH), "numbers of"),
    ("numbers and labels of others", graphml({**NUMBERED, "n2": "x"}, STAR), "are numbers of a program and no labels"),
    ("numbers and labels of some", graphml({**NUMBERED, "n2": ""}, STAR), "are numbers of a program and no labels"),
    ("labels as old_label", graphml(NUMBERED, STAR, "old_label"), "are numbers of a program and no labels"),
    ("empty", "", "line 1, column 1: no element found: correct the XML"),
    ("cut off", HEAD + '\n<edge source="a"', "line 2, column 1: unclosed token"),
    ("no target", HEAD + TWO + '<edge source="n0"/></graph></graphml>', "edge 0 has no source or no target among the"),
    ("no node", HEAD + TWO + '<edge source="n0" target="x"/></graph></graphml>', "edge 0 has no source or no target"),
    ("unknown", HEAD + TWO + '<node id="x"/></graph></graphml>', "unknown node 'x': name a node"),
    ("loop", HEAD + TWO + '<edge source="n0" target="n0"/></graph></graphml>', "edge 0: a loop at 'n0': remove it"),
    ("same node", HEAD + TWO + TWO + "</graph></graphml>", "a node has the id of another one, 'n0'"),
    ("hyperedge", HEAD + TWO + '<hyperedge><endpoint node="n0"/></hyperedge></graph></graphml>', "edge 0 has no"),
    ("other XML", "<svg/>", "is XML of <svg>, not one <graph> in <graphml>"),
    ("an edge outside", HEAD + TWO + '</graph><edge source="n0" target="n1"/></graphml>', "stands outside of <graph>"),
    ("a node in a node", HEAD + '<node id="n0"><node id="n1"/></node></graph></graphml>', "stands outside of <graph>"),
    ("a graph in a graph", HEAD + f"<graph>{TWO}</graph></graph></graphml>", "stands outside of <graph>"),
    ("two graphs", HEAD + "</graph><graph/></graphml>", "not one <graph> in"),
    ("expansion", BOMB, "limit on input amplification"),
]


@pytest.mark.parametrize(
    ("ending", "cases", "labels"),
    [(".dot", BAD_DOT, "abc"), (".graphml", UNSURE, "abc"), (".graphml", BAD, ("n0", "n1", "n2"))],
)
def test_bad_graphs(tmp_path: Path, ending: str, cases: list[tuple[str, str, str]], labels: Iterable[str]) -> None:
    for name, content, fragment in cases:
        path = written(tmp_path / f"{name}{ending}", content)
        with refused(path, fragment):
            ob.read_overlay(path, on([*labels]))


@pytest.mark.parametrize("ending", [".dot", ".gv"])
def test_dot_quotes_every_label(tmp_path: Path, ending: str) -> None:
    path, quoted = tmp_path / f"overlay{ending}", ['"a b"', '"c\\""', '"d\\\\"']
    ob.write_overlay(ob.Overlay.from_edges(3, [(0, 1), (1, 2)]), on(["a b", 'c"', "d\\"]), path)
    lines = [*quoted, *map(" -- ".join, pairwise(quoted))]
    assert path.read_text().split("\n")[1:-2] == [f"  {line};" for line in lines]
