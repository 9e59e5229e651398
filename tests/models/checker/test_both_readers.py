"""The checker and the package read the same instances from files, and refuse the same files."""

import contextlib
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.instances.content.files import CONTENT
from overlaybench.instances.over_time.trace_files import read_trace
from overlaybench.instances.steiner.files import STEINER
from tests.models.checker.tiny import Tiny, checker, draw_content, draw_steiner, draw_topics, draw_trace, write_lines
from tests.models.topics.small_instances import priced

ENDINGS: dict[str, tuple[str, ...]] = {
    "topics": (".json", ".csv", ".tsv", ".dat", ".txt"),
    "costs": (".json",),
    "content": (".json",),
    "steiner": (".stp",),
    "trace": (".jsonl",),
}
LEFT_OUT = ("the prices are not closed", "a user does not know a broker")
CASES = [(kind, ending) for kind, endings in ENDINGS.items() for ending in endings]
READERS: dict[str, tuple[str, str, str, Callable[[Path], Any]]] = {
    "topics": ("topics", "TopicRules", "min-tco", lambda path: read_if_plain(path)),
    "costs": ("topics", "TopicRules", "weighted-tco", lambda path: read_if_plain(path)),
    "content": ("content", "ContentRules", "content-mst", lambda path: CONTENT.read(path, {}).instance),
    "steiner": ("steiner", "SteinerRules", "steiner", lambda path: STEINER.read(path, {}).instance),
    "trace": ("traces", "TraceRules", "dynamic-tco", read_trace),
}


def read_if_plain(path: Path) -> Any:
    """The instance; a dialect that only the package reads, and converts for the checker, is as good as refused."""
    loaded = ob.read_topics(path, as_is=True)
    if not loaded.is_plain:
        raise ob.BadInput(f"{path}: converted for the checker")
    return loaded.instance


NAMES = ["1", "1.0", "None", "null", "true", "NaN", "", " ", "n0", "n1", "t0", "s0", "s1", "u0", "b0", "b1", "c0", "é"]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 1.0, 0.5, -0.0, 1e400, float("nan"), 10**6, 10**6 + 1, 2**30 + 1, 2**31, 2**53),
    *(2**63, 10**400, [], {}, [1, 2], [0, 0], [0.0, 1], ["s0", "s1", 3], ["n0", "n0", 1], [1, "1", 2], "\ud800"),
    *({"n0": [0, 0]}, {"1": "1", "1.0": "1"}, {"b0": 1, "b1": 0}, "topics/1", "content/1", "leave", "join", *NAMES),
]
KEYS = ["costs", "points", "sites", "between", "links", "other", "close", "core", "rates", "capacity", "x", *NAMES]
KEYS += ["time", "event", "topics", "start"]
LINE_ENDS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u2029", "\x00"]
TOKENS = [
    *LINE_ENDS,
    *("\ufeff", "\xa0", "\t", " ", ",", '"', '""', "'", "#", "+", "-", "_", "e", ".", "0", "1", "9", "٣", "９", "x"),
    *("SECTION Graph\n", "SECTION Terminals\n", "SECTION Comment\n", "END\n", "EOF\n", "Nodes 3\n", "Edges 1\n"),
    *("E 1 2 1\n", "E 2 1 0\n", "e 1 2 9\n", "T 1\n", "T 2\n", "Terminals 1\n", "33D32945 STP\n", "K", "ſection"),
    *('"a,b"', '"a"b', 'a"b', '"a""b"', "node", "topic", "node,topic\n", "n0,t0\n", "n1,t0,\n", "n0\tt0\n", ",t0\n"),
    *("NaN", "Infinity", "-0.0", "1e999", "null", "true", "1.0", "{}", "[]", '"n0":["t0"],', '"format":"topics/1",'),
    *('"close":true,', '"costs":null,', '"other":3,', "\\ud800", "\\u0031", "9" * 20, "9" * 5000),
]


def draw_instance(kind: str, draw: random.Random) -> Any:
    if kind == "content":
        return draw_content(draw)
    if kind in ("steiner", "trace"):
        return draw_steiner(draw) if kind == "steiner" else draw_trace(draw)
    instance = draw_topics(draw)
    if draw.random() < 0.2:
        names = draw.sample([name for name in NAMES if name], instance.num_nodes)
        instance = ob.TopicInstance(instance.node_offsets, instance.node_topics, names)
    return priced(instance, draw.randrange(6)) if kind == "costs" else instance


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list in a document with each of its keys."""
    for key in list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield data, key
        yield from places(data[key])


def with_other_values(text: str, draw: random.Random) -> str:
    """The JSON with a few entries replaced, removed, repeated, or moved to another key."""
    data = json.loads(text)
    for _ in range(draw.choice([1, 1, 2, 3])):
        entries, key = draw.choice([*places(data)] or [({}, "")])
        other, source = draw.choice([*places(data)] or [({}, "")])
        value = draw.choice([other[source], draw.choice(VALUES), draw.choice(VALUES)] if other else [None])
        act = draw.randrange(4)
        if act == 0 and entries:
            del entries[key]
        elif act == 1 and isinstance(entries, list):
            entries.append(json.loads(json.dumps(value)))
        elif act == 2 and isinstance(entries, dict):
            entries[draw.choice(KEYS)] = json.loads(json.dumps(value))
        elif entries:
            entries[key] = json.loads(json.dumps(value))
    return json.dumps(data, ensure_ascii=draw.random() < 0.5).replace("\\ud800", "\\ud800")


def with_other_lines(text: str, draw: random.Random) -> str:
    """The JSON lines with other entries in one of them."""
    lines = text.split("\n")[:-1]
    at = draw.randrange(len(lines))
    return "\n".join([*lines[:at], with_other_values(lines[at], draw), *lines[at + 1 :]])


def with_other_letters(text: str, draw: random.Random) -> str:
    """The text with letters, tokens and lines removed, added, repeated or exchanged."""
    for _ in range(draw.choice([1, 1, 2, 4])):
        lines = text.splitlines(keepends=True) or [""]
        at, line = draw.randrange(len(text) + 1), draw.randrange(len(lines))
        match draw.randrange(7):
            case 0:
                text = text[:at] + text[at + draw.randint(1, 3) :]
            case 1 | 2:
                text = text[:at] + draw.choice(TOKENS) + text[at:]
            case 3:
                text = text[:at] + draw.choice(TOKENS) + text[at + 1 :]
            case 4:
                text = "".join([*lines[:line], *lines[line + 1 :]])
            case 5:
                text = "".join([*lines[:line], draw.choice(lines), *lines[line:]])
            case 6:
                text = text.replace("\n", draw.choice(LINE_ENDS), draw.choice([1, -1]))
    return text


def read_by_package(kind: str, path: Path) -> Any:
    """The instance, or None where the file is refused."""
    try:
        return READERS[kind][3](path)
    except ob.BadInput as error:
        refusal = str(error)
    assert refusal.startswith(f"{path}: ")
    assert len(refusal.splitlines()) == 1
    return None


def converted(path: Path) -> bool:
    """Whether the package reads a dialect that the checker takes for a plain table with other labels."""
    with contextlib.suppress(ob.BadInput):
        return not ob.read_topics(path, as_is=True).is_plain
    return False


def disagreement(kind: str, path: Path) -> str:
    """Which reader accepts what the other refuses, or that they read two instances; or "read" or "refused"."""
    module, name, problem, _ = READERS[kind]
    instance = read_by_package(kind, path)
    reader = checker(module)
    try:
        reader.read(str(path))
    except Exception as error:  # whatever a damaged file leads to, as in the checker
        left_out = kind == "content" and any(reason in str(error) for reason in LEFT_OUT)
        left_out |= kind == "steiner" and instance is not None and not ob.KINDS[kind].read(path, {}).is_plain
        return "refused" if instance is None or left_out else f"only the package reads it: {error!r}"
    if instance is None:
        return "refused" if kind == "topics" and converted(path) else "only the checker reads it"
    head = {"problem": problem, "unit": 1, **Tiny(problem, instance).head()}
    try:
        getattr(reader, name)(str(path), head)
    except Exception as error:
        return f"two instances: {error!r}"
    return "read"


def mutations(kind: str, ending: str, number: int, folder: Path) -> Counter[str]:
    """The outcomes of both readers on one instance and 40 changed files."""
    draw, path = random.Random(f"{kind}{ending}{number}"), folder / f"instance{ending}"
    Tiny(READERS[kind][2], draw_instance(kind, draw)).write(path)
    assert disagreement(kind, path) == "read"
    text, outcomes = path.read_text(encoding="utf-8"), Counter[str]()
    for _ in range(40):
        by_entry = {".json": with_other_values, ".jsonl": with_other_lines}.get(ending)
        changed = (by_entry if by_entry and draw.random() < 0.6 else with_other_letters)(text, draw)
        path.write_bytes(changed.encode("utf-8", "surrogatepass"))
        outcome = disagreement(kind, path)
        assert outcome in ("read", "refused"), (outcome, changed)
        outcomes[outcome] += 1
    return outcomes


@pytest.mark.parametrize(("kind", "ending"), CASES)
def test_both_readers_take_a_changed_file_for_the_same_instance_or_refuse_it(
    kind: str, ending: str, tmp_path: Path
) -> None:
    numbers = range(4 if kind == "topics" else 8)  # one reader serves all endings of topics
    outcomes = sum((mutations(kind, ending, number, tmp_path) for number in numbers), Counter())
    assert min(outcomes["read"], outcomes["refused"]) > 10, outcomes


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_both_readers_agree_on_many_changed_files(tmp_path: Path) -> None:
    end = time.monotonic() + float(os.environ.get("OVERLAYBENCH_FUZZ_SECONDS", "60"))
    outcomes, number = Counter[tuple[str, str, str]](), 1000
    while time.monotonic() < end:
        for kind, ending in CASES:
            for outcome, count in mutations(kind, ending, number, tmp_path).items():
                outcomes[kind, ending, outcome] += count
        number += 1
    print(f"{outcomes.total():,} changed files: {dict(outcomes)}")


TABLE = "node,topic\na,s\na,t\nb,s\nb,t\n"
GRAPH = """33D32945 STP File, STP Format Version 1.0
SECTION Graph
Nodes 3
Edges 2
E 1 2 1
E 2 3 4
END
SECTION Terminals
Terminals 2
T 1
T 3
END
EOF
"""
TWO = '{"format": "topics/1", "subscriptions": {"a": ["s"], "b": ["s"]}'
OUTSIDE = [
    *(("i.stp", GRAPH.replace("E 2 3 4", f"# {sign}E 2 3 1\nE 2 3 4")) for sign in "\x0b\x0c\x1c\x1d\x1e\x85\u2028"),
    ("i.stp", GRAPH.replace("EOF", "SECTION Terminals\nTerminals 1\nT 1\nEND\nEOF")),
    ("i.stp", GRAPH.replace("Edges 2", "Edges 2\nEdges 2")),
    ("i.json", TWO + ', "costs": {"sites": {"a": 1, "b": 1.0}, "between": [[1, 1, 3], [1.0, 1.0, 9], [1, 1.0, 2]]}}'),
    ("i.json", TWO + ', "costs": {"sites": {"a": null, "b": "None"}, "between": [["None", "None", 3]]}}'),
    ("i.json", TWO + ', "costs": {"links": [["a", "b", 1], ["b", "a", 9]]}}'),
    ("i.json", TWO + ', "costs": {"links": [["a", "b", 1], ["a", "b", 1]]}}'),
    ("i.json", TWO + ', "costs": {"points": {"a": [0, 0], "b": [0, 9]}, "links": [["a", "b", 1]]}}'),
    ("i.json", TWO + ', "subscriptions": {"a": ["s"]}}'),
    ("i.json", TWO.replace('["s"]}', '["s", 1]}') + "}"),
    ("i.csv", TABLE + '"a"b,s\n'),
]


@pytest.mark.parametrize(("name", "text"), OUTSIDE)
def test_what_lies_outside_a_format_is_refused_by_both(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert disagreement("steiner" if name == "i.stp" else "topics", path) == "refused"


def test_the_checker_names_the_file_that_is_no_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance, proof = tmp_path / "i.json", tmp_path / "p.gz"
    instance.write_text(TWO)
    write_lines(
        proof,
        [["proof", {"format": "overlaybench-proof/1", "problem": "min-tco", "nodes": [], "topics": [], "unit": 1}]],
    )
    for program, written in (("check_proof", ()), ("vipr", (str(tmp_path / "out.vipr"),))):
        assert checker(program).main([str(instance), str(proof), *written]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.startswith(f"{instance}: ")
        assert err.count("\n") == 1
