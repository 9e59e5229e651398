"""Hypergraphs of other programs: lists of sets, oligomers, HIF, and objects of XGI and HyperNetX."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example

import overlaybench as ob
from overlaybench.compare.python_api.instances import read
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


BAD_HIF = [
    ("no incidences", {"network-type": "undirected"}, "Object missing required field `incidences`: correct it"),
    ("no incidence", {"incidences": [], "nodes": [{"node": 1}]}, "its incidences are empty"),
    ("no edge", {"incidences": [{"node": 1}]}, "incidences[0]: Object missing required field `edge`: correct it"),
    ("a fraction", {"incidences": [{"node": 1.5, "edge": 0}]}, "incidences[0].node: Expected `int | str`"),
    ("an empty text", {"incidences": [{"node": "", "edge": 0}]}, "incidences[0].node: Expected `str` of length >= 1"),
    ("no list", {"incidences": {"a": 1}}, "incidences: Expected `array`, got `object`: correct it"),
]


@table(BAD_HIF)
def test_bad_hif_files(tmp_path: Path, content: object, fragment: str) -> None:
    path = written(tmp_path / "graph.json", json.dumps(content))
    with refused(path, fragment):
        kind_of_file(path).read(path, {})


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
    assert mapping(read(graph)) == wanted
    directed = xgi.DiHypergraph([([1, 2], [2, 3])])
    assert mapping(read(directed)) == {"1": {"0"}, "2": {"0"}, "3": {"0"}}
    faces = read(xgi.SimplicialComplex([[1, 2, 3]]))
    assert sorted(faces.topic_nodes.tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_hypergraphs_of_hypernetx_are_read() -> None:
    hypernetx = pytest.importorskip("hypernetx")

    graph = hypernetx.Hypergraph({"x": ["a", "b", "c"], "y": ["b", "d"]})
    assert mapping(read(graph)) == {"a": {"x"}, "b": {"x", "y"}, "c": {"x"}, "d": {"y"}}


def test_what_xgi_writes_as_hif_is_read_as_the_object(tmp_path: Path) -> None:
    xgi = pytest.importorskip("xgi")

    graph = xgi.fast_random_hypergraph(12, [0.1, 0.05], seed=3)
    xgi.write_hif(graph, tmp_path / "graph.json")
    assert same(read(tmp_path / "graph.json"), read(graph))
