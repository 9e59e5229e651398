"""P3's figures and tables: columns for the claims, figures and tables of ``p3_runs.toml``, and the variances of §VI."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from ..intervals import Interval, bootstrap_interval
from .bench import Bench
from .claim import Judgement, Line, all_of, at_least, claim, verdict_of

_LOWEST, _KERNELS = "ties == 'lowest' and o_aim != 'time'", "o_data != 'table'"
_UNIFORM, _SKEWED = "uniform-varying", ("zipf-varying", "exponential-fitted")
_NAMES = {"gm-m": "GMM", "dcbr-m": "DCBR"}


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with ``work``, the counted steps of Algorithms 3 to 6, ``share``, |R| ÷ |L|, and GM-M's numbers."""
    rows = rows.assign(
        work=_column(rows, "c_table_work") - _column(rows, "c_table_listed"),
        share=_column(rows, "c_representatives") / _column(rows, "c_lightweight"),
        parts=_column(rows, "c_partitions").fillna(1.0),
        inner=_column(rows, "c_inner_max_degree").fillna(rows["max_degree"]),
    )
    gm = rows[(rows["method"] == "gm-m") & (rows["ties"] == "lowest")].groupby("instance")
    for measure in ("max_degree", "average_degree", "work"):
        rows[f"gm_{measure}"] = rows["instance"].map(gm[measure].mean())
    return rows.assign(excess=rows["max_degree"] - rows["gm_max_degree"], saved=rows["work"] / rows["gm_work"])


def _column(rows: pd.DataFrame, name: str) -> pd.Series:
    return rows[name].astype(float) if name in rows else pd.Series(np.nan, rows.index)


def with_bulk(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with |B| ÷ |V|, and η ÷ the most topics a node."""
    nodes = rows["p_nodes"].astype(float)
    return rows.assign(bulk=_column(rows, "c_bulk") / nodes, eta=_column(rows, "c_eta") / rows["p_most"])


def over_parts(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds ``follow``: the rank correlation over p of DCBR-M's counted work with its pn-ratio, on each instance."""
    rows = measured(rows)
    # Parts as asked for, since |L| differs by instance.
    rows["parts"] = rows["parts"].where(~(rows["o_partitions"] > 0), rows["o_partitions"].clip(upper=1000.0))
    given = rows[(rows["method"] == "dcbr-m") & (rows["o_partitions"] > 0) & rows["work"].notna()]
    follow = {key: own["work"].corr(own["c_pn_ratio"], "spearman") for key, own in given.groupby("instance")}
    gap = (_column(rows, "c_pn_ratio") - _column(rows, "c_pn_ratio_formula")).abs() / _column(rows, "c_pn_ratio")
    best = {key: own.loc[own["work"].idxmin(), "excess"] for key, own in given.groupby("instance")}
    return rows.assign(follow=rows["instance"].map(follow), best=rows["instance"].map(best), gap=gap)


def of_log(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds ``of_log``: a method's worst degree over rules for ties; for the exact one its bound × ln(|V||T|)."""
    log = np.log(rows["p_nodes"].astype(float) * rows["p_topics"].astype(float))
    bound = rows["value"].astype(float).where(rows["method"] != "branch-and-cut", rows["lower_bound"].astype(float))
    value = bound.where(rows["method"] != "branch-and-cut", bound * log)
    return rows.assign(of_log=value.groupby([rows["instance"], rows["method"]]).transform("max"), bound=bound)


def _of_bound(rows: pd.DataFrame, bound: str, by_lemma_7: str, measure: str = "work") -> pd.DataFrame:
    """Adds the counted work of each case (an instance and p) ÷ a bound on time, and ÷ the bound by Lemma 7."""
    rows = measured(rows)
    sizes = {"V": rows["p_nodes"], "T": rows["p_topics"], "B": _column(rows, "c_bulk"), "p": rows["parts"]}
    sizes |= {"L": _column(rows, "c_lightweight"), "R": _column(rows, "c_representatives")}
    values = pd.DataFrame({key: value.astype(float) for key, value in sizes.items()})
    work, case = _column(rows, measure), rows["instance"] + " " + rows["parts"].astype(str)
    return rows.assign(of_bound=work / values.eval(bound), of_seventh=work / values.eval(by_lemma_7), case=case)


of_lemma_7 = partial(_of_bound, bound="V ** 2 * T", by_lemma_7="V ** 2 * T")
of_lemma_10 = partial(_of_bound, bound="L ** 4 * T / p ** 3", by_lemma_7="L ** 2 * T / p", measure="c_inner_table_work")
of_lemma_13 = partial(_of_bound, bound="T * (B * V + L ** 2) ** 2", by_lemma_7="T * (B * V + L ** 2)")
of_lemma_16 = partial(
    _of_bound, bound="T * ((B + R) ** 4 + L ** 4 / p ** 3)", by_lemma_7="T * ((B + R) ** 2 + L ** 2 / p)"
)


@claim("P3.S6.1", "p3-tables")
def fluctuation(bench: Bench) -> Judgement:
    """The variance of D under Zipf and exponential popularity ÷ that under uniform popularity, by the bootstrap."""
    rows = bench.on("p3-tables").query(f"{_LOWEST} and {_KERNELS} and workload != 'zipf-fitted'")
    instances = int(rows.groupby("workload")["instance"].nunique().min())

    def variance(method: str, law: str, measure: str) -> tuple[float, float, float]:
        own = rows[(rows["workload"] == law) & (rows["method"] == method)]
        sample = own.groupby("instance")[measure].mean().to_numpy(float)
        return float(np.var(sample)), *bootstrap_interval(sample, np.var)

    def ratio(method: str, law: str, measure: str = "max_degree") -> Interval:
        (mean, low, high), (base, least, most) = variance(method, law, measure), variance(method, _UNIFORM, measure)
        few = 1e-6  # GM-M's maximum degree may be the same on every uniform instance
        return Interval(mean / max(base, few), low / max(most, few), high / max(least, few), instances)

    found = {(m, law): ratio(m, law) for m in _NAMES for law in _SKEWED}
    least = min(found.values(), key=lambda one: one.mean)
    details = [f"var D_{_NAMES[m]}, {law} ÷ uniform: {one}" for (m, law), one in found.items()]
    lines = [
        Line.of(f"average degree d_DCBR, {law}", ratio("dcbr-m", law, "average_degree"), at_least(1)) for law in _SKEWED
    ]
    verdict = all_of(verdict_of(one, at_least(1)) for one in found.values())
    return Judgement(verdict, f"least of four ratios of variances: {least}", least, lines, details)
