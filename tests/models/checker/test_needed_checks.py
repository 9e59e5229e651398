"""Every check on rows is needed: without it a false claim is proven, with it the line is named."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from tests.models.checker.tiny import Line, Tiny, check, checker, falsehood

NO_END = ["end", None]
CASE = ["case", {"cap": None}]
ROOT = ["case", {"root": 0, "unit": 1}]


def proof(tiny: Tiny, *lines: Any, answer: Any = None, **head: Any) -> tuple[Tiny, list[Any]]:
    """A proof about the instance."""
    facts = {"format": "overlaybench-proof/1", "problem": tiny.problem, "unit": 1, **tiny.head(), **head}
    return tiny, [["proof", facts], *lines, ["claim", None, answer]]


def bounded(*rows: Line, factors: Any = (), tag: str = "bound", prices: Any = ()) -> list[Line]:
    """Rows, their multipliers (1 by default) at the root, and the end of the case."""
    listed = [number for pair in enumerate(factors or [1] * len(rows)) for number in pair]
    return [*(["row", *row] for row in rows), [tag, 0, listed, list(prices)], NO_END]


def topics(problem: str, **members: str) -> Tiny:
    """Topics by the letters of their subscribers."""
    nodes = sorted(set("".join(members.values())))
    return Tiny(
        problem, ob.TopicInstance.from_subscriptions({v: [t for t in members if v in members[t]] for v in nodes})
    )


def graph(edges: list[tuple[int, int, int]], terminals: list[int]) -> Tiny:
    nodes = 1 + max(v for edge in edges for v in edge[:2])
    return Tiny("steiner", ob.SteinerInstance.from_edges(nodes, edges, terminals))


def content(problem: str, access: Any, *, rates: Any, wanted: Any, core: Any = None, capacity: Any = np.inf) -> Tiny:
    """Brokers at distance 1 unless `core` says otherwise."""
    brokers = len(access[0])
    return Tiny(
        f"content-{problem}",
        ob.ContentInstance(
            np.array(access, float),
            1 - np.eye(brokers) if core is None else np.array(core, float),
            np.full(brokers, capacity),
            np.array(rates, float),
            np.array(wanted, bool),
        ),
    )


def messages(*commodities: list[int], audiences: Any = ([0],)) -> Line:
    return ["case", {"unit": 1, "audiences": audiences, "commodities": commodities}]


PATH = topics("min-tco", s="ab", t="abc")
CHAIN = topics("min-tco", p="ab", q="bc", r="cd", t="abcd")
CHAIN_2D = topics("2d-true", p="ab", q="bc", r="cd", t="abcd")
CHAIN_ROWS = [["parts", 0, [0, 1]], ["parts", 1, [0, 1]], ["parts", 2, [0, 1]]]
FORK = topics("2d-star", p="ac", q="bc", r="cd", s="ab", t="abcd")
TRIANGLE = graph([(0, 1, 1), (1, 2, 1), (0, 2, 3)], [0, 2])
DETOUR = graph([(0, 1, 5), (1, 2, 5), (0, 2, 1)], [0, 2])
LINK = graph([(0, 1, 1)], [0, 1])

# User 0 publishes, user 1 receives. They live at broker 0, at broker 1, or at one each; elsewhere costs 9.
NEAR_0 = {"access": [[0, 9], [0, 9]], "rates": [[1], [0]], "wanted": [[0], [1]]}
NEAR_1 = {"access": [[9, 0], [9, 0]], "rates": [[1], [0]], "wanted": [[0], [1]]}
APART = {"access": [[0, 9], [9, 0]], "rates": [[1], [0]], "wanted": [[0], [1]]}
ONE_BROKER = {"access": [[0], [0]], "rates": [[1], [0]], "wanted": [[0], [1]], "capacity": 2}
TIGHT = {"access": [[0, 0], [0, 0]], "rates": [[1], [0]], "wanted": [[0], [1]], "capacity": 1}
SENT = [["on", 1, 1], ["there", 0, 1, 1], ["cut", 0, 1, 1]]
# User 2, at broker 1, publishes what nobody receives.
BYSTANDER = {"access": [[0, 9], [0, 9], [9, 0]], "rates": [[1, 0], [0, 0], [0, 1]], "wanted": [[0, 0], [1, 0], [0, 0]]}
# Broker 3 is at distance 1 of the others, which are at distance 2.
HUB = {
    "access": [[0, 9, 9, 9], [9, 0, 9, 9], [9, 9, 0, 9]],
    "rates": [[1], [0], [0]],
    "wanted": [[0], [1], [1]],
    "core": [[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]],
}
HUB_ROWS = [
    *(["cut", 0, 1, 1], ["cut", 0, 2, 2], ["cut", 0, 1, 1, 3], ["cut", 0, 2, 2, 3]),
    *(["enters", 0, 0, 3], ["served", 0, 3], ["there", 0, 1, 1], ["there", 0, 2, 2], ["on", 1, 1], ["on", 2, 1]),
]
RING = 1 - np.eye(5)

ANY_ONE_LEAVES = [["leaving", 0, labels] for labels in ([-1, 0, 1], [0, -1, 1], [0, 1, -1])]
PAIRS = list(combinations(range(4), 2))

LEAVE = Tiny("dynamic-tco", ob.TopicTrace.from_events({v: ["t"] for v in "abc"}, [ob.Event(1, "leave", "c")]))
THREE, TWO = (["snapshot", step, {"unit": 1, "kept": [0]}] for step in (0, 1))

SPLITS = [0, 1, 2], [0, 1, 1], [1, 0, 1], [1, 1, 0]
CYCLE_2D = topics("2d-true", p="ab", q="bc", r="cd", s="ad", t="abcd")
CYCLE_ROWS = [["parts", t, [0, 1]] for t in range(4)]
STAR_ROWS = [["centre", 4], ["star", 4, 0, 2], ["star", 4, 1, 3]]

# By the reason that the checker gives: a false claim that it accepts if it does not look at this.
UNCHECKED = {
    "rows 'pair' are not valid here": proof(CHAIN, CASE, *bounded(*CHAIN_ROWS, ["pair", 3, [0, 3, 2, 1]])),
    "a row of fault tolerance is not valid here": proof(topics("min-tco", t="abc"), CASE, *bounded(*ANY_ONE_LEAVES)),
    "no single subscriber leaves": proof(
        topics("k-tco", t="abcd"),
        CASE,
        *bounded(*(["leaving", 0, [(v in pair) * (1 + (v == max(pair))) - 1 for v in range(4)]] for pair in PAIRS)),
    ),
    "the weights are not those of the node's possible neighbours": proof(
        topics("min-tco", p="acd", q="bcd"), CASE, *bounded(["near", 2, [256] * 2], ["near", 3, [256] * 2]), unit=256
    ),
    "no cut of three subscribers or more": proof(topics("k-tco", s="ab"), CASE, *bounded(["twice", 0, [0, 1]])),
    "no pair of subscribers": proof(
        CHAIN_2D, CASE, *bounded(*CHAIN_ROWS, ["pair", 3, [0, 3, 2, 3]], ["pair", 3, [3, 0, 3, 2]])
    ),
    "the labels are not those of the topic's subscribers": proof(
        CYCLE_2D, CASE, *bounded(*CYCLE_ROWS, *STAR_ROWS, ["apart", 4, [2, 2, 2, 2, 0, 1]])
    ),
    "node 9 does not subscribe to topic 4": proof(
        CYCLE_2D, CASE, *bounded(*CYCLE_ROWS, *STAR_ROWS, ["ends", 4, 9], factors=[2] * 7 + [1]), unit=2
    ),
    "degrees have a price in a case without a cap": proof(
        PATH, CASE, *bounded(["parts", 1, [0, 1, 2]], factors=[2], prices=[0, 1, 1, 1, 2, 1])
    ),
    "does not subscribe": proof(FORK, CASE, *bounded(*CYCLE_ROWS, ["centre", 3], ["star", 3, 0, 3], ["star", 3, 1, 3])),
    "does not subscribe to topic -1": proof(
        topics("2d-star", s="ab", t="abc"), CASE, *bounded(["parts", 1, [0, 1, 2]], ["centre", -1])
    ),
    "no row of the topic's subscribers": proof(
        topics("min-tco", s="d", t="abc"), CASE, ["tree", 1, [0, 1, 2, 3], [1, 1, 1]], ["trees"], NO_END
    ),
    "with gaps between them": proof(
        topics("min-tco", t="abc"), CASE, ["tree", 0, [0, 1, 2], [1, 1, 1]], ["trees"], NO_END
    ),
    "leaves are not valid here": proof(
        topics("minmax-tco", t="abcd"),
        *(["leaf", 3, 0, 0], ["leaf", 2, 0, 0], ["case", {"cap": 2}]),
        *bounded(*(["parts", place, [0, 1]] for place in range(3)), tag="none", prices=[0, 1]),
    ),
    "the nodes do not share the topic": proof(
        topics("min-tco", s="a", t="bc"), ["leaf", 0, 1, 1], CASE, *bounded(["parts", 1, [0, 1]], ["parts", 2, [0, 1]])
    ),
    "may need more neighbours": proof(
        topics("min-tco", r="abc", s="abd", t="acd"),
        *(["leaf", 0, 0, 1], CASE),
        *bounded(*(["parts", place, [0, 1]] for place in range(4))),
    ),
    "a second head": (
        CHAIN_2D,
        [*proof(CHAIN_2D, CASE, *bounded(*CHAIN_ROWS, ["pair", 3, [0, 3, 2, 1]]))[1][:-1], *proof(CHAIN)[1]],
    ),
    "negative multipliers": proof(
        PATH, CASE, *bounded(*(["parts", 1, labels] for labels in SPLITS), factors=[3, -1, -1, -1])
    ),
    "is no value of an answer": proof(
        topics("min-tco", s="ab"),
        CASE,
        ["row", "parts", 0, [0, 1]],
        ["bound", 0, []],
        ["branch", 0, [0, 1]],
        ["none", 2, [0, 1]],
        ["end", 1.5],
    ),
    "does not connect": proof(PATH, CASE, NO_END, answer=[[0, 1]]),
    "the set has the root": proof(TRIANGLE, ROOT, *bounded(["cut", 2], ["cut", 1, 2], ["cut", 0, 1])),
    "the set has no terminal": proof(DETOUR, ROOT, *bounded(["cut", 1], factors=[5])),
    "rows 'through' are not valid at a terminal": proof(
        graph([(0, 1, 1), (1, 2, 1)], [0, 1]), ROOT, *bounded(["cut", 1], ["through", 1], factors=[2, 1])
    ),
    "the root is no terminal": proof(DETOUR, ["case", {"root": 1, "unit": 1}], *bounded(["cut", 0, 2], factors=[5])),
    "a second case: rows hold for one root": proof(
        TRIANGLE,
        *(["case", {"root": 2, "unit": 1}], ["row", "cut", 0], ["row", "cut", 0, 1], NO_END),
        *(ROOT, ["row", "cut", 2], ["row", "cut", 1, 2], ["bound", 0, [0, 1, 1, 1, 2, 1, 3, 1]], NO_END),
    ),
    "has 3 edges": proof(
        graph([(0, 1, 1), (1, 2, 1), (1, 3, 1)], [0, 2, 3]), ["node", 1], ROOT, *bounded(["cut", 2], tag="none")
    ),
    "does not have one edge": proof(graph([(0, 1, 5)], [0]), ["node", 0]),
    "no walk over terminals": proof(
        TRIANGLE, ["edge", 0, 1], ROOT, *bounded(["cut", 2], ["cut", 1, 2], factors=[1, 2])
    ),
    "a reduction after the first case": proof(LINK, ROOT, *bounded(["cut", 1]), ["node", 1]),
    "paths count a column that is fixed": proof(
        TRIANGLE,
        ROOT,
        *(["row", "cut", 2], ["row", "cut", 1, 2]),
        *(["branch", 0, [0, 1]], ["paths", 1, []]),
        *(["bound", 1, [0, 1, 1, 2]], ["bound", 2, [0, 1, 1, 2]], ["end", 3]),
    ),
    "does not join the terminals": proof(TRIANGLE, answer=[[0, 1]]),
    "no scale, or no capacity": proof(
        content("steiner", **TIGHT | {"capacity": 9}), messages(), *bounded(["capacity", 0, -1], tag="none")
    ),
    "the users fit": proof(
        content("steiner", **ONE_BROKER), messages(), *bounded(["cover", 0, 0], ["on", 0, 1], tag="none")
    ),
    "a user repeats": proof(
        content("steiner", **ONE_BROKER),
        messages(),
        *bounded(["cover", 0, 0, 0, 0], ["on", 0, 1], factors=[1, 3], tag="none"),
    ),
    "is no subscriber": proof(
        content("steiner", **BYSTANDER), messages([0, 0]), *bounded(["on", 2, 1], ["there", 0, 1, 2], ["cut", 0, 1, 1])
    ),
    "other brokers may relay": proof(
        content("steiner", **HUB), messages([0, 0]), *bounded(*HUB_ROWS, factors=[1, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    ),
    "the destination is not in the set": proof(
        content("steiner", **NEAR_1), messages([0, 0]), *bounded(*SENT[:2], ["cut", 0, 1, 0])
    ),
    "the set is empty": proof(content("steiner", **NEAR_0), messages(), *bounded(["tree", 7])),
    "a commodity repeats": proof(
        content("steiner", **APART), messages([0, 0], [0, 0]), *bounded(*SENT, ["cut", 1, 1, 1], factors=[2, 2, 1, 1])
    ),
    "a channel is in two audiences": proof(
        content("steiner", **APART),
        messages([0, 0], [0, 1], audiences=[[0], [0]]),
        *bounded(*SENT, ["there", 1, 1, 1], ["cut", 1, 1, 1], factors=[2, 1, 1, 1, 1]),
    ),
    "have different subscribers": proof(
        content(
            "steiner", access=[[0, 9], [9, 0], [0, 9]], rates=[[1, 1], [0, 0], [0, 0]], wanted=[[0, 0], [1, 0], [0, 1]]
        ),
        messages([0, 0], audiences=[[0, 1]]),
        *bounded(*SENT, factors=[2, 2, 2]),
    ),
    "carries too much": proof(content("steiner", **TIGHT), answer=[[0, 0], []]),
    "a tree does not reach": proof(content("steiner", **APART), answer=[[0, 1], [[0, [0], []]]]),
    "'snapshot' within a case": proof(
        LEAVE,
        *(THREE, CASE, ["row", "parts", 0, [0, 1, 2]], ["bound", 0, [0, 1]], TWO, NO_END),
        *(THREE, CASE, *bounded(["parts", 0, [0, 1, 2]])),
    ),
    "a topic is not connected": proof(LEAVE, answer=[]),
    "a tree is no tree": proof(
        content(
            "shared-tree", access=[[0] + [9] * 4, [9, 0] + [9] * 3], rates=[[1], [0]], wanted=[[0], [1]], core=RING
        ),
        answer=[[0, 1], [[None, [], [[0, 1], [1, 2], [0, 2], [3, 4]]]]],
    ),
}


@pytest.mark.parametrize("reason", UNCHECKED)
def test_without_a_check_a_false_claim_is_proven(reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny, lines = UNCHECKED[reason]
    named = check(tiny, lines, tmp_path)
    assert isinstance(named, str), named
    assert reason in named
    need = checker("cases").need
    for module in ("cases", "check_proof", "topics", "kinds", "rows", "trees", "steiner", "content", "traces"):
        monkeypatch.setattr(checker(module), "need", lambda holds, why: reason in why or need(holds, why))
    outcome = check(tiny, lines, tmp_path)
    assert not isinstance(outcome, str), outcome
    assert falsehood(tiny, outcome), outcome


def test_a_sign_that_is_no_integer_is_named(tmp_path: Path) -> None:
    """Sums of floats may lose what decides, and prove a falsehood."""
    signs = (["on", 1, -1.0], ["on", 0, 1.0], ["on", 0, -1.0], ["on", 1, 1])
    lines = proof(
        content("steiner", **APART), messages([0, 0]), *bounded(*signs, factors=[1, 2**54, 2**54, 1], tag="none")
    )
    assert check(*lines, tmp_path) == "line 3: a number of the row is no integer"
