"""P2's figures: columns for the claims and figures of ``p2_runs.toml``, bounds on overlays of stars, and trends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from ..intervals import mean_interval
from ..studies.task import Recipe
from .bench import Bench
from .claim import FALLS, RISES, Claim, Judgement, Line, Verdict, all_of, at_most, exact
from .claim import verdict_of as verdict
from .p2_constructed import independent_subscriptions, star_bound

STARS = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")
_BOUND_STEPS = 400


def lines_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the columns line (gm, minmax-oda, k=1 …), rule of line 10 (≥, >), and zeros (with, without).

    A copy of the rows for each reading: with > and k = 1 Low-ODA is GM; MinMax-ODA without edges of weight 0 is GM-M.
    """
    copies = []
    k = rows["o_k"].round(3) if "o_k" in rows else pd.Series(np.nan, rows.index)
    low = rows["method"] == "low-oda"
    strict = low & (rows["o_k"] < k)
    named = rows["method"].mask(low, "k=" + k.map("{:g}".format))
    for rule, zeros in product(("≥", ">"), ("with", "without")):
        kept = ~low | (strict if rule == ">" else ~strict)
        minmax = "minmax-oda" if zeros == "with" else "gm-m"
        own = rows.assign(line=named.mask(rows["method"] == minmax, "minmax"), rule=rule, zeros=zeros)[kept]
        copies += [own, own[own["method"] == "gm"].assign(line="k=1")] if rule == ">" else [own]
    return pd.concat(copies, ignore_index=True)


def degrees_by_rule(bench: Bench, found: Judgement) -> Judgement:
    """GM's maximum degree by rule for ties, at the largest size."""
    rows = bench.on("p2-nodes")
    last = rows[(rows["method"] == "gm") & (rows["p_nodes"] == rows["p_nodes"].max())]
    means = ", ".join(f"ties {rule} {mean:.1f}" for rule, mean in last.groupby("ties")["max_degree"].mean().items())
    text = f"GM's maximum degree at |V| = {rows['p_nodes'].max():g}: {means}"
    return replace(found, details=[*found.details, text])


def with_work(rows: pd.DataFrame) -> pd.DataFrame:
    """The subscriptions that Low-ODA compared ÷ (|V|²|T|), and logarithms."""
    own = rows[(rows["method"] == "low-oda") & (rows["o_k"] == 3)]
    nodes = own["p_nodes"].astype(float)
    share = own["c_counted"].astype(float) / (nodes**2 * own["p_topics"])
    return own.assign(share=share, log_share=np.log(share), log_nodes=np.log(nodes))


_OF_STARS = "method != 'branch-and-cut'"
_FIGURES = {
    "P2.F8": ("p_topics == 100 and p_subscriptions == 10", "p_nodes", FALLS),
    "P2.F9": ("p_nodes == 100 and p_subscriptions == 20", "p_topics", RISES),
    "P2.F10": ("p_nodes == 100 and p_topics == 100", "p_subscriptions", FALLS),
}
_PUBLISHED = {"P2.F8": 1.09, "P2.F9": 1.07, "P2.F10": 1.1}


def _of_any_stars(id_: str, bench: Bench, found: Judgement) -> Judgement:
    """What holds of every overlay of stars, by proven bounds; the other readings of the law and of “times more”."""
    limit = _PUBLISHED[id_]
    rows = bench.on("p2-stars").query(f"{_FIGURES[id_][0]} and ties == 'lowest'")
    gm = rows[rows["method"] == "gm"].drop_duplicates("instance")
    sizes = ["p_nodes", "p_topics", "p_subscriptions"]
    first = gm.groupby(sizes).head(1 if bench.quick else 3)
    bounds = [star_bound(Recipe.from_json(one).make()) for one in first["recipe"]]
    ratio = (pd.Series(bounds, first.index) / first["edges"]).groupby([first[size] for size in sizes]).mean()
    lines = []
    for name, one in (("least", ratio.min()), ("most", ratio.max())):
        held = Verdict.CONTRADICTED if one > limit else Verdict.NOT_DECIDED
        text = f"any overlay of stars, a lower bound ÷ GM, the {name} at a point"
        lines.append(Line(text, exact(float(one), len(first)), held))
    if found.number:
        lines.append(Line.of(f"“{limit:g} times more” read as 1 + {limit:g}", found.number, at_most(1 + limit)))
    lines.append(_independent(bench, limit, *map(int, next(iter(ratio.index)))))
    details = [*found.details, *(_best_known(rows, bench.quick) if id_ == "P2.F8" else ())]
    return replace(found, sensitivity=[*found.sensitivity, *lines], details=details)


def _independent(bench: Bench, limit: float, nodes: int, topics: int, subscriptions: int) -> Line:
    """2D-ODA ÷ GM where each node subscribes to each topic by itself."""
    ratios = []
    for seed in range(3 if bench.quick else 10):
        shape = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions}
        instance = independent_subscriptions(seed=seed, **shape)
        ratios.append(bench.value("2d-oda", instance, "min-tco") / bench.value("gm", instance, "min-tco"))
    text = f"topics drawn independently, |V| = {nodes}, |T| = {topics}"
    return Line.of(text, mean_interval(ratios), at_most(limit))


def _best_known(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """At |V| = 100, for each seed: the best known lower bound on the edges of any overlay of stars, and GM's edges."""
    solved = rows[rows["method"] == "branch-and-cut"].set_index("instance")
    every = rows[(rows["method"] == "gm") & (rows["p_nodes"] == 100)].drop_duplicates("instance")
    own = every[every["instance"].isin(solved.index)] if len(solved) else every.head(2)
    for number, gm in enumerate(own.itertuples()):
        bound, built = float(star_bound(Recipe.from_json(gm.recipe).make(), 20 if quick else _BOUND_STEPS)), ""
        if gm.instance in solved.index:
            run = solved.loc[gm.instance]
            bound, built = max(bound, float(run["lower_bound"])), f", best known {run['value']:g}"
        text = f"|V| = 100, seed {number}: stars need at least {bound:g} edges{built}, GM has {gm.edges:g}"
        yield f"{text}: {bound / gm.edges:.2f} times"


any_stars_F8, any_stars_F9, any_stars_F10 = (partial(_of_any_stars, id_) for id_ in _FIGURES)


def _trend(id_: str, figure: str) -> Claim:
    """How the average degree of each algorithm changes with a size: from each value to the next, and over all."""
    where, column, must = _FIGURES[figure]

    def judge(bench: Bench) -> Judgement:
        rows = bench.on("p2-stars").query(f"{where} and {_OF_STARS} and ties == 'lowest'")
        rows = rows.drop_duplicates(["instance", "method"])
        number = rows.groupby(["method", column]).cumcount()
        every = rows.assign(number=number).pivot_table("average_degree", ["method", "number"], column).dropna()
        steps, lines, details = [], list[Line](), []
        for method in ("2d-oda", "gm", *STARS[:-1]):
            wide = every.loc[method]
            whole = mean_interval(wide.iloc[:, -1] - wide.iloc[:, 0], together=5)
            changes = [
                mean_interval(step, together=5 * (wide.shape[1] - 1)) for step in wide.diff(axis=1).iloc[:, 1:].T.values
            ]
            lines.append(Line.of(f"{method}, from the first to the last", whole, must))
            steps += [verdict(change, must) for change in changes]
            details.append(f"{method}: {', '.join(f'{mean:.2f}' for mean in wide.mean())}")
        found = all_of(line.verdict for line in lines)
        if found is Verdict.CONFIRMED and Verdict.CONTRADICTED in steps:
            found = Verdict.ORDER
        wrong = [line.varied.partition(",")[0] for line in lines if line.verdict is not Verdict.CONFIRMED]
        text = f"not for {', '.join(wrong)}" if wrong else "from the first size to the last for all five"
        text += "" if found is not Verdict.ORDER else ", not from each size to the next"
        return Judgement(found, text, lines[0].number, lines, details, runs=len(rows))

    return Claim(id_, judge, ("p2-stars",))


S6_5_1, S6_5_2, S6_5_3 = (_trend(f"P2.S6.5.{i}", figure) for i, figure in enumerate(_FIGURES, 1))


def at_every_k(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of Figures 3 and 4, where GM and MinMax-ODA have a value at every k."""
    read, low = lines_of(rows), lines_of(rows)["line"].str.startswith("k=")
    level = [read[~low].assign(k=k) for k in range(1, 9)]
    return pd.concat([read[low].assign(k=read["line"][low].str[2:].astype(float)), *level], ignore_index=True)
