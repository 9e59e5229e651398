"""Topic instances through files and networkx, and back."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.topics.files import from_bipartite, read_topics, write_topics
from tests.properties import property_test

ENDINGS = [".json", ".csv", ".tsv", ".dat", ".txt", ".parquet"]
AWKWARD = ["a,b", 'say "hi"', '"', "tab\there", "two\nlines", "two\r\nlines", "\r", " space ", "007", "7", "1e5"]
AWKWARD += ["node", "NaN", "null", "true", "é", "日本", "😀", "\u2028", "\x00", "'", ";", "#", "\\", "\\n"]
AWKWARD += ["\ufeff", "=1"]
LABELS = st.one_of(st.sampled_from(AWKWARD), st.text(min_size=1, max_size=4))
SUBSCRIPTIONS = st.dictionaries(LABELS, st.sets(LABELS, min_size=1, max_size=4), min_size=1, max_size=5)


def mapping(instance: ob.TopicInstance) -> dict[str, set[str]]:
    return {
        instance.node_label(v): {instance.topic_label(int(t)) for t in instance.topics_of(v)}
        for v in range(instance.num_nodes)
    }


def same(one: ob.TopicInstance, two: ob.TopicInstance) -> bool:
    return (one.digest, one.node_labels, one.topic_labels) == (two.digest, two.node_labels, two.topic_labels)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {ending: tmp_path_factory.mktemp("folder") for ending in ENDINGS}


@property_test(60, subscriptions=SUBSCRIPTIONS)
@example(subscriptions={label: {label} for label in AWKWARD})
@example(subscriptions={"n": set(AWKWARD)})
@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_back(
    folders: dict[str, Path], ending: str, subscriptions: dict[str, set[str]]
) -> None:
    instance = ob.TopicInstance.from_subscriptions(subscriptions)
    assert mapping(instance) == subscriptions
    path = folders[ending] / f"file{ending}"
    write_topics(instance, path)
    back = read_topics(path, as_is=True)
    assert same(back.instance, instance)
    assert back.duplicates == 0
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@property_test(60, subscriptions=SUBSCRIPTIONS)
@example(subscriptions={label: {label} for label in AWKWARD})
def test_a_bipartite_graph_gives_the_instance_back(subscriptions: dict[str, set[str]]) -> None:
    instance = ob.TopicInstance.from_subscriptions(subscriptions)
    graph = instance.to_networkx()
    assert nx.is_bipartite(graph)
    assert graph.number_of_edges() == instance.num_subscriptions
    assert same(from_bipartite(graph), instance)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_the_order_of_rows_and_further_columns_do_not_matter(tmp_path: Path, ending: str) -> None:
    instance = ob.WORKLOADS["uniform"].generate(nodes=30, topics=12, subscriptions=3)
    rows = [(node, topic) for node, topics in mapping(instance).items() for topic in topics]
    path = tmp_path / f"rows{ending}"
    for seed in range(3):
        shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
        columns = {"weight": ["1"] * len(rows), "topic": [t for _, t in shuffled], "node": [n for n, _ in shuffled]}
        if ending == ".parquet":
            pq.write_table(pa.table(columns), path)
        else:
            mark = "," if ending == ".csv" else "\t"
            lines = [mark.join(columns), *map(mark.join, zip(*columns.values(), strict=True))]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert same(read_topics(path).instance, ob.TopicInstance.from_subscriptions(mapping(instance)))


@pytest.mark.parametrize("ending", ["json", "csv", "tsv", "parquet"])
def test_repeated_rows_count_once_and_are_counted(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    if ending == "json":
        path.write_text('{"format":"topics/1","subscriptions":{"n0":["a","a","b","a"],"n1":["a"]}}')
    elif ending == "parquet":
        pq.write_table(pa.table({"node": ["n0"] * 4 + ["n1"], "topic": ["a", "a", "b", "a", "a"]}), path)
    else:
        text = "node,topic\nn0,a\nn0,a\nn0,b\nn0,a\nn1,a\n"
        path.write_text(text.replace(",", "\t") if ending == "tsv" else text)
    read = read_topics(path)
    assert mapping(read.instance) == {"n0": {"a", "b"}, "n1": {"a"}}
    assert read.duplicates == 2


@pytest.mark.parametrize(
    "content",
    [
        "node,topic\nn0,a\nn1,b\n",
        "node,topic\nn0,a\nn1,b",
        "node,topic\r\nn0,a\r\nn1,b\r\n",
        "node,topic\rn0,a\rn1,b\r",
        "\ufeffnode,topic\nn0,a\nn1,b\n",
        "\n\nnode,topic\n\nn0,a\n\n\nn1,b\n\n",
        '"node","topic"\n"n0","a"\n"n1","b"\n',
        "node\ttopic\nn0\ta\nn1\tb\n",
        "\ufeffnode\ttopic\r\nn0\ta\r\nn1\tb\r\n",
        "a,b\tnode\ttopic\nx,y\tn0\ta\nx\tn1\tb\n",
        '"a,b",node,"topic"\nx,n0,a\ny,n1,b\n',
        'node,topic,note\nn0,a,"two\nlines"\nn1,b,x\n',
    ],
)
def test_the_usual_dialects_are_read(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    assert mapping(read_topics(path, as_is=True).instance) == {"n0": {"a"}, "n1": {"b"}}


def test_rows_may_span_the_blocks_that_files_are_read_in(tmp_path: Path) -> None:
    rows = [(f"node\n{i}", "topic, long " * 30) for i in range(5000)]
    path = tmp_path / "a.csv"
    write_topics(ob.TopicInstance.from_subscriptions({node: [topic] for node, topic in rows}), path)
    assert path.stat().st_size > 2**20
    assert mapping(read_topics(path, as_is=True).instance) == {node: {topic} for node, topic in rows}


@pytest.mark.parametrize(
    "columns",
    [
        {"node": pa.array([2, 10], pa.int64()), "topic": pa.array([7, 7], pa.int32())},
        {"node": pa.array([2, 10], pa.uint8()), "topic": pa.array(["7", "7"]).dictionary_encode()},
        {"node": pa.array(["2", "10"], pa.large_string()), "topic": pa.array([b"7", b"7"], pa.binary())},
    ],
)
def test_parquet_columns_of_numbers_and_dictionaries_are_labels(tmp_path: Path, columns: dict[str, pa.Array]) -> None:
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    instance = read_topics(tmp_path / "a.parquet").instance
    assert instance.node_labels == ("2", "10")
    assert instance.topic_labels == ("7",)


def test_a_bipartite_graph_of_plain_names_is_read() -> None:
    graph = nx.Graph([("n0", 7), ("n1", 7), ("a", "n1")])
    nx.set_node_attributes(graph, {"n0": 0, "n1": 0, 7: 1, "a": 1}, "bipartite")
    assert mapping(from_bipartite(graph)) == {"n0": {"7"}, "n1": {"7", "a"}}


def bipartite(sides: dict[object, object], edges: list[tuple[object, object]]) -> nx.Graph[object]:
    graph: nx.Graph[object] = nx.Graph()
    for node, side in sides.items():
        graph.add_node(node, **({} if side is None else {"bipartite": side}))
    graph.add_edges_from(edges)
    return graph


@pytest.mark.parametrize(
    ("graph", "fragment"),
    [
        (bipartite({}, []), "at least one node"),
        (bipartite({"a": 0, "x": None}, [("a", "x")]), "graph node 'x' lacks the attribute bipartite"),
        (bipartite({"a": 0, "x": 2}, [("a", "x")]), "graph node 'x' lacks the attribute bipartite"),
        (bipartite({"a": 0, "x": 1, "y": 1}, [("a", "x")]), "topic 'y' has no subscriber"),
        (bipartite({"a": 0, "b": 0, "x": 1}, [("a", "x"), ("a", "b")]), "lies within one side"),
        (bipartite({"a": 0, "x": 1}, [("a", "x"), ("a", "a")]), "lies within one side"),
        (bipartite({1: 0, "1": 0, "x": 1}, [(1, "x"), ("1", "x")]), "two nodes have the label '1'"),
        (bipartite({"a": 0, 1: 1, "1": 1}, [("a", 1), ("a", "1")]), "two topics have the label '1'"),
        (bipartite({"a": 0, "": 1}, [("a", "")]), "a topic has an empty label"),
    ],
)
def test_a_graph_that_is_no_subscription_relation_is_refused(graph: nx.Graph[object], fragment: str) -> None:
    with pytest.raises(ob.BadInput, match=fragment):
        from_bipartite(graph)
