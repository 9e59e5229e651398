"""The approximation ratios of Onus and Richa (P2): Theorems 1 and 2 and Table 1, against proven optima and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.overlay import Overlay
from ...instances.topics.constructions import binary_tree_of_topics, minmax_oda_matchings
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Scope, Verdict, verdict_of
from .p2_families import tree_of_bridges, tree_with_bridges
from .properties import TIES

FACTORS = (1.0, 2.0, 3.0, 8.0)
_RANDOM_SEEDS = 3
_BOUND_SECONDS = 20.0
_QUARTER = 1 / 4
_SMALLEST = 2.0


def solved(quick: bool, family: str) -> Experiment:
    """Instances with proven optima, and larger ones with lower bounds, by `lp-bound` at |V| = 100."""
    shapes = [({"nodes": 20, "topics": 15, "subscriptions": 4}, 20 if quick else 60)]
    shapes += [] if quick else [({"nodes": 40, "topics": 25, "subscriptions": 5}, 5)]
    small = tuple(r for law in LAWS for shape, count in shapes for r in grid(family, law, count, **shape))
    large = () if quick else grid(f"{family} at size", "zipf", 3, nodes=100, topics=100, subscriptions=10)
    exact = [runs(p, "branch-and-cut", families=(family,)) for p in ("min-tco", "minmax-tco")]
    bounds = [
        runs(p, "lp-bound", families=(f"{family} at size",), time_limit=_BOUND_SECONDS)
        for p in ("min-tco", "minmax-tco")
    ]
    return Experiment((*small, *large), (*exact, *(bounds if large else ())))


@dataclass(frozen=True)
class _Case:
    """An instance with a proven lower bound on a problem's value."""

    instance: TopicInstance
    bound: float

    @property
    def subscriptions(self) -> int:
        return self.instance.num_subscriptions

    @property
    def nodes(self) -> int:
        return self.instance.num_nodes


def _cases(bench: Bench, problem: str) -> list[_Case]:
    rows = bench.rows[(bench.rows["problem"] == problem) & bench.rows["lower_bound"].notna()]
    return [_Case(Recipe.from_json(r.recipe).make(), math.ceil(float(r.lower_bound) - 1e-6)) for r in rows.itertuples()]


def _scope(bench: Bench, problem: str, reading: str = "") -> Scope:
    rows = bench.rows[bench.rows["problem"] == problem]
    sizes = {
        symbol: tuple(sorted(rows[column].unique().tolist()))
        for symbol, column in (("|V|", "p_nodes"), ("|T|", "p_topics"), ("|T_v|", "p_subscriptions"))
    }
    points = rows.groupby(["workload", "p_nodes"])["instance"].nunique()
    laws = tuple(sorted(rows["workload"].unique()))
    return Scope(
        {"law": laws, **sizes},
        samples=int(points.min()),
        points=len(points),
        ties=TIES,
        seeds=_RANDOM_SEEDS,
        reading=reading,
    )


def overlays(bench: Bench, method: str, instance: TopicInstance, **options: Any) -> Iterator[Overlay]:
    """The overlays of a method with ties lowest, highest and three times random."""
    for ties in TIES:
        for seed in range(_RANDOM_SEEDS if ties == "random" else 1):
            result = bench.run(method, instance, ties=ties, seed=seed, **options)
            if result.answer is not None:
                yield result.answer


def _bounded(
    bench: Bench,
    subject: str,
    problem: str,
    method: str,
    limit: Callable[[_Case, float], float],
    what: str,
    *,
    factors: bool = False,
) -> Finding:
    """Whether value ÷ lower bound is at most a limit in every run; a lower bound in place of the optimum is enough."""
    of_degree = problem == "minmax-tco"
    cases = _cases(bench, problem)
    shares, ratios = [], []
    for case in cases:
        own = sorted({*FACTORS, math.sqrt(case.nodes), float(case.nodes)}) if factors else [1.0]
        for k in own:
            for overlay in overlays(bench, method, case.instance, **({"k": k} if factors else {})):
                value = float(overlay.degrees.max()) if of_degree else len(overlay.edges)
                ratios.append(value / case.bound)
                shares.append(value / limit(case, k))
    proven = int((bench.rows[bench.rows["problem"] == problem]["status"] == "optimal").sum())
    of_k = ", k = 1, 2, 3, 8, √|V| and |V|" if factors else ""
    evidence = (
        f"{what}{of_k}: {len(shares)} runs on {len(cases)} instances, {proven} with a proven optimum and the rest with "
        f"a proven lower bound. Largest ratio {max(ratios):.3f}; largest share of the bound {max(shares):.4f}, the "
        "constant that suffices."
    )
    held = verdict_of(max(shares) <= 1)
    return Finding(subject, held, evidence, len(shares), scope=_scope(bench, problem, "the constant is 1"))


def _average(bench: Bench) -> Iterable[Finding]:
    def limit(case: _Case, k: float) -> float:
        return min(k * math.log(case.subscriptions), case.nodes) * case.bound

    what = "Edges ÷ fewest edges against min(k·ln Σ|T_v|, |V|)"
    yield _bounded(bench, "Low-ODA, average degree", "min-tco", "low-oda", limit, what, factors=True)


def _largest(bench: Bench) -> Iterable[Finding]:
    def limit(case: _Case, k: float) -> float:
        return (case.nodes / (2 * k) + 1) * 3 * (case.bound + 1) * math.log(case.subscriptions)

    what = "Maximum degree against (|V|/2k + 1)·3·(smallest + 1)·ln Σ|T_v|"
    yield _bounded(bench, "Low-ODA, maximum degree", "minmax-tco", "low-oda", limit, what, factors=True)

    def short(case: _Case, k: float) -> float:
        return min(case.nodes / k * math.log(case.subscriptions), case.nodes) * case.bound

    what = "Maximum degree ÷ smallest against min(|V|/k·ln Σ|T_v|, |V|)"
    yield _bounded(bench, "Low-ODA, as Table 1 words it", "minmax-tco", "low-oda", short, what, factors=True)
    yield _on_trees(bench, (5,) if bench.quick else (5, 6, 7))


def _on_trees(bench: Bench, heights: Sequence[int]) -> Finding:
    """Theorem 2 on trees, where an overlay can exceed its bound: the root can have |V| − 1 neighbours."""
    shares, limits = [], {}
    for h in heights:
        instance = tree_with_bridges(h)
        nodes = instance.num_nodes
        factor = (1 / 2 + 1) * 3 * math.log(instance.num_subscriptions)
        limits[nodes] = factor * (_SMALLEST + 1)
        shares += [float(one.degrees.max()) / limits[nodes] for one in overlays(bench, "low-oda", instance, k=nodes)]
    shown = ", ".join(f"{limit:.0f} of {nodes - 1}" for nodes, limit in limits.items())
    text = (
        f"Binary trees with bridging nodes, k = |V|: the theorem allows {shown} neighbours; the largest share of it is "
        f"{max(shares):.4f}. The smallest maximum degree is 2 or 3, and 2 is assumed."
    )
    scope = Scope({"|V|": tuple(limits)}, samples=1, points=len(limits), ties=TIES, seeds=_RANDOM_SEEDS)
    held = verdict_of(max(shares) <= 1)
    return Finding("Low-ODA, maximum degree on trees", held, text, len(shares), scope=scope)


def _table(bench: Bench) -> Iterable[Finding]:
    """Table 1: the ratios of GM and MinMax-ODA, logarithmic in one quantity and linear in the other."""

    def limit(case: _Case, _: float) -> float:
        return math.log(case.nodes * case.instance.num_topics) * case.bound

    what = "Edges ÷ fewest edges against ln(|V||T|)"
    yield _bounded(bench, "GM, average degree", "min-tco", "gm", limit, what)
    what = "Maximum degree ÷ smallest against ln(|V||T|)"
    for method, reading in (("minmax-oda", ""), ("gm-m", ", contributing edges only")):
        yield _bounded(bench, f"MinMax-ODA, maximum degree{reading}", "minmax-tco", method, limit, what)
    heights = (2, 3, 4) if bench.quick else (2, 3, 4, 5, 6)
    sizes = {h: tree_with_bridges(h) for h in heights}
    largest = {
        instance.num_nodes: [float(one.degrees.max()) for one in overlays(bench, "gm", instance)]
        for instance in sizes.values()
    }
    valid = all(
        not list(PROBLEMS["minmax-tco"].violations(instance, tree_of_bridges(instance, h)))
        and tree_of_bridges(instance, h).degrees.max() == 3
        for h, instance in sizes.items()
    )
    note = (
        "A binary tree with bridging nodes; an overlay of maximum degree 3 is valid." if valid else "No such overlay."
    )
    yield linear_finding("GM, maximum degree", largest, _QUARTER, note, "maximum degree", held=valid)
    numbers = (4, 8, 16) if bench.quick else (4, 8, 16, 24, 32)
    for method, reading in (("minmax-oda", ""), ("gm-m", ", contributing edges only")):
        ratio = {
            n: [len(one.edges) / (n - 1) for one in overlays(bench, method, minmax_oda_matchings(n=n))] for n in numbers
        }
        note = "The instances of Lemma 1, where n − 1 edges suffice."
        yield linear_finding(f"MinMax-ODA, average degree{reading}", ratio, _QUARTER, note, "edges ÷ (n − 1)")


def linear_finding(
    subject: str, values: Mapping[int, list[float]], share: float, note: str, what: str, *, held: bool = True
) -> Finding:
    """Whether a quantity is at least `share` × n at every size n and under every rule for ties."""
    least = min(min(sample) / n for n, sample in values.items())
    low, high = min(values[min(values)]), max(values[max(values)])
    text = (
        f"{note} {what[0].upper()}{what[1:]} from {low:.3g} at n = {min(values)} to {high:.3g} at n = {max(values)}; "
        f"never below {least:.3f} n."
    )
    scope = Scope(
        {"n": tuple(values)},
        samples=1,
        points=len(values),
        ties=TIES,
        seeds=_RANDOM_SEEDS,
        reading=f"linear: at least {share:.3g} n at every size",
    )
    runs_made = sum(map(len, values.values()))
    return Finding(subject, verdict_of(held and least >= share), text, runs_made, scope=scope)


def _whole_star(bench: Bench) -> Iterable[Finding]:
    """§1.1: GM may reach maximum degree |V| where a constant suffices."""
    heights = (2, 3) if bench.quick else (2, 3, 4, 5)
    largest: dict[int, dict[str, float]] = {}
    for h in heights:
        instance = binary_tree_of_topics(h=h)
        largest[instance.num_nodes] = {
            ties: float(bench.value("gm", instance, "minmax-tco", ties=ties)) for ties in ("lowest", "highest")
        } | {"random": max(bench.value("gm", instance, "minmax-tco", ties="random", seed=s) for s in range(3))}
    reached = {rule: all(by[rule] == n - 1 for n, by in largest.items()) for rule in TIES}
    shown = "; ".join(f"|V| = {n}: {', '.join(f'{r} {v:g}' for r, v in by.items())}" for n, by in largest.items())
    verdict = Verdict.HOLDS if all(reached.values()) else verdict_of(any(reached.values()))
    verdict = Verdict.SOME_TIES if verdict is Verdict.HOLDS and not all(reached.values()) else verdict
    text = f"GM's maximum degree on the tree of P3, Lemma 8, where 3 suffices: {shown}."
    reading = "|V| stands for |V| − 1, the largest degree that there is"
    scope = Scope({"|V|": tuple(largest)}, samples=1, points=len(largest), ties=TIES, seeds=3, reading=reading)
    yield Finding("GM, maximum degree |V| − 1", verdict, text, 5 * len(largest), scope=scope)


CLAIMS_P2_BOUNDS: tuple[Claim, ...] = (
    Claim(
        "P2.T1",
        "Low-ODA: average degree ≤ k·ln(Σ|T_v|) × optimum",
        "P2 Theorem 1, §1.2, Table 1",
        _average,
        lambda quick: solved(quick, "P2.T1"),
    ),
    Claim(
        "P2.T2",
        "Low-ODA: maximum degree ≤ (n/2k + 1)·3(d + 1)·ln(Σ|T_v|)",
        "P2 Theorem 2, §1.2, Table 1",
        _largest,
        lambda quick: solved(quick, "P2.T2"),
    ),
    Claim(
        "P2.I.2",
        "GM: average degree O(log nt), maximum Θ(n); MinMax-ODA: average degree Θ(n), maximum O(log nt)",
        "P2 Table 1",
        _table,
        lambda quick: solved(quick, "P2.I.2"),
    ),
    Claim("P2.I.1", "GM may reach maximum degree |V| where a constant suffices", "P2 §1.1", _whole_star),
)
