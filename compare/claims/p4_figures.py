"""What Zhao and Wu (P4) say of their figures 9 and 10, as checks on grids; :mod:`.p4_costs` has the rest of §VI."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..papers.bench import Bench
from ..papers.figures_p4 import bound_of
from ..papers.grids import SIZES
from ..papers.grids_p4 import METRICS, broker_numbers
from ..report.content_tables import BASELINE
from .claim import Claim, Finding, Interval, Verdict
from .evidence import above, all_of, at_most, mean_of, scope_of, within
from .on_grids import figure_claim

PACKING, CLUSTERING, CLOSURE, GROWN = "greedy-packing", "clustering", "steiner-mixing", "steiner-mixing trees=grown"
_HARDLY, _MET = 0.1, 0.05
_TREES = {CLOSURE: "trees of the metric closure (the approximation that §IV.B names)", GROWN: "trees by Algorithm 3"}
_READING = {
    CLOSURE: f"mixing with {_TREES[CLOSURE]}",
    GROWN: f"mixing with {_TREES[GROWN]}",
    "greedy-packing order=heaviest": "heaviest users first; Algorithm 1 leaves the order open",
}
_COMPARED = ((CLOSURE, CLUSTERING), (GROWN, CLUSTERING), (CLUSTERING, PACKING), (CLOSURE, PACKING), (GROWN, PACKING))
Judged = tuple[Verdict, Sequence[Interval], str]


def by_law(
    bench: Bench, figure: str, subject: str, of_law: Callable[[str], Judged], reading: str = ""
) -> Iterator[Finding]:
    """One finding over all laws of prices if their verdicts agree, otherwise one for each law, which the paper leaves
    open.
    """
    judged = {law: of_law(law) for law in METRICS}
    agree = len({verdict for verdict, _, _ in judged.values()}) == 1
    for laws in [METRICS] if agree else [(law,) for law in METRICS]:
        rows = bench.rows[bench.rows["p_metric"].isin(laws)]
        intervals = [interval for law in laws for interval in judged[law][1]]
        text = " ".join(judged[law][2] for law in laws)
        named = "; ".join(filter(None, (reading, "" if agree else f"prices `{laws[0]}`")))
        scope = scope_of(rows, SIZES.get(figure), reading=named)
        name = subject if agree else f"{subject}, prices {laws[0]}"
        yield Finding(name, judged[laws[0]][0], text.strip(), len(rows), scope=scope, intervals=intervals)


def costs(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """The cost of each variant (column) by instance and these columns; the second level is the seed of the instance."""
    done = rows[rows["status"] != "failed"]
    seeds = [json.loads(recipe)["seed"] for recipe in done["recipe"]]
    index = ["instance", "draw", *by]
    table = done.assign(draw=seeds).pivot_table(index=index, columns="variant", values="value", aggfunc="mean")
    if len(table) < done["instance"].nunique() or table.isna().any(axis=None):
        raise ValueError("runs failed")
    return table


def savings(table: pd.DataFrame, better: str, worse: str, where: str, together: int) -> Interval:
    """The cost of one variant ÷ that of another, so the reduction ratio of the second ÷ that of the first."""
    return mean_of(f"{better} ÷ {worse}, {where}", table[worse] / table[better], together=together)


def of_bound(table: pd.DataFrame, recipes: pd.Series, variant: str, where: str, together: int) -> Interval:
    """The cost of a variant ÷ a proven lower bound."""
    bounds = recipes[table.index.get_level_values("instance")].map(bound_of)
    return mean_of(f"{variant} cost ÷ proven bound, {where}", table[variant] / bounds.to_numpy(), together=together)


def recipes_of(rows: pd.DataFrame) -> pd.Series:
    """The recipe of each instance."""
    return rows.drop_duplicates("instance").set_index("instance")["recipe"]


def same_broker(rows: pd.DataFrame, one: str, other: str) -> Interval:
    """The share of users whom two variants put on the same broker."""
    answers = rows[rows["variant"].isin((one, other))].set_index(["instance", "variant"])["answer"]
    shares = []
    for instance in answers.index.unique("instance"):
        first, second = (np.asarray(answers[instance, variant]) for variant in (one, other))
        users = int(first[0])
        shares.append(float((first[1 : users + 1] == second[1 : users + 1]).mean()))
    return mean_of(f"share of users on the same broker under {one} and {other}", shares)


def _sizes(bench: Bench) -> Iterable[Finding]:
    table = costs(bench.rows, "p_metric", "p_users")
    sizes = sorted(int(users) for users in bench.rows["p_users"].unique())
    together = len(sizes) * len(METRICS)

    def at(law: str, users: int) -> pd.DataFrame:
        return table.xs((law, users), level=("p_metric", "p_users"))

    def where(law: str, users: int) -> str:
        return f"prices {law} at |U| = {users}"

    recipes = recipes_of(bench.rows)
    for better, worse in _COMPARED:

        def compared(law: str, better: str = better, worse: str = worse) -> Judged:
            found = [savings(at(law, n), better, worse, where(law, n), together) for n in sizes]
            text = f"Prices `{law}`, ratio of the two reduction ratios: {spelled(found)}."
            if worse == PACKING:
                bounds = [of_bound(at(law, n), recipes, PACKING, where(law, n), together) for n in sizes]
                text += " Proven: on average no algorithm is above greedy packing by more than a factor of "
                text += f"{spelled(bounds)}."
                found += bounds
            if {better, worse} == {CLOSURE, PACKING}:
                found.append(same_broker(bench.rows[bench.rows["p_metric"] == law], CLOSURE, PACKING))
                text += f" Both put {found[-1].mean:.1%} of the users on the same brokers."
            return all_of(above(one, 1.0) for one in found[: len(sizes)]), found, text

        reading = next((_READING[one] for one in (better, worse) if one in _TREES), "")
        yield from by_law(bench, "P4.F9", f"{better} > {worse}", compared, reading)
    for variant in (PACKING, "greedy-packing order=heaviest", CLUSTERING, CLOSURE, GROWN):

        def saves(law: str, variant: str = variant) -> Judged:
            found = [savings(at(law, n), variant, BASELINE, where(law, n), together) for n in sizes]
            return all_of(above(one, 1.0) for one in found), found, f"Prices `{law}`: {spelled(found)}."

        reading = _READING.get(variant, "")
        yield from by_law(bench, "P4.F9", f"{variant} > 1", saves, reading)


def spelled(intervals: Iterable[Interval]) -> str:
    """The means with their intervals, in a row."""
    return ", ".join(
        f"{one.mean:.4g}" + ("" if one.low is None else f" [{one.low:.4g}, {one.high:.4g}]") for one in intervals
    )


def _core_prices(bench: Bench) -> Iterable[Finding]:
    table = costs(bench.rows, "p_metric", "p_access_to_core")
    ratios = sorted(float(ratio) for ratio in bench.rows["p_access_to_core"].unique())
    recipes = recipes_of(bench.rows)
    together = len(ratios) * len(METRICS)

    def at(law: str, ratio: float) -> pd.DataFrame:
        own = table.xs((law, ratio), level=("p_metric", "p_access_to_core"))
        return own.droplevel("instance").sort_index()

    for trees in (CLOSURE, GROWN):
        for other in (PACKING, CLUSTERING):

            def converge(law: str, trees: str = trees, other: str = other) -> Judged:
                gaps = {r: np.abs(np.log(at(law, r)[other] / at(law, r)[trees])) for r in ratios}
                found = [
                    mean_of(
                        f"ratio of {other} and {trees}, prices {law} at access ÷ core = {r:g}",
                        np.exp(gap),
                        together=together,
                    )
                    for r, gap in gaps.items()
                ]
                fell = mean_of(
                    f"fall of its logarithm, prices {law}", gaps[ratios[0]] - gaps[ratios[-1]], together=together
                )
                met, closer = at_most(found[-1], 1 + _MET), above(fell, 0.0)
                verdict = all_of((met, closer))
                if met is Verdict.REFUTED and closer is Verdict.HOLDS:
                    verdict = Verdict.ORDER
                text = f"Prices `{law}`, the larger ÷ the smaller ratio along access ÷ core: {spelled(found)}."
                if max(one.mean for one in found) <= 1 + _MET:
                    text += f" Trivially: they differ by at most {_MET:.0%} at every ratio, so nothing can converge."
                    verdict = Verdict.OPEN
                return verdict, [*found, fell], text

            reading = f"{_READING[trees]}; converged if within {_MET:.0%} at the largest ratio"
            yield from by_law(bench, "P4.F10", f"{other} converges to {trees}", converge, reading)
        for least, named in ((1.0, "core links at most as expensive as access links"), (ratios[0], "all price ratios")):

            def moves(law: str, trees: str = trees, least: float = least) -> Judged:
                first = at(law, 1.0)
                found = []
                for r in (one for one in ratios if one >= least and one != 1.0):
                    change = (at(law, r)[BASELINE] / at(law, r)[trees]) / (first[BASELINE] / first[trees])
                    name = f"{trees} ÷ its ratio at 1, prices {law} at access ÷ core = {r:g}"
                    found.append(mean_of(name, change, together=together))
                verdict = all_of(within(one, 1 - _HARDLY, 1 + _HARDLY) for one in found)
                return verdict, found, f"Prices `{law}`: {spelled(found)}."

            reading = f"{_READING[trees]}; {named}; hardly is within {_HARDLY:.0%} of its ratio at equal prices"
            yield from by_law(bench, "P4.F10", f"{trees} hardly changes, {named}", moves, reading)
    last = ratios[-1]

    def ignores_core(law: str) -> Judged:
        own = table.xs((law, last), level=("p_metric", "p_access_to_core"))
        found = [of_bound(own, recipes, PACKING, f"prices {law} at access ÷ core = {last:g}", len(METRICS))]
        text = f"Prices `{law}`, cost of greedy packing ÷ proven lower bound: {spelled(found)}."
        return at_most(found[0], 1 + _MET), found, text

    reading = f"nothing is sacrificed within {_MET:.0%} of the optimum"
    yield from by_law(bench, "P4.F10", "cheap core links can be ignored", ignores_core, reading)


def _settings(bench: Bench) -> Iterable[Finding]:
    by = ("problem", "p_metric", "p_brokers")
    table = costs(bench.rows, *by)
    points = list(table.groupby(level=list(by)))
    scope: dict[str, Any] = {
        "symbols": {"problem": "routing", "p_users": "|U|", "p_brokers": "|B|", "p_metric": "prices"}
    }
    for better, worse in _COMPARED:
        found = {
            point: savings(own, better, worse, f"{point[0]}, prices {point[1]} at |B| = {point[2]:g}", len(points))
            for point, own in points
        }
        verdicts = {point: above(one, 1.0) for point, one in found.items()}
        right = [point for point, verdict in verdicts.items() if verdict is Verdict.HOLDS]
        text = f"It holds at {len(right)} of {len(points)} combinations of routing, prices and |B|"
        text += f"; the ratio of the two reduction ratios is from {min(o.mean for o in found.values()):.4g}"
        text += f" to {max(o.mean for o in found.values()):.4g}."
        trees = next((_READING[one] for one in (better, worse) if one in _TREES), "")
        reading = "; ".join(filter(None, (trees, "under every routing, which the paper does not say")))
        yield Finding(
            f"{better} > {worse}",
            all_of(verdicts.values()),
            text,
            len(bench.rows),
            scope=scope_of(bench.rows, SIZES["P4.S6.A"], reading=reading, **scope),
            intervals=list(found.values()),
        )


CLAIMS_P4_FIGURES: tuple[Claim, ...] = (
    figure_claim("P4.F9", "CRR: mixing > clustering > greedy packing > 1", _sizes),
    figure_claim("P4.F10", "as core links get cheap the three converge; mixing hardly changes", _core_prices),
    Claim(
        "P4.S6.A",
        "mixing > clustering > greedy packing with a hundredth to a tenth as many brokers",
        "P4 §VI.A, §IV.B",
        _settings,
        broker_numbers,
    ),
)
