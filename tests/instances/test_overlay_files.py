"""Overlays through files, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import strategies as st

from overlaybench.instances.contract.overlay import Overlay, labelled_edges, read_overlay, write_overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.instances.topics.test_files import LABELS
from tests.properties import property_test
from tests.topic_strategies import overlays


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("overlays")


@property_test(100, labels=st.sets(LABELS, min_size=1, max_size=6), data=st.data())
def test_what_is_written_is_read_back(folder: Path, labels: set[str], data: st.DataObject) -> None:
    instance = TopicInstance.from_subscriptions({label: ["x"] for label in labels})
    overlay = data.draw(overlays(len(labels)))
    path = folder / "overlay.json"
    write_overlay(overlay, instance, path)
    assert read_overlay(path, instance) == overlay
    assert [file.name for file in folder.iterdir()] == [path.name]


def test_the_json_written_is_the_format_that_other_tools_speak(tmp_path: Path) -> None:
    instance = TopicInstance.from_subscriptions({"n10": ["x"], "é": ["x"], "n2": ["x"]})
    path = tmp_path / "overlay.json"
    write_overlay(Overlay.from_edges(3, [(2, 0), (0, 1)]), instance, path)
    assert json.loads(path.read_bytes()) == {"format": "overlay/1", "edges": [["n2", "n10"], ["n2", "é"]]}


def test_labelled_edges_follow_the_order_of_the_overlay() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["x"] for v in range(12)})
    assert labelled_edges(Overlay.from_edges(12, [(11, 2), (0, 10)]), instance) == [("n0", "n10"), ("n2", "n11")]


@pytest.mark.parametrize(
    "edges", ['[["a", "b"]]', '[["b", "a"]]', '[["a", "b"], ["b", "a"], ["a", "b"]]', '[["a","b"]], "by": "a tool"']
)
def test_direction_repeats_and_further_keys_do_not_matter(tmp_path: Path, edges: str) -> None:
    instance = TopicInstance.from_subscriptions({v: ["x"] for v in "abc"})
    path = tmp_path / "overlay.json"
    path.write_text(f'{{"edges": {edges}, "format": "overlay/1"}}')
    assert read_overlay(path, instance).edges.tolist() == [[0, 1]]
