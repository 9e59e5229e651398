"""The lemmas and Case VII of Onus and Richa (P2) as checks, and the sentences that nothing here can check.

:mod:`.p2_bounds` has the approximation ratios, :mod:`.p2_steps` what P2 says of single steps, :mod:`.p2_figures` and
:mod:`.p2_diameter` the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result, Status
from ...instances.topics.constructions import (
    case_seven,
    minmax_oda_matchings,
    nested_subscriptions,
    weighted_nested_subscriptions,
)
from ...instances.topics.instance import TopicInstance
from ..papers.bench import Bench
from .claim import Claim, Finding, NotRun, Scope, Verdict, verdict_of
from .p2_bounds import linear_finding, overlays
from .p2_families import dense_prefixes
from .properties import TIES, invalid, property_finding
from .ties import SEEDS, Case, count_finding

_FAMILY = (("CD-ODA", "cd-oda"), ("CD-ODA-I", "cd-oda-1"), ("CD-ODA-II", "cd-oda-2"))
_STARS = (*_FAMILY, ("2D-ODA", "2d-oda"))
_MATCHINGS, _NESTED, _WEIGHTED, _SEVEN = range(4, 21, 2), range(3, 13), range(2, 7), range(5, 15)
_OF_TIES = "under the choice of ties that is worst for it"


def _counted(
    bench: Bench, subject: str, method: str, problem: str, cases: Sequence[Case], claim: str, reading: str = ""
) -> Finding:
    """`count_finding` with its scope."""
    found = count_finding(bench, subject, method, problem, cases, claim)
    searched = ("best and worst by search",) if any(case.exhaustive for case in cases) else ()
    sizes = tuple(int(case.name.partition("=")[2]) for case in cases)
    scope = Scope({"n": sizes}, samples=1, points=len(sizes), ties=(*TIES, *searched), seeds=SEEDS, reading=reading)
    return replace(found, scope=scope)


def matchings(bench: Bench, sizes: Sequence[int] = _MATCHINGS) -> Iterable[Finding]:
    """P2, Lemma 1, at these sizes; for n up to 6 also the extremes over all tie-breaking choices."""
    cases = [Case(f"n={n}", minmax_oda_matchings(n=n), n * (n - 2) / 2, exhaustive=n <= 6) for n in sizes]
    for subject, method, reading in (
        ("MinMax-ODA", "minmax-oda", "among the edges that raise the maximum degree least, also edges of weight 0"),
        ("MinMax-ODA, contributing edges only", "gm-m", "edges of weight 0 are never taken"),
    ):
        yield _counted(bench, subject, method, "min-tco", cases, f"{subject} builds n(n − 2)/2 edges", reading)
        ratio = {
            n: [len(one.edges) / (n - 1) for one in overlays(bench, method, minmax_oda_matchings(n=n))] for n in sizes
        }
        note = "Whatever the exact count, the ratio of the lemma."
        yield linear_finding(f"{subject}: ratio Θ(n)", ratio, 1 / 4, note, "edges ÷ (n − 1)")
    yield _optimum(bench, "min-tco", "branch-and-cut", minmax_oda_matchings, sizes, lambda n: n - 1, "n − 1")


def nested(bench: Bench, sizes: Sequence[int] = _NESTED) -> Iterable[Finding]:
    """P2, Lemma 5, at these sizes."""
    cases = [Case(f"n={n}", nested_subscriptions(n=n), n * (n - 1) / 2) for n in sizes]
    yield _counted(bench, "CD-ODA", "cd-oda", "2d-true", cases, "CD-ODA can build n(n − 1)/2 edges")
    ratio = {
        n: [bench.value("cd-oda", nested_subscriptions(n=n), "2d-true", ties="worst") / (n - 1)]
        for n in sizes
        if _searched(bench, "cd-oda")
    } or {n: [len(one.edges) / (n - 1) for one in overlays(bench, "cd-oda", nested_subscriptions(n=n))] for n in sizes}
    found = linear_finding("CD-ODA: ratio Θ(n)", ratio, 1 / 2, f"The ratio {_OF_TIES}.", "edges ÷ (n − 1)")
    yield replace(found, scope=replace(found.scope, ties=("worst by search",), seeds=1))
    yield _optimum(bench, "2d-true", "cp-sat", nested_subscriptions, sizes, lambda n: n - 1, "n − 1")


def _searched(bench: Bench, method: str) -> bool:
    """Whether the algorithm still searches ties: a faulty one of a test may not."""
    return bench.methods[method].run(nested_subscriptions(n=3), PROBLEMS["2d-true"], ties="worst").value is not None


def weighted_nested(bench: Bench, sizes: Sequence[int] = _WEIGHTED) -> Iterable[Finding]:
    """P2, Lemma 6, at these sizes; the ratio of CD-ODA-II also on an instance of ours."""
    cases = [Case(f"n={n}", weighted_nested_subscriptions(n=n), n * (n - 1) / 2 + n) for n in sizes]
    for subject, method in _FAMILY[1:]:
        yield _counted(bench, subject, method, "2d-true", cases, f"{subject} builds n(n − 1)/2 + n edges")
    ratio = {
        2 * n: [len(one.edges) / (2 * n - 1) for one in overlays(bench, "cd-oda-1", weighted_nested_subscriptions(n=n))]
        for n in sizes
    }
    note = "On the lemma's instances of 2n nodes."
    yield linear_finding("CD-ODA-I: ratio Θ(n)", ratio, 1 / 8, note, "edges ÷ (2n − 1)")
    own = {n: dense_prefixes(n) for n in (*sizes, *(() if bench.quick else (8, 10, 12)))}
    fewest = {n: len(next(overlays(bench, "2d-oda", instance)).edges) for n, instance in own.items()}
    ratio = {3 * n: [len(o.edges) / fewest[n] for o in overlays(bench, "cd-oda-2", one)] for n, one in own.items()}
    note = (
        "On our instances of 3n nodes, where CD-ODA-II has no ties: n(n − 1)/2 + 3n − 1 edges; 2D-ODA builds "
        f"{', '.join(f'{edges} at n = {n}' for n, edges in fewest.items())}."
    )
    yield linear_finding("CD-ODA-II: ratio Θ(n)", ratio, 1 / 24, note, "edges ÷ edges of 2D-ODA")
    yield _optimum(bench, "2d-true", "cp-sat", weighted_nested_subscriptions, sizes, lambda n: 2 * n - 1, "2n − 1")


def case_seven_counts(bench: Bench, sizes: Sequence[int] = _SEVEN) -> Iterable[Finding]:
    """P2, Case VII, at these sizes."""
    for subject, method in _FAMILY:
        cases = [Case(f"n={n}", case_seven(n=n), 2 * n - 5, exhaustive=n <= 8) for n in sizes]
        yield _counted(bench, subject, method, "2d-true", cases, f"{subject} builds 2n − 5 edges")
    cases = [Case(f"n={n}", case_seven(n=n), n, exhaustive=n <= 8) for n in sizes]
    yield _counted(bench, "2D-ODA", "2d-oda", "2d-true", cases, "2D-ODA builds n edges")
    for problem in ("2d-star", "2d-true"):
        yield _optimum(bench, problem, "cp-sat", case_seven, sizes, lambda n: n, "n")
    beyond = [n for n in sizes if n > 5]
    least = {n: min(len(o.edges) for _, m in _FAMILY for o in overlays(bench, m, case_seven(n=n))) for n in beyond}
    text = (
        f"Fewest edges of the three: {', '.join(f'{edges} at n = {n}' for n, edges in least.items())}; n are optimal."
    )
    scope = Scope(
        {"n": tuple(beyond)}, samples=1, points=len(beyond), ties=TIES, seeds=3, reading="n ≥ 6: at n = 5, 2n − 5 = n"
    )
    held = all(edges > n for n, edges in least.items())
    yield Finding("the earlier algorithms miss the optimum", verdict_of(held), text, 15 * len(beyond), scope=scope)


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
    subject, scope = f"optimum of {problem}", Scope({"n": tuple(proven)}, samples=1, points=len(proven))
    if wrong:
        text = f"{formula} is claimed; proven: {'; '.join(wrong)}"
        return Finding(subject, Verdict.REFUTED, text, len(proven), scope=scope)
    if unproven:
        text = f"not proven at n = {unproven}: a longer time limit decides"
        return Finding(subject, Verdict.OPEN, text, len(proven), scope=scope)
    shown = f"{formula} edges suffice and no fewer do, proven at n = {min(proven)} to {max(proven)}."
    return Finding(subject, Verdict.HOLDS, shown, len(proven), scope=scope)


def diameter(bench: Bench, methods: Sequence[tuple[str, str]]) -> Iterable[Finding]:
    """Whether every topic has diameter at most 2 in the overlays of these methods."""

    def violation(instance: TopicInstance, result: Result[Overlay]) -> str:
        wrong = invalid(instance, result)
        return wrong or "; ".join(PROBLEMS["2d-true"].violations(instance, result.answer))

    for subject, method in methods:
        yield property_finding(bench, subject, method, violation, "Every topic has diameter at most 2")


def _less_than_family(bench: Bench) -> Iterable[Finding]:
    """§6.3: by adding one topic at a time, 2D-ODA avoids the bad ratios of the CD-ODA family."""
    sizes = (4, 6) if bench.quick else (4, 6, 8, 10, 12)
    families: Sequence[tuple[str, Sequence[int], Callable[[int], TopicInstance], Callable[[int], int]]] = (
        ("Lemma 5", sizes, lambda n: nested_subscriptions(n=n), lambda n: n - 1),
        ("Lemma 6", (4, 5, 6), lambda n: weighted_nested_subscriptions(n=n), lambda n: 2 * n - 1),
        ("ours for CD-ODA-II", sizes, dense_prefixes, lambda n: 4 * n - 2),
        ("Case VII", (6, 8, 10, 12), lambda n: case_seven(n=n), lambda n: n),
    )
    for name, own, build, optimum in families:
        ratios = {n: max(len(o.edges) for o in overlays(bench, "2d-oda", build(n))) / optimum(n) for n in own}
        text = f"2D-ODA's edges ÷ the optimum, largest over ties: {max(ratios.values()):.3f}."
        scope = Scope({"n": tuple(own)}, samples=1, points=len(own), ties=TIES, seeds=3, reading="the ratio is 1")
        held = verdict_of(max(ratios.values()) <= 1)
        yield Finding(f"the instances of {name}", held, text, 5 * len(own), scope=scope)


CLAIMS_P2: tuple[Claim, ...] = (
    Claim("P2.L1", "MinMax-ODA builds n(n − 2)/2 edges, n − 1 suffice: ratio Θ(n)", "P2 Lemma 1, §1.1", matchings),
    Claim("P2.L5", "CD-ODA can build n(n − 1)/2 edges where n − 1 are optimal", "P2 Lemma 5", nested),
    Claim(
        "P2.L6",
        "CD-ODA-I and CD-ODA-II build n(n − 1)/2 + n edges where 2n − 1 are optimal",
        "P2 Lemma 6",
        weighted_nested,
    ),
    Claim("P2.L7", "2D-ODA: every topic has diameter ≤ 2", "P2 Lemma 7", lambda bench: diameter(bench, _STARS[-1:])),
    Claim(
        "P2.S6.5.0",
        "CD-ODA, CD-ODA-I, CD-ODA-II: every topic has diameter ≤ 2",
        "P2 §6.5",
        lambda bench: diameter(bench, _FAMILY),
    ),
    Claim(
        "P2.S6.3",
        "2D-ODA does not have the bad ratios of the CD-ODA family",
        "P2 §6.3",
        _less_than_family,
    ),
    Claim(
        "P2.VII", "CD, CD-I, CD-II 2n − 5 edges, 2D-ODA n, optimum n", "P2 §6.4, Case VII, Table 2", case_seven_counts
    ),
)

NOT_RUN_P2: tuple[NotRun, ...] = (
    NotRun(
        "P2.I.0",
        "Low-ODA is the first algorithm with sublinear ratios for average and maximum degree at once",
        "P2 abstract, §1.2",
        "priority over other publications is no property of an overlay",
    ),
    NotRun(
        "P2.I.3",
        "no algorithm has a ratio below a logarithm, for the average or for the maximum degree",
        "P2 Table 1, last row",
        "a lower bound on all algorithms that run in polynomial time; it rests on a conjecture of complexity theory",
    ),
    NotRun(
        "P2.I.4",
        "subscriptions of real systems are correlated",
        "P2 §1",
        "the studies that it cites measured systems whose data the paper does not include",
    ),
    NotRun(
        "P2.S6.4.1",
        "2D-ODA is optimal in Cases I to VI, and no earlier algorithm is optimal in all of them",
        "P2 §6.4",
        "Cases I to VI are defined in earlier papers of the authors only",
    ),
    NotRun(
        "P2.S7",
        "the template of Low-ODA applies to survivable networks and wireless networks",
        "P2 §1.2, §7",
        "a conjecture about other problems, without a statement that could be tested",
    ),
)
