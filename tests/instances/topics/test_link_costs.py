"""Costs of links: their arithmetic, digests, files and errors, and those from tables of pairs."""

import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.topics.evidence import priced as priced_by_pairs
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from tests.instances.topics.test_bad_files import refused, table, written
from tests.models.topics.small_instances import priced, small_instance
from tests.properties import property_test
from tests.topic_brute_force import cost_between

TRIANGLE = ob.TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t", "s"]})


def test_distances_are_rounded_to_the_nearest_integer_and_at_least_one() -> None:
    costs = ob.LinkCosts.plane([(0, 0), (3, 4), (0, 0), (1, 1), (0, 2)])
    assert costs.between([0, 0, 0, 0, 1], [1, 2, 3, 4, 4]).tolist() == [5, 1, 1, 2, 4]


def test_costs_are_those_of_their_definition() -> None:
    for seed in range(30):
        instance = priced(small_instance(seed), seed)
        pairs = [(u, v) for v in range(instance.num_nodes) for u in range(v)]
        u, v = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        assert instance.edge_costs(u, v).tolist() == [cost_between(instance, *pair) for pair in pairs]


def test_costs_decide_value_and_digest_whatever_the_numbers_of_sites() -> None:
    overlay = ob.Overlay.from_edges(3, [(0, 1), (1, 2)])
    costs = ob.LinkCosts.given([[0, 7, 1], [7, 0, 5], [1, 5, 0]])
    assert ob.PROBLEMS["weighted-tco"].value(TRIANGLE.with_costs(costs), overlay) == 12
    assert ob.PROBLEMS["weighted-tco"].value(TRIANGLE, overlay) == 2
    priced_one = TRIANGLE.with_costs(ob.LinkCosts.plane([(0, 0), (1, 1), (5, 5)]))
    assert priced_one.digest != TRIANGLE.digest
    assert priced_one.with_costs(None).digest == TRIANGLE.digest
    assert pickle.loads(pickle.dumps(priced_one)) == priced_one
    one = ob.LinkCosts.between_sites([0, 1, 1], [[3, 9], [9, 4]])
    other = ob.LinkCosts.between_sites([2, 0, 0], [[4, 1, 9], [1, 1, 1], [9, 1, 8]])
    assert one.contents == other.contents


def test_costs_are_read_as_they_were_written(tmp_path: Path) -> None:
    for seed in range(6):
        instance = priced(small_instance(seed), seed)
        for path in (tmp_path / "wanted.json", tmp_path / "wanted.parquet"):
            ob.write_topics(instance, path)
            assert ob.read_topics(path, as_is=True).instance == instance


def test_a_part_keeps_the_costs_of_its_nodes() -> None:
    for seed in range(6):
        instance = priced(ob.WORKLOADS["uniform"].generate(nodes=8, topics=4, subscriptions=2, seed=seed), seed)
        part = instance.induced(np.array([5, 2, 7]))
        assert part.edge_costs([0, 0, 1], [1, 2, 2]).tolist() == instance.edge_costs([5, 5, 2], [2, 7, 7]).tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ob.LinkCosts.given([[0, 2], [3, 0]]),
        lambda: ob.LinkCosts.given([[0, 2.5], [2.5, 0]]),
        lambda: ob.LinkCosts.given([[0, 2, 3], [2, 0, 3]]),
        lambda: ob.LinkCosts.given([[0, 2_000_000], [2_000_000, 0]]),
        lambda: ob.LinkCosts.between_sites([0, 2], [[1, 1], [1, 1]]),
        lambda: ob.LinkCosts.plane([(0.5, 1)]),
        lambda: ob.LinkCosts.plane([(2**40, 0), (0, 0)]),
        lambda: ob.LinkCosts(),
        lambda: TRIANGLE.with_costs(ob.LinkCosts.plane([(0, 0)])),
    ],
)
def test_costs_that_do_not_fit_are_bad_input(make: Any) -> None:
    with pytest.raises(ob.BadInput):
        make()


def test_priced_workloads_add_costs_to_the_subscriptions_of_their_popularity() -> None:
    for name in ("plane", "transit-stub"):
        for popularity in ("uniform", "zipf"):
            sizes = {"nodes": 30, "topics": 9, "subscriptions": 3}
            instance = ob.WORKLOADS[name].generate(seed=4, popularity=popularity, **sizes)
            assert instance.with_costs(None) == ob.WORKLOADS[popularity].generate(seed=4, **sizes)
            assert instance == ob.WORKLOADS[name].generate(seed=4, popularity=popularity, **sizes)
            assert instance != ob.WORKLOADS[name].generate(seed=5, popularity=popularity, **sizes)


def test_transit_stub_costs_are_paths_that_rest_on_a_metric() -> None:
    instance = ob.WORKLOADS["transit-stub"].generate(seed=1, nodes=60, topics=9, subscriptions=3, transits=4, stubs=3)
    n = instance.num_nodes
    cost = instance.edge_costs(*np.divmod(np.arange(n * n), n)).reshape(n, n)
    assert (cost[:, None] <= cost[:, :, None] + cost[None]).all()
    assert cost[~np.eye(n, dtype=bool)].min() == 2


INSTANCE = ob.TopicInstance.from_subscriptions({"a": ["x", "y"], "b": ["x"], "c": ["x", "y"], "d": ["y"]})
PAIRS = [*combinations("abcd", 2)]
WEIGHTED = next(problem for problem in TOPIC_PROBLEMS if problem.name == "weighted-tco")
SCORES = st.lists(st.one_of(st.integers(-3, 40), st.sampled_from([0.5, 2000])), min_size=6, max_size=6)


def valid_overlays() -> list[ob.Overlay]:
    graphs = (edges for size in range(7) for edges in combinations(combinations(range(4), 2), size))
    overlays = [ob.Overlay.from_edges(4, edges) for edges in graphs]
    return [overlay for overlay in overlays if not WEIGHTED.violations(INSTANCE, overlay)]


OVERLAYS = valid_overlays()


@property_test(60, scores=SCORES)
def test_the_cheapest_overlay_has_fewest_edges_and_then_the_largest_score(scores: list[float]) -> None:
    of = dict(zip(PAIRS, scores, strict=True))
    instance = priced_by_pairs(INSTANCE, of, score="seen")
    total = {id(each): sum(of["abcd"[u], "abcd"[v]] for u, v in each.edges.tolist()) for each in OVERLAYS}
    cheapest = min(OVERLAYS, key=lambda each: WEIGHTED.value(instance, each))
    fewest = min(each.num_edges for each in OVERLAYS)
    assert cheapest.num_edges == fewest
    best = max(total[id(each)] for each in OVERLAYS if each.num_edges == fewest)
    exact = all(score == int(score) for score in scores) and max(scores) - min(scores) <= 1000
    level = 0 if exact else (max(scores) - min(scores)) / 1000
    assert total[id(cheapest)] >= best - fewest * level


def test_tables_give_costs_in_either_order_and_scores(tmp_path: Path) -> None:
    rows = ["one,other,note,cost", "a,b,x,7", '"c",a,y,2', "b,c,z,30", "", "d,a,,4", "c,d,,1"]
    instance = priced_by_pairs(INSTANCE, written(tmp_path / "pairs.csv", "\r\n".join(rows)), cost="cost")
    assert instance.edge_costs([0, 0, 1, 0, 2, 1], [1, 2, 2, 3, 3, 3]).tolist() == [7, 2, 30, 4, 1, 30]
    assert instance.node_labels == INSTANCE.node_labels
    table = written(tmp_path / "pairs.tsv", "one\tother\tseen\na\tc\t3\n")
    costs = priced_by_pairs(INSTANCE, table, score="seen").edge_costs([0, 0, 0], [1, 2, 3])
    assert costs[0] == costs[2] == costs[1] + 3


@pytest.mark.parametrize("begin", ["", "# measured in May\n", "\ufeff"])
@pytest.mark.parametrize("separator", [";", "|", "  ", " ; ", "\t"])
def test_tables_of_costs_have_the_dialects_of_subscriptions(begin: str, separator: str, tmp_path: Path) -> None:
    lines = [separator.join(map(str, row)) for row in (("one", "other", "Cost"), *((*pair, 7) for pair in PAIRS))]
    excel = ["sep=;"] if separator == ";" else []
    table = written(tmp_path / "pairs.csv", begin + "\r\n".join([*excel, *lines]))
    assert priced_by_pairs(INSTANCE, table, cost="cost").edge_costs([0, 1], [1, 2]).tolist() == [7, 7]
    table.write_bytes(table.read_bytes().decode().encode("utf-16"))
    with pytest.raises(ob.BadInput, match=r"pairs.csv: line 1 is UTF-16: save the file as UTF-8"):
        priced_by_pairs(INSTANCE, table, cost="cost")


def test_both_directions_of_a_pair_may_say_the_same_and_decimals_are_exact(tmp_path: Path) -> None:
    rows = ["one,other,cost", *(f"{u},{v},{k}.1" for k, (u, v) in enumerate(PAIRS)), "b,a,0.10", "a,b,0.1"]
    instance = priced_by_pairs(INSTANCE, written(tmp_path / "pairs.csv", "\n".join(rows)), cost="cost")
    assert instance.edge_costs([0, 0, 1, 2], [1, 2, 2, 3]).tolist() == [1, 11, 31, 51]
    assert WEIGHTED.unit(instance) == 10
    assert priced_by_pairs(INSTANCE, dict.fromkeys(PAIRS, 0.3), cost="cost").edge_costs([0], [1]).tolist() == [3]


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
    ("again", ALL + "b,a,1\n", "line 8: 'b' and 'a' have the value 5 already: remove one"),
    ("too fine", ALL.replace("b,c,5", "b,c,5000.001"), "the cost 5000.001 times 1,000, for the decimals, is above"),
    ("short line", HEAD + "a,b\n", "line 2: 2 values under a header of 3: correct the line"),
    ("quotes", HEAD + 'a,"b"c,1\n', "line 2: ',' expected after '\"': correct its quotes"),
    *((text, HEAD + f"a,b,{text}\n", "line 2:") for text in ("0", "-1.5", "1000001", "nan", "inf", "x", "")),
]


@table(BAD)
def test_bad_tables_of_costs(tmp_path: Path, content: str, fragment: str) -> None:
    path = written(tmp_path / "pairs.csv", content)
    with refused(path, fragment):
        priced_by_pairs(INSTANCE, path, cost="cost")


def test_bad_scores_endings_and_columns_are_refused(tmp_path: Path) -> None:
    for text in ("nan", "-inf", "1e300", "much"):
        with pytest.raises(ob.BadInput, match=r"line 2: .* is no score: give a number"):
            priced_by_pairs(INSTANCE, written(tmp_path / "pairs.csv", HEAD + f"a,b,{text}\n"), score="cost")
    with pytest.raises(ob.BadInput, match=r"unknown ending '.xls'"):
        priced_by_pairs(INSTANCE, tmp_path / "pairs.xls", cost="cost")
    for columns in ({}, {"cost": "a", "score": "b"}):
        with pytest.raises(ob.BadInput, match="name one of the two"):
            priced_by_pairs(INSTANCE, {}, **columns)
