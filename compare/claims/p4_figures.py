"""P4's Figures 9 and 10 and Table I: grids, claims and figures as data."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

import numpy as np
import pandas as pd

from ...instances.content.instance import ContentInstance
from ...instances.contract.catalogue import WORKLOADS
from ...models.content.exact import capacity_bound
from ..intervals import mean_interval
from .bench import Bench
from .claim import Judgement, Limit, Line, Verdict, about, at_most, claim, exact, judged
from .figures import Curve, Figure, Panel, Table
from .grids import Grid, Sheet
from .p4 import METRICS
from .rows import Part, on_rows, slope

RANDOM, PACKING, CLUSTERING, MIXING = "random-assignment", "greedy-packing", "clustering", "steiner-mixing"
CONTENT_METHODS = (RANDOM, PACKING, CLUSTERING, MIXING)
ROUTINGS = ("content-mst", "content-steiner", "content-shared-tree")
_GROWN, _HEAVIEST = (MIXING, {"trees": "grown"}), (PACKING, {"order": "heaviest"})
_SECONDS = dict(zip(CONTENT_METHODS, (0.9, 91.445, 100.235, 179.654), strict=True))
_SIZES, _QUICK, _LARGE = (1000, 2000, 5000, 10_000), (500, 1000), {"users": 10_000, "brokers": 100}


def _sized(methods: object, seeds: tuple[int, int], sizes: tuple[int, ...] = _SIZES, **shape: object) -> list[Sheet]:
    """A sheet for each number of users, with a hundredth as many brokers; quick with 500 and 1000 users."""
    quick = [Sheet("content", {"users": n, "brokers": n // 100, **shape}, ROUTINGS[0], methods, (seeds[0], 0),  # type: ignore[arg-type]
                   paired=True) for n in _QUICK]  # fmt: skip
    full = [Sheet("content", {"users": n, "brokers": n // 100, **shape}, ROUTINGS[0], methods, (0, seeds[1]),  # type: ignore[arg-type]
                  paired=True) for n in sizes]  # fmt: skip
    return quick + full


GRID_SIZES = Grid(
    "p4-sizes",
    (
        *_sized(CONTENT_METHODS, (6, 100), (1000, 10_000)),
        *_sized(CONTENT_METHODS, (0, 20), (2000, 5000)),
        *_sized((_GROWN, _HEAVIEST), (6, 5), (1000, 10_000)),
        *(one for law in METRICS[1:] for one in _sized(CONTENT_METHODS, (4, 5), (1000, 10_000), metric=law)),
        *(
            Sheet("content", {"users": 1000, "brokers": 100, "metric": METRICS}, routing, CONTENT_METHODS, (0, 10))
            for routing in ROUTINGS
        ),
        Sheet("content", {"users": (1000, 2000, 4000), "brokers": 10}, ROUTINGS[0], (RANDOM,), (4, 20),
              quick={"users": (250, 500, 1000)}),
    ),
    paper={"p_users": (1000, 10_000), "samples": 100},
)  # fmt: skip
GRID_CORE = Grid(
    "p4-core-prices",
    (
        Sheet("content", {**_LARGE, "access_to_core": (1.0, 32.0)}, ROUTINGS[0], CONTENT_METHODS, (5, 100),
              quick={"users": 500, "brokers": 5}, paired=True),
        Sheet("content", {**_LARGE, "access_to_core": 4.0}, ROUTINGS[0], CONTENT_METHODS, (5, 10),
              quick={"users": 500, "brokers": 5}, paired=True),
        Sheet("content", {**_LARGE, "access_to_core": (1.0, 32.0)}, ROUTINGS[0], (_GROWN,), (5, 3),
              quick={"users": 500, "brokers": 5}, paired=True),
        *(
            Sheet("content", {**_LARGE, "access_to_core": (1.0, 32.0), "metric": law}, ROUTINGS[0], CONTENT_METHODS,
                  (5, 5), quick={"users": 500, "brokers": 5}, paired=True)
            for law in METRICS[1:]
        ),
    ),
    paper={"p_users": (10_000,), "samples": 100},
)  # fmt: skip

_PLANE = "p_metric == 'plane' and o_trees != 'grown' and o_order != 'heaviest' and p_brokers * 100 == p_users"
_TENTH = "p_brokers * 10 == p_users and p_metric == '{}' and problem == '{}'"
_ABOVE = Limit(low=1 + 1e-6)
F9 = on_rows(
    "P4.F9",
    "p4-sizes",
    Part("clustering ÷ greedy packing", lambda d: d[PACKING] / d[CLUSTERING], _ABOVE, measure="value",
         where="p_users == p_users.max()"),
    Part("mixing ÷ clustering", lambda d: d[CLUSTERING] / d[MIXING], _ABOVE, measure="value",
         where="p_users == p_users.max()"),
    Part("greedy packing", lambda d: d[RANDOM] / d[PACKING], _ABOVE, measure="value", where="p_users == p_users.max()"),
    Part("clustering", lambda d: d[RANDOM] / d[CLUSTERING], _ABOVE, measure="value", where="p_users == p_users.max()"),
    Part("mixing ÷ greedy packing", lambda d: d[PACKING] / d[MIXING], measure="value",
         where="p_users == p_users.max()"),
    Part("clustering ÷ greedy packing at the least |U|", lambda d: d[PACKING] / d[CLUSTERING], measure="value",
         where="p_users == p_users.min()"),
    where=_PLANE,
    vary={
        "mixing by Algorithm 3's trees": _PLANE.replace("!= 'grown'", "!= 'closure'"),
        "heaviest users first": _PLANE.replace("!= 'heaviest'", "!= 'given'"),
        **{f"prices {law}": _PLANE.replace("plane", law) for law in METRICS[1:]},
        **{f"a tenth as many brokers, prices {law}": _TENTH.format(law, ROUTINGS[0]) for law in METRICS},
        **{f"a tenth as many brokers, {routing}": _TENTH.format("plane", routing) for routing in ROUTINGS[1:]},
    },
)  # fmt: skip

_CORE = "p_metric == 'plane' and o_trees != 'grown'"
_CORE_VARIED = {
    "mixing by Algorithm 3's trees": "p_metric == 'plane' and o_trees != 'closure'",
    **{f"prices {law}": _CORE.replace("plane", law) for law in METRICS[1:]},
}
F10 = on_rows(
    "P4.F10",
    "p4-core-prices",
    Part("mixing ÷ clustering at 32", lambda d: d[CLUSTERING] / d[MIXING], about(1, 1.05), measure="value",
         where="p_access_to_core == 32"),
    Part("mixing ÷ greedy packing at 32", lambda d: d[PACKING] / d[MIXING], about(1, 1.05), measure="value",
         where="p_access_to_core == 32"),
    Part("mixing ÷ clustering at 1", lambda d: d[CLUSTERING] / d[MIXING], measure="value",
         where="p_access_to_core == 1"),
    Part("mixing ÷ greedy packing at 1", lambda d: d[PACKING] / d[MIXING], measure="value",
         where="p_access_to_core == 1"),
    where=_CORE,
    vary=_CORE_VARIED,
)  # fmt: skip
F10_MIXING = on_rows(
    "P4.F10.1",
    "p4-core-prices",
    Part("ratio at 32 ÷ at 1", lambda d: (d[RANDOM, 32] / d[MIXING, 32]) / (d[RANDOM, 1] / d[MIXING, 1]),
         about(1, 1.1), measure="value", across=["method", "p_access_to_core"], each="draw",
         where="p_access_to_core != 4"),
    where=_CORE,
    vary=_CORE_VARIED,
)  # fmt: skip


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


@claim("P4.S6.1", "p4-sizes")
def LINEAR(bench: Bench) -> Judgement:
    """The exponent of random assignment's cost along the users, and that of the traffic."""
    rows = bench.on("p4-sizes")
    rows = rows[(rows["method"] == RANDOM) & (rows["problem"] == ROUTINGS[0])]

    def exponent(query: str) -> Judgement:
        own = rows.query(query)
        return judged(slope(np.log2(own["p_users"].astype(float)), np.log2(own["value"])), Limit(0.9, 1.1))

    apart = "p_brokers * 100 == p_users and p_metric == '{}'"
    found = exponent(apart.format("plane"))
    varied = {f"prices {law}": exponent(apart.format(law)) for law in METRICS[1:]} | {
        "|B| = 10": exponent("p_brokers == 10 and p_metric == 'plane'")
    }
    lines = [one.line(name) for name, one in varied.items()]
    sizes = [250, 500, 1000] if bench.quick else [1000, 2000, 4000]
    logs = [
        (np.log2(n), np.log2(WORKLOADS["content"].generate(seed=seed, users=n, brokers=10).demands.sum()))
        for n in sizes
        for seed in range(4)
    ]
    traffic = slope(*map(list, zip(*logs, strict=True)))
    lines.append(Line("exponent of the total traffic, which the cost follows", traffic, Verdict.CONTRADICTED))
    principal = GRID_SIZES.scale(rows.query(apart.format("plane")))
    return replace(found, sensitivity=lines, scale=principal)


@claim("P4.TI", "p4-sizes")
def TIMES(bench: Bench) -> Judgement:
    """The work of each algorithm by the paper's own steps; processor seconds of our kernels beside."""
    shape = {"users": 500, "brokers": 5} if bench.quick else _LARGE
    work = counted_work(WORKLOADS["content"].generate(seed=0, **shape))
    steps = [work[one] for one in CONTENT_METHODS]
    ratios = [after / before for before, after in pairwise(steps)]
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
    users, brokers, channels = instance.num_users, instance.num_brokers, instance.num_channels
    subscribers = instance.subscriptions.sum(axis=0).astype(float)
    second = float((brokers * np.minimum(subscribers, brokers) ** 2).sum())
    packing = users * brokers
    clustering = brokers * users * (users - 1) / 2 + packing
    mixing = users * float(((subscribers + 1) ** 2).sum()) + packing
    assert channels == len(subscribers)
    return {RANDOM: users, PACKING: packing + second, CLUSTERING: clustering + second, MIXING: mixing + second}


def with_reductions(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the cost reduction ratio (crr) against random assignment on the same instance."""
    base = rows[rows["method"] == RANDOM].groupby(["instance", "problem"])["value"].mean().rename("random")
    return rows.join(base, on=["instance", "problem"]).assign(crr=lambda all_: all_["random"] / all_["value"])


def _curves(query: str) -> tuple[Curve, ...]:
    return tuple(Curve(name, f"method == '{name}' and {query}") for name in CONTENT_METHODS[1:])


_BY_LAW = {f"prices {law}": _curves(_PLANE.replace("plane", law)) for law in METRICS[1:]}
FIGURE_9 = Figure(
    "P4.F9", "p4-sizes", ("p_users", "number of users"), (Panel("crr", "cost reduction ratio"),), _curves(_PLANE),
    more={**_BY_LAW, "mixing by Algorithm 3": (Curve("grown trees", f"o_trees == 'grown' and {_PLANE[:19]}"),)},
    prepare=with_reductions,
)  # fmt: skip
FIGURE_10 = Figure(
    "P4.F10", "p4-core-prices", ("p_access_to_core", "access-to-core link cost ratio"),
    (Panel("crr", "cost reduction ratio"),), _curves(_CORE),
    more={f"prices {law}": _curves(_CORE.replace("plane", law)) for law in METRICS[1:]},
    prepare=with_reductions,
)  # fmt: skip
TABLE_1 = Table(
    "P4.TI",
    "p4-sizes",
    tuple(
        Part(f"{name}, seconds", itemgetter(name), measure="cpu_seconds", published=seconds)
        for name, seconds in _SECONDS.items()
    ),
    where=f"{_PLANE} and p_users == p_users.max()",
)
