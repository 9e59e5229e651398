"""Damaged proofs and instances are named; every spelling of an instance is read."""

import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from overlaybench.instances.topics.instance import TopicInstance
from tests.models.checker.tiny import Line, Tiny, checker, verdict, write_lines

# A path of three nodes: 2 edges, maximum degree 2.
PATH = Tiny("min-tco", TopicInstance.from_subscriptions({"a": ["s", "t"], "b": ["s", "t"], "c": ["t"]}))
SUBSCRIPTIONS = "node,topic\na,s\na,t\nb,s\nb,t\nc,t\n"
NESTED = "[" * 100_000


def proof(*lines: Line) -> list[Line]:
    head = {"format": "overlaybench-proof/1", "problem": PATH.problem, "unit": 1, **PATH.head()}
    return [["proof", head], ["case", {"cap": None}], *lines, ["end", None], ["claim", None, None]]


@pytest.mark.parametrize(("name", "text"), [("t.parquet", SUBSCRIPTIONS), ("t.json", NESTED)])
def test_what_is_no_instance_is_named(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    write_lines(tmp_path / "p.gz", proof())
    assert isinstance(verdict(path, tmp_path / "p.gz"), str)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "missing", "no gzip", "no lists", "nested", "huge"])
def test_a_damaged_file_is_named_in_one_line(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = proof(["row", "parts", 1, [0, 1, 2]], ["bound", 0, [0, 1]])
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


@pytest.mark.parametrize(("module", "name"), [("topics", "chain"), ("check_proof", "Case")])
def test_a_lack_of_memory_is_no_verdict(
    module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    instance, path = tmp_path / "i.csv", tmp_path / "p.gz"
    PATH.write(instance)
    write_lines(path, proof())
    monkeypatch.setattr(checker(module), name, fail)
    assert checker().main([str(instance), str(path)]) == 2
    assert capsys.readouterr().err == "not checked: out of memory\n"


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
    write_lines(file, proof(*[["row", "parts", 0, [0, 1]]] * 100))
    assert not isinstance(verdict(tmp_path / "t.csv", file), str)
    monkeypatch.setattr(checker(), "MOST", 3000)
    assert verdict(tmp_path / "t.csv", file) == "line 0: the proof has more than 3,000 characters"
