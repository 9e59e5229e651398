"""Damaged proofs and instances are named; every spelling of an instance is read."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.steiner.instance import SteinerInstance
from overlaybench.instances.topics.instance import TopicInstance
from tests.models.checker.tiny import Line, Tiny, checker, verdict, write_lines

# A path of three nodes: 2 edges, maximum degree 2; under 2d-star and 2d-true the same.
PATH = TopicInstance.from_subscriptions({"a": ["s", "t"], "b": ["s", "t"], "c": ["t"]})
PATH_EDGES = [[0, 1], [1, 2]]
# Two terminals joined by an edge of 3, or by two edges of 1.
TRIANGLE = SteinerInstance.from_edges(3, [(0, 1, 1), (1, 2, 1), (0, 2, 3)], [0, 2])


# All on one broker costs nothing.
FREE = ContentInstance(
    np.zeros((2, 3)), 1 - np.eye(3), np.full(3, np.inf), np.array([[1.0], [0]]), np.array([[False], [True]])
)


def proof(tiny: Tiny, *lines: Line, answer: Any = None) -> list[Line]:
    head = {"format": "overlaybench-proof/1", "problem": tiny.problem, "unit": 1, **tiny.head()}
    return [["proof", head], *lines, ["claim", None, answer]]


CASE = ["case", {"cap": None}]
ALL_APART = ["row", "parts", 1, [0, 1, 2]]
OPEN = ["end", None]
ROOT = ["case", {"root": 0, "unit": 1}]

SUBSCRIPTIONS = "node,topic\na,s\na,t\nb,s\nb,t\nc,t\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", SUBSCRIPTIONS),
        ("t.csv", SUBSCRIPTIONS + "a,s\n"),
        ("t.csv", "\ufeff" + SUBSCRIPTIONS),
        ("t.csv", SUBSCRIPTIONS.replace("\n", "\r\n")),
        ("t.csv", SUBSCRIPTIONS.replace("\n", "\n\n")),
        ("t.csv", "topic,weight,node\ns,1,a\nt,1,a\ns,1,b\nt,1,b\nt,1,c\n"),
        ("t.csv", SUBSCRIPTIONS.replace("a,s", '"a","s"')),
        ("t.tsv", SUBSCRIPTIONS.replace(",", "\t")),
        ("t.csv", SUBSCRIPTIONS.replace(",", "\t")),
        ("t.txt", SUBSCRIPTIONS),
        ("t.json", '{"format": "topics/1", "subscriptions": {"a": ["t", "s"], "c": ["t"], "b": ["s", "t", "s"]}}'),
    ],
)
def test_an_instance_is_read_in_every_spelling(name: str, text: str, tmp_path: Path) -> None:
    assert not isinstance(read_by_checker(tmp_path / name, text), str)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", SUBSCRIPTIONS.removesuffix("c,t\n")),
        ("t.csv", SUBSCRIPTIONS + "d,t\n"),
        ("t.csv", SUBSCRIPTIONS + "c,u\n"),
        ("t.csv", SUBSCRIPTIONS + "c,s\n"),
        ("t.csv", SUBSCRIPTIONS + "c\n"),
        ("t.csv", SUBSCRIPTIONS + ",t\n"),
        ("t.csv", SUBSCRIPTIONS + "c,t,t\n"),
        ("t.csv", SUBSCRIPTIONS.replace("node,topic", "user,channel")),
        ("t.csv", SUBSCRIPTIONS.replace("node,topic", "node,node")),
        ("t.csv", SUBSCRIPTIONS.replace("c,t", '"c,t')),
        ("t.csv", SUBSCRIPTIONS.replace("node,topic\n", "")),
        ("t.csv", ""),
        ("t.parquet", SUBSCRIPTIONS),
        ("t.json", '{"subscriptions": {"a": ["s", "t"], "b": ["s", "t"], "c": "t"}}'),
        ("t.json", '{"subscriptions": {"a": ["u"], "a": ["s", "t"], "b": ["s", "t"], "c": ["t"]}}'),
        ("t.json", '{"subscriptions": {"a": ["s", "t"], "b": ["s", "t"], "c": ["t", null]}}'),
        ("t.json", "[" * 100_000),
    ],
)
def test_another_or_a_damaged_instance_is_named(name: str, text: str, tmp_path: Path) -> None:
    assert isinstance(read_by_checker(tmp_path / name, text), str)


def read_by_checker(path: Path, text: str) -> Any:
    """The verdict on a proof about PATH with this text as its instance."""
    path.write_bytes(text.encode())
    write_lines(path.parent / "p.gz", proof(Tiny("min-tco", PATH), CASE, OPEN, answer=PATH_EDGES))
    return verdict(path, path.parent / "p.gz")


STP = """33D32945 STP File, STP Format Version 1.0
SECTION Comment
Name "T 2"
T 2
END
SECTION Graph
Nodes 3
Edges 3
E 1 2 1
E 2 3 1
E 1 3 3
END
SECTION Terminals
Terminals 2
T 1
T 3
END
EOF
"""


@pytest.mark.parametrize(
    ("old", "new", "is_read"),
    [
        ("E 1 2 1", "E 2 1 1", True),
        ("E 1 3 3", "E 1 3 3\nE 3 1 9", True),  # of parallel edges the cheapest counts
        ("T 2\nEND", "T 2\nEND\n# T 2", True),
        ("E 1 2 1", "E 1 2 2", False),
        ("E 1 2 1", "E 1 2 -1", False),
        ("E 1 2 1", "E 1 2 1.5", False),
        ("E 1 2 1", "E 1 2 1\nE 2 2 1", False),
        ("E 1 2 1", "A 1 2 1", False),
        ("E 1 2 1", "E 0 2 1", False),
        ("E 1 2 1", "E 1 4 1", False),
        ("Nodes 3", "Nodes 3\nNodes 4", False),
        ("T 3", "T 3\nT 0", False),
        ("SECTION Terminals", "SECTION Prizes", False),
        ("SECTION Terminals", "SECTION Comment", False),
    ],
)
def test_steiner_instances_are_read_by_section(old: str, new: str, is_read: bool, tmp_path: Path) -> None:
    (tmp_path / "i.stp").write_text(STP.replace(old, new))
    write_lines(tmp_path / "p.gz", proof(Tiny("steiner", TRIANGLE), ROOT, OPEN))
    assert isinstance(verdict(tmp_path / "i.stp", tmp_path / "p.gz"), str) != is_read


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["core"]["b0"].update(b1=-1),
        lambda data: data["core"].setdefault("b1", {}).update(b0=2),
        lambda data: data["core"]["b0"].update(b0=1),
        lambda data: data["core"]["b0"].update(b9=1),
        lambda data: data["users"]["u0"]["access"].update(b0=-1),
        lambda data: data["users"]["u0"]["access"].update(b9=1),
        lambda data: data["users"]["u0"]["rates"].update(c0=float("nan")),
        lambda data: data["users"]["u0"]["rates"].update(c9=1),
        lambda data: data["users"]["u1"].update(subscriptions="c0"),
        lambda data: data["users"]["u1"].update(subscriptions=["c0", "c9"]),
        lambda data: data["users"].update(u2=data["users"]["u1"]),
        lambda data: data["brokers"]["b0"].update(capacity=-1),
        lambda data: data["brokers"]["b0"].update(capacity=float("nan")),
        lambda data: data.update(close=True),
    ],
)
def test_a_content_instance_with_invalid_numbers_is_named(change: Any, tmp_path: Path) -> None:
    tiny = Tiny("content-steiner", FREE)
    lines = proof(tiny, ["case", {"unit": 1, "audiences": [[0]], "commodities": [[0, 0]]}], OPEN)
    tiny.write(tmp_path / "i.json")
    write_lines(tmp_path / "p.gz", lines)
    assert not isinstance(verdict(tmp_path / "i.json", tmp_path / "p.gz"), str)
    data = json.loads((tmp_path / "i.json").read_text())
    change(data)
    (tmp_path / "i.json").write_text(json.dumps(data))
    assert isinstance(verdict(tmp_path / "i.json", tmp_path / "p.gz"), str)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "missing", "no gzip", "no lists", "nested", "huge"])
def test_a_damaged_file_is_named_in_one_line(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = Tiny("min-tco", PATH)
    lines = proof(tiny, CASE, ALL_APART, ["bound", 0, [0, 1]], OPEN, answer=PATH_EDGES)
    instance, path = tmp_path / "i.csv", tmp_path / "p.gz"
    tiny.write(instance)
    texts = {"no lists": ["7"], "nested": ["[" * 100_000], "huge": ['["row",' + "9" * 5_000 + "]"]}
    write_lines(path, texts.get(damage, lines))
    content = path.read_bytes()
    if damage in ("cut", "flipped", "empty", "no gzip"):
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        path.write_bytes({"cut": content[:-20], "flipped": flipped, "empty": b"", "no gzip": b"proof"}[damage])
    if damage == "missing":
        path.unlink()
    assert checker().main([str(instance), str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("wrong: ")
    assert out.count("\n") == 1


def test_bounds_are_shown_rounded_down_and_answers_up() -> None:
    module = checker()
    third = Fraction(2, 3)
    assert module.shown(third, module.ROUND_FLOOR) == "0.666666666"
    assert module.shown(third, module.ROUND_CEILING) == "0.666666667"
    assert module.shown(Fraction(12), module.ROUND_FLOOR) == "12"
