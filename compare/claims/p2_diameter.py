"""What Onus and Richa (P2) say of overlays of diameter 2 in §6.1 and §6.5, as checks on the grids of Figures 8 to 10.

2D-ODA and the CD-ODA family build a star for each topic. A lower bound on every such overlay (`star_bound`) turns
"2D-ODA needs at most 1.09 times as many edges as GM" and "half as many as CD-ODA-II" into statements that no
implementation of 2D-ODA could meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from ...instances.topics.instance import TopicInstance
from ..papers.bench import Bench, Experiment, together
from ..papers.grids import GRIDS
from ..papers.grids import SIZES as CLAIMED
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Interval, Verdict
from .evidence import NO_CHOICE, at_least, at_most, within
from .on_grids import figure_claim
from .p2_points import (
    SIZES,
    Comparison,
    at_points,
    by_method,
    finding_on,
    from_point_to_point,
    independent_rows,
    on_average,
)
from .star_bound import star_bound

_TENTH = 0.1
_BOUNDED, _BOUNDED_QUICK = 5, 2
_NAMES = {"gm": "GM", "cd-oda": "CD-ODA", "cd-oda-1": "CD-ODA-I", "cd-oda-2": "CD-ODA-II", "2d-oda": "2D-ODA"}
_PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "P2.F8": {"gm": 1.09, "cd-oda-2": 2.04, "cd-oda": 2.06, "cd-oda-1": 2.06},
    "P2.F9": {"gm": 1.07, "cd-oda-2": 1.96, "cd-oda": 2.0, "cd-oda-1": 2.0},
    "P2.F10": {"gm": 1.1, "cd-oda-2": 1.94, "cd-oda": 2.23, "cd-oda-1": 2.23},
}
_OVERALL = {"gm": 1.1, "cd-oda-2": 2.0, "cd-oda": 2.1, "cd-oda-1": 2.1}
_FIGURES = tuple(_PUBLISHED)
_INDEPENDENT = "each node subscribes to each topic by itself with the same probability"
_ABOUT = "about: within a tenth of the published factor"
_ORDER = "order holds: 2D-ODA has fewer edges; CD-ODA counts neighbours by the topics left, as Table 2 requires"
_MORE = ", read as 1 + the factor"
_GRIDS = "on the grids of Figures 8 to 10"


@cache
def _bound(recipe: str) -> int:
    return star_bound(Recipe.from_json(recipe).make())


def with_bounds(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """The rows of the first `count` instances of each point, with the column ``stars``: the bound of `star_bound`."""
    first = rows.drop_duplicates("instance").groupby(list(SIZES)).head(count)
    bounds = {one.instance: _bound(one.recipe) for one in first.itertuples()}
    kept = rows[rows["instance"].isin(list(bounds))]
    return kept.assign(stars=kept["instance"].map(bounds).astype(float))


def _factors(bench: Bench, figure: str) -> Iterable[Finding]:
    """2D-ODA against GM and the CD-ODA family: as measured, and for every overlay of stars by a lower bound."""
    published, claimed = _PUBLISHED[figure], CLAIMED[figure]
    yield from _measured(bench.rows, claimed, published)
    yield from _of_all_stars(bench, claimed, published)
    full = list(bench.rows.groupby(list(SIZES)).groups)
    chosen = full[:1] if bench.quick else [full[0], full[len(full) // 2]]
    shapes = [dict(zip(("nodes", "topics", "subscriptions"), map(int, sizes), strict=True)) for sizes in chosen]
    methods: Sequence[tuple[str, Mapping[str, Any]]] = [(name, {}) for name in _NAMES]
    rows = independent_rows(bench, "uniform", shapes, methods, "min-tco")
    yield from _measured(rows, claimed, published, _INDEPENDENT)


def _measured(
    rows: pd.DataFrame, claimed: Mapping[str, Any], published: Mapping[str, float], law: str = ""
) -> Iterable[Finding]:
    table = by_method(rows, "edges")
    suffix = " (topics drawn independently)" if law else ""
    for limit, more, said in _limits(published):
        found = at_points(table["2d-oda"] / table["gm"], "2D-ODA ÷ GM", partial(at_most, limit=limit))
        text = f"Edges of 2D-ODA ÷ edges of GM, mean at a point {found.range}, published at most {limit:.3g}."
        reading = "; ".join(filter(None, (said, law)))
        yield finding_on(rows, claimed, f"2D-ODA ÷ GM{more}{suffix}", found, text, reading=reading)
    for method in ("cd-oda-2", "cd-oda", "cd-oda-1"):
        near = partial(within, low=published[method] * (1 - _TENTH), high=published[method] * (1 + _TENTH))
        name = f"{_NAMES[method]} ÷ 2D-ODA"
        found = on_average(table[method] / table["2d-oda"], name, near, published[method])
        if found.verdict is Verdict.REFUTED and all(at_least(one, 1.0) is Verdict.HOLDS for one in found.intervals):
            found = Comparison(Verdict.ORDER, found.note, found.intervals)
        text = f"Edges of {_NAMES[method]} ÷ edges of 2D-ODA on average {found.range}, published {published[method]}."
        yield finding_on(
            rows, claimed, f"{name}{suffix}", found, text, reading="; ".join(filter(None, (_ABOUT, _ORDER, law)))
        )


def _limits(published: Mapping[str, float]) -> tuple[tuple[float, str, str], ...]:
    """Both readings of "at most f times more edges than GM": the limit, the subject's ending and the reading."""
    factor = published["gm"]
    whole = f"“at most {factor:g} times more edges”: at most {factor:g} times GM's edges"
    return (factor, "", whole), (1 + factor, _MORE, f"“{factor:g} times more”: 1 + {factor:g} times GM's edges")


def _of_all_stars(bench: Bench, claimed: Mapping[str, Any], published: Mapping[str, float]) -> Iterable[Finding]:
    """What holds of every overlay with a star a topic, whatever builds it."""
    rows = with_bounds(bench.rows, _BOUNDED_QUICK if bench.quick else _BOUNDED)
    table = by_method(rows, "edges")
    fewest = by_method(rows, "stars")["gm"]
    ratio = fewest / table["gm"]
    for limit, more, said in _limits(published):
        found = at_points(ratio, "fewest edges of stars ÷ GM", partial(_excluded, above=limit))
        beyond = ratio.groupby("instance").min() > limit
        text = (
            f"A lower bound on the edges of every overlay of stars ÷ the edges of GM, mean at a point {found.range}, "
            f"published at most {limit:.3g}: proven to be more on {int(beyond.sum())} of {len(beyond)} instances."
        )
        text += _strong(ratio, limit)
        yield finding_on(rows, claimed, f"any overlay of stars ÷ GM{more}", found, text, reading=said)
    for method in ("cd-oda-2", "cd-oda", "cd-oda-1"):
        name = f"{_NAMES[method]} ÷ fewest edges of stars"
        below = partial(_excluded, below=published[method] * (1 - _TENTH))
        found = on_average(table[method] / fewest, name, below, published[method])
        text = (
            f"Edges of {_NAMES[method]} ÷ a lower bound on those of every overlay of stars, an upper bound on the "
            f"factor of every such overlay: {found.range} on average, published {published[method]}."
        )
        yield finding_on(rows, claimed, f"{_NAMES[method]} ÷ any overlay of stars", found, text, reading=_ABOUT)


def _excluded(interval: Interval, above: float = np.inf, below: float = -np.inf) -> Verdict:
    """``refuted`` if a lower bound lies above a limit or an upper bound below one, otherwise open: a bound proves no
    more.
    """
    if interval.low is None or interval.high is None:
        return Verdict.OPEN
    return Verdict.REFUTED if interval.low > above or interval.high < below else Verdict.OPEN


def _strong(ratio: pd.Series, limit: float) -> str:
    """The points at which the bound decides nothing."""
    points = ratio.groupby(list(SIZES)).mean()
    weak = [f"|V| = {n}, |T| = {t}, |T_v| = {s}" for (n, t, s), mean in points.items() if mean <= limit]
    return f" It is too weak at {'; '.join(weak)}." if weak else ""


def _overall(quick: bool) -> Experiment:
    return together([GRIDS[figure](quick) for figure in _FIGURES])


def _all_claimed() -> dict[str, tuple[Any, ...]]:
    symbols = CLAIMED["P2.F8"]
    return {s: tuple(dict.fromkeys(v for figure in _FIGURES for v in CLAIMED[figure][s])) for s in symbols}


def _summary(bench: Bench) -> Iterable[Finding]:
    """§6.5: at most 1.1 × GM; half the edges of CD-ODA-II, 1/2.1 of those of CD-ODA and CD-ODA-I, over all points."""
    yield from _measured(bench.rows, _all_claimed(), _OVERALL)
    yield from _of_all_stars(bench, _all_claimed(), _OVERALL)


_TRENDS = {
    "P2.F8": ("p_nodes", -1, "falls with |V|"),
    "P2.F9": ("p_topics", 1, "rises with |T|"),
    "P2.F10": ("p_subscriptions", -1, "falls with |T_v|"),
}


def _trend(bench: Bench, figure: str) -> Iterable[Finding]:
    """How each algorithm's average degree, and the largest overlap of a node with another, change with a size."""
    column, sign, word = _TRENDS[figure]
    judge = partial(at_least, limit=0.0) if sign > 0 else partial(at_most, limit=0.0)
    table = by_method(bench.rows, "average_degree")
    for method, name in _NAMES.items():
        found = from_point_to_point(table[method], column, "average degree", judge)
        whole = from_point_to_point(table[method], column, "average degree", judge, ends=True)
        means = table[method].groupby(column).mean()
        text = f"Average degree of {name}: {', '.join(f'{mean:.2f}' for mean in means)}."
        step, ends = "from each size to the next", "from the first size to the last"
        yield finding_on(bench.rows, CLAIMED[figure], f"{name} {word}", found, text, reading=step)
        yield finding_on(bench.rows, CLAIMED[figure], f"{name} {word}, first to last", whole, text, reading=ends)
    yield _reason(bench, figure)


def _reason(bench: Bench, figure: str) -> Finding:
    """§6.5's reason for the trends: the topics that a node has in common with the node nearest to it."""
    column, sign, _ = _TRENDS[figure]
    first = bench.rows.drop_duplicates("instance").groupby(list(SIZES)).head(_BOUNDED)
    overlap = first.assign(overlap=[largest_overlap(Recipe.from_json(one).make()) for one in first["recipe"]])
    values = overlap.assign(ties="lowest").set_index(["instance", "ties", *SIZES])["overlap"]
    judge = partial(at_least, limit=0.0) if sign < 0 else partial(at_most, limit=0.0)
    found = from_point_to_point(values, column, "largest overlap", judge)
    own = tuple(replace(one, of=one.of.removesuffix(", ties lowest")) for one in found.intervals)
    found = Comparison(found.verdict, "", own)
    means = values.groupby(column).mean()
    text = f"Topics in common with the nearest node, mean over the nodes: {', '.join(f'{m:.2f}' for m in means)}."
    word = "rises" if sign < 0 else "falls"
    rows = first.assign(method="")
    reading = "correlation: the most topics that a node shares with another; from each size to the next"
    finding = finding_on(rows, CLAIMED[figure], f"the reason: correlation {word}", found, text, reading=reading)
    return replace(finding, scope=replace(finding.scope, ties=NO_CHOICE))


def largest_overlap(instance: TopicInstance) -> float:
    """The largest |T_v ∩ T_w| over the other nodes w, mean over the nodes v. Cost O(|V|²|T|)."""
    wants = np.zeros((instance.num_nodes, instance.num_topics), np.float32)
    for t in range(instance.num_topics):
        wants[instance.subscribers(t), t] = 1
    common = wants @ wants.T
    np.fill_diagonal(common, 0)
    return float(common.max(axis=1).mean())


def _improvement(bench: Bench) -> Iterable[Finding]:
    """§6.1: CD-ODA-I and CD-ODA-II improve on CD-ODA by 20%, and CD-ODA-II is the best of the three."""
    table, claimed = by_method(bench.rows, "edges"), _all_claimed()
    near = partial(within, low=0.2 * (1 - _TENTH), high=0.2 * (1 + _TENTH))
    for method in ("cd-oda-1", "cd-oda-2"):
        for gain, of, more in (
            (1 - table[method] / table["cd-oda"], "a fifth of CD-ODA's edges is saved", ""),
            (table["cd-oda"] / table[method] - 1, "CD-ODA has 1.2 times the edges", ", as a ratio"),
        ):
            found = on_average(gain, f"{_NAMES[method]} improves by", near, 0.2)
            if found.verdict is Verdict.REFUTED and all(at_least(one, 0.0) is Verdict.HOLDS for one in found.intervals):
                found = Comparison(Verdict.ORDER, found.note, found.intervals)
            points = gain.groupby(list(SIZES)).mean()
            text = f"{_NAMES[method]} improves on CD-ODA by {points.min():.1%} to {points.max():.1%} at a point."
            reading = f"{_GRIDS}; by 20%: {of}, within a tenth of the 20%; order holds: it is not worse"
            subject = f"{_NAMES[method]} improves on CD-ODA{more}"
            yield finding_on(bench.rows, claimed, subject, found, text, reading=reading)
    for other in ("cd-oda", "cd-oda-1"):
        found = at_points(table["cd-oda-2"] / table[other], f"CD-ODA-II ÷ {_NAMES[other]}", partial(at_most, limit=1.0))
        text = f"Edges of CD-ODA-II ÷ edges of {_NAMES[other]}, mean at a point {found.range}."
        yield finding_on(bench.rows, claimed, f"CD-ODA-II no worse than {_NAMES[other]}", found, text)


CLAIMS_P2_DIAMETER: tuple[Claim, ...] = (
    *(
        figure_claim(
            figure,
            f"2D-ODA ≤ {published['gm']} × GM; CD-ODA-II ÷ 2D-ODA ≈ {published['cd-oda-2']}, "
            f"CD-ODA and -I ≈ {published['cd-oda']:g}",
            partial(_factors, figure=figure),
        )
        for figure, published in _PUBLISHED.items()
    ),
    *(
        Claim(
            f"P2.S6.5.{number}",
            f"the average degree of GM, the CD-ODA family and 2D-ODA {word}",
            f"P2 §6.5.{number}",
            partial(_trend, figure=figure),
            GRIDS[figure],
        )
        for number, (figure, (_, _, word)) in enumerate(_TRENDS.items(), 1)
    ),
    Claim(
        "P2.S6.5",
        "over all experiments 2D-ODA ≤ 1.1 × GM, CD-ODA-II ÷ 2D-ODA ≈ 2, CD-ODA and -I ≈ 2.1",
        "P2 abstract, §1.2, §6.5",
        _summary,
        _overall,
    ),
    Claim(
        "P2.S6.1",
        "CD-ODA-I and CD-ODA-II improve on CD-ODA by 20%; CD-ODA-II is the best of the three",
        "P2 §6.1",
        _improvement,
        _overall,
    ),
)
