"""The figures of Chockler et al. (P1, §8) and the sentences of §1 and §2 on degrees: grids and claims as data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.catalogue import WORKLOADS
from ...instances.topics.instance import TopicInstance
from ..intervals import mean_interval
from ..studies.recipe import Recipe
from .bench import LAWS, Bench, grid
from .claim import FALLS, RISES, Judgement, Limit, Line, Verdict, about, all_of, at_least, at_most, claim
from .claim import verdict_of as verdict
from .figures import Curve, Figure, Panel
from .grids import Grid, Sheet
from .link_contributions import merge_by_link_contributions
from .rows import Part, on_rows, slope

NODES, TOPICS = tuple(range(1000, 10_001, 1000)), (100, 200)
_RING = "ring-per-topic"
_OWN_ORDERS = ((_RING, {"order": ("random", "random-per-topic")}),)
_OF_8 = {"nodes": NODES, "topics": TOPICS, "subscriptions": 10}
_FEW = {"nodes": (1000, 4000), "topics": TOPICS}
BY_NODES = Grid(
    "p1-nodes",
    (
        Sheet(LAWS, _OF_8, "min-tco", ("gm", _RING), seeds=(4, 5), quick={"nodes": (250, 500, 1000)}),
        Sheet(LAWS, {**_FEW, "subscriptions": 10}, "min-tco", ("gm",), seeds=(0, 4), ties=("highest", "random")),
        Sheet(LAWS, {**_FEW, "subscriptions": 10}, "min-tco", _OWN_ORDERS, seeds=(0, 4)),
        Sheet(LAWS, {**_FEW, "subscriptions": (5, 20)}, "min-tco", ("gm",), seeds=(0, 4)),
    ),
    paper={"p_nodes": NODES, "p_topics": TOPICS},
)
BY_TOPICS = Grid(
    "p1-topics",
    (
        Sheet(
            LAWS, {"nodes": 1000, "topics": (100, 125, 150, 175, 200), "subscriptions": (10, 20)}, "min-tco",
            ("gm", (_RING, {"order": ("number", "random", "random-per-topic")})),
            seeds=(4, 6), quick={"nodes": 400, "topics": TOPICS},
        ),
        Sheet(
            LAWS, {"nodes": 10_000, "topics": TOPICS, "subscriptions": (10, 20)}, "min-tco",
            ("gm", (_RING, {"order": ("number", "random-per-topic")})), seeds=(0, 2),
        ),
    ),
    paper={"p_topics": TOPICS, "p_subscriptions": (10, 20)},
)  # fmt: skip


def _numbered(rows: pd.DataFrame, *cell: str) -> pd.DataFrame:
    """The rows with the column cell, the values of some columns, and instances paired between cells by their number."""
    sizes = ["law", "p_nodes", "p_topics", "p_subscriptions"]
    first = rows.drop_duplicates("instance").sort_values("recipe")
    number = dict(zip(first["instance"], first.groupby(sizes).cumcount(), strict=True))
    paired = [column for column in sizes if column not in cell]
    names = rows[paired].astype(str).agg(" ".join, axis=1) + " " + rows["instance"].map(number).astype(str)
    return rows.assign(cell=rows[list(cell)].astype(str).agg(" ".join, axis=1), instance=names)


_AVERAGE = partial(Part, measure="average_degree")
_BY_CELL = partial(_AVERAGE, across="cell")
_CELLS = [f"{law} {topics}" for law, topics in product(LAWS, TOPICS)]
_GM, _10 = "method == 'gm'", "p_subscriptions == 10"
_LOWEST = "ties == 'lowest'"


def _order(order: str) -> str:
    return f"{_LOWEST} and (method != '{_RING}' or o_order == '{order}')"


_ORDERS = {
    "rings in a random order": _order("random"),
    "rings in random orders of their own": _order("random-per-topic"),
}

F2 = on_rows(
    "P1.F2",
    "p1-nodes",
    _BY_CELL("change a doubling of |V|", lambda d: d[_CELLS].mean(axis=1), FALLS, along="p_nodes", doubling=True),
    *(
        _BY_CELL(f"the same, {cell}", lambda d, cell=cell: d[cell], FALLS, along="p_nodes", doubling=True)
        for cell in _CELLS
    ),
    *(_BY_CELL(f"|T| = 200 less 100, {law}", lambda d, law=law: d[f"{law} 200"] - d[f"{law} 100"], RISES)
      for law in LAWS),
    *(_BY_CELL(f"{law} less exponential, |T| = {t}", lambda d, law=law, t=t: d[f"{law} {t}"] - d[f"exponential {t}"],
               RISES) for law, t in product(("uniform", "zipf"), TOPICS)),
    where=f"{_GM} and {_LOWEST} and {_10}",
    vary={
        **{f"ties {rule}": f"{_GM} and ties == '{rule}' and {_10}" for rule in ("highest", "random")},
        **{f"{s} topics a node": f"{_GM} and {_LOWEST} and p_subscriptions == {s}" for s in (5, 20)},
    },
    prepare=lambda rows: _numbered(rows, "law", "p_topics"),
)  # fmt: skip

_RATIO = _AVERAGE("RingPT ÷ GM", lambda d: d[_RING] / d["gm"], about(3), at_least(2), published=3)
F4A = on_rows(
    "P1.F4a",
    "p1-nodes",
    _RATIO,
    where=f"law == 'zipf' and {_10} and {_order('number')}",
    vary={
        **{f"|T| = {t}": f"law == 'zipf' and p_topics == {t} and {_10} and {_order('number')}" for t in TOPICS},
        **{f"law {law}": f"law == '{law}' and {_10} and {_order('number')}" for law in ("uniform", "exponential")},
        **{name: f"law == 'zipf' and {_10} and {query}" for name, query in _ORDERS.items()},
    },
)


def _of_8_3(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of Figure 4(b) with the cells ``gm 10`` … ``ring-per-topic 20``."""
    return _numbered(rows, "method", "p_subscriptions")


_AT_1000 = "p_nodes < 10000"
F4B = on_rows(
    "P1.F4b",
    "p1-topics",
    _BY_CELL("RingPT's degree, 20 ÷ 10 topics a node", lambda d: d[f"{_RING} 20"] / d[f"{_RING} 10"], about(2),
             published=2),
    _BY_CELL("GM's, the largest", lambda d: d["gm 20"] / d["gm 10"], at_most(1.25), extreme="max", published=1.25),
    where=f"law == 'zipf' and {_AT_1000} and {_order('number')}",
    vary={
        "|V| = 10,000": f"law == 'zipf' and p_nodes == 10000 and {_order('number')}",
        **{f"law {law}": f"law == '{law}' and {_AT_1000} and {_order('number')}" for law in ("uniform", "exponential")},
        **{name: f"law == 'zipf' and {_AT_1000} and {query}" for name, query in _ORDERS.items()},
    },
    prepare=_of_8_3,
)  # fmt: skip

I4 = on_rows(
    "P1.I.4",
    "p1-topics",
    _AVERAGE("largest RingPT ÷ GM", lambda d: d[_RING] / d["gm"], at_least(8 / 1.1), extreme="max", published=8),
    where=f"law != 'uniform' and {_order('number')}",
    vary={
        "10 topics a node": f"law != 'uniform' and {_10} and {_order('number')}",
        **{name: f"law != 'uniform' and {query}" for name, query in _ORDERS.items()},
    },
)


def _by_twice(rows: pd.DataFrame) -> pd.DataFrame:
    """Degrees as shares of twice the subscription size."""
    twice = 2 * rows["p_subscriptions"].astype(float)
    return rows.assign(average=rows["average_degree"] / twice, largest=rows["max_degree"] / twice)


_TWICE = partial(Part, measure="average")
I1 = on_rows(
    "P1.I.1",
    "p1-topics",
    _TWICE("average degree ÷ 2|T_v|", lambda d: d[_RING], about(1), published=1),
    *(_TWICE(f"the same, {law}", lambda d: d[_RING], about(1), where=f"law == '{law}'") for law in LAWS),
    where=f"method == '{_RING}' and o_order == 'number'",
    vary={name: f"method == '{_RING}' and o_order == '{order}'" for name, order in
          zip(_ORDERS, ("random", "random-per-topic"), strict=True)},
    prepare=_by_twice,
)  # fmt: skip

I2 = on_rows(
    "P1.I.2",
    "p1-nodes",
    _TWICE("GM's average degree ÷ 2|T_v|", lambda d: d["gm"], at_most(1)),
    _TWICE("the same, the largest of all instances", lambda d: d["gm"], at_most(1), extreme="max"),
    _TWICE("GM's largest degree ÷ 2|T_v|, of which P1 does not speak", lambda d: d["gm"], measure="largest"),
    where=f"{_GM} and {_LOWEST} and {_10}",
    vary={f"ties {rule}": f"{_GM} and ties == '{rule}' and {_10}" for rule in ("highest", "random")},
    prepare=_by_twice,
)


def updates_of(instance: TopicInstance) -> float:
    """The number of times Algorithm 3 lowers the contribution of an edge (lines 6 to 11); ties do not change it.

    Merging two components of topic t lowers it for every pair between them except the chosen edge, so the |V_t| − 1
    merges take (|V_t| − 1)(|V_t| − 2)/2 steps.
    """
    sizes = np.diff(instance.topic_offsets).astype(float)
    return float(((sizes - 1) * (sizes - 2) / 2).sum())


def step_shares(quick: bool) -> pd.DataFrame:
    """Figure 3: steps and share = steps ÷ (|V|²|T|) of each instance, by law, |T|, |V| and number."""
    seeds, nodes = (3, NODES[::3]) if quick else (5, NODES)
    found = [
        (law, t, n, number, updates_of(recipe.make()))
        for law, t, n in product(LAWS, TOPICS, nodes)
        for number, recipe in enumerate(grid("P1.F3", law, seeds, nodes=n, topics=t, subscriptions=10))
    ]
    table = pd.DataFrame(found, columns=["law", "topics", "nodes", "number", "steps"])
    return table.assign(share=table["steps"] / (table["nodes"] ** 2.0 * table["topics"]))


_ORDER_OF_10_3 = Limit(10**-3.5, 10**-2.5)


@claim("P1.F3")
def steps(bench: Bench) -> Judgement:
    """Figure 3 by the closed form of the updates, which Algorithm 3 run to its end must equal."""
    for law, nodes in zip(LAWS, (200, 300, 400) if bench.quick else (2000, 4000, 10_000), strict=True):
        (recipe,) = grid("P1.F3", law, 1, nodes=nodes, topics=100, subscriptions=10)
        counted, formula = merge_by_link_contributions(recipe.make())[1].updates, updates_of(recipe.make())
        if counted != formula:
            return Judgement(Verdict.CONTRADICTED, f"{law}, |V| = {nodes}: {counted} updates, not {formula:g}")
    table = step_shares(bench.quick)
    log = table.set_index(["law", "topics", "nodes", "number"])["steps"].map(np.log)
    higher = log.xs("exponential", level="law")
    trends = {
        "exponent of |V|": (slope(*_without_levels(log)), Limit(1.9, 2.1)),
        "log steps at |T| = 200 less at 100": (mean_interval(log.xs(200, level=1) - log.xs(100, level=1)), FALLS),
        **{
            f"log steps, exponential less {law}": (mean_interval(higher - log.xs(law, level="law")), RISES)
            for law in ("uniform", "zipf")
        },
    }
    trend = all_of(verdict(number, must) for number, must in trends.values())
    share = mean_interval(table["share"])
    level = verdict(share, _ORDER_OF_10_3, at_most(0.1))
    found = all_of((trend, level))
    because = f"every trend {trend}; the level is {share.mean:.1e}, the largest {table['share'].max():.1e}"
    shares = {key: mean_interval(each["share"]) for key, each in table.groupby(["law", "topics"])}
    lines = [Line(f"law {law}, |T| = {t}", one, verdict(one, _ORDER_OF_10_3)) for (law, t), one in shares.items()]
    details = [f"{name}: {number}, claimed {must}" for name, (number, must) in trends.items()]
    return Judgement(found, because, share, lines, details, runs=len(table))


def _without_levels(log: pd.Series) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Logarithms of |V| and of steps, less the mean of each law and |T|."""
    level = log.groupby(["law", "topics"]).transform("mean")
    return np.log(log.index.get_level_values("nodes").to_numpy(float)), (log - level).to_numpy()


@claim("P1.S8.2")
def overlap(bench: Bench) -> Judgement:
    """§8.1's reason for Figure 2: the largest common interest of a node by |V|, and the mean one by |T| and law."""
    seeds, nodes = (3, (250, 500, 1000)) if bench.quick else (4, (1000, 2000, 4000, 10_000))
    index = pd.MultiIndex.from_product([LAWS, TOPICS, nodes, range(seeds)], names=["law", "topics", "nodes", "number"])
    values = [
        overlaps(WORKLOADS[law].generate(nodes=n, topics=t, subscriptions=10, seed=seed)) for law, t, n, seed in index
    ]
    every, best = (pd.Series([pair[k] for pair in values], index) for k in (0, 1))
    rise = best.unstack("nodes").diff(axis=1).iloc[:, 1:].stack()
    most = every.xs("exponential", level="law")
    parts = {
        "rise of a node's largest overlap from the |V| before": rise,
        "mean overlap at |T| = 100 less at 200": every.xs(100, level="topics") - every.xs(200, level="topics"),
        **{f"mean overlap, exponential less {law}": most - every.xs(law, level="law") for law in ("uniform", "zipf")},
    }
    numbers = {name: mean_interval(sample, together=len(parts)) for name, sample in parts.items()}
    found = all_of(verdict(number, RISES) for number in numbers.values())
    text = [f"{name}: {number}" for name, number in numbers.items()]
    return Judgement(found, text[0], next(iter(numbers.values())), (), text, runs=len(index))


def overlaps(instance: TopicInstance, rows: int = 1000) -> tuple[float, float]:
    """The mean of |T_v ∩ T_w| over all pairs, and the mean over v of its maximum over w. Cost O(|V|²|T|)."""
    n = instance.num_nodes
    wants = np.zeros((n, instance.num_topics), np.float32)
    wants[np.repeat(np.arange(n), np.diff(instance.node_offsets)), instance.node_topics] = 1
    total, best = 0.0, 0.0
    for first in range(0, n, rows):
        common: npt.NDArray[np.float32] = wants[first : first + rows] @ wants.T
        common[np.arange(len(common)), first + np.arange(len(common))] = 0
        total += float(common.sum())
        best += float(common.max(axis=1).sum())
    return total / (n * (n - 1)), best / n


def _with_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column share: the steps of GM ÷ (|V|²|T|)."""
    every = {one: updates_of(Recipe.from_json(one).make()) for one in rows["recipe"].unique()}
    worst_case = rows["p_nodes"].astype(float) ** 2 * rows["p_topics"].astype(float)
    return rows.assign(share=rows["recipe"].map(every) / worst_case)


_X = ("p_nodes", "number of nodes |V|")
_BY_LAW = tuple(
    Curve(f"{law}, |T| = {t}", f"{_GM} and {_LOWEST} and {_10} and law == '{law}' and p_topics == {t}")
    for law, t in product(LAWS, TOPICS)
)


def _against_rings(where: str, order: str = "number") -> tuple[Curve, ...]:
    """GM and RingPT on the rows of a query, the rings in one order."""
    rings = f"method == '{_RING}' and o_order == '{order}' and {where}"
    return Curve("GM", f"{_GM} and {_LOWEST} and {where}"), Curve("RingPT", rings)


def _with_sizes(where: str, order: str = "number") -> tuple[Curve, ...]:
    """Figure 4(b)'s four curves: GM and RingPT with 10 and 20 topics a node."""
    both = {s: _against_rings(f"{where} and p_subscriptions == {s}", order) for s in (10, 20)}
    return tuple(replace(one, label=f"{one.label}, s = {s}") for s, pair in both.items() for one in pair)


_ABOUT_3 = {"RingPT ÷ GM": dict.fromkeys(map(float, NODES), 3.0)}
_OF_4A = _against_rings(f"law == 'zipf' and p_topics == 100 and {_10}")
_RATIO_CURVE = Curve("RingPT ÷ GM", _OF_4A[1].where, over=_OF_4A[0].where)
_DEGREE = Panel("average_degree", "average degree")
FIGURE_2 = Figure("P1.F2", "p1-nodes", _X, (_DEGREE,), _BY_LAW)
FIGURE_3 = Figure(
    "P1.F3",
    "p1-nodes",
    _X,
    (Panel("share", "steps ÷ (|V|²|T|)", {"in the order of": dict.fromkeys(map(float, NODES), 1e-3)}),),
    _BY_LAW,
    prepare=_with_steps,
)
FIGURE_4A = Figure(
    "P1.F4a",
    "p1-nodes",
    _X,
    (_DEGREE, Panel("average_degree", "RingPT ÷ GM", _ABOUT_3, (_RATIO_CURVE,))),
    _OF_4A,
    more={
        "|T| = 200": _against_rings(f"law == 'zipf' and p_topics == 200 and {_10}"),
        **{law: _against_rings(f"law == '{law}' and p_topics == 100 and {_10}") for law in ("uniform", "exponential")},
        "orders of their own": _against_rings(f"law == 'zipf' and p_topics == 100 and {_10}", "random-per-topic"),
    },
)
FIGURE_4B = Figure(
    "P1.F4b",
    "p1-topics",
    ("p_topics", "number of topics |T|"),
    (_DEGREE,),
    _with_sizes(f"law == 'zipf' and {_AT_1000}"),
    more={
        **{law: _with_sizes(f"law == '{law}' and {_AT_1000}") for law in ("uniform", "exponential")},
        "|V| = 10,000": _with_sizes("law == 'zipf' and p_nodes == 10000"),
        "orders of their own": _with_sizes(f"law == 'zipf' and {_AT_1000}", "random-per-topic"),
    },
)
