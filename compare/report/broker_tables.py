"""Tables of soft links: savings of strategies, their distance from the optimum, and its causes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from ...instances.contract.result import Status

TREE = "s0"
LEAST = "least-messages"
_SETTING = ["family", "brokers", "fanout"]
_QUEUE_SETTING = [*_SETTING, "rate", "uplink"]


def broker_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on broker networks, each with the tree alone and the best bound of its instance.

    Parameters
    ----------
    rows : DataFrame
        The runs of the kind ``brokers``, as in the store.

    Returns
    -------
    DataFrame
        The rows with a value, and: fanout, rate and uplink (from the recipe, or NaN), bound (the highest lower bound of
        any run on the instance, at least its deliveries), bounded (whether an exact method ran on it), proven (whether
        a run attains the bound), ratio (value ÷ bound), tree (the messages of S0) and fewer (the reduction of pure
        forwarders against S0; NaN if S0 has none).
    """
    runs = rows[rows["value"].notna() & (rows["status"] != Status.FAILED)].copy()
    recipes = [json.loads(text).get("parameters", {}) for text in runs["recipe"]]
    for name in ("fanout", "rate", "uplink"):
        runs[name] = np.array([recipe.get(name, np.nan) for recipe in recipes], dtype=np.float64)
    by = runs.groupby("instance")
    runs["bound"] = np.maximum(by["lower_bound"].transform("max").astype(np.float64).fillna(0.0), runs["deliveries"])
    runs["bounded"] = by["exact"].transform("any")
    runs["proven"] = by["value"].transform("min") <= runs["bound"]
    runs["ratio"] = (runs["value"] / runs["bound"].where(runs["bound"] > 0)).fillna(1.0)
    runs = runs.join(runs[runs["method"] == TREE].groupby("instance")["value"].min().rename("tree"), on="instance")
    avoidable = runs["tree"] - runs["deliveries"]
    runs["fewer"] = 1 - runs["pure_forwarders"] / avoidable.where(avoidable > 0)
    return runs.sort_values([*_SETTING, "exact", "variant", "instance", "seed", "key"], ignore_index=True)


def strategy_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Means by setting and method: yield, reduction of pure forwarders, hops to a delivery, soft links, seconds."""
    grouped = runs.groupby([*_SETTING, "variant"], dropna=False, sort=False)
    table = grouped.agg(
        instances=("instance", "nunique"),
        messages=("value", "mean"),
        **{"yield": ("yield", "mean"), "fewer forwarders": ("fewer", "mean"), "hops": ("average_hops", "mean")},
        soft_links=("soft_links", "mean"),
        seconds=("seconds", "mean"),
    )
    return table.reset_index()


def queue_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with simulated queues, by setting and method: share delivered in time, mean delay, longest queue."""
    counters = [json.loads(text) for text in runs["counters"]]
    queued = runs.assign(
        arrived=[one.get("queued_deliveries", np.nan) for one in counters],
        delay=[one.get("queued_delay_ms", np.nan) for one in counters],
        longest=[one.get("longest_queue", np.nan) for one in counters],
    ).dropna(subset=["arrived"])
    queued["delivered"] = queued["arrived"] / queued["deliveries"].where(queued["deliveries"] > 0)
    table = queued.groupby([*_QUEUE_SETTING, "variant"], dropna=False, sort=False).agg(
        instances=("instance", "nunique"),
        delivered=("delivered", "mean"),
        **{"delay ms": ("delay", "mean"), "longest queue": ("longest", "max")},
    )
    return table.reset_index()


def system_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of the system, by setting and method: yield, also of the second half, hops, delay, control, losses."""
    counters = [json.loads(text) for text in runs["counters"]]
    measures = ("yield", "yield_late", "hops", "delay_ms", "control_share", "bypassed", "lost")
    measured = {f"system_{name}": [one.get(f"system_{name}", np.nan) for one in counters] for name in measures}
    simulated = runs.assign(**measured).dropna(subset=["system_yield"])
    table = simulated.groupby([*_SETTING, "variant"], dropna=False, sort=False).agg(
        instances=("instance", "nunique"),
        **{
            "yield": ("system_yield", "mean"),
            "late yield": ("system_yield_late", "mean"),
            "hops": ("system_hops", "mean"),
            "delay ms": ("system_delay_ms", "mean"),
            "control": ("system_control_share", "mean"),
            "bypassed": ("system_bypassed", "mean"),
            "lost": ("system_lost", "mean"),
        },
    )
    return table.reset_index()


def system_series(runs: pd.DataFrame) -> pd.DataFrame:
    """Measures over time of runs of the system: a row for each run and bin, with `seconds` at its end."""
    found = []
    for own in runs.to_dict("records"):
        if text := json.loads(own["counters"]).get("system_series"):
            series = json.loads(text)
            kept = {name: own[name] for name in ("family", "label", "method", "instance", "exact")}
            found += [
                {**kept, **dict(zip(series, values, strict=True))} for values in zip(*series.values(), strict=True)
            ]
    return pd.DataFrame(found)


def optimum_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Messages ÷ best bound by brokers and method, on instances that an exact method was run on.

    Returns
    -------
    DataFrame
        family, brokers, fanout, variant, instances, proven (of these), reached (the bound), mean, worst, and saved: the
        reduction as a share of the messages that S0 sends above the bound.
    """
    bounded = runs[runs["bounded"]]
    avoidable = (bounded["tree"] - bounded["bound"]).where(bounded["tree"] > bounded["bound"])
    bounded = bounded.assign(
        at_bound=bounded["value"] <= bounded["bound"], saved=(bounded["tree"] - bounded["value"]) / avoidable
    )
    each = bounded.groupby([*_SETTING, "exact", "variant", "instance"], dropna=False, sort=False)[
        ["ratio", "saved", "proven", "at_bound"]
    ].min()
    table = each.groupby([*_SETTING, "exact", "variant"], dropna=False, sort=False).agg(
        instances=("ratio", "size"),
        proven=("proven", "sum"),
        reached=("at_bound", "sum"),
        mean=("ratio", "mean"),
        worst=("ratio", "max"),
        saved=("saved", "mean"),
    )
    return table.reset_index().drop(columns="exact")


def loss_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The causes of a strategy's distance from the optimum, on instances that an exact method was run on.

    Returns
    -------
    DataFrame
        links of (the method that chose the links), instances, proven (of these), and means of forwarding (its messages
        ÷ the fewest over the same links), gain (these ÷ the bound over all possible links) and both (the product). Runs
        whose links no ``least-messages`` run solved to optimality are left out.
    """
    given = runs[runs["bounded"] & runs["answer"].notna()]
    given = given.assign(
        links=[np.asarray(answer[: 1 + 2 * int(answer[0])], dtype=np.int32).tobytes() for answer in given["answer"]]
    )
    least = given[(given["method"] == LEAST) & (given["counters"].map(_open) == 0)]
    fewest = least.groupby(["instance", "links"])["value"].min().rename("fewest")
    compared = given[~given["exact"] & ~given["method"].isin([LEAST, TREE])]
    compared = compared.join(fewest, on=["instance", "links"], how="inner")
    compared = compared.assign(
        forwarding=compared["value"] / compared["fewest"], gain=compared["fewest"] / compared["bound"]
    )
    table = compared.groupby("variant", sort=False).agg(
        instances=("instance", "nunique"),
        proven=("proven", "sum"),
        forwarding=("forwarding", "mean"),
        gain=("gain", "mean"),
        both=("ratio", "mean"),
    )
    return table.rename_axis("links of").reset_index()


def _open(counters: str) -> float:
    return float(json.loads(counters).get("open", np.inf))
