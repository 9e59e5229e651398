"""P3's Lemmas 5 and 9: how the maximum degree of GM-M grows with the topics of a node."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...heuristics.topics.tie_search.steps import GreedySteps
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from .claim import Claim, Finding, Scope, Verdict
from .evidence import all_of, at_most, mean_of, scope_of, with_ties
from .properties import TIES

_ANY_CHOICE = "GM-M may take any of several equally good edges"


def binomial_tree(order: int) -> TopicInstance:
    """2^order nodes, each with at most 2 topics: one shared with its children, one with its parent and siblings.

    Node v > 0 is a child of v without its lowest bit; the children of v are v + 2^i below its lowest bit. The edges to
    the children are topic-connected, with degree `order` at node 0; degree 3 suffices. Cost O(2^order).
    """
    parents = {v: v & (v - 1) for v in range(1, 2**order)}
    topics = {v: {f"t{v}"} if v in parents.values() else set() for v in range(2**order)}
    for child, parent in parents.items():
        topics[child].add(f"t{parent}")
    return TopicInstance.from_subscriptions({f"v{v}": sorted(of) for v, of in topics.items()})


def legal_degree(steps: GreedySteps, order: int) -> int | None:
    """The maximum degree if GM-M takes child 2^i of every node that has one in phase i + 1; None if it cannot.

    Every edge is checked against all equally good choices of the step, and the last against a topic left unconnected.
    """
    state = steps.start()
    for i in range(order):
        for parent in range(0, 2**order, 2 ** (i + 1)):
            edge = parent, parent + 2**i
            if edge not in steps.candidates(state):
                return None
            state = steps.after(state, edge)
    return None if steps.candidates(state) else max(state.degrees)


def _forced(bench: Bench, subject: str, bound: str, orders: Sequence[int]) -> Finding:
    """Whether equally good choices lead GM-M to degree log2 |V| although no node has more than two topics."""
    steps = getattr(bench.methods["gm-m"].solve, "steps", None)
    reached = {order: legal_degree(steps(binomial_tree(order)), order) if steps else None for order in orders}
    refuted = all(degree == order for order, degree in reached.items())
    optima = {h: bench.value("branch-and-cut", binomial_tree(h), "minmax-tco") for h in orders if h <= 5}
    shown = ", ".join(f"{degree} at |V| = {2**order}" for order, degree in reached.items())
    text = (
        f"A family with max|T_v| = 2 on which GM-M's equally good choices lead to D = log2 |V|: {shown}; every choice "
        f"was checked against all that are equally good. The optimum is at most {max(optima.values()):g} (proven up to "
        f"|V| = {2 ** max(optima)}). In phase i + 1 each node with more than i children takes the child that has i "
        f"itself: both have degree i, and no two nodes of lower degree are in different components of a topic. {bound}"
        if refuted
        else f"Binomial trees: {shown} (None: the choices are not among the best)."
    )
    sizes: dict[str, tuple[float | str, ...]] = {"|V|": tuple(2**order for order in orders), "max|T_v|": (2,)}
    scope = Scope(sizes, samples=1, points=len(orders), ties=("worst",), reading=_ANY_CHOICE)
    return Finding(subject, Verdict.REFUTED if refuted else Verdict.OPEN, text, len(orders), scope=scope)


def _orders(bench: Bench) -> range:
    return range(2, 6 if bench.quick else 8)


def _under_rules(bench: Bench) -> Finding:
    """GM-M's degree on the same family under the project's rules for ties."""
    orders, seeds = (4, 9) if bench.quick else (4, 14), 8 if bench.quick else 40
    degree = {
        (ties, order): [
            bench.value("gm-m", binomial_tree(order), "minmax-tco", ties=ties, seed=seed)
            for seed in range(seeds if ties == "random" else 1)
        ]
        for ties in TIES
        for order in orders
    }
    small, large = (mean_of(f"D at |V| = {2**order}, ties random", degree["random", order]) for order in orders)
    text = "D at |V| = " + ", ".join(
        f"{2**order}: {degree['lowest', order][0]:g} (lowest), {degree['highest', order][0]:g} (highest)"
        for order in orders
    )
    most = mean_of("difference", np.subtract(degree["random", orders[1]], degree["random", orders[0]]))
    verdict = Verdict.HOLDS if at_most(most, 0) is Verdict.HOLDS else Verdict.OPEN
    sizes: dict[str, tuple[float | str, ...]] = {"|V|": tuple(2**order for order in orders), "max|T_v|": (2,)}
    scope = Scope(sizes, samples=1, points=2, ties=TIES, seeds=seeds, reading="ties broken by one rule throughout")
    text += ". Under random ties D grows with |V| here too, but slowly: runs cannot tell whether it is bounded."
    return Finding(
        "one rule for ties, the same family", verdict, text, bench.done, scope=scope, intervals=(small, large)
    )


def slopes(rows: pd.DataFrame, size: str, measure: str, *, by: Sequence[str] = ()) -> list[float]:
    """The exponent of a measure in a size (column), by least squares on logarithms, for each replicate.

    The k-th instance of every size is the k-th replicate: independent families, one exponent each.
    """
    rows = rows.assign(replicate=rows.groupby([size, *by])["instance"].transform(lambda i: pd.factorize(i)[0]))
    mean = rows.groupby([*by, "replicate", size])[measure].mean().clip(lower=1).reset_index()
    return [
        float(np.polyfit(np.log(one[size].astype(float)), np.log(one[measure]), 1)[0])
        for _, one in mean.groupby([*by, "replicate"])
    ]


def growth_finding(
    rows: pd.DataFrame, subject: str, size: str, symbol: str, measure: str, most: float, *, note: str = ""
) -> Finding:
    """Whether a measure grows at most like the given power of a size, for each law and rule for ties."""
    rows = with_ties(rows)
    together = rows.groupby(["workload", "ties"]).ngroups
    intervals = [
        mean_of(f"exponent in {symbol}, {law}, ties {ties}", slopes(some, size, measure), together=together)
        for (law, ties), some in rows.groupby(["workload", "ties"])
    ]
    verdict = all_of(at_most(one, most) for one in intervals)
    least, largest = min(one.mean for one in intervals), max(one.mean for one in intervals)
    text = f"Exponent {least:.2f} to {largest:.2f}, at most {most:g} allowed; all else fixed.{note}"
    symbols = {"workload": "law", "p_nodes": "|V|", "p_topics": "|T|", size: symbol}
    return Finding(subject, verdict, text, len(rows), scope=scope_of(rows, symbols=symbols), intervals=tuple(intervals))


_SUBSCRIPTIONS = (5, 10, 20, 40, 80)
_GM_M: tuple[Any, ...] = tuple(("gm-m", {"ties": ties}) for ties in ("lowest", "highest"))


def _growing(quick: bool) -> Experiment:
    nodes, count = (100, 6) if quick else (1000, 5)
    recipes = tuple(
        recipe
        for law in LAWS
        for s in (_SUBSCRIPTIONS[:4] if quick else _SUBSCRIPTIONS)
        for recipe in grid("P3.L5", law, count, nodes=nodes, topics=1000, subscriptions=s)
    )
    random = runs("minmax-tco", ("gm-m", {"ties": "random"}), repeats=1)
    return Experiment(recipes, (runs("minmax-tco", *_GM_M), random))


def _maximum_degree(bench: Bench) -> Iterable[Finding]:
    yield _forced(bench, "any equally good choice", "No constant times max|T_v| bounds D.", _orders(bench))
    yield _under_rules(bench)
    constant = float((bench.rows["max_degree"] / bench.rows["p_subscriptions"]).max())
    note = f" The largest D ÷ max|T_v| is {constant:.2f}."
    yield growth_finding(
        bench.rows, "growth with max|T_v| on workloads", "p_subscriptions", "|T_v|", "max_degree", 1, note=note
    )


def _conquering(quick: bool) -> Experiment:
    nodes, count = (100, 6) if quick else (1000, 5)
    experiments = [
        Experiment(
            tuple(r for law in LAWS for r in grid(f"P3.L9.{s}", law, count, nodes=nodes, topics=1000, subscriptions=s)),
            tuple(runs("minmax-tco", ("dcb-m", {"eta": s, "partitions": 5, "ties": ties})) for ties in TIES),
        )
        for s in (_SUBSCRIPTIONS[:4] if quick else _SUBSCRIPTIONS)
    ]
    recipes = tuple(recipe for one in experiments for recipe in one.recipes)
    return Experiment(recipes, tuple(run for one in experiments for run in one.runs))


def _inner_degree(bench: Bench) -> Iterable[Finding]:
    bound = "With η = 2 and p = 1 every node is lightweight and Algorithm 8 is GM-M: no constant times η bounds D."
    yield _forced(bench, "any equally good choice", bound, _orders(bench))
    rows = bench.rows.assign(inner=counter(bench.rows, "inner_max_degree"))
    note = f" The largest D ÷ η is {float((rows['inner'] / rows['p_subscriptions']).max()):.2f}."
    yield growth_finding(rows, "growth with η on workloads", "p_subscriptions", "η", "inner", 1, note=note)


def counter(rows: pd.DataFrame, name: str) -> list[float]:
    """A counter of each run."""
    return [float(json.loads(text)[name]) for text in rows["counters"]]


CLAIMS_P3_GROWTH: tuple[Claim, ...] = (
    Claim("P3.L5", "GM-M: maximum degree is O(max|T_v|)", "P3 Lemma 5", _maximum_degree, _growing),
    Claim("P3.L9", "the conquer phase: maximum degree is O(η)", "P3 Lemma 9", _inner_degree, _conquering),
)
