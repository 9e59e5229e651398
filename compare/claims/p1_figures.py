"""P1's figures: columns for the claims and figures of ``p1_runs.toml``, and §8's steps and overlaps."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.catalogue import WORKLOADS
from ...instances.topics.instance import TopicInstance
from ..intervals import mean_interval
from ..studies.task import Recipe
from .bench import LAWS, Bench, grid
from .claim import FALLS, RISES, Judgement, Limit, Line, Verdict, all_of, at_most, claim
from .claim import verdict_of as verdict
from .link_contributions import merge_by_link_contributions
from .rows import slope

NODES, TOPICS = tuple(range(1000, 10_001, 1000)), (100, 200)


def _numbered(rows: pd.DataFrame, cell: tuple[str, ...]) -> pd.DataFrame:
    """The rows with the column cell, the values of some columns, and instances paired between cells by their number."""
    sizes = ["law", "p_nodes", "p_topics", "p_subscriptions"]
    first = rows.drop_duplicates("instance").sort_values("recipe")
    number = dict(zip(first["instance"], first.groupby(sizes).cumcount(), strict=True))
    paired = [column for column in sizes if column not in cell]
    names = rows[paired].astype(str).agg(" ".join, axis=1) + " " + rows["instance"].map(number).astype(str)
    return rows.assign(cell=rows[list(cell)].astype(str).agg(" ".join, axis=1), instance=names)


by_law_and_topics = partial(_numbered, cell=("law", "p_topics"))
by_method_and_size = partial(_numbered, cell=("method", "p_subscriptions"))


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
    lines = [Line.of(f"law {law}, |T| = {t}", one, _ORDER_OF_10_3) for (law, t), one in shares.items()]
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
    wants = instance.to_scipy().toarray().astype(np.float32)
    total, best = 0.0, 0.0
    for first in range(0, n, rows):
        common: npt.NDArray[np.float32] = wants[first : first + rows] @ wants.T
        common[np.arange(len(common)), first + np.arange(len(common))] = 0
        total += float(common.sum())
        best += float(common.max(axis=1).sum())
    return total / (n * (n - 1)), best / n


def with_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column share: the steps of GM ÷ (|V|²|T|)."""
    every = {one: updates_of(Recipe.from_json(one).make()) for one in rows["recipe"].unique()}
    worst_case = rows["p_nodes"].astype(float) ** 2 * rows["p_topics"].astype(float)
    return rows.assign(share=rows["recipe"].map(every) / worst_case)
