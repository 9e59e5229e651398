"""The lemmas of Chockler et al. (P1) on Greedy Merge and on the hardness of Min-TCO as checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, product

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result, Status
from ...instances.topics.constructions import (
    SetCover,
    duplicated_instance,
    greedy_merge_cuboid,
    random_set_cover,
    repeated_instance,
    single_node_instance,
)
from ...instances.topics.instance import TopicInstance
from ..catalogue import problem_named
from ..intervals import mean_interval, share_interval
from ..studies.task import Recipe
from .bench import LAWS, SEED, TIES, Bench, by_law, grid
from .claim import FALLS, RISES, CaseTally, Judgement, Limit, Line, Verdict, all_of, at_most, claim, exact, judged
from .claim import verdict_of as verdict
from .enumeration import minimum_set_cover, smallest_degree_of
from .link_contributions import merge_by_link_contributions
from .properties import PropertyCase, assorted, counts, mean_diameter, most_common_topics, not_greedy, violation_of
from .rows import slope

_MOST_TRACED, _MOST_COUNTED = 60, 2000
_SOLVED = 200
_OVERLAY_SECONDS = 3.0
_HEARD, _LATE = 10, 0.1  # changes of interests, and the share of the nodes that have not heard of the last ones


@claim("P1.L6.1")
def topic_connected(bench: Bench) -> Judgement:
    """Lemma 6.1 and §6.1, the second by the contributions in traces of small runs."""
    tally = CaseTally()
    for name, instance in assorted(bench.quick):
        traced = instance.num_nodes <= _MOST_TRACED
        for ties in TIES:
            result = bench.run("gm", instance, ties=ties, seed=tally.n, trace=traced)
            wrong = violation_of(result) or (not_greedy(instance, result) if traced else "")
            tally.add(not wrong, f"{name}, ties {ties}: {wrong}")
    return tally.judgement()


def common_topics(instance: TopicInstance) -> int:
    """Σ |T_v ∩ T_w| over all pairs of nodes: Σ_t |V_t|(|V_t| − 1)/2."""
    sizes = np.diff(instance.topic_offsets).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


@claim("P1.L6.2")
def edge_count(bench: Bench) -> Judgement:
    """Lemma 6.2 with constant 1."""
    tally, largest, single = CaseTally(), 0.0, TopicInstance.from_subscriptions({f"n{v}": ["t"] for v in range(100)})
    for name, instance in assorted(bench.quick):
        allowed = min(instance.num_nodes**2, instance.num_subscriptions)
        for ties in TIES:
            edges = bench.run("gm", instance, ties=ties, seed=tally.n).measures["edges"]
            largest = max(largest, edges / allowed)
            tally.add(edges <= allowed, f"{name}, ties {ties}: {edges:g} edges, {allowed} allowed")
    line = Line.of("one topic of 100 nodes", exact(bench.value("gm", single, "min-tco") / 100), at_most(1))
    return tally.judgement(exact(largest, tally.n), sensitivity=[line])


@claim("P1.L6.4")
def running_time(bench: Bench) -> Judgement:
    """Lemma 6.4 by the lines of Algorithms 2 and 3, counted while they run."""
    named = [(name, one) for name, one in assorted(bench.quick) if one.num_nodes <= _MOST_COUNTED]
    named += by_law(1, nodes=200 if bench.quick else 1000, topics=100, subscriptions=10)
    tally, shares, lines = CaseTally(), [0.0], [0.0]
    for name, instance in named:
        _, work = merge_by_link_contributions(instance)
        common = common_topics(instance)
        shares.append(work.updates / max(common, 1))
        lines.append(work.construction / max(common, 1))
        fits = common <= instance.num_nodes**2 * instance.num_topics
        tally.add(fits and work.updates <= common, f"{name}: {work.updates} updates, Σ_e |T_v ∩ T_w| = {common}")
    saved = {n: _naive_steps_over_ours(n) for n in (50, 200 if bench.quick else 400)}
    sensitivity = (
        Line.of("a step is any line of Algorithm 3, constant 4", exact(max(lines), tally.n), at_most(4)),
        *(
            Line(f"naive Greedy Merge ÷ Algorithms 2 and 3, |V| = {n}, at most |V|⁴|T|", exact(factor), held)
            for n, (factor, held) in saved.items()
        ),
    )
    return tally.judgement(exact(max(shares), tally.n), sensitivity=sensitivity)


def _naive_steps_over_ours(nodes: int) -> tuple[float, Verdict]:
    """Comparisons of a Greedy Merge that counts every contribution anew before each edge ÷ lines of Algorithms 2, 3."""
    (recipe,) = grid("", "zipf", 1, nodes=nodes, topics=100, subscriptions=10)
    edges, work = merge_by_link_contributions(recipe.make())
    naive = (len(edges) + 1) * nodes * (nodes - 1) // 2 * 100
    held = verdict(exact(naive), at_most(nodes**4 * 100))
    return naive / (work.construction + work.initialization), held


@claim("P1.L6.5", "p1-solved")
def ratio(bench: Bench) -> Judgement:
    """Lemma 6.5 against proven optima; of instances that are not solved, against their lower bounds."""
    rows = bench.on("p1-solved")
    solved = rows[rows["method"] == "branch-and-cut"].set_index("instance")
    made = {one: Recipe.from_json(recipe).make() for one, recipe in solved["recipe"].items()}
    start = {key: one.num_subscriptions for key, one in made.items()}
    bounds = {
        "log natural": {key: np.log(value) for key, value in start.items()},
        "log to base 2": {key: np.log2(value) for key, value in start.items()},
        "ln(Σ|T_v| − |T|)": {key: np.log(start[key] - one.num_topics) for key, one in made.items()},
        "harmonic number of max |T_v ∩ T_w|": {
            key: float((1 / np.arange(1, most_common_topics(one) + 1)).sum()) for key, one in made.items()
        },
    }
    mine = rows[rows["method"] == "gm"]
    ratios = mine["value"].astype(float) / mine["instance"].map(solved["lower_bound"].astype(float))
    tally, sensitivity = CaseTally(), []
    for own, value, ties in zip(mine["instance"], ratios, mine["ties"], strict=True):
        tally.add(value <= bounds["log natural"][own], f"{solved['recipe'][own]}, ties {ties}: {value:.3f}")
    for name, bound in bounds.items():
        share = exact(float((ratios / mine["instance"].map(bound)).max()), len(solved))
        sensitivity.append(Line.of(f"largest share of the bound, {name}", share, at_most(1)))
    for rule, each in ratios.groupby(mine["ties"]):
        mean = mean_interval(each.groupby(mine["instance"]).mean())
        most = at_most(min(bounds["log natural"].values()))
        sensitivity.append(Line.of(f"mean GM ÷ optimum, ties {rule}", mean, most))
    proven = int((solved["status"] == Status.OPTIMAL).sum())
    least = (10 if bench.quick else _SOLVED) * tally.n // max(proven, 1)
    return tally.judgement(exact(float(ratios.max()), proven), least=least, sensitivity=sensitivity)


@claim("P1.L6.6")
def cuboid(bench: Bench) -> Judgement:
    """Lemma 6.6: both counts, and the ratio (2 + k)/4 at k = m, which is at least log₂|T|/8."""
    sizes = [(k, m) for k, m in product(range(2, 7), range(3, 7)) if not bench.quick or k + m <= 7]
    built = {(k, m): greedy_merge_cuboid(k=k, m=m) for k, m in sizes}
    cases = [PropertyCase(f"k = {k}, m = {m}", one, 2 * k + k * m) for (k, m), one in built.items()]
    found = counts(bench, "gm", "min-tco", cases)
    tally = CaseTally()
    for (k, m), instance in built.items():
        least = bench.value("branch-and-cut", instance, "min-tco", proven=True)
        tally.add(least == 2 * m + 2 * k, f"k = {k}, m = {m}: the optimum is {least:g}")
        tally.add(k != m or (2 + k) / 4 >= np.log2(instance.num_topics) / 8, f"k = m = {k}: the ratio is too small")
    if tally.failed or found.verdict is not Verdict.CONFIRMED:
        return tally.judgement() if tally.failed else found
    number = exact(0, len(sizes))
    return Judgement(Verdict.CONFIRMED, f"for all {len(sizes)} (k, m), whatever the ties", number, found.sensitivity)


@claim("P1.S6.4")
def further_runs(bench: Bench) -> Judgement:
    """§6.4: the connectivity of topics rises with each run of GM, their diameter falls."""
    instances = [one for _, one in by_law(3 if bench.quick else 10, nodes=100, topics=20, subscriptions=4)]
    lines, details = [], []
    for ties in TIES[:1] if bench.quick else TIES:
        figures = np.array([[_mean_figures(bench, one, ties, run) for run in (1, 2, 3)] for one in instances])
        for column, name, must in ((0, "connectivity", RISES), (1, "diameter", FALLS)):
            for run in (1, 2):
                number = mean_interval(figures[:, run, column] - figures[:, run - 1, column], together=4)
                lines.append(Line.of(f"{name}, run {run + 1}, ties {ties}", number, must))
        means = figures.mean(axis=0).round(2).tolist()
        details.append(f"mean [connectivity, diameter, links] after runs 1, 2, 3, ties {ties}: {means}")
    because = "; ".join(f"{one.varied}: {one.number}" for one in lines[:4:2])
    return Judgement(all_of(one.verdict for one in lines[:4]), because, lines[0].number, lines, details)


def _mean_figures(bench: Bench, instance: TopicInstance, ties: str, count: int) -> tuple[float, ...]:
    """The means over the topics of an instance of edge connectivity and diameter after some runs, and the links."""
    overlay = bench.answer("gm", instance, runs=count, ties=ties, seed=count)
    graph, groups = overlay.to_networkx(), (instance.subscribers(t).tolist() for t in range(instance.num_topics))
    connectivity = [nx.edge_connectivity(graph.subgraph(own)) for own in groups if len(own) > 1]
    return float(np.mean(connectivity)), mean_diameter(instance, overlay), overlay.num_edges


def _covers(number: int, elements: tuple[int, int], sets: tuple[int, int]) -> Iterator[tuple[str, SetCover]]:
    """Random set covers of every combination of sizes in turn, sparse and dense, with their names."""
    for seed in range(number):
        many = elements[0] + seed % (elements[1] - elements[0] + 1)
        groups = sets[0] + seed // 2 % (sets[1] - sets[0] + 1)
        yield f"seed {seed}", random_set_cover(many, groups, (0.15, 0.3, 0.5)[seed % 3], seed)


@claim("P1.L5.2")
def single_node(bench: Bench) -> Judgement:
    """Lemma 5.2 in both directions, and the remark that d ≤ 2 is decided by the pairs of neighbours."""
    tally = CaseTally()
    for name, cover in _covers(60 if bench.quick else 400, (4, 9), (3, 7)):
        degree, _ = smallest_degree_of(single_node_instance(cover), len(cover.sets))
        least = len(minimum_set_cover(cover))
        tally.add(degree == least, f"{name}: degree {degree}, cover {least}")
    for name, instance in by_law(5 if bench.quick else 40, nodes=10, topics=8, subscriptions=3):
        for node in range(0, 10, 3):
            degree, _ = smallest_degree_of(instance, node)
            cover = _cover_of(instance, node)
            least = len(minimum_set_cover(cover))
            small = not cover.elements or any(
                cover.covered_by(chosen) for size in (1, 2) for chosen in combinations(range(len(cover.sets)), size)
            )
            right = degree == least and (degree <= 2) is small
            tally.add(right, f"{name}, node {node}: degree {degree}, cover {least}")
    return tally.judgement()


def _cover_of(instance: TopicInstance, node: int) -> SetCover:
    """A node's topics that others have too, covered by the interests of the others."""
    sizes = np.diff(instance.topic_offsets)
    shared = {t: k for k, t in enumerate(t for t in instance.topics_of(node).tolist() if sizes[t] > 1)}
    others = (set(instance.topics_of(v).tolist()) & shared.keys() for v in range(instance.num_nodes) if v != node)
    return SetCover(len(shared), tuple(frozenset(shared[t] for t in one) for one in others if one))


@claim("P1.L5.1")
def duplicated(bench: Bench) -> Judgement:
    """Lemma 5.1's instance, both sides solved for every d ≥ 3 at once."""
    tally = CaseTally()
    for name, cover in _covers(20 if bench.quick else 150, (5, 8), (3, 5)):
        single = single_node_instance(cover)
        degree, _ = smallest_degree_of(single, len(cover.sets))
        least = bench.value("branch-and-cut", duplicated_instance(single, len(cover.sets)), "minmax-tco", proven=True)
        tally.add(
            max(3, degree) == max(3, least), f"{name}: v needs {degree}, the smallest maximum degree is {least:g}"
        )
    return tally.judgement()


@claim("P1.T5.3")
def np_hard(bench: Bench) -> Judgement:
    """Theorem 5.3: of Lemma 7.1's instance the proven fewest edges ÷ copies, rounded down, is the smallest cover.

    With m = |S|(|S| − 1)/2 + 1 copies a cover of k sets exists exactly if k·m + m − 1 edges suffice.
    """
    tally = CaseTally()
    for name, cover in _covers(10 if bench.quick else 60, (4, 6), (3, 4)):
        copies = len(cover.sets) * (len(cover.sets) - 1) // 2 + 1
        fewest = bench.value("branch-and-cut", repeated_instance(cover, copies), "min-tco", proven=True)
        least = len(minimum_set_cover(cover))
        tally.add(fewest // copies == least, f"{name}: {fewest:g} edges, {copies} copies, smallest cover {least}")
    return tally.judgement()


@claim("P1.S6.4.4")
def consistent_views(bench: Bench) -> Judgement:
    """§6.4: GM by nodes of which some have not heard of the last changes; a link needs both ends, or one."""
    current, cut = CaseTally(), {both: CaseTally() for both in (True, False)}
    connected = problem_named("min-tco")
    for law in LAWS:
        shape = {"popularity": law, "events": _HEARD, "interests": 1.0, "topics": 40, "subscriptions": 5}
        for seed in range(4 if bench.quick else 30):
            trace = WORKLOADS["churn"].generate(seed=seed, nodes=40 if bench.quick else 100, **shape)
            views = [view for view in trace.snapshots() if view is not None]
            answers = [bench.run("gm", view).answer or Overlay.from_edges(view.num_nodes, []) for view in views]
            links = [set(map(tuple, answer.edges.tolist())) for answer in answers]
            draw = np.random.default_rng([SEED, seed])
            late = draw.integers(1, len(views), trace.num_nodes) * (draw.random(trace.num_nodes) < _LATE)
            wanted = [links[-1 - lag] for lag in late.tolist()]
            case = f"{law}, trace {seed}"
            current.add(not connected.violations(views[-1], answers[-1]), case)
            for both, tally in cut.items():
                pairs = {(u, v) for u, v in set().union(*wanted) if _stands((u, v), wanted, both)}
                answer = Overlay.from_edges(trace.num_nodes, sorted(pairs))
                tally.add(not connected.violations(views[-1], answer), case)
    if current.failed:
        return current.judgement()
    found = {both: judged(share_interval(tally.failed, tally.n), RISES) for both, tally in cut.items()}
    return replace(found[True], sensitivity=[found[False].line("a link stands if one end wants it")])


def _stands(link: tuple[int, int], wanted: list[set[tuple[int, int]]], both: bool) -> bool:
    return (all if both else any)(link in wanted[end] for end in link)


@claim("P1.L7.1")
def repeated(bench: Bench) -> Judgement:
    """Lemma 7.1: the covers in overlays, the upper bound, and that a factor c gives a cover within 2c."""
    tally = CaseTally()
    for name, cover in _covers(12 if bench.quick else 90, (4, 7), (3, 5)):
        sets = len(cover.sets)
        copies, best, instance = sets**2, minimum_set_cover(cover), repeated_instance(cover, sets**2)
        bound = len(best) * copies + sets**2
        for method, result in _overlays(bench, instance, tally.n):
            if (overlay := result.answer) is None:
                continue
            edges = overlay.edges.tolist()
            chosen = [[u for u, v in edges if v == sets + i and u < sets] for i in range(copies)]
            least = min(map(len, chosen))
            right = all(map(cover.covered_by, chosen)) and least <= len(edges) / copies
            tally.add(right and least <= 2 * len(edges) / bound * len(best), f"{name}, {method}: covers {chosen}")
        links = [(s, sets + i) for s in best for i in range(copies)] + list(combinations(range(sets), 2))
        built = Overlay.from_edges(sets + copies, sorted(links))
        connected = bool((built.topic_components(instance) == 1).all())
        tally.add(connected and built.num_edges <= bound, f"{name}: {bound} links do not suffice")
    return tally.judgement()


def _overlays(bench: Bench, instance: TopicInstance, seed: int) -> Iterator[tuple[str, Result[Overlay]]]:
    for ties in TIES:
        yield f"gm, ties {ties}", bench.run("gm", instance, ties=ties, seed=seed)
    for name in ("gm-m", "ring-per-topic"):
        yield name, bench.run(name, instance, seed=seed)
    # Any overlay will do, and copies of one node make a proof long.
    yield "branch-and-cut", bench.run("branch-and-cut", instance, seed=seed, time_limit=_OVERLAY_SECONDS)


# The figures: columns for the claims, figures and tables of the file of runs

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
