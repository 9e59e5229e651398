"""What Zhao and Wu (P4) say of random assignment's cost (§VI.B) and of running times (Table I), as checks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pandas as pd

from ...heuristics.content.heuristic import assign_in_order
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay
from ...instances.contract.arrays import Ids
from ...instances.contract.catalogue import WORKLOADS
from ..catalogue import problem_named
from ..papers.bench import Bench, Experiment, grid, runs, together
from ..papers.figures_p4 import traffic_of
from ..papers.grids import SIZES
from ..papers.grids_p4 import METRICS, sizes
from ..report.content_tables import BASELINE
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Interval, Scope, Verdict
from .evidence import above, all_of, at_most, mean_of, scope_of, within
from .on_grids import figure_claim, on_grid
from .p4_figures import CLOSURE, CLUSTERING, GROWN, PACKING, spelled

_FIXED_BROKERS = "P4.S6.1"
_LINEAR, _FAR, _SAME = 0.1, 10.0, 1.25
_PUBLISHED = {BASELINE: 0.9, PACKING: 91.445, CLUSTERING: 100.235, CLOSURE: 179.654, GROWN: 179.654}


def _growth_grid(quick: bool) -> Experiment:
    """Figure 9's networks, and networks with 10 brokers whatever the number of users; random assignment only."""
    own = tuple(
        recipe
        for metric in METRICS
        for users in ((250, 500, 1000) if quick else (1000, 2000, 4000))
        for recipe in grid(_FIXED_BROKERS, "content", 5 if quick else 10, users=users, brokers=10, metric=metric)
    )
    random = (runs("content-mst", BASELINE),)
    return together([Experiment(sizes(quick).recipes, random), Experiment(own, random)])


def _linear(bench: Bench) -> Iterable[Finding]:
    rows = bench.rows.assign(
        traffic=[traffic_of(recipe) for recipe in bench.rows["recipe"]],
        per_user=bench.rows["value"] / bench.rows["p_users"],
    )
    for family, brokers in (("P4.F9", "|U|/|B| = 100"), (_FIXED_BROKERS, "|B| = 10")):
        for measure, subject in (("p_users", "in the number of users"), ("traffic", "in the total traffic of users")):
            own = rows[rows["family"] == family]
            found = [_exponent(own[own["p_metric"] == law], measure, f"prices {law}, {brokers}") for law in METRICS]
            text = f"Cost of random assignment ∝ ({measure.removeprefix('p_')})^e, {brokers}, e: {spelled(found)} for "
            text += f"prices {', '.join(METRICS)}."
            reading = f"{brokers}; linear is an exponent within {_LINEAR:g} of 1"
            yield Finding(
                f"linear {subject}, {brokers}",
                all_of(within(one, 1 - _LINEAR, 1 + _LINEAR) for one in found),
                text,
                len(own),
                scope=scope_of(own, SIZES["P4.F9"], reading=reading),
                intervals=found,
            )


def _exponent(rows: pd.DataFrame, measure: str, where: str) -> Interval:
    """The slope of log cost along the log of a measure: one fit for each series of networks, one at each size."""
    logs = rows.assign(x=np.log(rows[measure].astype(float)), y=np.log(rows["value"])).sort_values("recipe")
    logs["series"] = logs.groupby("p_users").cumcount()
    slopes = [float(np.polyfit(own["x"], own["y"], 1)[0]) for _, own in logs.groupby("series")]
    return mean_of(f"exponent of cost, {where}", slopes, claimed=1.0, together=len(METRICS))


def dearest_brokers(instance: ContentInstance) -> Ids:
    """The most expensive broker with enough residual capacity for each user, in their order."""
    return assign_in_order(
        instance,
        range(instance.num_users),
        lambda user, feasible: int(np.argmax(np.where(feasible, instance.access[user], -1.0))),
    )


def _worst_case(bench: Bench) -> Iterable[Finding]:
    draws, mst = 5 if bench.quick else 20, problem_named("content-mst")
    found, shape = [], {"users": 1000, "brokers": 10}
    for law in METRICS:
        ratios = []
        for seed in range(draws):
            instance = WORKLOADS["content"].generate(seed=seed, metric=law, **shape)
            dearest = mst.value(instance, ContentOverlay(dearest_brokers(instance)))
            ratios.append(dearest / bench.value(BASELINE, instance, "content-mst", seed=seed))
        found.append(mean_of(f"cost of the dearest brokers ÷ random, prices {law}", ratios, together=len(METRICS)))
    text = "Users on the most expensive brokers within the capacities cost "
    text += f"{spelled(found)} times as much as random assignment, for prices {', '.join(METRICS)}."
    scope = Scope({"|U|": (1000,), "|B|": (10,), "prices": METRICS}, {}, draws, len(METRICS))
    yield Finding(
        "no assignment costs more", all_of(at_most(one, 1.0) for one in found), text, draws * 3, (), scope, found
    )


def processor_seconds(bench: Bench) -> pd.DataFrame:
    """The processor seconds of each variant (column) on each network of Table I's grid (row), one after the other."""
    problem, networks = problem_named("content-mst"), bench.rows["recipe"].unique().tolist()
    variants = bench.rows.drop_duplicates("variant").set_index("variant")[["method", "options"]]
    for method in variants["method"]:
        bench.methods[method].prepare()
    table: dict[str, dict[str, float]] = {}
    for recipe in networks:
        instance = Recipe.from_json(recipe).make()
        for value in (instance.demands, instance.out_rates, instance.in_rates):
            assert len(value)  # cached: not a part of the algorithms
        for variant, (method, options) in zip(variants.index, variants.to_numpy().tolist(), strict=True):
            start = time.process_time()
            answer = bench.methods[method].solve(instance, problem, seed=0, time_limit=None, **json.loads(options))
            table.setdefault(variant, {})[recipe] = time.process_time() - start
            assert answer.answer is not None
    return pd.DataFrame(table)


def _times(bench: Bench) -> Iterable[Finding]:
    seconds = processor_seconds(bench)
    means = {name: mean_of(f"processor seconds of {name}", seconds[name], _PUBLISHED[name]) for name in _PUBLISHED}
    absolute = f"Processor seconds: {', '.join(f'{one.of[21:]} {spelled([one])}' for one in means.values())}."
    pairs = [*pairwise((BASELINE, PACKING, CLUSTERING, CLOSURE)), (CLUSTERING, GROWN)]
    for faster, slower in pairs:
        ratio = mean_of(
            f"{slower} ÷ {faster}",
            seconds[slower] / seconds[faster],
            _PUBLISHED[slower] / _PUBLISHED[faster],
            together=len(pairs),
        )
        less = above(ratio, 1.0)
        verdict, sign = less, "<"
        if faster == BASELINE:
            much = above(ratio, _FAR)
            verdict, sign = (Verdict.ORDER if much is Verdict.REFUTED and less is Verdict.HOLDS else much), "≪"
        published = _PUBLISHED[slower] / _PUBLISHED[faster]
        near = within(ratio, published / _SAME, published * _SAME)
        if verdict is Verdict.HOLDS and near is not Verdict.HOLDS:
            verdict = Verdict.ORDER if near is Verdict.REFUTED else Verdict.OPEN
        text = f"{slower} takes {spelled([ratio])} times as long (published {published:.4g}). {absolute}"
        much_is = f"≪ is at least {_FAR:g} times; " if sign == "≪" else ""
        reading = f"{much_is}a ratio within a factor of {_SAME:g} counts as the same; prices `plane`"
        intervals = [ratio, means[faster], means[slower]]
        yield on_grid(bench, "P4.TI", f"{faster} {sign} {slower}", verdict, text, intervals, reading=reading)


CLAIMS_P4_COSTS: tuple[Claim, ...] = (
    Claim(
        "P4.S6.1", "random assignment's cost grows linearly with the number of users", "P4 §VI.B", _linear, _growth_grid
    ),
    Claim("P4.S6.2", "random assignment is the worst case of any algorithm", "P4 §VI.B", _worst_case),
    figure_claim("P4.TI", "time: random ≪ greedy packing < clustering < mixing", _times, "P4 Table I"),
)
