"""The rows of P3's grids with the columns that its figures, tables and claims need."""

from __future__ import annotations

import json

import pandas as pd

from .grids_p3 import EVERY, P3_WORKLOADS

_LAWS = {workload: law for law, workload in P3_WORKLOADS.items()}
OWN = "time"
"""The aim by which a division chooses its number of parts unless another is named."""


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs that did not fail, with further columns.

    ``ties``, ``data`` (rows: our kernels; table: the paper's Algorithms 3 to 6), ``aim`` (for which p was chosen; ""
    where it was given or the method has no parts), ``given`` (whether p was), ``single`` (whether p = |L|), ``p``,
    ``coverage`` (λ), ``mean_size`` (of T_v), ``work`` (counted in Algorithms 3 to 6, which take any edge of an entry in
    O(1)), ``inner`` (the share of the conquer phase in it), ``pn`` (pn-ratio), ``share`` (|R| ÷ |L|), ``cpu``
    (processor seconds; seconds where they were not measured) and ``law``. A number that a method lacks is NaN.
    """
    rows = rows[rows["status"] != "failed"].copy()
    options, counters = ([json.loads(text) for text in rows[column]] for column in ("options", "counters"))
    rows["ties"] = [one.get("ties", "lowest") for one in options]
    rows["data"] = [one.get("data", "rows") for one in options]
    rows["aim"] = ["" if one.get("partitions") else one.get("aim", "") for one in options]
    rows["given"] = [bool(one.get("partitions")) for one in options]
    rows["single"] = [one.get("partitions") == EVERY for one in options]
    rows["p"] = [_number(one, "partitions") for one in counters]
    rows["coverage"] = [_number(one, "coverage") for one in options]
    rows["work"] = [_number(one, "table_work") - _number(one, "table_listed") for one in counters]
    rows["inner"] = [_number(one, "inner_table_work") / _number(one, "table_work") for one in counters]
    rows["pn"] = [_number(one, "pn_ratio") for one in counters]
    rows["share"] = [_number(one, "representatives") / _number(one, "lightweight") for one in counters]
    rows["cpu"] = rows["cpu_seconds"].fillna(rows["seconds"])
    rows["law"] = rows["workload"].map(_LAWS)
    rows["mean_size"] = (rows["p_least"] + rows["p_most"]) / 2
    return rows


def chosen(rows: pd.DataFrame, data: str = "rows", aim: str = OWN) -> pd.DataFrame:
    """The labelled rows by these data structures, with p chosen for this aim or, without parts to choose, none."""
    return rows[(rows["data"] == data) & rows["aim"].isin(["", aim])]


def drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that a figure shows: our kernels, ties lowest; with given p where the figure varies p."""
    extra = labelled(rows)
    extra = extra[(extra["ties"] == "lowest") & (extra["data"] == "rows")]
    if extra["given"].any():
        extra = extra[extra["given"] | ~extra["method"].isin(["dcb-m", "dcbr-m"])]
        return rows.loc[extra.index].assign(p=extra["p"])
    return rows.loc[extra[extra["aim"].isin(["", OWN])].index]


def _number(counts: dict[str, float], name: str) -> float:
    return float(counts.get(name, float("nan")))
