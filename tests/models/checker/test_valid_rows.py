"""Every row that the checker accepts holds for every answer, or keeps an optimal one, by enumeration."""

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st

from overlaybench.instances.topics.instance import TopicInstance
from tests import topic_brute_force
from tests.content_brute_force import Network
from tests.content_brute_force import assignments as all_assignments
from tests.models.checker.tiny import (
    CONTENT_PROBLEMS,
    Tiny,
    case_of,
    checker,
    draw_content,
    draw_steiner,
    draw_tiny,
    draw_topics,
)
from tests.properties import property_test
from tests.steiner_brute_force import least_cost

SEEDS = st.integers(0, 10**9)
ROWS = 60
WITHOUT = ("number", "ends", "apart")
Values = dict[Any, int]
Tree = tuple[tuple[int, int], ...]


def model_of(tiny: Tiny, **head: Any) -> Any:
    """The checker's model of an instance."""
    module = checker()
    kind = next(kind for kind in module.KINDS if tiny.problem in kind.problems)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"i{tiny.suffix}"
        tiny.write(path)
        return kind(str(path), {"problem": tiny.problem, "unit": 1, **tiny.head(), **head})


def row_of(model: Any, items: Any) -> Any:
    """Coefficients and right-hand side, None if the row is refused."""
    try:
        coefficients, rhs = model.row(*items)
        if isinstance(coefficients, checker("rows").Named):
            coefficients = zip(coefficients.columns, coefficients.weights, strict=True)
        return list(coefficients), rhs
    except Exception:
        return None


def held(row: Any, values: Values) -> bool:
    coefficients, rhs = row
    return bool(sum(factor * values.get(column, 0) for column, factor in coefficients) >= rhs)


def drawn(draw: random.Random, most: int) -> Any:
    """A number, sometimes beyond the range or of another type."""
    return draw.choice([draw.randint(-2, most + 1), *[draw.randrange(max(1, most))] * 5, 0.5, 1.0, True, "0", None])


def topic_rows(draw: random.Random, sizes: list[int], nodes: int) -> Iterator[list[Any]]:
    for _ in range(ROWS):
        kind = draw.choice(
            ["parts", "parts", "pair", "pair", "cut", "leaving", "twice", "near", *["centre", "star"] * 2, *WITHOUT]
        )
        topic = drawn(draw, len(sizes))
        size = sizes[topic] if type(topic) is int and 0 <= topic < len(sizes) else draw.randint(0, nodes)
        labels: list[Any] = [
            draw.randint(0, 3) if kind in ("pair", "apart") else draw.choice([0, 1, 2, 0.0, True, "a"])
            for _ in range(size)
        ]
        if kind in ("pair", "apart") and size > 1:
            first, second = draw.sample(range(size), 2)
            labels = [2 if label < 2 else 3 for label in labels]
            labels[first], labels[second] = 0, 1
        if kind == "leaving" and size and draw.random() < 0.9:
            labels[draw.randrange(size)] = -1
        if kind == "near":
            topic = drawn(draw, nodes)
            labels = [draw.randint(-draw.randint(0, 1), 3) for _ in range(nodes - draw.choice([1, 1, 1, 2]))]
        if draw.random() < 0.1:
            labels.append(0)
        if kind in ("parts", "pair", "leaving", "twice", "apart", "near"):
            yield [kind, topic, labels]
        else:
            length = {"centre": 2, "number": 2, "ends": 3}.get(kind, 4)
            yield [kind, topic, drawn(draw, nodes), drawn(draw, nodes)][:length]


@property_test(1500, SEEDS, quick=30)
def test_rows_of_topics_hold_for_every_overlay(seed: int) -> None:
    draw = random.Random(seed)
    tiny = Tiny(draw.choice(["min-tco", "low-tco", "k-tco", "2d-star", "2d-true"]), draw_topics(draw, most_nodes=5))
    members = topic_brute_force.members_of_topics(tiny.instance)
    kept = [t for t in range(len(members)) if draw.random() < 0.8]
    model, n = model_of(tiny, kept=kept), tiny.instance.num_nodes
    graphs = topic_brute_force.all_graphs(n)
    valid = [mask for mask in graphs.masks if all(graphs.serve(tiny.problem, nodes)[mask] for nodes in members)]
    overlays = [{u * n + v: int(graphs.has[u, v][mask]) for u, v in graphs.pairs} for mask in valid]
    for items in topic_rows(draw, [len(members[t]) for t in kept], n):
        row = row_of(model, items)
        if row is None:
            continue
        if items[0] in ("centre", "star", *WITHOUT):
            nodes = members[kept[items[1]]]
            for values in overlays:
                for kinds in kinds_of(model, items[1], nodes, values):
                    assert held(row, values | kinds), (items, members)
        else:
            assert all(held(row, values) for values in overlays), (items, members)


def kinds_of(model: Any, topic: int, nodes: tuple[int, ...], edges: Values) -> Iterator[Values]:
    """What a topic is in an overlay: a star at any centre, or, without one, a graph of diameter 2."""
    has = {(u, v): edges[u * model.n + v] for u, v in combinations(nodes, 2)}
    centres = [c for c in nodes if all(value for pair, value in has.items() if c in pair)]
    for c in centres:
        yield {model.centre(topic, c): 1}
    if not centres:
        yield {model.none(topic): 1} | {model.other(topic, *pair): value for pair, value in has.items()}


@property_test(1500, SEEDS, quick=20)
def test_trees_prove_no_more_than_the_optimum_and_as_much_as_their_rows(seed: int) -> None:
    draw = random.Random(seed)
    tiny = draw_tiny(draw, draw.choice(["min-tco", "weighted-tco", "k-tco", "2d-true"]))
    model = model_of(tiny, unit=4)
    best = topic_brute_force.optimum(tiny.instance, tiny.problem)
    for _ in range(10):
        trees = [
            [t, draw.sample(nodes, len(nodes)), [draw.randrange(draw.choice([2, 9])) for _ in nodes[1:]]]
            for t, nodes in enumerate(model.members)
            if draw.random() < 0.9
        ]
        weight = model.weight_of([model.tree(*tree) for tree in trees])
        assert weight <= 4 * best
        given, (_, _, listed) = model.trees_as_rows(trees, 0)
        rows = checker("rows").Rows(model)
        for row in given.values():
            rows.add(json.dumps(["row", *row]), row)
        case = checker("cases").Case(model, None, rows)
        case.bound(0, [number for k, factor in enumerate(listed[1::2]) for number in (k, factor)], {})
        assert max(weight, 0) == case.open[0][1]


@property_test(300, SEEDS, quick=20)
def test_the_join_of_trees_weighs_each_pair_as_its_rows_do(seed: int) -> None:
    draw = random.Random(seed)
    wanted = {f"n{v}": {f"t{min(draw.randrange(12), draw.randrange(12))}" for _ in range(5)} for v in range(25)}
    model = model_of(Tiny("min-tco", TopicInstance.from_subscriptions(wanted)), unit=12)
    weights = draw.choice([[0, 0, 0, 0, 4, 12], [0, 3, 6], [0, 0, 5, 13], range(9)])
    total, above, trees = 0, dict[tuple[int, int], int](), []
    for t, nodes in enumerate(model.members):
        # Few popular topics have gaps other than 0, so that some claims are true and others false.
        gaps = [draw.choice(weights) * (draw.random() < 6 / len(nodes)) for _ in nodes[1:]]
        row = draw.sample(nodes, len(nodes))
        trees.append([t, row, gaps])
        total += sum(gaps)
        for (i, u), (j, v) in combinations(enumerate(row), 2):
            pair = min(u, v), max(u, v)
            above[pair] = above.get(pair, -12) + max(gaps[i:j])
    total -= sum(weight for weight in above.values() if weight > 0)
    assert model.weight_of([model.tree(*tree) for tree in trees]) == total


@property_test(1500, SEEDS, quick=30)
def test_leaves_keep_the_fewest_edges(seed: int) -> None:
    draw = random.Random(seed)
    tiny = Tiny("min-tco", draw_topics(draw, most_nodes=5))
    model, n = model_of(tiny), tiny.instance.num_nodes
    graphs = topic_brute_force.all_graphs(n)
    least = set()
    for _ in range(20):
        with suppress(Exception):
            model.leaf(drawn(draw, n), drawn(draw, len(model.members)), drawn(draw, n))
        valid = [graphs.connects(tuple(nodes)) for nodes in model.members]
        least.add(int(graphs.edges[np.all(valid, axis=0)].min()))
    assert len(least) == 1, seed


@property_test(1500, SEEDS, quick=60)
def test_reductions_rows_and_paths_keep_a_cheapest_tree(seed: int) -> None:
    draw = random.Random(seed)
    instance = draw_steiner(draw, most_nodes=6)
    while instance.num_edges > 11:
        instance = draw_steiner(draw, most_nodes=6)
    if least_cost(instance) is None:
        return
    model, lines = model_of(Tiny("steiner", instance)), list[Any]()
    for _ in range(draw.randint(0, 12)):
        line: list[Any] = draw.choice(
            [["node", draw.randrange(instance.num_nodes)], ["edge", *draw.choices(range(6), k=2)]]
        )
        try:
            getattr(model, line[0])(*line[1:])
            lines.append(line)
        except Exception:
            model = model_of(Tiny("steiner", instance))
            for kind, *items in lines:
                getattr(model, kind)(*items)
    model.begin({"root": draw.choice(sorted(model.terminals)), "unit": 1})
    trees = list(arborescences(model.near, model.terminals, model.root))
    best = min(cost for cost, _ in trees)
    assert model.base + best == least_cost(instance), lines
    rows = []
    for _ in range(ROWS):
        kind = draw.choice(["cut", "cut", "reach", "into", "through", "left", "once", "entered"])
        items = [kind, *(drawn(draw, 6) for _ in range(draw.randint(1, 4) if kind in ("cut", "reach") else 1))]
        row = row_of(model, items)
        if row is not None:
            rows.append(row)
            assert all(held(row, values) for _, values in trees), (items, model.near, model.root)
    assert_paths(draw, model, rows, trees)


def assert_paths(draw: random.Random, model: Any, rows: list[Any], trees: list[tuple[int, Values]]) -> None:
    """No tree below the end of a case uses an arc that paths exclude."""
    for _ in range(5):
        below = draw.randint(0, max(cost for cost, _ in trees) + 1)
        chosen = draw.sample(rows, min(len(rows), draw.randint(0, 3)))
        case = case_of(model, below, chosen)
        try:
            case.bound(0, [number for row in range(len(chosen)) for number in (row, 1)], {}, "paths")
        except checker("cases").Wrong:
            continue
        better = [(cost, values) for cost, values in trees if cost < below]
        assert better == [] or case.open, "closed though a tree is better"
        for _, bound in case.open.values():
            assert all(cost >= bound for cost, _ in better)
            assert not any(values.get(arc) for _, values in better for arc in case.root_fixings())


def arborescences(near: Any, terminals: Any, root: int) -> Iterator[tuple[int, Values]]:
    """The cost, and the arcs and other nodes, of every tree whose leaves are terminals, directed away from the root."""
    edges = [(u, v) for u in near for v in near[u] if u < v]
    for count in range(len(near)):
        for chosen in combinations(edges, count):
            arcs = directed(chosen, root)
            heads, tails = {v for _, v in arcs}, {u for u, _ in arcs}
            if len(arcs) == count and terminals <= heads | {root} and heads - tails <= terminals:
                yield sum(near[u][v] for u, v in arcs), dict.fromkeys([*arcs, *(heads - terminals)], 1)


def directed(links: Any, root: int) -> list[tuple[int, int]]:
    """The links of a tree that are reached from a root, as arcs away from it; fewer if there is a cycle."""
    arcs, waiting, found = [], [root], {root}
    for a in waiting:
        for i, j in links:
            b = j if i == a else i if j == a else None
            if b is not None and b not in found:
                found.add(b)
                waiting.append(b)
                arcs.append((a, b))
    return arcs


def content_rows(draw: random.Random, model: Any, brokers: int) -> Iterator[list[Any]]:
    users, commodities = len(model.users), len(model.commodities)
    audiences = len(model.audiences)
    for _ in range(ROWS):
        sets = draw.sample(range(brokers), draw.randint(1, brokers))
        i, j = drawn(draw, brokers), drawn(draw, brokers)
        yield draw.choice(
            [
                ["on", drawn(draw, users), draw.choice([1, -1, 1.0, 2])],
                ["capacity", i, draw.choice([1, 0.5, 0.3, 2**20, 0, -1])],
                ["cover", i, *draw.sample(range(users), draw.randint(1, users))],
                ["there", drawn(draw, audiences), i, drawn(draw, users)],
                ["served", drawn(draw, audiences), i],
                ["enters", drawn(draw, commodities), i, j],
                ["cut", drawn(draw, commodities), i, *sets],
                ["cut", drawn(draw, commodities), sets[0], *sets],
                ["links", draw.choice([1, -1, 2])],
                ["along", drawn(draw, commodities), *sorted(draw.choices(range(brokers), k=2))],
                ["tree", *draw.choice([sets, [*sets, 9], [9], []])],
            ]
        )


@property_test(1500, SEEDS, quick=40)
def test_rows_of_content_hold_for_every_overlay(seed: int) -> None:
    draw = random.Random(seed)
    tiny = Tiny(draw.choice(CONTENT_PROBLEMS), draw_content(draw, most_users=3, most_brokers=4))
    instance = tiny.instance
    wanted = instance.subscriptions.T.tolist()
    alike = [
        [c for c, own in enumerate(wanted) if own == column] for column in {tuple(own): own for own in wanted}.values()
    ]
    audiences = draw.sample(alike, draw.randint(1, len(alike)))
    pairs = list(product(range(instance.num_users), range(len(audiences))))
    model = model_of(tiny)
    model.begin({"unit": 1, "audiences": audiences, "commodities": draw.sample(pairs, min(3, len(pairs)))})
    rows = [(items, row) for items in content_rows(draw, model, instance.num_brokers) if (row := row_of(model, items))]
    answers = list(all_assignments(instance))
    network = Network(instance.core.tolist())
    for at in draw.sample(answers, min(len(answers), 12)):
        for values in columns_of(tiny.problem, model, network, at):
            for items, row in rows:
                assert held(row, values), (items, at, values)


def columns_of(problem: str, model: Any, network: Network, at: tuple[int, ...]) -> Iterator[Values]:
    """The columns of an assignment under every choice of trees: one commodity with a tree at a time, or all."""
    base: Values = {("x", u, b): 1 for u, b in enumerate(at)}
    ends = [{at[u] for u in members} for members in model.members]
    base |= {("d", a, b): 1 for a, places in enumerate(ends) for b in places}
    if problem == "content-shared-tree":
        for tree in network.spanning_trees:
            values = base | dict.fromkeys((("t", i, j) for i, j in tree), 1)
            for k, (u, a, _) in enumerate(model.commodities):
                values |= dict.fromkeys((("y", k, *arc) for arc in pruned(tree, at[u], ends[a])), 1)
            yield values
        return
    choices = []
    for k, (u, a, _) in enumerate(model.commodities):
        needed = frozenset(ends[a] | {at[u]})
        relays = [b for b in network.brokers if b not in needed and problem == "content-steiner"]
        sets = [needed | set(chosen) for count in range(len(relays) + 1) for chosen in combinations(relays, count)]
        trees = {tuple(pruned(tree, at[u], ends[a])) for members in sets for tree in network.trees(members)}
        choices.append([[("y", k, *arc) for arc in tree] for tree in trees])
    for number in range(max(map(len, choices), default=1)):
        arcs = [column for options in choices for column in options[number % len(options)]]
        yield base | dict.fromkeys(arcs, 1)


def pruned(tree: Tree, source: int, ends: set[int]) -> list[tuple[int, int]]:
    """The arcs of a tree on the way from the source to its ends."""
    arcs = directed(tree, source)
    while leaves := [(u, v) for u, v in arcs if v not in ends and not any(tail == v for tail, _ in arcs)]:
        arcs = [arc for arc in arcs if arc not in leaves]
    return arcs
