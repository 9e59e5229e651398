"""The lemmas, theorems and Case VII of Onus and Richa (P2) as checks; :mod:`.p2_figures` has the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...instances.catalogue import PROBLEMS
from ...instances.overlay import Overlay
from ...instances.result import Result, Status
from ...instances.topics.constructions import (
    case_seven,
    minmax_oda_matchings,
    nested_subscriptions,
    weighted_nested_subscriptions,
)
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from ..papers.grids_p2 import K_VALUES
from .claim import Claim, Finding, Verdict, open_if_fewer, verdict_of
from .properties import invalid, optima, property_finding
from .ties import Case, count_finding

_BOUNDED = 60


def matchings(bench: Bench, sizes: Sequence[int] = range(4, 21, 2)) -> Iterable[Finding]:
    """P2, Lemma 1, at these sizes; for n up to 6 also the extremes over all tie-breaking choices."""
    cases = [Case(f"n={n}", minmax_oda_matchings(n=n), n * (n - 2) / 2, exhaustive=n <= 6) for n in sizes]
    yield count_finding(bench, "MinMax-ODA", "minmax-oda", "min-tco", cases, "MinMax-ODA builds n(n − 2)/2 edges")
    yield _optimum(bench, "min-tco", "branch-and-cut", minmax_oda_matchings, sizes, lambda n: n - 1, "n − 1")


def nested(bench: Bench, sizes: Sequence[int] = range(3, 13)) -> Iterable[Finding]:
    """P2, Lemma 5, at these sizes."""
    cases = [Case(f"n={n}", nested_subscriptions(n=n), n * (n - 1) / 2) for n in sizes]
    yield count_finding(bench, "CD-ODA", "cd-oda", "2d-true", cases, "CD-ODA can build n(n − 1)/2 edges")
    yield _optimum(bench, "2d-true", "cp-sat", nested_subscriptions, sizes, lambda n: n - 1, "n − 1")


def weighted_nested(bench: Bench, sizes: Sequence[int] = range(2, 7)) -> Iterable[Finding]:
    """P2, Lemma 6, at these sizes."""
    cases = [Case(f"n={n}", weighted_nested_subscriptions(n=n), n * (n - 1) / 2 + n) for n in sizes]
    for subject, method in (("CD-ODA-I", "cd-oda-1"), ("CD-ODA-II", "cd-oda-2")):
        yield count_finding(bench, subject, method, "2d-true", cases, f"{subject} builds n(n − 1)/2 + n edges")
    yield _optimum(bench, "2d-true", "cp-sat", weighted_nested_subscriptions, sizes, lambda n: 2 * n - 1, "2n − 1")


def case_seven_counts(bench: Bench, sizes: Sequence[int] = range(5, 15)) -> Iterable[Finding]:
    """P2, Case VII, at these sizes."""
    for subject, method in (("CD-ODA", "cd-oda"), ("CD-ODA-I", "cd-oda-1"), ("CD-ODA-II", "cd-oda-2")):
        cases = [Case(f"n={n}", case_seven(n=n), 2 * n - 5, exhaustive=n <= 8) for n in sizes]
        yield count_finding(bench, subject, method, "2d-true", cases, f"{subject} builds 2n − 5 edges")
    cases = [Case(f"n={n}", case_seven(n=n), n, exhaustive=n <= 8) for n in sizes]
    yield count_finding(bench, "2D-ODA", "2d-oda", "2d-true", cases, "2D-ODA builds n edges")
    for problem in ("2d-star", "2d-true"):
        yield _optimum(bench, problem, "cp-sat", case_seven, sizes, lambda n: n, "n")


def _optimum(
    bench: Bench,
    problem: str,
    method: str,
    build: Callable[..., TopicInstance],
    sizes: Iterable[int],
    claimed: Callable[[int], int],
    formula: str,
) -> Finding:
    """Whether the proven optimum is the claimed one at every size."""
    proven = {n: bench.run(method, build(n=n), problem) for n in sizes}
    unproven = [n for n, result in proven.items() if result.status is not Status.OPTIMAL]
    wrong = [f"n={n}: {r.value:g}" for n, r in proven.items() if n not in unproven and r.value != claimed(n)]
    subject = f"optimum of {problem}"
    if wrong:
        return Finding(subject, Verdict.REFUTED, f"{formula} is claimed; proven: {'; '.join(wrong)}", len(proven))
    if unproven:
        return Finding(subject, Verdict.OPEN, f"not proven at n = {unproven}: a longer time limit decides", len(proven))
    shown = f"{formula} edges suffice and no fewer do, proven at n = {min(proven)} to {max(proven)}."
    return Finding(subject, Verdict.HOLDS, shown, len(proven))


def _solved(quick: bool, family: str) -> Experiment:
    per_law = _BOUNDED // len(LAWS) * (1 if quick else 4)
    recipes = tuple(
        recipe for law in LAWS for recipe in grid(family, law, per_law, nodes=20, topics=15, subscriptions=4)
    )
    low = [("low-oda", {"k": k}) for k in K_VALUES]
    exact = (runs(problem, "branch-and-cut") for problem in ("min-tco", "minmax-tco"))
    return Experiment(recipes, (runs("low-tco", *low), *exact))


def _average(bench: Bench) -> Iterable[Finding]:
    fewest = optima(bench, "min-tco")

    def pairs() -> Iterator[tuple[float, float]]:
        for row in _low_runs(bench, fewest):
            yield row["edges"] / fewest[row["instance"]], row["k"] * np.log(row["subscriptions"])

    what = "edges ÷ fewest edges against k·ln Σ|T_v|"
    yield from _bounded(bench, "average degree", pairs(), what, len(fewest))


def _largest(bench: Bench) -> Iterable[Finding]:
    smallest = optima(bench, "minmax-tco")

    def pairs() -> Iterator[tuple[float, float]]:
        for row in _low_runs(bench, smallest):
            factor = (row["nodes"] / (2 * row["k"]) + 1) * 3 * np.log(row["subscriptions"])
            yield row["max_degree"] / (smallest[row["instance"]] + 1), factor

    yield from _bounded(
        bench,
        "maximum degree",
        pairs(),
        "maximum degree ÷ (d_opt + 1) against (n/2k + 1)·3·ln Σ|T_v|",
        len(smallest),
    )


def _low_runs(bench: Bench, optimum: dict[str, float]) -> Iterator[dict[str, Any]]:
    mine = bench.rows[(bench.rows["method"] == "low-oda") & bench.rows["instance"].isin(list(optimum))]
    for row in mine.to_dict("records"):
        yield {**row, "k": float(row["variant"].partition("k=")[2] or 3.0)}


def _bounded(
    bench: Bench, subject: str, pairs: Iterable[tuple[float, float]], what: str, solved: int
) -> Iterable[Finding]:
    values = np.array(list(pairs))
    share = values[:, 0] / values[:, 1]
    evidence = (
        f"{what}, k = 1 … 8, {len(values)} runs on {solved} instances solved to proven optimality: largest ratio "
        f"{values[:, 0].max():.3f}; largest share of the bound {share.max():.4f}, the constant that suffices."
    )
    yield open_if_fewer(verdict_of(bool((share <= 1).all())), evidence, f"Low-ODA, {subject}", solved, _BOUNDED)


def _diameter(bench: Bench) -> Iterable[Finding]:
    def violation(instance: TopicInstance, result: Result[Overlay]) -> str:
        wrong = invalid(instance, result)
        return wrong or "; ".join(PROBLEMS["2d-true"].violations(instance, result.answer))

    yield property_finding(bench, "2D-ODA", "2d-oda", violation, "Every topic has diameter at most 2")


CLAIMS_P2: tuple[Claim, ...] = (
    Claim("P2.L1", "MinMax-ODA builds n(n − 2)/2 edges, n − 1 suffice", "P2 Lemma 1", matchings),
    Claim(
        "P2.T1",
        "Low-ODA: average degree ≤ k·ln(Σ|T_v|) × optimum",
        "P2 Theorem 1",
        _average,
        lambda quick: _solved(quick, "P2.T1"),
    ),
    Claim(
        "P2.T2",
        "Low-ODA: maximum degree ≤ (n/2k + 1)·3(d + 1)·ln(Σ|T_v|)",
        "P2 Theorem 2",
        _largest,
        lambda quick: _solved(quick, "P2.T2"),
    ),
    Claim("P2.L5", "CD-ODA builds n(n − 1)/2 edges where n − 1 are optimal", "P2 Lemma 5", nested),
    Claim(
        "P2.L6",
        "CD-ODA-I and CD-ODA-II build n(n − 1)/2 + n edges where 2n − 1 are optimal",
        "P2 Lemma 6",
        weighted_nested,
    ),
    Claim("P2.L7", "2D-ODA: every topic has diameter ≤ 2", "P2 Lemma 7", _diameter),
    Claim(
        "P2.VII", "CD, CD-I, CD-II 2n − 5 edges, 2D-ODA n, optimum n", "P2 §6.4, Case VII, Table 2", case_seven_counts
    ),
)
