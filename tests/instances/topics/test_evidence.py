"""Costs and scores of pairs from a table: what they make cheapest, and what is refused."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import strategies as st

from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.evidence import priced
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from tests.instances.topics.test_bad_files import message_of, table, written
from tests.properties import property_test

INSTANCE = TopicInstance.from_subscriptions({"a": ["x", "y"], "b": ["x"], "c": ["x", "y"], "d": ["y"]})
PAIRS = [*combinations("abcd", 2)]
WEIGHTED = next(problem for problem in TOPIC_PROBLEMS if problem.name == "weighted-tco")
SCORES = st.lists(st.one_of(st.integers(-3, 40), st.sampled_from([0.5, 2000])), min_size=6, max_size=6)


def valid_overlays() -> list[Overlay]:
    graphs = (edges for size in range(7) for edges in combinations(combinations(range(4), 2), size))
    overlays = [Overlay.from_edges(4, edges) for edges in graphs]
    return [overlay for overlay in overlays if not WEIGHTED.violations(INSTANCE, overlay)]


OVERLAYS = valid_overlays()


@property_test(60, scores=SCORES)
def test_the_cheapest_overlay_has_fewest_edges_and_then_the_largest_score(scores: list[float]) -> None:
    of = dict(zip(PAIRS, scores, strict=True))
    instance = priced(INSTANCE, of, score="seen")
    total = {id(each): sum(of["abcd"[u], "abcd"[v]] for u, v in each.edges.tolist()) for each in OVERLAYS}
    cheapest = min(OVERLAYS, key=lambda each: WEIGHTED.value(instance, each))
    fewest = min(each.num_edges for each in OVERLAYS)
    assert cheapest.num_edges == fewest
    best = max(total[id(each)] for each in OVERLAYS if each.num_edges == fewest)
    exact = all(score == int(score) for score in scores) and max(scores) - min(scores) <= 1000
    level = 0 if exact else (max(scores) - min(scores)) / 1000
    assert total[id(cheapest)] >= best - fewest * level


def test_costs_are_those_of_the_column_in_either_order_and_others_cost_most(tmp_path: Path) -> None:
    rows = ["one,other,note,cost", "a,b,x,7", '"c",a,y,2', "b,c,z,30", "", "d,a,,4", "c,d,,1"]
    instance = priced(INSTANCE, written(tmp_path / "pairs.csv", "\r\n".join(rows)), cost="cost")
    assert instance.edge_costs([0, 0, 1, 0, 2, 1], [1, 2, 2, 3, 3, 3]).tolist() == [7, 2, 30, 4, 1, 30]
    assert instance.node_labels == INSTANCE.node_labels


def test_pairs_without_a_score_have_none(tmp_path: Path) -> None:
    table = written(tmp_path / "pairs.tsv", "one\tother\tseen\na\tc\t3\n")
    costs = priced(INSTANCE, table, score="seen").edge_costs([0, 0, 0], [1, 2, 3])
    assert costs[0] == costs[2] == costs[1] + 3


HEAD = "one,other,cost\n"
ALL = HEAD + "".join(f"{u},{v},5\n" for u, v in PAIRS)
BAD = [
    ("empty", "", "is empty: give it a header line"),
    ("no column", "one,other,price\n", "no column 'cost' among 'price': name"),
    ("in the pair", "one,cost\n", "no column 'cost' among none: name"),
    ("twice", "one,other,cost,cost\na,b,1,2\n", "column 'cost' stands twice in the header: rename one"),
    ("a pair short", HEAD + "a,b,1\n", "no cost of 'a' and 'c', which share a topic: add a line"),
    ("unknown", ALL + "a,q,1\n", "line 8: unknown node 'q': correct the name or remove"),
    ("itself", ALL + "a,a,1\n", "line 8: a pair of 'a' with itself: remove the line"),
    ("again", ALL + "b,a,1\n", "line 8: 'b' and 'a' have a value already: remove one"),
    ("short line", HEAD + "a,b\n", "line 2: 2 values under a header of 3: correct the line"),
    ("quotes", HEAD + 'a,"b"c,1\n', "line 2: ',' expected after '\"': correct its quotes"),
    *((text, HEAD + f"a,b,{text}\n", "line 2:") for text in ("0", "1.5", "1000001", "nan", "inf", "x", "")),
]


@table(BAD)
def test_bad_tables_of_costs(tmp_path: Path, content: str, fragment: str) -> None:
    path = written(tmp_path / "pairs.csv", content)
    with pytest.raises(BadInput) as caught:
        priced(INSTANCE, path, cost="cost")
    assert fragment in message_of(caught, path)


def test_bad_scores_endings_and_columns_are_refused(tmp_path: Path) -> None:
    for text in ("nan", "-inf", "1e300", "much"):
        with pytest.raises(BadInput, match=r"line 2: .* is no score: give a number"):
            priced(INSTANCE, written(tmp_path / "pairs.csv", HEAD + f"a,b,{text}\n"), score="cost")
    with pytest.raises(BadInput, match=r"unknown ending '.xls'"):
        priced(INSTANCE, tmp_path / "pairs.xls", cost="cost")
    for columns in ({}, {"cost": "a", "score": "b"}):
        with pytest.raises(BadInput, match="name one of the two"):
            priced(INSTANCE, {}, **columns)
