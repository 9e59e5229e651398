"""Overlays as GraphML and DOT: what networkx reads, what is read back, and what is refused."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import example
from hypothesis import strategies as st

from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay, read_overlay, write_overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.instances.topics.test_bad_files import message_of, table, written
from tests.instances.topics.test_files import AWKWARD, LABELS
from tests.properties import property_test

OVERLAY = Overlay.from_edges(3, [(0, 1), (1, 2)])


def on(labels: list[str]) -> TopicInstance:
    return TopicInstance.from_subscriptions({label: ["t"] for label in labels})


@property_test(60, labels=st.lists(LABELS, min_size=3, max_size=3, unique=True))
@example(labels=["a b", 'say "hi"', "<&>"])
@example(labels=["tab\there", "two\nlines", "\\"])
@example(labels=["\x00", "a", "b"])
def test_graphml_gives_the_overlay_back_here_and_in_networkx(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str]
) -> None:
    instance, path = on(labels), tmp_path_factory.mktemp("graph") / "overlay.graphml"
    try:
        write_overlay(OVERLAY, instance, path)
    except BadInput:
        assert not path.exists()
        return
    assert read_overlay(path, instance).edges.tolist() == OVERLAY.edges.tolist()
    graph = nx.read_graphml(path)
    assert {*graph} == {*labels}
    assert {*map(frozenset, graph.edges)} == {*map(frozenset, OVERLAY.to_networkx(instance).edges)}


def test_labels_that_only_look_awkward_are_written_as_graphml(tmp_path: Path) -> None:
    plain = [label for label in dict.fromkeys(AWKWARD) if "\x00" not in label]
    instance = on(plain)
    overlay = Overlay.from_edges(len(plain), [(v, v + 1) for v in range(len(plain) - 1)])
    write_overlay(overlay, instance, tmp_path / "overlay.graphml")
    assert read_overlay(tmp_path / "overlay.graphml", instance).edges.tolist() == overlay.edges.tolist()


HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d0" for="node" attr.name="name"/><graph>'


def test_nodes_are_known_by_their_attribute_label_or_name_else_by_their_identifier(tmp_path: Path) -> None:
    nodes = '<node id="62"><data key="d0">a</data></node><node id="63"><data key="d0">b</data></node><node id="c"/>'
    edges = '<edge source="62" target="63"/><edge directed="true" source="c" target="63"/>'
    path = written(tmp_path / "o.graphml", f"{HEAD}{nodes}{edges}</graph></graphml>")
    assert read_overlay(path, on(["a", "b", "c"])).edges.tolist() == [[0, 1], [1, 2]]


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
    with pytest.raises(BadInput) as caught:
        read_overlay(path, on(["n0", "n1"]))
    assert fragment in message_of(caught, path)


@pytest.mark.parametrize("ending", [".dot", ".gv"])
def test_dot_quotes_every_label(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"overlay{ending}"
    write_overlay(OVERLAY, on(["a b", 'c"', "d\\"]), path)
    assert path.read_text().split("\n")[1:-2] == [
        '  "a b";',
        '  "c\\"";',
        '  "d\\\\";',
        '  "a b" -- "c\\"";',
        '  "c\\"" -- "d\\\\";',
    ]
