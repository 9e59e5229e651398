"""The running time of Greedy Merge (P1): the lines of Algorithms 2 and 3, counted while they run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd

from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Sizes
from ..papers.figures import greedy_merge_steps
from ..papers.grids_p1 import GRIDS_P1, NODES, SIZES_P1, p1_instances
from ..papers.link_contributions import Work, merge_by_link_contributions
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Interval, Scope, Verdict, verdict_of
from .evidence import NO_CHOICE, all_of, at_least, at_most, finding_from, mean_of, share_of, within
from .on_grids import figure_claim
from .p1_points import at_points, in_all, over_rules, range_of
from .properties import assorted

_MOST_PAIRS, _LARGEST = 2000, 10_000
_READINGS: Mapping[str, str] = {
    "updates": "a step is an update of a pair's contribution (Algorithm 3, lines 8–11), to which Lemma 6.4 refers",
    "construction": "a step is an execution of any line of Algorithm 3",
    "total": "a step is an execution of any line of Algorithms 2 and 3",
}


_ORDERS = (
    ("about 10⁻³", 10**-3.5, 10**-2.5, "in the order of 10⁻³: nearest to that power of ten, 10^-3.5 to 10^-2.5"),
    ("10⁻³ to 10⁻²", 1e-3, float(np.nextafter(1e-2, 0)), "in the order of 10⁻³: at least 10⁻³ and below 10⁻²"),
    ("a small fraction", 0.0, 0.1, "a small fraction: at most a tenth"),
)


@cache
def work_on(recipe: str, newest: bool = True) -> Work:
    """The work of Algorithms 2 and 3 on a generated instance; kept, because two claims use it."""
    return merge_by_link_contributions(Recipe.from_json(recipe).make(), newest=newest)[1]


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each instance: the steps under each reading, and the closed form of the updates."""
    each = rows.drop_duplicates("instance").copy()
    works = [work_on(recipe) for recipe in each["recipe"]]
    each["updates"] = [work.updates for work in works]
    each["construction"] = [work.construction for work in works]
    each["total"] = [work.construction + work.initialization for work in works]
    each["members"] = [work.members for work in works]
    each["common"] = [common_topics(Recipe.from_json(recipe).make()) for recipe in each["recipe"]]
    each["closed"] = [greedy_merge_steps(recipe) for recipe in each["recipe"]]
    each["number"] = each.groupby(["workload", "p_topics", "p_nodes"]).cumcount()
    return each.set_index(["workload", "p_topics", "p_subscriptions", "p_nodes", "number"])


def _steps(bench: Bench) -> Iterable[Finding]:
    each, rows, claimed = _counted(bench.rows), bench.rows, SIZES_P1["P1.F3"]
    worst_case = (
        each.index.get_level_values("p_nodes").to_numpy(float) ** 2
        * each.index.get_level_values("p_topics").to_numpy()
    )  # fmt: skip
    for name, reading in _READINGS.items():
        share = each[name] / worst_case
        for law in LAWS:
            found = at_points({"": share.xs(law, level="workload")}, "steps ÷ (|V|²|T|)", 1e-3)
            text = f"Steps ÷ (|V|²|T|): {range_of(found, '.1e')}, published in the order of 10⁻³."
            for subject, low, high, of in _ORDERS:
                verdict = all_of(within(one, low, high) for one in in_all(found))
                own, said = {**claimed, "law": (law,)}, f"{reading}; {of}"
                subject = f"{subject}, {law}, {name}"
                yield finding_from(
                    rows[rows["workload"] == law], own, subject, verdict, text, in_all(found), reading=said
                )  # fmt: skip

        exponents = at_points({"": _exponents(each[name])}, "exponent of |V|", 2.0)
        verdict, _ = over_rules(exponents, lambda one: within(one, 1.9, 2.1))
        text = f"Fitted exponents of |V|: {range_of(exponents, '.3f')}."
        said = f"{reading}; like |V|²: an exponent from 1.9 to 2.1"
        yield finding_from(
            rows, claimed, f"behaves like |V|², {name}", verdict, text, in_all(exponents), reading=said
        )  # fmt: skip

        for of, values in (("steps", each[name].astype(float)), ("steps ÷ (|V|²|T|)", share)):
            log = np.log(values)
            ratio = np.exp(log.xs(200, level="p_topics") - log.xs(100, level="p_topics"))
            found = at_points({"": ratio}, f"{of} at |T| = 200 ÷ at 100")
            verdict, _ = over_rules(found, lambda one: at_most(one, np.nextafter(1, 0)))
            text = f"At |T| = 200 {range_of(found)} times the {of} at |T| = 100."
            yield finding_from(
                rows, claimed, f"{of} fall with |T|, {name}", verdict, text, in_all(found), reading=reading
            )  # fmt: skip

        found = {
            law: at_points({"": _above(each[name], law)}, f"steps, exponential ÷ {law}")[""]
            for law in ("uniform", "zipf")
        }
        verdict = all_of(at_least(one, np.nextafter(1, 2)) for one in in_all(found))
        text = f"The exponential law has {range_of(found)} times the steps of the others."
        yield finding_from(
            rows, claimed, f"highest for exponential, {name}", verdict, text, in_all(found), reading=reading
        )  # fmt: skip
    yield from _components(each, rows)
    yield from _closed_form(each, bench)


def _exponents(steps: pd.Series) -> pd.Series:
    wide = np.log(steps.astype(float).unstack("p_nodes"))
    x = np.log(wide.columns.to_numpy(float))
    return wide.apply(lambda row: float(np.polyfit(x, row.to_numpy(), 1)[0]), axis=1)


def _above(steps: pd.Series, law: str) -> pd.Series:
    log = np.log(steps.astype(float))
    return np.exp(log.xs("exponential", level="workload") - log.xs(law, level="workload"))


def _components(each: pd.DataFrame, rows: pd.DataFrame) -> Iterable[Finding]:
    """P1 §8.2: correlated interests raise the cost of updating the components after an edge."""
    per_edge = each["members"] / [work_on(recipe).edges for recipe in each["recipe"]]
    found = {
        law: at_points({"": _above(per_edge, law)}, f"nodes updated an edge, exponential ÷ {law}")[""]
        for law in ("uniform", "zipf")
    }
    verdict = all_of(at_least(one, np.nextafter(1, 2)) for one in in_all(found))
    text = f"Nodes whose component an added edge updates (line 14), exponential ÷ the other laws: {range_of(found)}."
    subject = "components cost more for exponential"
    yield finding_from(rows, SIZES_P1["P1.F3"], subject, verdict, text, in_all(found))


def _closed_form(each: pd.DataFrame, bench: Bench) -> Iterable[Finding]:
    """The count does not depend on ties, and is Σ_t (|V_t| − 1)(|V_t| − 2)/2 + what the edges themselves spare."""
    first = each[each.index.get_level_values("number") == 0]
    others = [work_on(recipe, False).updates for recipe in first["recipe"]]
    differ = int((each["updates"] != each["closed"]).sum()) + int((first["updates"] != others).sum())
    runs = len(each) + len(first)
    verdict = verdict_of(differ == 0)
    text = (
        f"On {len(each)} instances, taking the newest and the oldest pair of a list, {differ} of {runs} "
        "counts of updates differ from Σ_t (|V_t| − 1)(|V_t| − 2)/2: every merge of components of a topic updates "
        "each pair between them once, but for the edge itself."
    )
    scope = finding_from(bench.rows, SIZES_P1["P1.F3"], "", verdict, "", reading="").scope
    same = [share_of("counts equal to the closed form", runs - differ, runs)]
    subject = "the count depends on neither ties nor seed"
    yield Finding(subject, verdict, text, runs, scope=scope, intervals=same)
    if bench.quick:
        return
    recipes = [recipe.to_json() for recipe in p1_instances("", 1, nodes=(_LARGEST,))]
    wrong = [recipe for recipe in recipes if work_on(recipe).updates != greedy_merge_steps(recipe)]
    shares = [work_on(recipe).updates / (_LARGEST**2 * t) for recipe, t in zip(recipes, (100, 200) * 3, strict=True)]
    text = (
        f"At |V| = {_LARGEST} {len(recipes) - len(wrong)} of {len(recipes)} counts are equal to the closed form; "
        f"updates ÷ (|V|²|T|) {min(shares):.1e} to {max(shares):.1e}."
    )
    sizes: Sizes = {"law": LAWS, "|V|": (_LARGEST,), "|T|": (100, 200), "|T_v|": (10,)}
    scope = Scope(sizes, samples=1, points=len(recipes), ties=("newest of a list",))
    number = len(recipes)
    same = [share_of("counts equal to the closed form", number - len(wrong), number)]
    yield Finding("the same at the largest size", verdict_of(not wrong), text, number, scope=scope, intervals=same)
    every = p1_instances("", 1)
    form = [greedy_merge_steps(recipe.to_json()) for recipe in every]
    sizes_of = [dict(recipe.parameters) for recipe in every]
    shares = [
        steps / (float(own["nodes"]) ** 2 * float(own["topics"])) for steps, own in zip(form, sizes_of, strict=True)
    ]
    text = f"By the closed form at every |V| of the paper: updates ÷ (|V|²|T|) {min(shares):.1e} to {max(shares):.1e}."
    read = "a small fraction: at most a tenth, at every size"
    scope = Scope({**sizes, "|V|": NODES}, samples=1, points=len(every), ties=NO_CHOICE, reading=read)
    subject, verdict = "a small fraction, by the closed form", verdict_of(max(shares) <= 0.1)
    mean = [mean_of("updates ÷ (|V|²|T|)", shares)]
    yield Finding(subject, verdict, text, len(every), scope=scope, intervals=mean)


def _bound(bench: Bench) -> Iterable[Finding]:
    """P1, Lemma 6.4, on instances of every workload and construction, and on the grid of Figure 3."""
    named = [(name, instance) for name, instance in assorted(bench.quick) if instance.num_nodes <= _MOST_PAIRS]
    work = [(name, instance, merge_by_link_contributions(instance)[1]) for name, instance in named]
    grid = [(recipe, Recipe.from_json(recipe).make(), work_on(recipe)) for recipe in bench.rows["recipe"].unique()]
    every = [(name, done, common_topics(instance), instance) for name, instance, done in (*work, *grid)]
    sizes: dict[str, tuple[float | str, ...]] = {
        "workloads": tuple(sorted({name.split(" ")[0] for name, _ in named})),
        "|V|": _range(every),
    }
    scope = Scope(sizes, samples=len(every), ties=("newest of a list",))
    over = [name for name, done, common, _ in every if done.updates > common]
    worst = max(done.updates / max(common, 1) for _, done, common, _ in every)
    text = f"Updates ≤ Σ_e |T_v ∩ T_w| on {len(every)} instances, constant 1; the largest share is {worst:.3f}."
    reading = _READINGS["updates"]
    yield Finding(
        "updates", verdict_of(not over), text + _first(over), len(every), scope=replace(scope, reading=reading)
    )

    constant = {name: done.construction / max(common, 1) for name, done, common, _ in every if common}
    most = max(constant, key=lambda name: constant[name])
    lines = _counted(bench.rows)
    ratio = lines["construction"] / lines["common"]
    found = at_points({"": _exponents(ratio)}, "exponent of |V| of lines ÷ Σ_e |T_v ∩ T_w|", 0.0)
    verdict = all_of(at_most(one, 0.05) for one in in_all(found))
    text = (
        f"All lines of Algorithm 3 ÷ Σ_e |T_v ∩ T_w|: at most {constant[most]:.2f} ({most}), which is the constant "
        f"that suffices; on the grid the ratio grows like |V| to the power {range_of(found, '.3f')}. {_ours(bench)}"
    )
    reading = f"{_READINGS['construction']}; O(…): the ratio does not grow, exponent of |V| at most 0.05"
    yield Finding(
        "all lines of Algorithm 3",
        verdict,
        text,
        len(every),
        scope=replace(scope, reading=reading),
        intervals=in_all(found),
    )

    over = [
        name for name, done, common, instance in every if max(done.construction / 4, common) > _worst_case(instance)
    ]
    text = f"Σ_e |T_v ∩ T_w| ≤ |V|²|T|, and all lines ≤ 4|V|²|T|, on {len(every)} instances."
    yield Finding("|V|²|T|", verdict_of(not over), text + _first(over), len(every), scope=scope)
    yield from _initialization(every, scope)


def _initialization(every: list[tuple[str, Work, int, TopicInstance]], scope: Scope) -> Iterable[Finding]:
    """The proof's first part: Algorithm 2 is said to cost O(Σ_e |T_v ∩ T_w|) too."""
    ratios = []
    for nodes in (50, 100, 200, 400):
        pairs = TopicInstance.from_subscriptions({f"n{v}": [f"t{v // 2}"] for v in range(nodes)})
        done = merge_by_link_contributions(pairs)[1]
        ratios.append(done.initialization / common_topics(pairs))
    grows = all(after > 1.5 * before for before, after in pairwise(ratios))
    shown = ", ".join(f"{ratio:.0f}" for ratio in ratios)
    text = (
        f"|V|/2 topics with two subscribers each: lines of Algorithm 2 ÷ Σ_e |T_v ∩ T_w| are {shown} at |V| = 50, 100, "
        "200, 400. Every pair of nodes is examined, also those without a common topic. O(|V|²|T|) holds."
    )
    read = "the first sum of Lemma 6.4's proof"
    pairs_only = Scope({"|V|": (50, 100, 200, 400)}, samples=1, points=4, ties=NO_CHOICE, reading=read)
    yield Finding("Algorithm 2 by the same sum", verdict_of(not grows), text, 4, scope=pairs_only)
    over = [name for name, done, _, instance in every if done.initialization > 3 * _worst_case(instance)]
    text = f"All lines of Algorithm 2 ≤ 3|V|²|T| on {len(every)} instances."
    yield Finding("Algorithm 2 by |V|²|T|", verdict_of(not over), text + _first(over), len(every), scope=scope)


def _ours(bench: Bench) -> str:
    """The work of this project's kernel ÷ all lines of Algorithms 2 and 3: the lemma is not on it."""
    ours = np.array([json.loads(text).get("counted", math.inf) for text in bench.rows["counters"]], float)
    works = [work_on(recipe) for recipe in bench.rows["recipe"]]
    ratio = ours / np.array([work.construction + work.initialization for work in works])
    return f"Our kernel, without lists of pairs, compares {ratio.min():.2f} to {ratio.max():.2f} subscriptions a line."


def common_topics(instance: TopicInstance) -> int:
    """Σ |T_v ∩ T_w| over all pairs of nodes: Σ_t |V_t|(|V_t| − 1)/2."""
    sizes = np.diff(instance.topic_offsets).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _worst_case(instance: TopicInstance) -> int:
    return instance.num_nodes**2 * instance.num_topics


def _range(every: list[tuple[str, Work, int, TopicInstance]]) -> tuple[float, ...]:
    nodes = [instance.num_nodes for *_, instance in every]
    return min(nodes), max(nodes)


def _first(names: list[str]) -> str:
    return f" Not so on {names[0]}." if names else ""


def naive_steps(instance: TopicInstance) -> int:
    """Comparisons of a Greedy Merge that counts the contribution of every pair anew before each edge."""
    edges, _ = merge_by_link_contributions(instance)
    pairs = instance.num_nodes * (instance.num_nodes - 1) // 2
    return (len(edges) + 1) * pairs * instance.num_topics


def _naive(bench: Bench) -> Iterable[Finding]:
    """P1 §1: a naive Greedy Merge takes up to |V|⁴|T|, Algorithm 3 |V|²|T|."""
    shares: list[float] = []
    gains: dict[int, list[float]] = {}
    sizes, seeds = (50, 100, 200, 400), 3 if bench.quick else 10
    for law in LAWS:
        for recipe in p1_instances("", seeds, laws=(law,), nodes=sizes, topics=(100,)):
            instance = recipe.make()
            naive, done = naive_steps(instance), merge_by_link_contributions(instance)[1]
            shares.append(naive / (instance.num_nodes**4 * instance.num_topics))
            gains.setdefault(instance.num_nodes, []).append(naive / (done.construction + done.initialization))
    scope = Scope({"law": LAWS, "|V|": sizes, "|T|": (100,), "|T_v|": (10,)}, samples=seeds, points=12)
    text = f"Naive steps ≤ |V|⁴|T| on {len(shares)} instances; the largest share is {max(shares):.1e}."
    yield Finding("naive ≤ |V|⁴|T|", verdict_of(max(shares) <= 1), text, len(shares), scope=scope)
    intervals = [mean_of(f"naive ÷ Algorithms 2 and 3 at |V| = {n}", gains[n], together=4) for n in sizes]
    verdict = all_of(_above_1(one) for one in intervals)
    text = "Naive steps ÷ lines of Algorithms 2 and 3: " + ", ".join(f"{one.mean:.0f} at |V| = {n}" for n, one in zip(
        sizes, intervals, strict=True)) + "."  # fmt: skip
    yield Finding("Algorithm 3 saves", verdict, text, len(shares), scope=scope, intervals=intervals)


def _above_1(interval: Interval) -> Verdict:
    return at_least(interval, 1.0)


CLAIMS_P1_STEPS: tuple[Claim, ...] = (
    Claim(
        "P1.L6.4",
        "Algorithm 3 takes O(Σ_e |T_v ∩ T_w|) = O(|V|²|T|) steps",
        "P1 Lemma 6.4",
        _bound,
        GRIDS_P1["P1.F3"],
    ),
    figure_claim("P1.F3", "steps ÷ (|V|²|T|) about 10⁻³, like |V|², falls with |T|, highest for exponential", _steps),
    Claim(
        "P1.I.5",
        "a naive Greedy Merge takes up to |V|⁴|T| steps, and Algorithm 3 far fewer",
        "P1 §1",
        _naive,
    ),
)
