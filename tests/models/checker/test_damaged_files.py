"""Damaged proofs and instances are named; every spelling of an instance is read."""

import gzip
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from overlaybench.instances.topics.instance import TopicInstance
from tests.models.checker.tiny import Line, Tiny, check, checker, verdict, write_lines

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


@pytest.mark.parametrize(("module", "name"), [("topic_files", "chain"), ("check_proof", "Case")])
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
    longest = 2**22 + 8 * file.stat().st_size
    assert longest < 10**7
    assert verdict(tmp_path / "t.csv", file) == f"line 0: line 1 has more than {longest:,} bytes"
    lines = proof(*[["row", "parts", 0, [0, 1]]] * 100)
    assert not isinstance(check(PATH, lines, tmp_path), str)
    monkeypatch.setattr(checker(), "MOST", (3000, 0))
    assert check(PATH, lines, tmp_path) == "line 0: the proof has more than 3,000 bytes"


@pytest.mark.parametrize("tag", ["row", "drop", "bound", "none", "paths", "tree", "trees", "branch", "end"])
def test_a_line_of_a_case_outside_one_is_named(tag: str, tmp_path: Path) -> None:
    head, *lines = proof()
    assert check(PATH, [head, [tag, 0, []], *lines, ["end", None]], tmp_path) == f"line 2: {tag!r} outside a case"


def test_a_row_that_was_dropped_is_used_no_more(tmp_path: Path) -> None:
    row, bound = ["row", "parts", 1, [0, 1, 2]], ["bound", 0, [0, 1]]
    assert not isinstance(check(PATH, proof(row, bound, ["drop", 0]), tmp_path), str)
    assert check(PATH, proof(row, ["drop", 0], bound), tmp_path) == "line 5: row 0 was dropped"


def repeated_rows() -> Iterator[str]:
    yield from ['["row","parts",1,[0,1,2]]'] * 500_000


def open_leaves() -> Iterator[str]:
    for k in range(30_000):
        yield f'["bound",{2 * k},[]]'
        yield f'["branch",{2 * k},[0,1]]'


def lists_in_lists() -> Iterator[str]:
    yield '["bound",0,[' + ",".join(["[]"] * 1_300_000) + "]]"


def many_ends() -> Iterator[str]:
    yield from ['["end",5]'] * 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("lines", [repeated_rows, open_leaves, lists_in_lists, many_ends])
def test_a_small_file_costs_little_memory(lines: Callable[[], Iterator[str]], tmp_path: Path) -> None:
    PATH.write(tmp_path / "t.csv")
    head, case, *last = (json.dumps(line) for line in proof())
    with gzip.open(tmp_path / "p.gz", "wt", compresslevel=6) as file:
        file.writelines(f"{line}\n" for line in (head, case, *lines(), *last))
    assert (tmp_path / "p.gz").stat().st_size < 10**6
    script = Path(checker().__file__)
    limit = 200 * 10**6
    checked = subprocess.run(
        [sys.executable, script, "t.csv", "p.gz"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )
    assert checked.stdout.startswith(("proven", "wrong: p.gz: line")), checked
