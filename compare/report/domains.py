"""The sections of a report about one kind of instances: content (P4), soft links over brokers (P5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...instances.contract.result import Status
from ..figures.charts import broker_charts, content_charts
from ..figures.style import Drawing
from ..intervals import mean_interval
from ..studies.bounds import sorted_by
from ..studies.columns import parameters
from ..studies.row import object_in

_BASELINE, _TREE, _LEAST = "random-assignment", "s0", "least-messages"
_SHAPE = ["problem", "family", "users", "brokers", "channels", "access_to_core", "variant"]
_SETTING = ["family", "brokers", "fanout"]
OF_RUN = ["problem", "family", "label", "method", "instance", "exact"]
"""The columns of a run that its measures over time have as well."""


class Section(NamedTuple):
    """The section of the page about one kind of instances.

    `runs` adds to the runs of the kind (`judged_runs`) what tables and charts need. Each table has a name, a title, a
    sentence, and the function of the runs that gives its rows. `series` are measures over time, which charts need,
    of the runs and of what loads an instance by its digest.
    """

    kind: str
    title: str
    runs: Callable[[pd.DataFrame], pd.DataFrame]
    tables: Sequence[tuple[str, str, str, Callable[[pd.DataFrame], pd.DataFrame]]]
    charts: Callable[[pd.DataFrame, pd.DataFrame], Iterable[Drawing | None]]
    series: Callable[[pd.DataFrame, Callable[[str], Any]], pd.DataFrame] = lambda runs, load: pd.DataFrame()


def answered(rows: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The runs with a value, with these parameters of their workload, NaN where it has none."""
    runs = rows[rows["value"].notna() & (rows["status"] != Status.FAILED)]
    given = parameters(runs)
    return runs.assign(**{name: given.get(name, np.nan) for name in names}).astype(dict.fromkeys(names, np.float64))


def _solutions(runs: pd.DataFrame, numbers: int) -> list[bytes]:
    """The part of each packed answer that is its count and the `numbers` of each item that are counted."""
    return [np.asarray(own[: 1 + numbers * int(own[0])], dtype=np.int32).tobytes() for own in runs["answer"]]


def content_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on content instances with a value, each with the baseline on its instance.

    Adds access_to_core (from the recipe, or NaN) and crr (the mean cost of random assignment on the instance ÷ the
    run's).
    """
    runs, pair = answered(rows, "access_to_core"), ["problem", "instance"]
    baseline = runs[runs["method"] == _BASELINE].groupby(pair)["value"].mean().rename("baseline")
    runs = runs.join(baseline, on=pair)
    return sorted_by(runs.assign(crr=_quotient(runs["baseline"], runs["value"])), *_SHAPE, "instance", "seed", "key")


def _quotient(above: pd.Series[float], below: pd.Series[float]) -> pd.Series[float]:
    return (above / below.where(below > 0)).mask((above == 0) & (below == 0), 1.0)


def reduction_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Cost reduction ratios (Zhao and Wu, §VI.B) by problem, family, size, access-to-core ratio and method.

    Then instances, crr (the mean over instances of the mean over runs), low and high (its 95% confidence interval by
    Student's t; NaN for a single instance) and seconds (mean).
    """
    compared = runs[runs["crr"].notna() & (runs["method"] != _BASELINE)]
    each = compared.groupby([*_SHAPE, "instance"], dropna=False)[["crr", "seconds"]].mean()
    found = []
    for shape, own in each.groupby(level=_SHAPE, dropna=False, sort=False):
        one = mean_interval(own["crr"])
        found.append((*shape, one.n, one.mean, one.low, one.high, own["seconds"].mean()))
    return pd.DataFrame(found, columns=[*_SHAPE, "instances", "crr", "low", "high", "seconds"])


def routing_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The core cost of each routing relative to ``mst``, over assignments that a method gave for both.

    problem, variant, assignments, core (the mean of core cost ÷ that of mst), total (the same with access cost),
    smallest and largest (of core).
    """
    given, same = runs[runs["answer"].notna()], ["instance", "variant", "assignment"]
    distinct = given.assign(assignment=_solutions(given, 1)).drop_duplicates(["problem", *same])
    of_mst = distinct["problem"] == "content-mst"
    both = distinct[~of_mst].merge(distinct.loc[of_mst, [*same, "core", "value"]], on=same, suffixes=("", "_mst"))
    both["core"], both["total"] = (_quotient(both[name], both[f"{name}_mst"]) for name in ("core", "value"))
    statistics = {"assignments": "size", "core": "mean", "smallest": "min", "largest": "max"}
    wanted = {name: ("core", how) for name, how in statistics.items()} | {"total": ("total", "mean")}
    return both.groupby(["problem", "variant"], sort=False).agg(**wanted).reset_index()


def broker_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on broker networks with a value, each with the tree alone and the best bound of its instance.

    Adds fanout, rate and uplink (from the recipe, or NaN), bound (the highest lower bound of any run on the instance,
    at least its deliveries), bounded (whether an exact method ran on it), proven (whether a run attains the bound),
    ratio (value ÷ bound), tree (the messages of S0) and fewer (the reduction of pure forwarders against S0; NaN if S0
    has none).
    """
    runs = answered(rows, "fanout", "rate", "uplink").copy()  # in one piece, to which columns are added
    by = runs.groupby("instance")
    runs["bound"] = np.maximum(by["lower_bound"].transform("max").astype(np.float64).fillna(0.0), runs["deliveries"])
    runs["bounded"] = by["exact"].transform("any")
    runs["proven"] = by["value"].transform("min") <= runs["bound"]
    runs["ratio"] = (runs["value"] / runs["bound"].where(runs["bound"] > 0)).fillna(1.0)
    runs = runs.join(runs[runs["method"] == _TREE].groupby("instance")["value"].min().rename("tree"), on="instance")
    avoidable = runs["tree"] - runs["deliveries"]
    runs["fewer"] = 1 - runs["pure_forwarders"] / avoidable.where(avoidable > 0)
    return runs.sort_values([*_SETTING, "exact", "variant", "instance", "seed", "key"], ignore_index=True)


def _counted(runs: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The runs with these counters as columns, NaN where a run has none; only runs with the first."""
    counters = list(map(object_in, runs["counters"]))
    given = {name: [own.get(name, np.nan) for own in counters] for name in names}
    return runs.assign(**given).dropna(subset=[names[0]])


def _means(runs: pd.DataFrame, by: list[str], **columns: Any) -> pd.DataFrame:
    """Instances and the mean of each column, or another statistic, by setting and method."""
    wanted = {name: (of, "mean") if isinstance(of, str) else of for name, of in columns.items()}
    grouped = runs.groupby([*by, "variant"], dropna=False, sort=False)
    return grouped.agg(instances=("instance", "nunique"), **wanted).reset_index()


def strategy_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Means by setting and method: yield, reduction of pure forwarders, hops to a delivery, soft links, seconds."""
    columns = {"messages": "value", "yield": "yield", "fewer forwarders": "fewer", "hops": "average_hops"}
    return _means(runs, _SETTING, **columns, soft_links="soft_links", seconds="seconds")


def queue_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with simulated queues, by setting and method: share delivered in time, mean delay, longest queue."""
    queued = _counted(runs, "queued_deliveries", "queued_delay_ms", "longest_queue")
    queued["delivered"] = queued["queued_deliveries"] / queued["deliveries"].where(queued["deliveries"] > 0)
    columns = {"delivered": "delivered", "delay ms": "queued_delay_ms", "longest queue": ("longest_queue", "max")}
    return _means(queued, [*_SETTING, "rate", "uplink"], **columns)


def system_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of the system, by setting and method: yield, also of the second half, hops, delay, control, losses."""
    measures = {"yield": "yield", "late yield": "yield_late", "hops": "hops", "delay ms": "delay_ms"}
    measures |= {"control": "control_share", "bypassed": "bypassed", "lost": "lost"}
    columns = {head: f"system_{name}" for head, name in measures.items()}
    return _means(_counted(runs, *columns.values()), _SETTING, **columns)


def system_series(runs: pd.DataFrame) -> pd.DataFrame:
    """Measures over time of runs of the system: a row for each run and bin, with `seconds` at its end."""
    found = []
    for own in runs.to_dict("records"):
        if text := object_in(own["counters"]).get("system_series"):
            found.append(pd.DataFrame(json.loads(text)).assign(**{name: own[name] for name in OF_RUN}))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def optimum_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Messages ÷ best bound by brokers and method, on instances that an exact method was run on.

    Adds to these instances, proven (of these), reached (the bound), mean, worst, and saved: the reduction as a share of
    the messages that S0 sends above the bound.
    """
    own = runs[runs["bounded"]]
    avoidable = (own["tree"] - own["bound"]).where(own["tree"] > own["bound"])
    own = own.assign(at_bound=own["value"] <= own["bound"], saved=(own["tree"] - own["value"]) / avoidable)
    by = [*_SETTING, "exact", "variant", "instance"]
    each = own.groupby(by, dropna=False, sort=False)[["ratio", "saved", "proven", "at_bound"]].min().reset_index()
    columns = {"proven": ("proven", "sum"), "reached": ("at_bound", "sum"), "mean": "ratio", "worst": ("ratio", "max")}
    return _means(each, [*_SETTING, "exact"], **columns, saved="saved").drop(columns="exact")


def loss_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The causes of a strategy's distance from the optimum, on instances that an exact method was run on.

    By ``links of`` (the method that chose the links): instances, proven (of these), and means of forwarding (its
    messages ÷ the fewest over the same links), gain (these ÷ the bound over all possible links) and both (the product).
    Runs whose links no ``least-messages`` run solved to optimality are left out.
    """
    given = runs[runs["bounded"] & runs["answer"].notna()]
    given = given.assign(links=_solutions(given, 2))
    solved = given["counters"].map(lambda counters: object_in(counters).get("open", np.inf)) == 0
    least = given[(given["method"] == _LEAST) & solved]
    fewest = least.groupby(["instance", "links"])["value"].min().rename("fewest")
    compared = given[~given["exact"] & ~given["method"].isin([_LEAST, _TREE])]
    compared = compared.join(fewest, on=["instance", "links"], how="inner")
    compared["forwarding"] = compared["value"] / compared["fewest"]
    compared["gain"] = compared["fewest"] / compared["bound"]
    columns = {"proven": ("proven", "sum"), "forwarding": "forwarding", "gain": "gain", "both": "ratio"}
    return _means(compared, [], **columns).rename(columns={"variant": "links of"})


CONTENT_SECTION = Section(
    "content",
    "Content-based overlays",
    content_runs,
    (
        (
            "cost-reduction",
            "Cost reduction ratio",
            "The cost of random assignment ÷ the method's on the same instance (Zhao and Wu 2011, P4, §VI.B): mean "
            "over instances with its 95% confidence interval.",
            reduction_table,
        ),
        (
            "routings",
            "Cost of a routing for equal assignments",
            "Core cost and total cost ÷ those of mst, over assignments that a method gave for both.",
            routing_table,
        ),
    ),
    lambda runs, series: content_charts(runs),
)
BROKER_SECTION = Section(
    "brokers",
    "Soft links over broker trees",
    broker_runs,
    (
        (
            "optima",
            "Distance from the optimum",
            "Messages ÷ the best proven lower bound, on instances with a run of an exact method. The bound covers "
            "all soft links that fanout and Δ allow, and all routes over them. Saved: the reduction, as a share of "
            "the messages that S0 (the tree alone) sends above the bound. S0, S1, S2 and SH are the strategies of "
            "Kazemzadeh and Jacobsen 2012 (P5).",
            optimum_table,
        ),
        (
            "losses",
            "Causes of the distance",
            "Forwarding: a strategy's messages ÷ the fewest over the same soft links. Gain: the fewest over these "
            "links ÷ the bound, which is due to the choice of links. Both: the product.",
            loss_table,
        ),
        (
            "strategies",
            "Savings of each strategy",
            "Yield (P5, Table 2): deliveries ÷ messages. Fewer forwarders: the reduction of pure forwarders "
            "against S0. Means over instances.",
            strategy_table,
        ),
        (
            "queues",
            "With queues",
            "The share of all deliveries that arrive before the last publication, in a simulation with service "
            "times and uplink caps.",
            queue_table,
        ),
        (
            "system",
            "As a system",
            "Brokers that know only what messages brought them (simulate=system): yield of all messages until the "
            "last publication, and of those in the second half of that time; the share of control messages in all "
            "bytes; copies that met a crashed neighbour; publications lost by brokers that crashed for good.",
            system_table,
        ),
    ),
    broker_charts,
    lambda runs, load: system_series(runs.assign(label=runs["variant"])),
)
