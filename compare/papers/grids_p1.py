"""The grids of P1's figures and sentences, and the sizes that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product

from ..studies.recipe import Recipe
from ..studies.study import Runs
from .bench import LAWS, Experiment, Sizes, grid, runs

NODES, TOPICS, ORDERS = tuple(range(1000, 10_001, 1000)), (100, 200), ("number", "random", "random-per-topic")
_RINGS = runs(
    "min-tco",
    *(("ring-per-topic", {"order": order}) for order in ORDERS),
)


def p1_instances(
    family: str,
    seeds: int,
    *,
    laws: Iterable[str] = LAWS,
    nodes: Iterable[int] = NODES,
    topics: Iterable[int] = TOPICS,
    sizes: Iterable[int] = (10,),
) -> tuple[Recipe, ...]:
    """Instances of P1 §8 for all combinations of a law, |V|, |T| and topics a node; `seeds` at each."""
    return tuple(
        recipe
        for law, n, t, s in product(laws, nodes, topics, sizes)
        for recipe in grid(family, law, seeds, nodes=n, topics=t, subscriptions=s)
    )


def every_tie(quick: bool = False) -> tuple[Runs, ...]:
    """Greedy Merge under every rule for ties, with two seeds of random ones (one if quick)."""
    rules = runs("min-tco", *(("gm", {"ties": ties}) for ties in ("lowest", "highest")))
    return rules, runs("min-tco", ("gm", {"ties": "random"}), repeats=1 if quick else 2)


def p1_nodes(family: str, *, rings: bool = False) -> Callable[[bool], Experiment]:
    """P1, Figures 2 and 4(a): |V| 1000 … 10,000, |T| 100 and 200, 10 topics a node, all laws, five seeds a point."""

    def experiment(quick: bool) -> Experiment:
        nodes = (1000, 2000, 4000) if quick else NODES
        recipes = p1_instances(family, 4 if quick else 5, nodes=nodes)
        return Experiment(recipes, (*every_tie(quick), _RINGS) if rings else every_tie(quick))

    return experiment


def p1_f3(quick: bool) -> Experiment:
    """P1, Figure 3: the instances whose steps are counted, with GM beside."""
    nodes = (250, 500, 1000) if quick else (1000, 2000, 3000)
    recipes = p1_instances("P1.F3", 5 if quick else 2, nodes=nodes)
    return Experiment(recipes, (runs("min-tco", ("gm", {"ties": "lowest"})),))


def p1_f4b(quick: bool) -> Experiment:
    """P1, Figure 4(b): |T| 100 … 200, 10 and 20 topics a node, at |V| = 1000 and, of fewer |T|, 10,000.

    The paper does not name |V|.
    """
    recipes = p1_instances(
        "P1.F4b", 4 if quick else 6, nodes=(1000,), topics=(100, 150, 200) if quick else range(100, 201, 25),
        sizes=(10, 20),
    )  # fmt: skip
    if not quick:
        recipes += p1_instances("P1.F4b", 3, nodes=(10_000,), sizes=(10, 20))
    return Experiment(recipes, (*every_tie(quick), _RINGS))


def p1_sizes(family: str) -> Callable[[bool], Experiment]:
    """P1 §8, other numbers of topics a node than 10: the paper names 20 and reports no others."""

    def experiment(quick: bool) -> Experiment:
        nodes, sizes = ((500, 1000), (5, 20)) if quick else ((1000, 4000), (5, 20, 30))
        return Experiment(p1_instances(family, 4, nodes=nodes, sizes=sizes), (*every_tie(quick), _RINGS))

    return experiment


GRIDS_P1: Mapping[str, Callable[[bool], Experiment]] = {
    "P1.F2": p1_nodes("P1.F2"),
    "P1.F3": p1_f3,
    "P1.F4a": p1_nodes("P1.F4a", rings=True),
    "P1.F4b": p1_f4b,
}
_OF_8: Sizes = {"law": LAWS, "|V|": (1000, 10_000), "|T|": TOPICS, "|T_v|": (10,)}
SIZES_P1: Mapping[str, Sizes] = {
    "P1.F2": _OF_8,
    "P1.F3": _OF_8,
    "P1.F4a": {"law": ("zipf",), "|V|": (1000, 10_000), "|T_v|": (10,)},
    "P1.F4b": {"law": ("zipf",), "|T|": TOPICS, "|T_v|": (10, 20)},
}
