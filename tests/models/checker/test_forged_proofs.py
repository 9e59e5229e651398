"""Forged proofs and damaged instances: each would be accepted if one check of the checker were missing."""

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
from tests.models.checker.tiny import Line, Tiny, check, checker, verdict, write_lines

# A path of three nodes: 2 edges, maximum degree 2; under 2d-star and 2d-true the same.
PATH = TopicInstance.from_subscriptions({"a": ["s", "t"], "b": ["s", "t"], "c": ["t"]})
PATH_EDGES = [[0, 1], [1, 2]]
# Two terminals joined by an edge of 3, or by two edges of 1.
TRIANGLE = SteinerInstance.from_edges(3, [(0, 1, 1), (1, 2, 1), (0, 2, 3)], [0, 2])


# All on one broker costs nothing.
def content(access: Any, core: Any, capacity: float, rates: Any, subscriptions: Any) -> ContentInstance:
    return ContentInstance(
        np.array(access, float), np.array(core, float), np.full(len(core), capacity), np.array(rates, float),
        np.array(subscriptions, bool),
    )  # fmt: skip


FREE = content(np.zeros((2, 3)), 1 - np.eye(3), np.inf, [[1], [0]], [[0], [1]])


def topics_proof(problem: str, /, *lines: Line, answer: Any = PATH_EDGES, bound: Any = None, **head: Any) -> Any:
    """The checker's verdict on a proof about PATH."""
    tiny = Tiny(problem, PATH)
    facts = {"format": "overlaybench-proof/1", "problem": problem, "unit": 1, **tiny.head(), **head}
    return tiny, [["proof", facts], *lines, ["claim", bound, answer]]


def steiner_proof(*lines: Line, answer: Any = None, bound: Any = None, instance: Any = TRIANGLE) -> Any:
    tiny = Tiny("steiner", instance)
    head = ["proof", {"format": "overlaybench-proof/1", "problem": "steiner", **tiny.head()}]
    return tiny, [head, *lines, ["claim", bound, answer]]


def content_proof(problem: str, *lines: Line, answer: Any = None, bound: Any = None, **case: Any) -> Any:
    tiny = Tiny(problem, FREE)
    head = ["proof", {"format": "overlaybench-proof/1", "problem": problem, **tiny.head()}]
    facts = {"unit": 1, "audiences": [[0]], "commodities": [[0, 0]], **case}
    return tiny, [head, ["case", facts], *lines, ["claim", bound, answer]]


CASE = ["case", {"cap": None}]
ALL_APART = ["row", "parts", 1, [0, 1, 2]]
OPEN = ["end", None]
ROOT = ["case", {"root": 0, "unit": 1}]

FORGED = {
    # The search says that it looked for answers below 1.5, so a bound may be "rounded up" from 1 to 1.5.
    "an end between two values": topics_proof("min-tco", CASE, ["branch", 0, [0, 1]], ["end", 1.5]),
    "an end of the wrong type": topics_proof("min-tco", CASE, ["end", True]),
    "a negative end": topics_proof("min-tco", CASE, ["end", -1]),
    "an end that is not a number": topics_proof("min-tco", CASE, ["end", float("nan")]),
    "a case in a case": topics_proof("min-tco", CASE, CASE, OPEN, OPEN),
    "a case that does not end": topics_proof("min-tco", CASE),
    "a second head": topics_proof("min-tco", topics_proof("min-tco")[1][0]),
    "another format": topics_proof("min-tco", format="overlaybench-proof/2"),
    "another problem": topics_proof("min-tco", problem="max-tco"),
    "a negative multiplier": topics_proof("min-tco", CASE, ALL_APART, ["bound", 0, [0, -1]], OPEN),
    "a fraction as multiplier": topics_proof("min-tco", CASE, ALL_APART, ["bound", 0, [0, 1.5]], OPEN),
    "a flag as multiplier": topics_proof("min-tco", CASE, ALL_APART, ["bound", 0, [0, True]], OPEN),
    "a row without a multiplier": topics_proof("min-tco", CASE, ALL_APART, ["bound", 0, [0, 1, 0]], OPEN),
    "a row before it is written": topics_proof("min-tco", CASE, ["bound", 0, [0, 1]], ALL_APART, OPEN),
    "a row from the end": topics_proof("min-tco", CASE, ALL_APART, ["bound", 0, [-1, 1]], OPEN),
    "a node that has branched": topics_proof(
        "min-tco", CASE, ALL_APART, ["branch", 0, [0, 1]], ["bound", 0, [0, 1]], OPEN
    ),
    "a price without a cap": topics_proof("min-tco", CASE, ["bound", 0, [], [0, 1]], OPEN),
    "a branch on what is no column": topics_proof("min-tco", CASE, ["branch", 0, [1, 0]], OPEN),
    "labels of another topic": topics_proof("min-tco", CASE, ["row", "parts", 0, [0, 1, 2]], OPEN),
    "a topic from the end": topics_proof("min-tco", CASE, ["row", "parts", -1, [0, 1, 2]], OPEN),
    "a row of diameter 2 in another problem": topics_proof("min-tco", CASE, ["row", "pair", 1, [0, 1, 2]], OPEN),
    "a pair with three ends": topics_proof("2d-true", CASE, ["row", "pair", 1, [0, 1, 1]], OPEN),
    "a pair with an unknown label": topics_proof("2d-true", CASE, ["row", "pair", 1, [0, 1, 4]], OPEN),
    "a centre in another problem": topics_proof("2d-true", CASE, ["row", "centre", 1], OPEN),
    # (n + topic)·n + node would be the column of a pair, or one that costs an edge.
    "the centre of a topic from the end": topics_proof(
        "2d-star", CASE, ["row", "centre", -1], ["row", "centre", -2], ["bound", 0, [0, 1, 1, 1]], OPEN
    ),
    "a branch on the centre of a topic from the end": topics_proof("2d-star", CASE, ["branch", 0, [-1, 0, 0]], OPEN),
    "a star at a node without the topic": topics_proof("2d-star", CASE, ["row", "star", 0, 1, 2], OPEN),
    "a row outside a case": topics_proof("min-tco", ALL_APART, CASE, OPEN),
    "a reduction of a topic instance": topics_proof("min-tco", ["node", 0]),
    "an answer that does not connect": topics_proof("min-tco", CASE, OPEN, answer=[[0, 1]]),
    "an answer with an edge from the end": topics_proof("min-tco", CASE, OPEN, answer=[[0, 1], [-1, 1]]),
    "more than is proven": topics_proof("min-tco", CASE, ALL_APART, ["bound", 0, [0, 1]], OPEN, bound=3),
    "lines after the claim": topics_proof("min-tco", ["claim", None, PATH_EDGES]),
    "a statement about caps that says nothing of all": topics_proof("min-tco", ["case", {"cap": 1}], OPEN, bound=1),
    # The cut {0, 1} is valid away from the root 2 only.
    "cuts under another root": steiner_proof(
        ["case", {"root": 2, "unit": 1}], ["row", "cut", 0, 1], OPEN, ROOT, ["bound", 0, [0, 9]], OPEN
    ),
    "a cut around the root": steiner_proof(ROOT, ["row", "cut", 0, 1], OPEN),
    "a cut without a terminal": steiner_proof(ROOT, ["row", "cut", 1], OPEN),
    "a terminal that does not end a tree": steiner_proof(ROOT, ["row", "through", 2], OPEN),
    "a root that is no terminal": steiner_proof(["case", {"root": 1, "unit": 1}], OPEN),
    "a reduction after the first case": steiner_proof(ROOT, OPEN, ["edge", 0, 2]),
    "a node with too many edges": steiner_proof(
        ["node", 1], instance=SteinerInstance.from_edges(4, [(0, 1, 1), (1, 2, 1), (1, 3, 1)], [0, 2, 3])
    ),
    "a terminal with two edges": steiner_proof(["node", 0]),
    "an edge without a replacement": steiner_proof(["edge", 0, 1]),
    "a walk over nodes that are no terminals": steiner_proof(
        ["edge", 0, 2], instance=SteinerInstance.from_edges(3, [(0, 1, 2), (1, 2, 2), (0, 2, 3)], [0, 2])
    ),
    # Arc (0, 1) is fixed at 1 and costs 1; a path through it must not be charged for it again.
    "paths that count a fixed arc twice": steiner_proof(
        ROOT, ["branch", 0, [0, 1]], ["paths", 1, []], ["branch", 1, [1, 2]], ["end", 3], bound=3
    ),
    "paths with a negative reduced cost": steiner_proof(ROOT, ["row", "cut", 2], ["paths", 0, [0, 9]], ["end", 2]),
    "an end between two costs": steiner_proof(ROOT, ["end", 1.5]),
    "a tree that is not in the graph": steiner_proof(ROOT, OPEN, answer=[[0, 2], [0, 3]]),
    "a tree that misses a terminal": steiner_proof(ROOT, OPEN, answer=[[0, 1]]),
    # A set of brokers that do not exist has no links, yet the row asks for one.
    "a set of unknown brokers": content_proof("content-steiner", ["row", "tree", 7], ["bound", 0, [0, 5]], OPEN),
    "a set of all brokers": content_proof("content-shared-tree", ["row", "tree", 0, 1, 2], OPEN),
    "a link in another problem": content_proof("content-steiner", ["row", "links", 1], OPEN),
    "a sign with rounding": content_proof("content-steiner", ["row", "on", 0, 1.0], OPEN),
    "a sign of links with rounding": content_proof("content-shared-tree", ["row", "links", -1.0], OPEN),
    "no capacity": content_proof("content-steiner", ["row", "capacity", 0, 1], OPEN),
    "users that fit": content_proof("content-steiner", ["row", "cover", 0, 0], OPEN),
    "a user that is no subscriber": content_proof("content-steiner", ["row", "there", 0, 0, 0], OPEN),
    "relays that are no destinations": content_proof("content-steiner", ["row", "enters", 0, 0, 1], OPEN),
    "a broker from the end": content_proof("content-steiner", ["row", "served", 0, -1], OPEN),
    "a commodity from the end": content_proof("content-steiner", OPEN, commodities=[[-1, 0]]),
    "a commodity twice": content_proof("content-steiner", OPEN, commodities=[[0, 0], [0, 0]]),
    "a channel twice": content_proof("content-steiner", OPEN, audiences=[[0], [0]]),
    "a unit of nothing": content_proof("content-steiner", OPEN, unit=0),
    "a second case with other audiences": content_proof(
        "content-steiner", OPEN, ["case", {"unit": 1, "audiences": [], "commodities": []}], OPEN
    ),
    "a user on no broker": content_proof("content-steiner", OPEN, answer=[[0], []]),
    "no tree for a message": content_proof("content-steiner", OPEN, answer=[[0, 1], []]),
    "a tree that does not reach": content_proof("content-steiner", OPEN, answer=[[0, 1], [[0, [0], [[0, 2]]]]]),
    "a tree with a cycle": content_proof(
        "content-shared-tree", OPEN, answer=[[0, 1], [[None, [], [[0, 1], [1, 2], [0, 2]]]]]
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_proof_is_named(name: str, tmp_path: Path) -> None:
    tiny, lines = FORGED[name]
    outcome = check(tiny, lines, tmp_path)
    assert isinstance(outcome, str), outcome


def test_a_cycle_beside_another_tree_is_no_shared_tree(tmp_path: Path) -> None:
    """As many links as a tree on five nodes: links on the cycle would be free, as no cut of one separates anything."""
    access = np.full((2, 5), 9.0)
    access[[0, 1], [0, 1]] = 0
    instance = content(access, 1 - np.eye(5), 9, [[3], [0]], [[0], [1]])
    tiny = Tiny("content-shared-tree", instance)
    head = {"format": "overlaybench-proof/1", "problem": tiny.problem, **tiny.head()}
    tree = [[0, 1], [1, 2], [0, 2], [3, 4]]
    outcome = check(tiny, [["proof", head], ["claim", None, [[0, 1], [[None, [], tree]]]]], tmp_path)
    assert isinstance(outcome, str)
    assert "no tree" in outcome


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
    write_lines(path.parent / "p.gz", topics_proof("min-tco", CASE, OPEN)[1])
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
    write_lines(tmp_path / "p.gz", steiner_proof(ROOT, OPEN)[1])
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
    tiny, lines = content_proof("content-steiner", OPEN)
    tiny.write(tmp_path / "i.json")
    write_lines(tmp_path / "p.gz", lines)
    assert not isinstance(verdict(tmp_path / "i.json", tmp_path / "p.gz"), str)
    data = json.loads((tmp_path / "i.json").read_text())
    change(data)
    (tmp_path / "i.json").write_text(json.dumps(data))
    assert isinstance(verdict(tmp_path / "i.json", tmp_path / "p.gz"), str)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "missing", "no gzip", "no lists", "nested", "huge"])
def test_a_damaged_file_is_named_in_one_line(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny, lines = topics_proof("min-tco", CASE, ALL_APART, ["bound", 0, [0, 1]], OPEN)
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
