"""The part of a report about soft links (P5): savings of strategies, distance from the optimum, and its causes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...instances.brokers.files import BROKERS
from ...instances.contract.result import Status
from ..figures.charts import broker_charts
from .tables import Domain

TREE = "s0"
LEAST = "least-messages"
_SETTING = ["family", "brokers", "fanout"]


def broker_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on broker networks with a value, each with the tree alone and the best bound of its instance.

    Adds fanout, rate and uplink (from the recipe, or NaN), bound (the highest lower bound of any run on the instance,
    at least its deliveries), bounded (whether an exact method ran on it), proven (whether a run attains the bound),
    ratio (value ÷ bound), tree (the messages of S0) and fewer (the reduction of pure forwarders against S0; NaN if S0
    has none).
    """
    runs = rows[rows["value"].notna() & (rows["status"] != Status.FAILED)].copy()
    for name in ("fanout", "rate", "uplink"):
        given = [recipe.get("parameters", {}).get(name, np.nan) for recipe in runs["recipe_fields"]]
        runs[name] = np.array(given, dtype=np.float64)
    by = runs.groupby("instance")
    runs["bound"] = np.maximum(by["lower_bound"].transform("max").astype(np.float64).fillna(0.0), runs["deliveries"])
    runs["bounded"] = by["exact"].transform("any")
    runs["proven"] = by["value"].transform("min") <= runs["bound"]
    runs["ratio"] = (runs["value"] / runs["bound"].where(runs["bound"] > 0)).fillna(1.0)
    runs = runs.join(runs[runs["method"] == TREE].groupby("instance")["value"].min().rename("tree"), on="instance")
    avoidable = runs["tree"] - runs["deliveries"]
    runs["fewer"] = 1 - runs["pure_forwarders"] / avoidable.where(avoidable > 0)
    return runs.sort_values([*_SETTING, "exact", "variant", "instance", "seed", "key"], ignore_index=True)


def _counted(runs: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The runs with these counters as columns, NaN where a run has none; only runs with the first."""
    given = {name: [own.get(name, np.nan) for own in runs["counter_values"]] for name in names}
    return runs.assign(**given).dropna(subset=[names[0]])


def _means(runs: pd.DataFrame, by: list[str], columns: Mapping[str, Any]) -> pd.DataFrame:
    """Instances and the mean of each column, or another statistic, by setting and method."""
    wanted = {name: (of, "mean") if isinstance(of, str) else of for name, of in columns.items()}
    grouped = runs.groupby([*by, "variant"], dropna=False, sort=False)
    return grouped.agg(instances=("instance", "nunique"), **wanted).reset_index()


def strategy_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Means by setting and method: yield, reduction of pure forwarders, hops to a delivery, soft links, seconds."""
    columns = {"messages": "value", "yield": "yield", "fewer forwarders": "fewer", "hops": "average_hops"}
    return _means(runs, _SETTING, {**columns, "soft_links": "soft_links", "seconds": "seconds"})


def queue_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with simulated queues, by setting and method: share delivered in time, mean delay, longest queue."""
    queued = _counted(runs, "queued_deliveries", "queued_delay_ms", "longest_queue")
    queued["delivered"] = queued["queued_deliveries"] / queued["deliveries"].where(queued["deliveries"] > 0)
    columns = {"delivered": "delivered", "delay ms": "queued_delay_ms", "longest queue": ("longest_queue", "max")}
    return _means(queued, [*_SETTING, "rate", "uplink"], columns)


def system_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of the system, by setting and method: yield, also of the second half, hops, delay, control, losses."""
    measures = {"yield": "yield", "late yield": "yield_late", "hops": "hops", "delay ms": "delay_ms"}
    measures |= {"control": "control_share", "bypassed": "bypassed", "lost": "lost"}
    columns = {head: f"system_{name}" for head, name in measures.items()}
    return _means(_counted(runs, *columns.values()), _SETTING, columns)


def system_series(runs: pd.DataFrame) -> pd.DataFrame:
    """Measures over time of runs of the system: a row for each run and bin, with `seconds` at its end."""
    found = []
    for own in runs.to_dict("records"):
        if text := own["counter_values"].get("system_series"):
            series = json.loads(text)
            kept = {name: own[name] for name in ("problem", "family", "label", "method", "instance", "exact")}
            bins = zip(*series.values(), strict=True)
            found += [{**kept, **dict(zip(series, values, strict=True))} for values in bins]
    return pd.DataFrame(found)


def optimum_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Messages ÷ best bound by brokers and method, on instances that an exact method was run on.

    Adds to these instances, proven (of these), reached (the bound), mean, worst, and saved: the reduction as a share of
    the messages that S0 sends above the bound.
    """
    bounded = runs[runs["bounded"]]
    avoidable = (bounded["tree"] - bounded["bound"]).where(bounded["tree"] > bounded["bound"])
    bounded = bounded.assign(
        at_bound=bounded["value"] <= bounded["bound"], saved=(bounded["tree"] - bounded["value"]) / avoidable
    )
    by = [*_SETTING, "exact", "variant", "instance"]
    each = bounded.groupby(by, dropna=False, sort=False)[["ratio", "saved", "proven", "at_bound"]].min().reset_index()
    columns = {"proven": ("proven", "sum"), "reached": ("at_bound", "sum"), "mean": "ratio", "worst": ("ratio", "max")}
    return _means(each, [*_SETTING, "exact"], {**columns, "saved": "saved"}).drop(columns="exact")


def loss_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The causes of a strategy's distance from the optimum, on instances that an exact method was run on.

    By ``links of`` (the method that chose the links): instances, proven (of these), and means of forwarding (its
    messages ÷ the fewest over the same links), gain (these ÷ the bound over all possible links) and both (the product).
    Runs whose links no ``least-messages`` run solved to optimality are left out.
    """
    given = runs[runs["bounded"] & runs["answer"].notna()]
    given = given.assign(
        links=[np.asarray(answer[: 1 + 2 * int(answer[0])], dtype=np.int32).tobytes() for answer in given["answer"]]
    )
    solved = given["counter_values"].map(lambda counters: counters.get("open", np.inf)) == 0
    least = given[(given["method"] == LEAST) & solved]
    fewest = least.groupby(["instance", "links"])["value"].min().rename("fewest")
    compared = given[~given["exact"] & ~given["method"].isin([LEAST, TREE])]
    compared = compared.join(fewest, on=["instance", "links"], how="inner")
    compared = compared.assign(
        forwarding=compared["value"] / compared["fewest"], gain=compared["fewest"] / compared["bound"]
    )
    columns = {"proven": ("proven", "sum"), "forwarding": "forwarding", "gain": "gain", "both": "ratio"}
    return _means(compared, [], columns).rename(columns={"variant": "links of"})


DOMAIN = Domain(
    BROKERS.name,
    "Soft links over broker trees",
    broker_runs,
    (
        (
            "optima",
            "Distance from the optimum",
            "Messages ÷ the best proven lower bound, on instances with a run of an exact method. The bound covers all"
            " soft links that fanout and Δ allow, and all routes over them. Saved: the reduction, as a share of the "
            "messages that S0 (the tree alone) sends above the bound. S0, S1, S2 and SH are the strategies of "
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
            "Yield (P5, Table 2): deliveries ÷ messages. Fewer forwarders: the reduction of pure forwarders against "
            "S0. Means over instances.",
            strategy_table,
        ),
        (
            "queues",
            "With queues",
            "The share of all deliveries that arrive before the last publication, in a simulation with service times "
            "and uplink caps.",
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
    lambda runs: broker_charts(runs, system_series(runs.assign(label=runs["variant"]))),
)
