"""Damaged proofs and instances are named; every spelling of an instance is read."""

from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.steiner.instance import SteinerInstance
from overlaybench.instances.topics.instance import TopicInstance
from tests.models.checker.tiny import Line, Tiny, checker, verdict, write_lines

# A path of three nodes: 2 edges, maximum degree 2.
PATH = Tiny("min-tco", TopicInstance.from_subscriptions({"a": ["s", "t"], "b": ["s", "t"], "c": ["t"]}))
# Two terminals joined by an edge of 3, or by two edges of 1.
TRIANGLE = Tiny("steiner", SteinerInstance.from_edges(3, [(0, 1, 1), (1, 2, 1), (0, 2, 3)], [0, 2]))
# All on one broker costs nothing.
FREE = Tiny(
    "content-steiner",
    ContentInstance(
        np.zeros((2, 3)), 1 - np.eye(3), np.full(3, np.inf), np.array([[1.0], [0]]), np.array([[False], [True]])
    ),
)
CASES: dict[str, Line] = {
    "min-tco": ["case", {"cap": None}],
    "steiner": ["case", {"root": 0, "unit": 1}],
    "content-steiner": ["case", {"unit": 1, "audiences": [[0]], "commodities": [[0, 0]]}],
}
SUBSCRIPTIONS = "node,topic\na,s\na,t\nb,s\nb,t\nc,t\n"
NESTED = "[" * 100_000


def proof(tiny: Tiny, *lines: Line) -> list[Line]:
    head = {"format": "overlaybench-proof/1", "problem": tiny.problem, "unit": 1, **tiny.head()}
    return [["proof", head], CASES[tiny.problem], *lines, ["end", None], ["claim", None, None]]


def read_by_checker(tiny: Tiny, path: Path, text: str) -> Any:
    """The verdict on a proof of nothing with this text as its instance."""
    path.write_bytes(text.encode())
    write_lines(path.parent / "p.gz", proof(tiny))
    return verdict(path, path.parent / "p.gz")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", SUBSCRIPTIONS + "a,s\n"),
        ("t.csv", "\ufeff" + SUBSCRIPTIONS),
        ("t.csv", SUBSCRIPTIONS.replace("\n", "\r\n")),
        ("t.csv", SUBSCRIPTIONS.replace("\n", "\n\n")),
        ("t.csv", "topic,weight,node\ns,1,a\nt,1,a\ns,1,b\nt,1,b\nt,1,c\n"),
        ("t.csv", SUBSCRIPTIONS.replace("a,s", '"a","s"')),
        ("t.tsv", SUBSCRIPTIONS.replace(",", "\t")),
        ("t.txt", SUBSCRIPTIONS),
        ("t.json", '{"format": "topics/1", "subscriptions": {"a": ["t", "s"], "c": ["t"], "b": ["s", "t", "s"]}}'),
    ],
)
def test_an_instance_is_read_in_every_spelling(name: str, text: str, tmp_path: Path) -> None:
    assert not isinstance(read_by_checker(PATH, tmp_path / name, text), str)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", ""),
        ("t.parquet", SUBSCRIPTIONS),
        ("t.json", '{"subscriptions": {"a": ["s", "t"], "b": ["s", "t"], "c": "t"}}'),
        ("t.json", '{"subscriptions": {"a": ["u"], "a": ["s", "t"], "b": ["s", "t"], "c": ["t"]}}'),
        ("t.json", '{"subscriptions": {"a": ["s", "t"], "b": ["s", "t"], "c": ["t", null]}}'),
        ("t.json", NESTED),
    ],
)
def test_what_is_no_instance_is_named(name: str, text: str, tmp_path: Path) -> None:
    assert isinstance(read_by_checker(PATH, tmp_path / name, text), str)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "missing", "no gzip", "no lists", "nested", "huge"])
def test_a_damaged_file_is_named_in_one_line(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = proof(PATH, ["row", "parts", 1, [0, 1, 2]], ["bound", 0, [0, 1]])
    instance, path = tmp_path / "i.csv", tmp_path / "p.gz"
    PATH.write(instance)
    texts = {"no lists": ["7"], "nested": [NESTED], "huge": ['["row",' + "9" * 5_000 + "]"]}
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


def test_a_proof_that_unpacks_to_too_much_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PATH.write(tmp_path / "t.csv")
    file = tmp_path / "p.gz"
    with gzip.open(file, "wt", compresslevel=9) as opened:
        for _ in range(80):
            opened.write(" " * 2**20)
    assert file.stat().st_size < 10**6
    assert verdict(tmp_path / "t.csv", file) == "line 0: line 1 has more than 67,108,864 characters"
    write_lines(file, proof(PATH, *[["row", "parts", 0, [0, 1]]] * 100))
    assert not isinstance(verdict(tmp_path / "t.csv", file), str)
    monkeypatch.setattr(checker(), "MOST", 3000)
    assert verdict(tmp_path / "t.csv", file) == "line 0: the proof has more than 3,000 characters"
