"""P4's figures: columns for the claims of ``p4_runs.toml``, the bound with cheap core links, and Table I's work."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd

from ...instances.content.instance import ContentInstance
from ...instances.contract.catalogue import WORKLOADS
from ...models.content.exact import capacity_bound
from ..intervals import mean_interval
from .bench import Bench
from .claim import Judgement, Line, Verdict, at_most, claim, exact, judged
from .p4 import METRICS
from .rows import slope

RANDOM, PACKING, CLUSTERING, MIXING = "random-assignment", "greedy-packing", "clustering", "steiner-mixing"
CONTENT_METHODS = (RANDOM, PACKING, CLUSTERING, MIXING)
ROUTINGS = ("content-mst", "content-steiner", "content-shared-tree")
_SECONDS = dict(zip(CONTENT_METHODS, (0.9, 91.445, 100.235, 179.654), strict=True))
_LARGE = {"users": 10_000, "brokers": 100}


@claim("P4.F10.2")
def CORE_IGNORED(bench: Bench) -> Judgement:
    """The cost of greedy packing, which ignores core prices, ÷ a proven lower bound, with cheap core links."""
    shape = {"users": 500, "brokers": 5} if bench.quick else _LARGE

    def loss(law: str, ratio: float = 32.0) -> Judgement:
        found = []
        for seed in range(5 if bench.quick else 15):
            one = WORKLOADS["content"].generate(seed=seed, metric=law, access_to_core=ratio, **shape)
            found.append(bench.value(PACKING, one, ROUTINGS[0]) / capacity_bound(one))
        return judged(mean_interval(found), at_most(1.05))

    varied = {**{f"prices {law}": loss(law) for law in METRICS[1:]}, "access ÷ core 1": loss("plane", 1.0)}
    lines = [one.line(name) for name, one in varied.items()]
    return replace(loss("plane"), sensitivity=lines)


def with_traffic(bench: Bench, found: Judgement) -> Judgement:
    """The exponent of the total traffic along the users, which the cost follows."""
    sizes = [250, 500, 1000] if bench.quick else [1000, 2000, 4000]
    logs = [
        (np.log2(n), np.log2(WORKLOADS["content"].generate(seed=seed, users=n, brokers=10).demands.sum()))
        for n in sizes
        for seed in range(4)
    ]
    traffic = slope(*map(list, zip(*logs, strict=True)))
    more = Line("exponent of the total traffic, which the cost follows", traffic, Verdict.CONTRADICTED)
    return replace(found, sensitivity=[*found.sensitivity, more])


@claim("P4.TI", "p4-sizes")
def TIMES(bench: Bench) -> Judgement:
    """The work of each algorithm by the paper's own steps; processor seconds of our kernels beside."""
    shape = {"users": 500, "brokers": 5} if bench.quick else _LARGE
    work = counted_work(WORKLOADS["content"].generate(seed=0, **shape))
    ratios = [work[after] / work[before] for before, after in pairwise(CONTENT_METHODS)]
    in_order = ratios[0] >= 10 and min(ratios) > 1
    published = [_SECONDS[b] / _SECONDS[a] for a, b in pairwise(CONTENT_METHODS)]
    same = all(1 / 1.25 <= ours / theirs <= 1.25 for ours, theirs in zip(ratios, published, strict=True))
    verdict = Verdict.CONFIRMED if same and in_order else Verdict.ORDER if in_order else Verdict.CONTRADICTED
    text = "work of " + ", ".join(f"{name} {work[name]:.2g}" for name in CONTENT_METHODS)
    text += f"; each ÷ the one before {', '.join(f'{r:.3g}' for r in ratios)}, published in seconds "
    text += ", ".join(f"{r:.3g}" for r in published)
    rows = bench.on("p4-sizes").query("p_users == p_users.max() and p_metric == 'plane'")
    lines = []
    for name in CONTENT_METHODS:
        own = rows[(rows["method"] == name) & (rows["variant"] == name)]["cpu_seconds"].dropna()
        if len(own):  # runs in this process have none
            shown = f"processor seconds of our {name}, published {_SECONDS[name]:g}"
            lines.append(Line(shown, mean_interval(own), verdict))
    return Judgement(verdict, text, exact(ratios[-1]), lines)


def counted_work(instance: ContentInstance) -> dict[str, float]:
    """Steps of P4's algorithms: brokers drawn, prices compared, pairs rated, pairs of nodes in the trees' closures.

    The second stage, a tree over the brokers with subscribers for each broker and channel, belongs to all but random
    assignment, whose published time cannot hold one.
    """
    users, brokers = instance.num_users, instance.num_brokers
    subscribers = instance.subscriptions.sum(axis=0).astype(float)
    second = float((brokers * np.minimum(subscribers, brokers) ** 2).sum())
    packing = users * brokers
    clustering = brokers * users * (users - 1) / 2 + packing
    mixing = users * float(((subscribers + 1) ** 2).sum()) + packing
    return {RANDOM: users, PACKING: packing + second, CLUSTERING: clustering + second, MIXING: mixing + second}


def with_reductions(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the cost reduction ratio (crr) against random assignment on the same instance."""
    base = rows[rows["method"] == RANDOM].groupby(["instance", "problem"])["value"].mean().rename("random")
    return rows.join(base, on=["instance", "problem"]).assign(crr=lambda all_: all_["random"] / all_["value"])
