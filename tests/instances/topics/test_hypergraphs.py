"""Formats of other programs: sets, oligomers, HIF, hMETIS, records, bipartite graphs, XGI, HyperNetX, hypergraphx."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import example

import overlaybench as ob
from overlaybench.instances.contract.catalogue import kind_of_file
from overlaybench.instances.topics.files import TOPICS, read_topics, write_topics
from tests.instances.topics.test_bad_files import refused, table, written
from tests.instances.topics.test_files import AWKWARD, SUBSCRIPTIONS, mapping, same
from tests.properties import property_test

SETS = {"Latin anima": ["AIR", "BLOW (WIND)", "LIFE"], "Greek pneuma": ["AIR", "LIFE"], "set 3": ["SELF"]}
SENSES = sorted({sense for senses in SETS.values() for sense in senses})
SUBSCRIBED = ob.TopicInstance.from_subscriptions(
    {sense: [word for word, senses in SETS.items() if sense in senses] for sense in SENSES}
)


@pytest.mark.parametrize("ending", [".tsv", ".txt", ".sets"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_list_of_sets_is_read_with_names_of_several_parts_or_none(tmp_path: Path, ending: str, newline: str) -> None:
    lines = ["Latin\tanima\t{AIR, BLOW (WIND), LIFE}", "", "# a remark", "Greek\t pneuma \t{ AIR ,LIFE}", "{SELF}", ""]
    file = tmp_path / f"words{ending}"
    file.write_bytes(b"\xef\xbb\xbf" + newline.join(lines).encode())
    assert same(read_topics(file).instance, SUBSCRIBED)
    assert kind_of_file(file) is TOPICS


def test_members_may_have_no_braces_and_oligomers_copies(tmp_path: Path) -> None:
    braces = read_topics(written(tmp_path / "a.sets", "{a, b c}\n{d, e}\n")).instance
    assert same(read_topics(written(tmp_path / "b.sets", "a, b c\nd,e\n")).instance, braces)
    assert same(read_topics(written(tmp_path / "c.sets", "set 1\ta,b c\nd , e")).instance, braces)
    plain = read_topics(written(tmp_path / "a.sets", "dimer\tRpn3 Rpn5\nRpn5 Rpn8 a(b)\n")).instance
    file = written(tmp_path / "a.oligomers", "dimer\tRpn3(2), 12*Rpn5\nRpn5, Rpn8*2, Rpn8, a(b)\n")
    assert same(read_topics(file).instance, plain)
    assert read_topics(file).remarks == ()


BAD_SETS = [
    ("empty", "", "has no sets: give it a line"),
    ("remarks only", "# a\n\n", "has no sets: give it a line"),
    ("no member", "{a}\nx\t{}\n", "line 2: a set without members: name them or remove"),
    ("blank member", "{a}\n\n{b, , c}\n", "line 3: member 2 has no name: name it or remove"),
    ("brace not closed", "{a}\nx\t{b, c\n", "line 2: braces that do not enclose all members: write {A, B}"),
    ("brace within", "{a, {b}}\n", "line 1: braces"),
    ("lone brace", "{a}\n{\n", "line 2: braces"),
    ("one name twice", "x\ty\t{a}\n{b}\nx y\t{c}\n", "line 3: a set 'x y' stands on line 1 already: rename one"),
]


@table(BAD_SETS)
def test_bad_lists_of_sets(tmp_path: Path, content: str, fragment: str) -> None:
    for ending in (".sets", ".oligomers"):
        path = written(tmp_path / f"words{ending}", content)
        with refused(path, fragment):
            read_topics(path)


@pytest.mark.parametrize("first", ["network-type", "metadata", "nodes", "edges", "incidences"])
def test_hif_is_known_by_its_keys_and_keeps_vertices_without_hyperedges(tmp_path: Path, first: str) -> None:
    document = {
        "network-type": "directed",
        "metadata": {"format": "of something else"},
        "nodes": [{"node": "a", "weight": 2.0}, {"node": 7, "attrs": {"x": [1, {}]}}, {"node": "c"}],
        "edges": [{"edge": "x"}, {"edge": "empty"}],
        "incidences": [
            {"edge": "x", "node": "a", "direction": "head", "weight": 0.5},
            {"edge": "x", "node": 7, "direction": "tail"},
            {"edge": 3, "node": "a"},
            {"edge": 3, "node": "a"},
        ],
    }
    path = written(tmp_path / "graph.json", json.dumps({first: document[first], **document}))
    loaded = kind_of_file(path).read(path, {})
    assert mapping(loaded.instance) == {"a": {"x", "3"}, "7": {"x"}, "c": set()}
    assert loaded.duplicates == 1


@property_test(60, subscriptions=SUBSCRIPTIONS)
@example(subscriptions={label: {label} for label in AWKWARD})
def test_hif_is_read_back(tmp_path_factory: pytest.TempPathFactory, subscriptions: dict[str, set[str]]) -> None:
    instance = ob.TopicInstance.from_subscriptions({**subscriptions, "of no set": set()})
    path = tmp_path_factory.getbasetemp() / "graph.hif.json"
    write_topics(instance, path)
    assert {*json.loads(path.read_text())} == {"network-type", "incidences", "edges", "nodes"}
    assert same(kind_of_file(path).read(path, {}).instance, instance)


@property_test(60, subscriptions=SUBSCRIPTIONS)
@example(subscriptions={"a": {"x"}, "bc": {"x", "yz"}})
@example(subscriptions={"a\rb": {"x"}})
@example(subscriptions={"a": {"\ufeffx"}})
def test_a_list_of_sets_gives_the_instance_back_or_is_not_written(
    tmp_path_factory: pytest.TempPathFactory, subscriptions: dict[str, set[str]]
) -> None:
    instance = ob.TopicInstance.from_subscriptions(subscriptions)
    for ending in (".sets", ".oligomers"):
        path = tmp_path_factory.mktemp("sets") / f"words{ending}"
        letters = set("".join([*subscriptions, *(topic for topics in subscriptions.values() for topic in topics)]))
        if letters <= set("abcxyz"):
            write_topics(instance, path)
        else:
            with suppress(ob.BadInput):
                write_topics(instance, path)
        assert not path.exists() or same(read_topics(path, as_is=True).instance, instance)


def test_what_a_format_has_no_place_for_is_not_written(tmp_path: Path) -> None:
    lonely = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": []})
    priced = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x"]}).with_costs(
        ob.LinkCosts.given([[1, 2], [2, 1]])
    )
    for instance, endings in ((lonely, (".sets", ".oligomers", ".csv")), (priced, (".sets", ".hif.json", ".tsv"))):
        for ending in endings:
            with pytest.raises(ob.BadInput, match="no place"):
                write_topics(instance, tmp_path / f"file{ending}")
    assert not list(tmp_path.iterdir())


def test_a_table_whose_header_has_braces_elsewhere_stays_a_table(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "{x},node,topic\n1,a,{s}\n2,b,{s}\n")
    assert mapping(read_topics(path).instance) == {"a": {"{s}"}, "b": {"{s}"}}
    assert read_topics(path).is_plain


def test_hypergraphs_of_xgi_are_read() -> None:
    xgi = pytest.importorskip("xgi")

    graph = xgi.Hypergraph({"x": [1, 2, 3], "y": ["a", 2]})
    graph.add_node("alone")
    wanted = {"1": {"x"}, "2": {"x", "y"}, "3": {"x"}, "a": {"y"}, "alone": set[str]()}
    assert mapping(ob.read(graph)) == wanted
    directed = xgi.DiHypergraph([([1, 2], [2, 3])])
    assert mapping(ob.read(directed)) == {"1": {"0"}, "2": {"0"}, "3": {"0"}}
    faces = ob.read(xgi.SimplicialComplex([[1, 2, 3]]))
    assert sorted(faces.topic_nodes.tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_hypergraphs_of_hypernetx_are_read() -> None:
    hypernetx = pytest.importorskip("hypernetx")

    graph = hypernetx.Hypergraph({"x": ["a", "b", "c"], "y": ["b", "d"]})
    assert mapping(ob.read(graph)) == {"a": {"x"}, "b": {"x", "y"}, "c": {"x"}, "d": {"y"}}


def test_what_xgi_writes_as_hif_is_read_as_the_object(tmp_path: Path) -> None:
    xgi = pytest.importorskip("xgi")

    graph = xgi.fast_random_hypergraph(12, [0.1, 0.05], seed=3)
    xgi.write_hif(graph, tmp_path / "graph.json")
    assert same(ob.read(tmp_path / "graph.json"), ob.read(graph))


WANTED = {"1": {"e1"}, "2": {"e1", "e2"}, "3": {"e2"}, "4": {"e2"}, "5": set[str]()}
RECORDS = [{"node": "talker", "topic": "chatter"}, {"node": "listener", "topic": "chatter", "qos": 1}]


def read(path: Path) -> dict[str, set[str]]:
    assert kind_of_file(path).name == "topics"
    return mapping(ob.read(path))


XGI = {
    "hypergraph-data": {"name": "t"},
    "node-data": {str(v): {} for v in range(1, 6)},
    "edge-data": {"e1": {}, "e2": {}},
    "edge-dict": {"e1": ["1", "2"], "e2": [2, 3, 4]},
}
HYPERGRAPHX: list[dict[str, Any]] = [
    {"hypergraph_type": "Hypergraph", "hypergraph_metadata": {"weighted": False}},
    *({"type": "node", "idx": v, "metadata": {}} for v in range(1, 6)),
    *({"type": "edge", "interaction": each, "metadata": {}} for each in ([1, 2], [2, 3, 4])),
]
DIRECTED = [HYPERGRAPHX[0], *({"type": "edge", "interaction": each} for each in ([[1, 2], [3]], [[1], [3]]))]
ROS = """digraph graphname {
 n___talker [URL="__/talker", label="/talker", shape="ellipse"];
 n___listener [label="/listener", shape=ellipse];
 topic__chatter [label="/chatter", shape=box];
 n___talker -> topic__chatter;
 topic__chatter -> n___listener;
}
"""
HMETIS = "2 4\n1 2\n2 3 4\n", "% c\n2 4 1\n7 1 2\n3 2 3 4\n", "2 4 11\n7 1 2\n3 2 3 4\n1\n1\n1\n1\n"
LINES = "\n".join(map(json.dumps, RECORDS)) + "\n\n"
CHATTER = {"talker": {"chatter"}, "listener": {"chatter"}}


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("a.json", XGI, WANTED),
        ("a.json", HYPERGRAPHX, {v: {f"set {name[1]}" for name in names} for v, names in WANTED.items()}),
        ("a.json", DIRECTED, {"1": {"set 1", "set 2"}, "2": {"set 1"}, "3": {"set 1", "set 2"}}),
        ("a.dot", ROS, {"/talker": {"/chatter"}, "/listener": {"/chatter"}}),
        *(("a.hgr", text, {"1": {"1"}, "2": {"1", "2"}, "3": {"2"}, "4": {"2"}}) for text in HMETIS),
        *(("a.json", RECORDS, CHATTER), ("a.jsonl", LINES, CHATTER), ("a.ndjson", LINES, CHATTER)),
    ],
)
def test_forms_of_other_programs_are_read(tmp_path: Path, name: str, content: object, wanted: object) -> None:
    assert read(written(tmp_path / name, content if isinstance(content, str) else json.dumps(content))) == wanted


def test_what_xgi_writes_as_its_own_json_is_read(tmp_path: Path) -> None:
    xgi = pytest.importorskip("xgi")
    graph = xgi.Hypergraph({"e1": [1, 2], "e2": [2, 3, 4]})
    graph.add_node(5)
    assert read(written(tmp_path / "b.json", json.dumps(xgi.to_hypergraph_dict(graph)))) == WANTED


def test_hif_of_a_number_and_the_same_text_has_both(tmp_path: Path) -> None:
    rows = [{"edge": edge, "node": node} for edge, node in (("0", 1), ("0", 2), (0, 3), (0, 4))]
    file = written(tmp_path / "a.json", json.dumps({"incidences": rows}))
    assert read(file) == {"1": {'"0"'}, "2": {'"0"'}, "3": {"0"}, "4": {"0"}}
    assert ob.solve(ob.read(file)).value == 2


def test_records_have_the_keys_that_are_named(tmp_path: Path) -> None:
    lists = '[{"who": 1, "what": ["a", "b"]}, {"who": 2.0, "what": "a"}, {"who": true, "what": ["b"]}]'
    file = written(tmp_path / "b.json", lists)
    assert mapping(ob.read(file, node="who", topic="what")) == {"1": {"a", "b"}, "2": {"a"}, "true": {"b"}}
    two = [{"node": node, "ns": "x", "name": "y"} for node in "ab"]
    file = written(tmp_path / "c.jsonl", "\n".join(map(json.dumps, two)))
    assert mapping(ob.read(file, topic=["ns", "name"])) == {"a": {"x|y"}, "b": {"x|y"}}


@pytest.mark.parametrize(
    ("name", "text", "fragment"),
    [
        ("a.json", '[{"node": "a", "subject": "x"}]', "record 1: no 'topic' among 'node', 'subject': name the key"),
        ("a.jsonl", '{"node": "a", "topic": "x"}\n{"node": null, "topic": "x"}\n', "line 2: an empty node: name it"),
        ("a.jsonl", '{"node": "a", "topic": "x"}\n{"node": \n', "line 2, column"),
        ("a.jsonl", '{"node": 1.5, "topic": "x"}\n', "line 1: node is 1.5: give a text or a whole number"),
        ("a.jsonl", "[1]\n", "line 1: no 'node' among no keys"),
        ("a.json", "[[1, 2], [2, 3]]", "or a list of objects such as"),
        ("a.json", {"edge-dict": {"e": {"tail": [1]}}}, "edge-dict has no lists of members: write it by"),
        ("a.json", {"network-type": "undirected"}, "Object missing required field `incidences`: correct it"),
        ("a.json", {"incidences": [], "nodes": [{"node": 1}]}, "its incidences are empty, so that no hyperedge has"),
        ("a.hif.json", {"edges": {"0": {}}, "nodes": {"1": {}}, "incidences": {}}, "its incidences are empty"),
        ("a.json", {"incidences": [{"node": 1}]}, "incidences[0]: Object missing required field `edge`: correct it"),
        ("a.json", {"incidences": [{"node": 1.5, "edge": 0}]}, "incidences[0].node: Expected `int | str`"),
        ("a.json", {"incidences": [{"node": "", "edge": 0}]}, "incidences[0].node: Expected `str` of length >= 1"),
        ("a.json", {"incidences": {"a": 1}}, "incidences: Expected `array`, got `object`: correct it"),
        ("a.hgr", "", "line 1: hMETIS begins with the numbers of hyperedges and vertices"),
        ("a.hgr", "2 3\n1 2\n", "has 1 lines under its first: 2 are announced"),
        ("a.hgr", "1 3\n1 4\n", "line 2: '4' is no vertex from 1 to 3"),
        ("a.dot", "graph { a -- b }", "'a' lacks bipartite=0 (node) or 1 (topic): set it, or give a table"),
        ("a.dot", "graph { a [bipartite=0]; b [bipartite=0]; a -- b }", "edge ('a', 'b') lies within one side"),
        ("a.graphml", "<graphml><graph><node id='a'/></graph></graphml>", "'a' lacks bipartite=0"),
        ("a.graphml", "<svg/>", "is XML of <svg>"),
    ],
)
def test_what_is_none_of_these_forms_is_one_line(tmp_path: Path, name: str, text: object, fragment: str) -> None:
    path = written(tmp_path / name, text if isinstance(text, str) else json.dumps(text))
    with refused(path, fragment):
        ob.read(path)


def test_bipartite_graphml_of_networkx_is_read_by_its_labels(tmp_path: Path) -> None:
    graph = nx.Graph([("ann", "a"), ("bob", "a"), ("bob", "b"), ("cid", "b")])
    nx.set_node_attributes(graph, {v: int(v in ("a", "b")) for v in graph}, "bipartite")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    wanted = {"ann": {"a"}, "bob": {"a", "b"}, "cid": {"b"}}
    assert read(tmp_path / "a.graphml") == wanted
    given: Any = graph
    numbered: Any = nx.convert_node_labels_to_integers(given, label_attribute="label")
    nx.write_graphml(numbered, tmp_path / "b.graphml")
    assert read(tmp_path / "b.graphml") == wanted
    for v in numbered:
        numbered.nodes[v]["label"] = "same"
    nx.write_graphml(numbered, tmp_path / "c.graphml")
    with refused(tmp_path / "c.graphml", "two of one side have the label 'same'"):
        ob.read(tmp_path / "c.graphml")
