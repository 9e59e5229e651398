"""P2's curves as paired samples: an interval at each point under each rule for ties."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...instances.topics.instance import TopicInstance
from ...instances.topics.workloads import topic_weights
from ..papers.bench import Bench, Sizes
from .claim import Finding, Interval, Verdict
from .evidence import SYMBOLS, all_of, mean_of, over_ties, per_instance, scope_of, with_ties
from .properties import TIES

_ALPHA = 0.5
SIZES = ("p_nodes", "p_topics", "p_subscriptions")


@dataclass(frozen=True)
class Comparison:
    """Verdict and intervals of a comparison at every point and under every rule; `means` are in the same order."""

    verdict: Verdict
    note: str
    intervals: tuple[Interval, ...]

    @property
    def range(self) -> str:
        """The smallest and the largest mean as text."""
        means = [interval.mean for interval in self.intervals]
        return f"{min(means):.3g}" if len(means) == 1 else f"{min(means):.3g} to {max(means):.3g}"


def by_method(rows: pd.DataFrame, measure: str, column: str = "method") -> pd.DataFrame:
    """A measure by instance, rule and sizes, one column a method; the mean over the seeds of random ties."""
    return per_instance(with_ties(rows), measure, "ties", *SIZES, column)


def at_points(values: pd.Series, name: str, judge: Callable[[Interval], Verdict]) -> Comparison:
    """Judge the mean at each point under each rule; the intervals hold together at 95%.

    Parameters
    ----------
    values : Series
        By instance, ``ties`` and `SIZES`.
    """
    varied = [column for column in SIZES if values.index.unique(column).size > 1]
    groups = list(values.groupby(["ties", *SIZES]))
    found: dict[str, list[tuple[Interval, Verdict]]] = {}
    for (rule, *sizes), sample in groups:
        shown = [f"{SYMBOLS[c]} = {size}" for c, size in zip(SIZES, sizes, strict=True) if c in varied]
        interval = mean_of(", ".join([name, *shown, f"ties {rule}"]), sample, together=len(groups))
        found.setdefault(rule, []).append((interval, judge(interval)))
    return _compared(found)


def on_average(
    values: pd.Series, name: str, judge: Callable[[Interval], Verdict], claimed: float | None = None
) -> Comparison:
    """Judge the mean over all points under each rule: a sample is the mean of one instance of each point."""
    points = values.groupby(["ties", *SIZES])
    number = points.cumcount().rename("number")
    samples = values.groupby([values.index.get_level_values("ties"), number]).mean()
    rules = samples.index.unique(0)
    found = {}
    for rule in rules:
        interval = mean_of(f"{name}, mean over the points, ties {rule}", samples[rule], claimed, together=len(rules))
        found[rule] = [(interval, judge(interval))]
    return _compared(found)


def from_point_to_point(
    values: pd.Series, column: str, name: str, judge: Callable[[Interval], Verdict], *, ends: bool = False
) -> Comparison:
    """Judge the difference between neighbouring values of a size, or between the last and the first (`ends`)."""
    number = values.groupby(["ties", column]).cumcount().rename("number")
    table = values.groupby([values.index.get_level_values("ties"), number, values.index.get_level_values(column)])
    wide = table.mean().unstack().dropna()
    steps = [(wide.columns[0], wide.columns[-1])] if ends else list(zip(wide.columns, wide.columns[1:], strict=False))
    rules, symbol = wide.index.unique(0), SYMBOLS.get(column, column)
    found: dict[str, list[tuple[Interval, Verdict]]] = {}
    for rule in rules:
        for before, after in steps:
            shown = f"{name}, {symbol} from {before} to {after}, ties {rule}"
            sample = wide[after].loc[rule] - wide[before].loc[rule]
            interval = mean_of(shown, sample, together=len(steps) * len(rules))
            found.setdefault(rule, []).append((interval, judge(interval)))
    return _compared(found)


def _compared(found: Mapping[str, Sequence[tuple[Interval, Verdict]]]) -> Comparison:
    by_rule = {rule: all_of(verdict for _, verdict in pairs) for rule, pairs in found.items()}
    verdict, note = over_ties(by_rule)
    return Comparison(verdict, note, tuple(interval for pairs in found.values() for interval, _ in pairs))


def finding_on(
    rows: pd.DataFrame, claimed: Sizes, subject: str, compared: Comparison, evidence: str, *, reading: str = ""
) -> Finding:
    """A finding from a comparison on these rows."""
    symbols = {**SYMBOLS, "k": "k"} if "k" in claimed else SYMBOLS
    scope = scope_of(rows, claimed, reading=reading, symbols=symbols)
    return Finding(
        subject, compared.verdict, evidence + compared.note, len(rows), scope=scope, intervals=compared.intervals
    )


def independent_subscriptions(law: str, *, nodes: int, topics: int, subscriptions: int, seed: int) -> TopicInstance:
    """Each node subscribes to each topic by itself, with a probability proportional to its popularity, at most 1.

    The probabilities sum to `subscriptions`. Nodes without topics are left out.
    """
    weights = np.asarray(topic_weights(law, topics, **({"alpha": _ALPHA} if law == "zipf" else {})), float)
    chance = np.minimum(1.0, subscriptions * weights / weights.sum())
    wants = np.random.default_rng(seed).random((nodes, topics)) < chance
    return TopicInstance.from_subscriptions(
        {f"n{v}": [f"t{t}" for t in np.flatnonzero(row)] for v, row in enumerate(wants) if row.any()}
    )


def independent_rows(
    bench: Bench,
    law: str,
    shapes: Iterable[Mapping[str, int]],
    methods: Sequence[tuple[str, Mapping[str, Any]]],
    problem: str,
) -> pd.DataFrame:
    """Rows like those of a study, on ten instances a shape (three if quick) of independent subscriptions."""
    rows: list[dict[str, Any]] = []
    for shape in shapes:
        for seed in range(3 if bench.quick else 10):
            instance = independent_subscriptions(law, seed=seed, **shape)
            for name, options in methods:
                for rule in TIES:
                    result = bench.run(name, instance, problem, ties=rule, seed=seed, **options)
                    if result.answer is None:
                        continue
                    rows.append(
                        {
                            "instance": instance.digest,
                            "key": f"{instance.digest} {name} {rule} {options}",
                            "problem": problem,
                            "method": name,
                            "variant": name,
                            "options": json.dumps({**options, "ties": rule}),
                            "status": str(result.status),
                            "max_degree": float(result.answer.degrees.max()),
                            "average_degree": 2.0 * len(result.answer.edges) / instance.num_nodes,
                            "edges": float(len(result.answer.edges)),
                            "workload": law,
                            **{f"p_{size}": value for size, value in shape.items()},
                        }
                    )
    return pd.DataFrame(rows)
