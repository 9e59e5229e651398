"""Figures 2 and 4 of Chockler et al. (P1) and their introduction's sentences on degrees, as checks on grids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from ..papers.bench import LAWS, Bench
from ..papers.grids_p1 import GRIDS_P1, ORDERS, SIZES_P1, p1_sizes
from .claim import Claim, Finding, Interval, Verdict
from .evidence import all_of, at_least, at_most, finding_from, within
from .on_grids import figure_claim
from .p1_points import at_points, by_rule, in_all, over_rules, range_of

_ALL_S = {"law": LAWS, "|T|": (100, 200)}
_ROUGHLY = "“roughly” is read as within 10% of the published number"
Ratios = Mapping[str, pd.Series]


def positive(interval: Interval) -> Verdict:
    """Whether a mean is above 0."""
    return at_least(interval, np.nextafter(0, 1))


def _fall(degree: pd.DataFrame) -> dict[str, list[Interval]]:
    """The slopes of the average degree along log₂|V|: over all |V|, and over their upper half."""
    found: dict[str, list[Interval]] = {rule: [] for rule in degree}
    nodes = sorted(degree.index.unique("p_nodes"))
    halves = {"|V|": nodes, "the upper half of |V|": nodes[len(nodes) // 2 :]}
    for name, sizes in ((name, sizes) for name, sizes in halves.items() if len(sizes) > 1):
        slopes = {rule: _slope(degree[rule].unstack("p_nodes")[sizes]) for rule in degree}
        for rule, intervals in at_points(slopes, f"change a doubling of {name}", families=2).items():
            found[rule] += intervals
    return found


def _slope(wide: pd.DataFrame) -> pd.Series:
    """The slope of a line through each row along log₂ of the columns."""
    x = np.log2(wide.columns.to_numpy(float))
    return wide.apply(lambda row: float(np.polyfit(x, row.to_numpy(), 1)[0]), axis=1)


def average_degree(bench: Bench, sizes: str = "P1.F2") -> Iterable[Finding]:
    """P1 §8.1: how GM's average degree depends on |V|, |T| and the law."""
    degree, claimed = by_rule(bench.rows, "average_degree")["gm"], SIZES_P1.get(sizes, _ALL_S)
    rows = bench.rows[bench.rows["method"] == "gm"]
    slopes = _fall(degree)
    verdict, differ = over_rules(slopes, lambda slope: at_most(slope, -np.nextafter(0, 1)))
    mean = degree["lowest"].groupby(["workload", "p_topics", "p_nodes"]).mean().unstack("p_nodes")
    shown = "; ".join(
        f"{law} |T| = {t} from {row.iloc[0]:.2f} to {row.iloc[-1]:.2f}" for (law, t), row in mean.iterrows()
    )
    least, most = mean.columns[0], mean.columns[-1]
    text = f"Average degree at |V| = {least} and {most}: {shown}. Slopes are of lines through the sizes.{differ}"
    reading = "falls over all sizes, and over the larger half of them"
    yield finding_from(rows, claimed, "falls with |V|", verdict, text, in_all(slopes), reading=reading)

    more = {rule: _between(degree[rule], "p_topics", 200, 100) for rule in degree}
    found = at_points(more, "average degree at |T| = 200 less at |T| = 100")
    verdict, differ = over_rules(found, positive)
    text = f"From |T| = 100 to 200 it rises by {range_of(found)}.{differ}"
    yield finding_from(rows, claimed, "rises with |T|", verdict, text, in_all(found))

    for law in ("uniform", "zipf"):
        less = {rule: _between(degree[rule], "workload", law, "exponential") for rule in degree}
        found = at_points(less, f"average degree, {law} less exponential")
        verdict, differ = over_rules(found, positive)
        text = f"{law} is above exponential by {range_of(found)}.{differ}"
        yield finding_from(rows, claimed, f"exponential below {law}", verdict, text, in_all(found))


def _between(series: pd.Series, level: str, more: object, less: object) -> pd.Series:
    """The value at one of a level's values less that at another, by number of the instance; a ratio of logarithms."""
    return (series.xs(more, level=level) - series.xs(less, level=level)).dropna()


def _over(degree: pd.DataFrame, order: str) -> Ratios:
    """RingPT ÷ GM on each instance, by GM's rule for ties."""
    return {rule: degree["ring-per-topic", order] / degree["gm", rule] for rule in degree["gm"]}


def _ring(bench: Bench) -> Iterable[Finding]:
    degree = by_rule(bench.rows, "average_degree")
    for law in LAWS:
        rows = bench.rows[bench.rows["workload"] == law]
        for order in ORDERS:
            own = {rule: series.xs(law, level="workload") for rule, series in _over(degree, order).items()}
            found = at_points(own, "RingPT ÷ GM", 3.0)
            verdict, differ = over_rules(found, lambda one: within(one, 2.7, 3.3))
            at_least_2 = all_of(at_least(one, 2.0) for one in in_all(found))
            if verdict is Verdict.REFUTED and at_least_2 is Verdict.HOLDS:
                verdict = Verdict.ORDER
            name = f"{law}, rings by {order}"
            text = f"RingPT ÷ GM, published about 3: {range_of(found)}.{differ}"
            reading = f"{_ROUGHLY}; order holds: at least 2 everywhere. Rings by {order}; |T| is not named in Figure 4a"
            claimed = {**SIZES_P1["P1.F4a"], "law": (law,)}
            yield finding_from(rows, claimed, name, verdict, text, in_all(found), reading=reading)


def _more_topics(bench: Bench) -> Iterable[Finding]:
    log = np.log(by_rule(bench.rows, "average_degree"))
    for law, n in product(LAWS, log.index.unique("p_nodes")):
        own = log.xs((law, n), level=("workload", "p_nodes"))
        rows = bench.rows[(bench.rows["workload"] == law) & (bench.rows["p_nodes"] == n)]
        claimed, at = {**SIZES_P1["P1.F4b"], "law": (law,)}, f"{law}, |V| = {n}"
        reading = f"{law}; {_no_nodes(n)}"
        growth = {rule: np.exp(_between(own["gm", rule], "p_subscriptions", 20, 10)) for rule in own["gm"]}
        found = at_points(growth, "GM's average degree, |T_v| 20 ÷ 10", 1.25)
        verdict, differ = over_rules(found, lambda one: at_most(one, 1.25))
        text = f"GM's average degree, 20 ÷ 10 topics a node: {range_of(found)}, published at most 1.25.{differ}"
        gm = rows[rows["method"] == "gm"]
        yield finding_from(gm, claimed, f"{at}, GM +25% at worst", verdict, text, in_all(found), reading=reading)
        for order in ORDERS:
            ring = np.exp(_between(own["ring-per-topic", order], "p_subscriptions", 20, 10))
            found = at_points({"": ring}, "RingPT's average degree, |T_v| 20 ÷ 10", 2.0)
            verdict, _ = over_rules(found, lambda one: within(one, 1.8, 2.2))
            text = f"RingPT's average degree, 20 ÷ 10 topics a node: {range_of(found)}, published about 2."
            rings = rows[rows["method"] == "ring-per-topic"]
            subject = f"{at}, RingPT doubles, rings by {order}"
            said = f"{reading}; {_ROUGHLY}"
            yield finding_from(rings, claimed, subject, verdict, text, in_all(found), reading=said)


def _no_nodes(n: int) -> str:
    return f"|V| = {n}; the paper names none"


def _eightfold(bench: Bench, published: float, figure: str) -> Iterable[Finding]:
    """The largest ratio RingPT ÷ GM of a figure's grid, under each law, order and number of topics a node."""
    degree, claimed = by_rule(bench.rows, "average_degree"), SIZES_P1[figure]
    every = [None] if "|V|" in claimed else degree.index.unique("p_nodes")
    for law, size, n in product(("exponential", "zipf"), degree.index.unique("p_subscriptions"), every):
        at = {"workload": law, "p_subscriptions": size} | ({} if n is None else {"p_nodes": n})
        rows = bench.rows[(bench.rows[list(at)] == list(at.values())).all(axis=1)]
        of_n = "" if n is None else f", |V| = {n}"
        for order in ORDERS:
            ratios = _over(degree, order).items()
            own = {rule: series.xs(tuple(at.values()), level=list(at)) for rule, series in ratios}
            found = at_points(own, f"RingPT ÷ GM, |T_v| = {size}{of_n}", published)
            most = {rule: [max(each, key=lambda one: one.mean)] for rule, each in found.items()}
            verdict, differ = over_rules(most, lambda one: within(one, 0.9 * published, 1.1 * published))
            (top,) = most["lowest"]
            text = f"The largest is {top.mean:.2f}, published {published:g}; all: {range_of(found)}.{differ}"
            subject = f"{law}, {size} topics a node{of_n}, rings by {order}"
            reading = f"the largest mean of Figure {figure[4:]}'s points, within 10%; rings by {order}"
            reading += "" if n is None else f"; {_no_nodes(n)}"
            own_sizes = {**claimed, "law": (law,), "|T_v|": (size,)}
            yield finding_from(rows, own_sizes, subject, verdict, text, in_all(most), reading=reading)


def _twice(bench: Bench) -> Iterable[Finding]:
    """P1 §1, §2, §8.3: rings have an average degree of about twice the subscription size, whatever the law."""
    ring = by_rule(bench.rows, "average_degree")["ring-per-topic"]
    rows = bench.rows[bench.rows["method"] == "ring-per-topic"]
    for order in ORDERS:
        size = ring.index.get_level_values("p_subscriptions").to_numpy(float)
        for law in LAWS:
            share = (ring[order] / (2 * size)).xs(law, level="workload")
            found = at_points({"": share}, "average degree ÷ 2|T_v|", 1.0)
            verdict, _ = over_rules(found, lambda one: within(one, 0.9, 1.1))
            text = f"RingPT's average degree ÷ 2|T_v|: {range_of(found)}; rings share edges where interests overlap."
            own = rows[rows["workload"] == law]
            subject = f"{law}, rings by {order}"
            said = f"{_ROUGHLY}; rings by {order}"
            yield finding_from(own, _ALL_S, subject, verdict, text, in_all(found), reading=said)
        exponents = _slope(np.log2(ring[order]).unstack("p_subscriptions"))
        found = at_points({"": exponents}, "exponent of |T_v|", 1.0)
        verdict, _ = over_rules(found, lambda one: within(one, 0.9, 1.1))
        text = f"RingPT's average degree grows like |T_v| to the power {range_of(found)}."
        reading = f"linear: an exponent within 0.1 of 1; rings by {order}"
        yield finding_from(
            rows, _ALL_S, f"linear in |T_v|, rings by {order}", verdict, text, in_all(found), reading=reading
        )


def _below_twice(bench: Bench) -> Iterable[Finding]:
    """P1 §1: GM improves on the bound of twice the subscription size, on average and node by node."""
    rows = bench.rows[bench.rows["method"] == "gm"]
    for measure, subject in (("average_degree", "on average"), ("max_degree", "at every node")):
        degree = by_rule(bench.rows, measure)["gm"]
        size = degree.index.get_level_values("p_subscriptions").to_numpy(float)
        found = at_points({rule: degree[rule] / (2 * size) for rule in degree}, f"{measure.replace('_', ' ')} ÷ 2|T_v|")
        verdict, differ = over_rules(found, lambda one: at_most(one, np.nextafter(1, 0)))
        text = f"GM's {measure.replace('_', ' ')} ÷ 2|T_v|: {range_of(found)}.{differ}"
        reading = f"the bound 2|T_v| is compared {subject}"
        yield finding_from(rows, SIZES_P1["P1.F2"], subject, verdict, text, in_all(found), reading=reading)


CLAIMS_P1_FIGURES: tuple[Claim, ...] = (
    figure_claim(
        "P1.F2", "average degree falls with |V|, rises with |T|; exponential below Zipf and uniform", average_degree
    ),
    figure_claim("P1.F4a", "RingPT's average degree ≈ 3 × GM's, for all three laws", _ring),
    figure_claim("P1.F4b", "10 to 20 topics a node: GM +25% at worst, RingPT about doubles", _more_topics),
    Claim(
        "P1.S8.1",
        "the trends of Figure 2 are those of other numbers of topics a node",
        "P1 §8",
        partial(average_degree, sizes="P1.S8.1"),
        p1_sizes("P1.S8.1"),
    ),
    Claim(
        "P1.I.1",
        "a ring for each topic has an average degree of about twice the subscription size, linear in it, whatever the "
        "correlation of interests",
        "P1 §1, §2, §8.3",
        _twice,
        p1_sizes("P1.S8.1"),
    ),
    Claim(
        "P1.I.2",
        "GM improves on the bound of twice a node's subscription size",
        "P1 §1",
        _below_twice,
        GRIDS_P1["P1.F2"],
    ),
    Claim(
        "P1.I.3",
        "GM reduces the average degree of rings almost 3-fold as |V| grows",
        "P1 §1",
        partial(_eightfold, published=3.0, figure="P1.F4a"),
        GRIDS_P1["P1.F4a"],
    ),
    Claim(
        "P1.I.4",
        "GM reduces the average degree of rings up to 8-fold as |T| grows",
        "P1 §1",
        partial(_eightfold, published=8.0, figure="P1.F4b"),
        GRIDS_P1["P1.F4b"],
    ),
)
