"""Own formats of other programs: XGI, hypergraphx, hMETIS, bipartite graphs of networkx and ROS, and records."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import overlaybench as ob
from overlaybench.instances.contract.catalogue import kind_of_file
from tests.instances.topics.test_bad_files import refused, written
from tests.instances.topics.test_files import mapping

WANTED = {"1": {"e1"}, "2": {"e1", "e2"}, "3": {"e2"}, "4": {"e2"}, "5": set[str]()}
RECORDS = [{"node": "talker", "topic": "chatter"}, {"node": "listener", "topic": "chatter", "qos": 1}]


def read(path: Path) -> dict[str, set[str]]:
    assert kind_of_file(path).name == "topics"
    return mapping(ob.read(path))


def test_what_xgi_writes_as_its_own_json_is_read(tmp_path: Path) -> None:
    document = {
        "hypergraph-data": {"name": "t"},
        "node-data": {str(v): {} for v in range(1, 6)},
        "edge-data": {"e1": {}, "e2": {}},
        "edge-dict": {"e1": ["1", "2"], "e2": [2, 3, 4]},
    }
    assert read(written(tmp_path / "a.json", json.dumps(document))) == WANTED
    xgi = pytest.importorskip("xgi")
    graph = xgi.Hypergraph({"e1": [1, 2], "e2": [2, 3, 4]})
    graph.add_node(5)
    assert read(written(tmp_path / "b.json", json.dumps(xgi.to_hypergraph_dict(graph)))) == WANTED


def test_what_hypergraphx_writes_as_its_own_json_is_read(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [{"hypergraph_type": "Hypergraph", "hypergraph_metadata": {"weighted": False}}]
    entries += [{"type": "node", "idx": v, "metadata": {}} for v in range(1, 6)]
    entries += [{"type": "edge", "interaction": each, "metadata": {}} for each in ([1, 2], [2, 3, 4])]
    found = read(written(tmp_path / "a.json", json.dumps(entries)))
    assert found == {v: {f"set {name[1]}" for name in names} for v, names in WANTED.items()}
    directed = [entries[0], {"type": "edge", "interaction": [[1, 2], [3]]}, {"type": "edge", "interaction": [[1], [3]]}]
    assert read(written(tmp_path / "b.json", json.dumps(directed)))["3"] == {"set 1", "set 2"}


def test_hif_of_a_number_and_the_same_text_has_both(tmp_path: Path) -> None:
    rows = [{"edge": edge, "node": node} for edge, node in (("0", 1), ("0", 2), (0, 3), (0, 4))]
    file = written(tmp_path / "a.json", json.dumps({"incidences": rows}))
    assert read(file) == {"1": {'"0"'}, "2": {'"0"'}, "3": {"0"}, "4": {"0"}}
    assert ob.solve(ob.read(file)).value == 2


def test_hif_without_members_says_so(tmp_path: Path) -> None:
    document = {"type": "undirected", "edges": {"0": {}}, "nodes": {"1": {}}, "incidences": {}}
    path = written(tmp_path / "a.hif.json", json.dumps(document))
    with refused(path, "its incidences are empty, so that no hyperedge has a member"):
        kind_of_file(path).read(path, {})


def test_records_are_read_as_json_and_as_lines(tmp_path: Path) -> None:
    wanted = {"talker": {"chatter"}, "listener": {"chatter"}}
    assert read(written(tmp_path / "a.json", json.dumps(RECORDS))) == wanted
    for ending in (".jsonl", ".ndjson"):
        assert read(written(tmp_path / f"a{ending}", "\n".join(map(json.dumps, RECORDS)) + "\n\n")) == wanted
    lists = '[{"who": 1, "what": ["a", "b"]}, {"who": 2.0, "what": "a"}, {"who": true, "what": ["b"]}]'
    file = written(tmp_path / "b.json", lists)
    assert mapping(ob.read(file, node="who", topic="what")) == {"1": {"a", "b"}, "2": {"a"}, "true": {"b"}}
    two = written(
        tmp_path / "c.jsonl", '{"node": "a", "ns": "x", "name": "y"}\n{"node": "b", "ns": "x", "name": "y"}\n'
    )
    assert mapping(ob.read(two, topic=["ns", "name"])) == {"a": {"x|y"}, "b": {"x|y"}}


@pytest.mark.parametrize(
    ("name", "text", "fragment"),
    [
        ("a.json", '[{"node": "a", "subject": "x"}]', "record 1: no 'topic' among 'node', 'subject': name the key"),
        ("a.jsonl", '{"node": "a", "topic": "x"}\n{"node": null, "topic": "x"}\n', "line 2: an empty node: name it"),
        ("a.jsonl", '{"node": "a", "topic": "x"}\n{"node": \n', "line 2, column"),
        ("a.jsonl", '{"node": 1.5, "topic": "x"}\n', "line 1: node is 1.5: give a text or a whole number"),
        ("a.jsonl", "[1]\n", "line 1: no 'node' among no keys"),
        ("a.json", "[[1, 2], [2, 3]]", "or a list of objects such as"),
        (
            "a.json",
            '{"edge-dict": {"e": {"tail": [1]}}}',
            "edge-dict has no lists of members: write it by",
        ),
        ("a.hgr", "", "line 1: hMETIS begins with the numbers of hyperedges and vertices"),
        ("a.hgr", "2 3\n1 2\n", "has 1 lines under its first: 2 are announced"),
        ("a.hgr", "1 3\n1 4\n", "line 2: '4' is no vertex from 1 to 3"),
        ("a.dot", "graph { a -- b }", "'a' lacks bipartite=0 (node) or 1 (topic): set it, or give a table"),
        ("a.dot", "graph { a [bipartite=0]; b [bipartite=0]; a -- b }", "edge ('a', 'b') lies within one side"),
        ("a.graphml", "<graphml><graph><node id='a'/></graph></graphml>", "'a' lacks bipartite=0"),
        ("a.graphml", "<svg/>", "is XML of <svg>"),
    ],
)
def test_what_is_none_of_these_forms_is_one_line(tmp_path: Path, name: str, text: str, fragment: str) -> None:
    path = written(tmp_path / name, text)
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


def test_the_dot_of_ros_graphs_is_read_by_its_shapes(tmp_path: Path) -> None:
    text = """digraph graphname {
 n___talker [URL="__/talker", label="/talker", shape="ellipse"];
 n___listener [label="/listener", shape=ellipse];
 topic__chatter [label="/chatter", shape=box];
 n___talker -> topic__chatter;
 topic__chatter -> n___listener;
}
"""
    assert read(written(tmp_path / "a.dot", text)) == {"/talker": {"/chatter"}, "/listener": {"/chatter"}}


@pytest.mark.parametrize(
    "text", ["2 4\n1 2\n2 3 4\n", "% c\n2 4 1\n7 1 2\n3 2 3 4\n", "2 4 11\n7 1 2\n3 2 3 4\n1\n1\n1\n1\n"]
)
def test_hmetis_is_read_with_and_without_weights(tmp_path: Path, text: str) -> None:
    found = read(written(tmp_path / "a.hgr", text))
    assert found == {"1": {"1"}, "2": {"1", "2"}, "3": {"2"}, "4": {"2"}}
