"""P3's figures, tables and bounds on time: grids, claims and drawings as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from ..intervals import Interval, bootstrap_interval
from .bench import TIES, Bench
from .claim import FALLS, RISES, Judgement, Limit, Line, about, at_least, at_most, claim, judged
from .figures import Curve, Figure, Panel, Table
from .grids import Grid, Method, Sheet
from .rows import Part, on_rows

_V, _T, _MINMAX = (1000, 2000, 4000, 8000), (100, 400, 700, 1000), "minmax-tco"
_UNIFORM, _ZIPF, _EXPONENTIAL = _P3_LAWS = ("uniform-varying", "zipf-varying", "exponential-fitted")
_DIVIDED = ("gm-m", "dcb-m", "dcbr-m")
_PARTS = (1, 2, 3, 5, 8, 10, 12, 16, 20, 40, 100, 300, 2**31 - 1)
_BY_PAIRS = ("dcbr-m", {"aim": "time"})
_RINGS = ("ring-per-topic", {"order": ("random-per-topic", "number", "random")})
_SMALL = {"nodes": (250, 500)}


def _counted(*names: str, **options: object) -> tuple[Method, ...]:
    """Methods by the paper's own data structures, Algorithms 3 to 6, whose steps are counted."""
    return tuple((name, {"data": "table", **({} if name == "gm-m" else options)}) for name in names)


P3_NODES = Grid(
    "p3-nodes",
    (
        Sheet(_UNIFORM, {"nodes": _V, "topics": 100}, _MINMAX, (*_DIVIDED, _BY_PAIRS, _RINGS), (2, 5), quick=_SMALL),
        Sheet(_UNIFORM, {"nodes": _V[:3], "topics": 100}, _MINMAX, ("gm-m", "dcbr-m"), (2, 5), TIES[1:], _SMALL),
        Sheet(_UNIFORM, {"nodes": _V[:2], "topics": 100}, _MINMAX, _counted(*_DIVIDED), (2, 3), quick=_SMALL),
        Sheet(_UNIFORM, {"nodes": 4000, "topics": 100}, _MINMAX, _counted(*_DIVIDED), (0, 1)),
    ),
    {"p_nodes": _V},
)
P3_LAWS = Grid(
    "p3-laws",
    (
        Sheet(_P3_LAWS, {"nodes": _V, "topics": 200}, _MINMAX, ("gm-m", "dcbr-m"), (2, 3), quick=_SMALL),
        Sheet(("zipf-fitted",), {"nodes": 1000, "topics": 200}, _MINMAX, ("gm-m", "dcbr-m"), (1, 3), quick=_SMALL),
        Sheet(
            _P3_LAWS, {"nodes": _V[:3], "topics": 200}, _MINMAX, ("gm-m", "dcbr-m"), (1, 2), TIES[1:2], {"nodes": 250}
        ),
        Sheet(_P3_LAWS, {"nodes": _V[:3], "topics": 200}, _MINMAX, (_BY_PAIRS,), (1, 2), quick={"nodes": 250}),
        Sheet(_P3_LAWS, {"nodes": _V[:2], "topics": 200}, _MINMAX, _counted("gm-m", "dcbr-m"), (1, 2), quick=_SMALL),
        Sheet(_UNIFORM, {"nodes": 4000, "topics": 200}, _MINMAX, _counted("gm-m", "dcbr-m"), (0, 1)),
    ),
    {"p_nodes": _V, "workload": _P3_LAWS},
)
P3_TABLES = Grid(
    "p3-tables",
    (
        Sheet(_P3_LAWS, {"nodes": 1000, "topics": 200}, _MINMAX, _DIVIDED, (6, 100), quick={"nodes": 300}),
        Sheet("zipf-fitted", {"nodes": 1000, "topics": 200}, _MINMAX, _DIVIDED, (2, 20), quick={"nodes": 300}),
        Sheet(_P3_LAWS, {"nodes": 1000, "topics": 200}, _MINMAX, _DIVIDED, (2, 12), TIES[1:], {"nodes": 300}),
        Sheet(_P3_LAWS, {"nodes": 1000, "topics": 200}, _MINMAX, (_BY_PAIRS,), (2, 12), quick={"nodes": 300}),
        Sheet(_P3_LAWS, {"nodes": 1000, "topics": 200}, _MINMAX, _counted(*_DIVIDED), (2, 4), quick={"nodes": 300}),
    ),
    {"p_nodes": (1000,), "samples": 400},
)
P3_PARTS = Grid(
    "p3-parts",
    (
        Sheet(
            _UNIFORM, {"nodes": 1000, "topics": 200}, _MINMAX,
            ("gm-m", "dcbr-m", ("dcb-m", {"partitions": _PARTS}), ("dcbr-m", {"partitions": _PARTS})),
            (2, 6), quick={"nodes": 300},
        ),
        Sheet(
            _UNIFORM, {"nodes": 1000, "topics": 200}, _MINMAX,
            (
                *_counted("gm-m"),
                *_counted("dcb-m", partitions=(2, 10, 40, 300)),
                *_counted("dcbr-m", partitions=_PARTS),
            ),
            (1, 3), quick={"nodes": 300},
        ),
    ),
    {"p_nodes": (1000,)},
)  # fmt: skip
P3_COVERAGE = Grid(
    "p3-coverage",
    (
        Sheet(
            _UNIFORM, {"nodes": 2000, "topics": (500, 600, 700, 800, 900, 1000)}, _MINMAX,
            ("gm-m", ("dcbr-m", {"coverage": (1, 2, 3, 4)})), (2, 5), quick={"nodes": 300, "topics": (100, 200)},
        ),
        Sheet(
            _UNIFORM, {"nodes": 2000, "topics": (500, 1000)}, _MINMAX,
            (*_counted("gm-m"), *_counted("dcbr-m", coverage=(1, 2, 3, 4))),
            (2, 1), quick={"nodes": 300, "topics": (100, 200)},
        ),
        Sheet(
            _UNIFORM, {"nodes": 2000, "topics": (500, 1000)}, _MINMAX, (("dcbr-m", {"coverage": (1, 2, 3, 4)}),),
            (1, 5), ("highest",), {"nodes": 300, "topics": 100},
        ),
    ),
    {"p_nodes": (2000,), "p_topics": (500, 1000)},
)  # fmt: skip
P3_TOPICS = Grid(
    "p3-topics",
    (
        Sheet(
            _P3_LAWS, {"nodes": 4000, "topics": _T}, _MINMAX, ("gm-m", "dcbr-m"), (2, 10),
            quick={"nodes": 400, "topics": (100, 200)},
        ),
        Sheet(
            _UNIFORM, {"nodes": 4000, "topics": _T}, _MINMAX, ("dcb-m",), (1, 3), quick={"nodes": 400, "topics": 100}
        ),
        Sheet(
            _UNIFORM, {"nodes": 4000, "topics": (400, 1000)}, _MINMAX, _counted("gm-m", "dcbr-m"), (1, 1),
            quick={"nodes": 400, "topics": (100, 200)},
        ),
    ),
    {"p_nodes": (4000,), "p_topics": (100, 1000), "workload": _P3_LAWS},
)  # fmt: skip
P3_SIZES = Grid(
    "p3-sizes",
    tuple(
        Sheet(
            _UNIFORM, {"nodes": 1000, "topics": 400, "least": mean - 40, "most": mean + 40}, _MINMAX,
            (*_DIVIDED, *(_counted(*_DIVIDED) if mean in (50, 100, 150) else ())), (2, 3), quick={"nodes": 300},
        )
        for mean in (50, 75, 100, 125, 150)
    ),
    {"p_nodes": (1000,)},
)  # fmt: skip
P3_KNOWN = Grid(
    "p3-known",
    (
        Sheet(
            _P3_LAWS, {"nodes": 1000, "topics": 200}, _MINMAX,
            ("gm-m", "minmax-oda", "gm", ("low-oda", {"k": 3.0}), "ring-per-topic"), (2, 6), quick={"nodes": 300},
        ),
    ),
    {"p_nodes": (1000, 8000)},
)  # fmt: skip
P3_NAIVE = Grid(
    "p3-naive",
    (
        Sheet(
            _P3_LAWS, {"nodes": 4000, "topics": 200}, _MINMAX,
            ("gm-m", ("naive-dc", {"partitions": (2, 10, 20)})), (2, 3), quick={"nodes": 400},
        ),
    ),
    {"p_nodes": (4000,)},
)  # fmt: skip
P3_ETA = Grid(
    "p3-eta",
    (
        Sheet(
            _P3_LAWS, {"nodes": 1000, "topics": 200}, _MINMAX,
            ("gm-m", *_counted("dcbr-m", eta=(50, 66, 74, 82, 90))), (2, 4), quick={"nodes": 300},
        ),
    ),
)  # fmt: skip
P3_WORK = Grid(
    "p3-work",
    (
        Sheet(
            ("uniform", "exponential"), {"nodes": (250, 500, 1000, 2000), "topics": 100, "subscriptions": 10}, _MINMAX,
            _counted("gm-m"), (2, 4), quick={"nodes": (100, 200, 400)},
        ),
        Sheet(
            _UNIFORM, {"nodes": (250, 500, 1000), "topics": 100, "least": 4, "most": 20}, _MINMAX,
            _counted("dcb-m", "dcbr-m", partitions=(2, 8, 32)), (2, 4), quick={"nodes": (100, 200, 400)},
        ),
    ),
)  # fmt: skip

_LOWEST = "ties == 'lowest' and o_aim != 'time'"
_KERNELS = "o_data != 'table'"
_OTHER_READINGS = {
    "ties highest": "ties == 'highest'",
    "ties random": "ties == 'random'",
    "p by candidate pairs (Lemma 7)": "ties == 'lowest' and (method != 'dcbr-m' or o_aim == 'time')",
}


def _measured(rows: pd.DataFrame) -> pd.DataFrame:
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


_NAMES = {"gm-m": "GMM", "dcb-m": "DCB", "dcbr-m": "DCBR", "naive-dc": "conquer", "gm": "GM"}


def _less(
    one: str,
    other: str,
    must: Limit,
    nearly: Limit | None = None,
    *,
    where: str = "",
    letter: str = "D",
    published: float | None = None,
    extra: str = "",
) -> Part:
    """One method's degree less another's: the maximum degree D, or the average degree d."""
    name = f"{letter}_{_NAMES.get(one, one)} − {letter}_{_NAMES.get(other, other)}{extra}"
    measure = "max_degree" if letter == "D" else "average_degree"
    query = f"{_KERNELS} and {where}" if where else _KERNELS
    return Part(name, lambda d: d[one] - d[other], must, nearly, query, measure, published=published)


def _time(method: str, must: Limit, nearly: Limit | None, published: float) -> Part:
    """Counted work of Algorithms 3 to 6 ÷ GM-M's."""
    name = f"T_{_NAMES[method]} ÷ T_GMM, counted work"
    return Part(name, lambda d: d[method] / d["gm-m"], must, nearly, measure="work", published=published)


def _seconds(method: str) -> Part:
    """Processor time of our kernels ÷ GM-M's, shown beside the counted work."""
    name = f"T_{_NAMES[method]} ÷ T_GMM, processor time of our kernels"
    return Part(name, lambda d: d[method] / d["gm-m"], None, None, _KERNELS, "cpu_seconds")


def _ratio_trend(column: str, must: Limit, method: str = "dcbr-m") -> Part:
    name = f"log₂ (T_{_NAMES[method]} ÷ T_GMM) a doubling of {column.removeprefix('p_')}"
    return Part(name, lambda d: np.log2(d[method] / d["gm-m"]), must, measure="work", along=column, doubling=True)


def _trend(method: str, column: str, must: Limit, measure: str = "max_degree") -> Part:
    name = f"slope of {measure} of {_NAMES[method]} a doubling of {column.removeprefix('p_')}"
    return Part(name, lambda d: d[method], must, None, _KERNELS, measure, along=column, doubling=True)


def _sized(rows: pd.DataFrame) -> pd.DataFrame:
    return _measured(rows).assign(mean_size=(rows["p_least"] + rows["p_most"]) / 2)


_on = partial(on_rows, where=_LOWEST, prepare=_measured)
F6 = _on(
    "P3.F6",
    "p3-laws",
    _less("dcbr-m", "gm-m", at_most(2.0), at_most(4.0), published=2.0),
    _less("dcbr-m", "gm-m", at_most(0.7), at_most(1.4), letter="d", published=0.7),
    _time("dcbr-m", at_most(0.04), at_most(1), 0.04),
    _ratio_trend("p_nodes", FALLS),
    _trend("dcbr-m", "p_nodes", at_most(1)),
    _trend("gm-m", "p_nodes", at_most(1), "average_degree"),
    _seconds("dcbr-m"),
    where=f"{_LOWEST} and workload != 'zipf-fitted'",
    vary={f"law {one}": f"{_LOWEST} and workload == '{one}'" for one in (*_P3_LAWS, "zipf-fitted")} | _OTHER_READINGS,
)
F7 = _on(
    "P3.F7",
    "p3-nodes",
    _time("dcbr-m", at_most(0.0479 * 1.1), at_most(0.5), 0.0479),
    _time("dcb-m", Limit(0.757 / 1.25, 1.0), at_least(0.5), 0.757),
    _less("dcbr-m", "dcb-m", Limit(-1, 1)),
    _less("dcbr-m", "dcb-m", Limit(-1, 1), letter="d"),
    _ratio_trend("p_nodes", FALLS),
    _seconds("dcbr-m"),
    _seconds("dcb-m"),
    vary={name: where for name, where in _OTHER_READINGS.items() if "pairs" in name},
)
F8 = _on(
    "P3.F8",
    "p3-topics",
    _less("dcbr-m", "gm-m", about(3.51, 1.2), at_most(7), where="law == 'uniform'", published=3.51),
    _less("dcbr-m", "gm-m", about(4.46, 1.2), at_most(9), where="law == 'zipf'", published=4.46, extra=" (Zipf)"),
    _less(
        "dcbr-m", "gm-m", about(3.46, 1.2), at_most(7), where="law == 'exponential'", published=3.46, extra=" (exp.)"
    ),
    _time("dcbr-m", at_most(0.038), at_most(0.5), 0.038),
    _trend("gm-m", "p_topics", RISES),
    _trend("dcbr-m", "p_topics", RISES),
    _ratio_trend("p_topics", RISES),
    _seconds("dcbr-m"),
)
F9 = _on(
    "P3.F9", "p3-sizes",
    Part("slope of D_DCBR − D_GMM a doubling of |T_v|", lambda d: d["dcbr-m"] - d["gm-m"], FALLS, None, _KERNELS,
         along="mean_size", doubling=True),
    _trend("dcbr-m", "mean_size", FALLS),
    _trend("gm-m", "mean_size", FALLS),
    _trend("dcbr-m", "mean_size", FALLS, "average_degree"),
    _less("dcbr-m", "dcb-m", Limit(-1, 1)),
    _ratio_trend("mean_size", FALLS),
    _ratio_trend("mean_size", at_least(-0.1), "dcb-m"),
    prepare=_sized,
)  # fmt: skip


def _rings(order: str, query: str = _LOWEST) -> str:
    return f"{query} and {_KERNELS} and (method != 'ring-per-topic' or o_order == '{order}')"


F10 = _on(
    "P3.F10",
    "p3-nodes",
    Part("D_RingPT ÷ D_DCBR", lambda d: d["ring-per-topic"] / d["dcbr-m"], about(30, 1.2), at_least(5), published=30),
    _less("dcbr-m", "gm-m", about(1.22, 1.25), at_most(2.5), published=1.22),
    Part("D_RingPT ÷ D_GMM", lambda d: d["ring-per-topic"] / d["gm-m"]),
    where=_rings("random-per-topic"),
    vary={
        "rings in the order of node numbers": _rings("number"),
        "all rings in one random order": _rings("random"),
        "p by candidate pairs (Lemma 7)": _rings("random-per-topic", _OTHER_READINGS["p by candidate pairs (Lemma 7)"]),
    },
)
I12 = _on(
    "P3.I.12",
    "p3-laws",
    Part(
        "seconds of DCBR-M at the largest |V|", lambda d: d["dcbr-m"], at_most(60), extreme="max", measure="cpu_seconds"
    ),
    where=f"{_LOWEST} and {_KERNELS} and p_nodes == p_nodes.max()",
    prepare=lambda rows: rows.assign(cpu_seconds=rows["cpu_seconds"].fillna(rows["seconds"])),
)

_GIVEN = "o_partitions > 0"


def _over_parts(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds ``follow``: the rank correlation over p of DCBR-M's counted work with its pn-ratio, on each instance."""
    rows = _measured(rows)
    # Parts as asked for, since |L| differs by instance.
    rows["parts"] = rows["parts"].where(~(rows["o_partitions"] > 0), rows["o_partitions"].clip(upper=1000.0))
    given = rows[(rows["method"] == "dcbr-m") & (rows["o_partitions"] > 0) & rows["work"].notna()]
    follow = {key: own["work"].corr(own["c_pn_ratio"], "spearman") for key, own in given.groupby("instance")}
    gap = (_column(rows, "c_pn_ratio") - _column(rows, "c_pn_ratio_formula")).abs() / _column(rows, "c_pn_ratio")
    best = {key: own.loc[own["work"].idxmin(), "excess"] for key, own in given.groupby("instance")}
    return rows.assign(follow=rows["instance"].map(follow), best=rows["instance"].map(best), gap=gap)


_DCBR = f"method == 'dcbr-m' and {_GIVEN}"
F4 = _on(
    "P3.F4", "p3-parts",
    Part("the p of least T_DCBR", lambda w: w.idxmin(axis=1).astype(float), about(10, 1.6), about(10, 3), _DCBR, "work",
         "parts", published=10),
    Part("max over p of D_DCBR − D_GMM", lambda w: w.max(axis=1), at_most(6.5), where=_DCBR, measure="excess",
         across="parts", published=6.5),
    Part("D_DCBR − D_GMM at the p of least T_DCBR", lambda d: d["dcbr-m"], at_most(2.8), at_most(6.5), _DCBR, "best",
         published=2.8),
    Part("D_DCBR rises: max over p less that at p = 1", lambda w: w.max(axis=1) - w[1], RISES, where=_DCBR,
         measure="excess", across="parts"),
    Part("and falls: D_DCBR − D_GMM at p = |L|", lambda w: w.iloc[:, -1], Limit(0, 0), at_most(0.5), _DCBR, "excess",
         "parts"),
    Part("T_DCB ÷ T_GMM, mean over p", lambda w: w.mean(axis=1), Limit(0.6, 1.4), None,
         f"method == 'dcb-m' and {_GIVEN}", "saved", "parts"),
    Part("rank correlation over p of T_DCBR and pn-ratio", lambda w: w["dcbr-m"], RISES, measure="follow", where=_DCBR),
    prepare=_over_parts,
)  # fmt: skip
E12 = _on(
    "P3.E12",
    "p3-parts",
    Part(
        "measured pn-ratio less formula, ÷ measured", lambda d: d["dcbr-m"], Limit(0, 0), at_most(0.05), measure="gap"
    ),
    Part("pn-ratio of DCBR-M", lambda d: d["dcbr-m"], at_most(0.999), extreme="max", measure="c_pn_ratio"),
    where="ties == 'lowest' and o_partitions == 0 and method == 'dcbr-m'",
    vary={
        "p from 2 to 40": f"{_DCBR} and parts >= 2 and parts <= 40",
        "p = 100: parts of 8 nodes": f"{_DCBR} and parts == 100",
        "p = |L|: parts of one node": f"{_DCBR} and parts == 1000",
    },
    prepare=_over_parts,
)
_D_OF, _T_OF = partial(Part, where=_KERNELS, across="o_coverage"), partial(Part, measure="saved", across="o_coverage")
F5 = _on(
    "P3.F5", "p3-coverage",
    _D_OF("D at λ = 3 less D at λ = 4", lambda d: d[3] - d[4], at_most(0.32), at_most(0.71), published=0.32),
    _D_OF("D at λ = 2 less D at λ = 3", lambda d: d[2] - d[3], about(0.71, 1.5), RISES, published=0.71),
    _D_OF("D at λ = 1 less D at λ = 2 is 3 or more", lambda d: d[1] - d[2] >= 3, at_least(0.5), at_least(0.25)),
    _D_OF("the decrease gets less: D(1) − 2 D(2) + D(3)", lambda d: d[1] - 2 * d[2] + d[3], RISES),
    _T_OF("T_DCBR ÷ T_GMM, mean over λ", lambda d: d.mean(axis=1), at_most(0.03), at_most(1), published=0.03),
    _T_OF("(T(λ = 4) − T(λ = 1)) ÷ T_GMM", lambda d: d[4] - d[1], at_most(0.0069), at_most(0.1), published=0.0069),
    where="ties == 'lowest' and method == 'dcbr-m'",
    vary={"ties highest": "ties == 'highest' and method == 'dcbr-m'"},
)  # fmt: skip


def _over_gmm(method: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda d: d[method] / d["gm-m"]


def _of_table(law: str, printed: dict[str, float]) -> tuple[Part, ...]:
    """The printed means of Table II, III or IV; a mean within a twentieth is confirmed, within a half in order."""
    own = f"workload == '{law}'"

    def part(name: str, method: str, measure: str, where: str = f"{own} and {_KERNELS}") -> Part:
        value = printed[name]
        return Part(name, lambda d: d[method], about(value, 1.05), about(value, 1.5), where, measure, published=value)

    every = {f"{letter}_{_NAMES[method]}": (method, measure) for letter, measure in _DEGREES for method in _DIVIDED}
    degrees = [part(name, *of) for name, of in every.items() if name in printed]
    times = [
        Part(name, _over_gmm(method), about(printed[name], 1.1), at_most(1.1), own, "work",
             published=printed[name])
        for method, name in (("dcbr-m", "T_DCBR ÷ T_GMM"), ("dcb-m", "T_DCB ÷ T_GMM"))
    ]  # fmt: skip
    size = printed["|R| ÷ |L|"]
    share = Part("|R| ÷ |L|", lambda d: d["dcbr-m"], about(size, 1.1), at_most(0.5), f"{own} and {_KERNELS}", "share",
                 published=size)  # fmt: skip
    order = Part("D_GMM ≤ D_DCB ≤ D_DCBR", lambda d: d["dcbr-m"] - d["gm-m"], RISES, where=f"{own} and {_KERNELS}")
    return (*reversed(degrees[:3]), *degrees[3:], share, *times, order)


_DEGREES = (("D", "max_degree"), ("d", "average_degree"))
_UNIFORM_MEANS = {
    "D_DCBR": 10.883, "D_DCB": 10.29, "D_GMM": 8.013, "d_DCBR": 8.188, "d_DCB": 8.170,
    "T_DCBR ÷ T_GMM": 0.112, "T_DCB ÷ T_GMM": 0.655, "|R| ÷ |L|": 0.142,
}  # fmt: skip
_ZIPF_MEANS = {
    "D_DCBR": 16.3925, "D_DCB": 16.378, "D_GMM": 11.14, "d_DCBR": 8.065, "d_DCB": 8.064, "d_GMM": 6.487,
    "T_DCBR ÷ T_GMM": 0.248, "T_DCB ÷ T_GMM": 0.601, "|R| ÷ |L|": 0.0742,
}  # fmt: skip
_EXPONENTIAL_MEANS = {
    "D_DCBR": 10.798, "D_DCB": 10.793, "D_GMM": 8.4425, "d_DCBR": 4.499, "d_DCB": 4.499, "d_GMM": 3.93,
    "T_DCBR ÷ T_GMM": 0.130, "T_DCB ÷ T_GMM": 0.833, "|R| ÷ |L|": 0.0748,
}  # fmt: skip
_II = _of_table(_UNIFORM, _UNIFORM_MEANS)
_III = _of_table(_ZIPF, _ZIPF_MEANS)
_IV = _of_table(_EXPONENTIAL, _EXPONENTIAL_MEANS)
T2 = _on("P3.T2", "p3-tables", *_II, vary=_OTHER_READINGS)
T3 = _on("P3.T3", "p3-tables", *_III, vary=_OTHER_READINGS)
T4 = _on("P3.T4", "p3-tables", *_IV, vary=_OTHER_READINGS)
TABLE_II = Table(
    "P3.T2", "p3-tables", _II, _LOWEST, {"d_GMM": "printed 8.013, 8, 9, 0.0124: the row of D_GMM once more"}, _measured
)
TABLE_III = Table("P3.T3", "p3-tables", _III, _LOWEST, prepare=_measured)
TABLE_IV = Table("P3.T4", "p3-tables", _IV, _LOWEST, prepare=_measured)


@claim("P3.S6.1", "p3-tables")
def fluctuation(bench: Bench) -> Judgement:
    """The variance of D under Zipf and exponential popularity ÷ that under uniform popularity, by the bootstrap."""
    rows = bench.on("p3-tables").query(f"{_LOWEST} and {_KERNELS}")

    def variance(method: str, law: str, measure: str) -> tuple[float, float, float]:
        own = rows[(rows["workload"] == law) & (rows["method"] == method)]
        sample = own.groupby("instance")[measure].mean().to_numpy(float)
        return float(np.var(sample)), *bootstrap_interval(sample, np.var)

    def ratio(method: str, law: str, measure: str = "max_degree") -> Interval:
        (mean, low, high), (base, least, most) = variance(method, law, measure), variance(method, _UNIFORM, measure)
        few = 1e-6  # GM-M's maximum degree may be the same on every uniform instance
        return Interval(mean / max(base, few), low / max(most, few), high / max(least, few), len(rows) // 9)

    found = {(m, law): ratio(m, law) for m in ("dcbr-m", "gm-m") for law in (_ZIPF, _EXPONENTIAL)}
    least = min(found.values(), key=lambda one: one.low or 0)
    details = [f"var D_{_NAMES[m]}, {law} ÷ uniform: {one}" for (m, law), one in found.items()]
    lines = [
        Line(
            f"average degree d_DCBR, {law}",
            one := ratio("dcbr-m", law, "average_degree"),
            judged(one, at_least(1)).verdict,
        )
        for law in (_ZIPF, _EXPONENTIAL)
    ]
    return judged(
        least, at_least(1), because=f"least of four ratios of variances: {least}", details=details, sensitivity=lines
    )


S4C_2 = _on(
    "P3.S4C.2",
    "p3-laws",
    Part("|L| ÷ |R|", lambda d: 1 / d["dcbr-m"], at_least(3), measure="share"),
    where=f"{_LOWEST} and workload != 'zipf-fitted'",
    vary={f"law {one}": f"{_LOWEST} and workload == '{one}'" for one in _P3_LAWS},
)
S5_2 = _on(
    "P3.S5.2",
    "p3-tables",
    Part("η ÷ max|T_v| that leaves a fifth bulk", lambda d: d["dcbr-m"], at_most(0.5), measure="eta"),
    Part("|B| ÷ |V|", lambda d: d["dcbr-m"], at_most(0.2), measure="bulk", extreme="max"),
    prepare=lambda rows: rows.assign(
        bulk=_column(rows, "c_bulk") / rows["p_nodes"].astype(float), eta=_column(rows, "c_eta") / rows["p_most"]
    ),
)
S6_4 = _on(
    "P3.S6.4",
    "p3-known",
    _less("gm-m", "minmax-oda", at_most(0), at_most(0.5)),
    _less("gm-m", "low-oda", at_most(0), at_most(0.5)),
    _less("gm-m", "gm", at_most(0)),
    _less("gm-m", "ring-per-topic", at_most(0)),
    where="ties == 'lowest'",
)
_NAIVE_PARTS = {
    f"p = {p}, law {law}": f"workload == '{law}' and parts in (1, {p})" for law in _P3_LAWS for p in (2, 10, 20)
}
_NAIVE_DEFAULT = f"workload == '{_UNIFORM}' and parts in (1, 10)"
F2 = _on(
    "P3.F2",
    "p3-naive",
    Part("D_conquer − D_GMM", lambda d: d["naive-dc"] - d["gm-m"], RISES, measure="inner"),
    where=_NAIVE_DEFAULT,
    vary=_NAIVE_PARTS,
)
S2_2 = _on(
    "P3.S2.2",
    "p3-naive",
    Part("D ÷ D_GMM − d ÷ d_GMM", lambda d: d["naive-dc"], RISES, measure="relative"),
    where=_NAIVE_DEFAULT,
    vary=_NAIVE_PARTS,
    depends="p =",
    prepare=lambda rows: (own := _measured(rows)).assign(
        relative=own["max_degree"] / own["gm_max_degree"] - own["average_degree"] / own["gm_average_degree"]
    ),
)
_DCBR_ONLY = "method == 'dcbr-m'"
S5_4 = _on(
    "P3.S5.4",
    "p3-eta",
    Part("D at η = 90 less D at η = 50", lambda d: d[90] - d[50], RISES, at_least(-0.5), _DCBR_ONLY, across="o_eta"),
    Part("log₂ T at η = 90 less at η = 50", lambda d: np.log2(d[90] / d[50]), FALLS, None, _DCBR_ONLY, "work", "o_eta"),
    Part("pn-ratio at η = 90 less at η = 50", lambda d: d[90] - d[50], FALLS, None, _DCBR_ONLY, "c_pn_ratio", "o_eta"),
    where="workload == 'uniform-varying'",
    vary={f"law {one}": f"workload == '{one}'" for one in (_ZIPF, _EXPONENTIAL)},
)


def _bounded(id_: str, name: str, method: str, measure: str, bound: str, by_lemma_7: str, *more: Part) -> object:
    """A bound on time: the counted work ÷ the bound is at most 1 and does not grow with |V|; Lemma 7's beside it."""

    def of_bound(rows: pd.DataFrame) -> pd.DataFrame:
        rows = _measured(rows)
        sizes = {"V": rows["p_nodes"], "T": rows["p_topics"], "B": _column(rows, "c_bulk"), "p": rows["parts"]}
        sizes |= {"L": _column(rows, "c_lightweight"), "R": _column(rows, "c_representatives")}
        values = pd.DataFrame({key: value.astype(float) for key, value in sizes.items()})
        work = rows["work"] if measure == "work" else _column(rows, "c_inner_table_work")
        return rows.assign(of_bound=work / values.eval(bound), of_seventh=work / values.eval(by_lemma_7))

    def part(what: str, column: str, must: Limit | None) -> Part:
        return Part(what, lambda d: np.log2(d[method]), must, measure=column, along="p_nodes", doubling=True)

    return on_rows(
        id_,
        "p3-work",
        Part(f"counted work ÷ {name}", lambda d: d[method], at_most(1), measure="of_bound", extreme="max"),
        part("growth of work ÷ bound, log₂ a doubling of |V|", "of_bound", at_most(0.1)),
        part("growth of work ÷ its bound by Lemma 7", "of_seventh", None),
        *more,
        where=f"method == '{method}'",
        prepare=of_bound,
    )


L7 = _bounded("P3.L7", "|V|²|T|", "gm-m", "work", "V ** 2 * T", "V ** 2 * T")
L10 = _bounded("P3.L10", "|L|⁴|T| ÷ p³", "dcb-m", "inner", "L ** 4 * T / p ** 3", "L ** 2 * T / p")
L13 = _bounded("P3.L13", "|T|(|B||V| + |L|²)²", "dcb-m", "work", "T * (B * V + L ** 2) ** 2", "T * (B * V + L ** 2)")
L16 = _bounded(
    "P3.L16", "|T|((|B| + |R|)⁴ + |L|⁴ ÷ p³)", "dcbr-m", "work", "T * ((B + R) ** 4 + L ** 4 / p ** 3)",
    "T * ((B + R) ** 2 + L ** 2 / p)",
)  # fmt: skip

_NODES_AXIS, _TOPICS_AXIS = ("p_nodes", "number of nodes |V|"), ("p_topics", "number of topics |T|")
_D, _AVERAGE = Panel("max_degree", "maximum degree"), Panel("average_degree", "average degree")


def _curves(*names: str, where: str = f"{_LOWEST} and {_KERNELS}") -> tuple[Curve, ...]:
    labels = {"gm-m": "GM-M", "dcb-m": "DCB-M", "dcbr-m": "DCBR-M"}
    return tuple(Curve(labels[name], f"method == '{name}' and {where}") for name in names)


def _by_law(*names: str) -> dict[str, tuple[Curve, ...]]:
    return {law: _curves(*names, where=f"{_LOWEST} and {_KERNELS} and workload == '{law}'") for law in _P3_LAWS}


def _share(axis: tuple[float, ...], published: Mapping[str, float]) -> Panel:
    """Counted work ÷ GM-M's; the paper's text has means over the figure."""
    return Panel(
        "saved", "counted work ÷ GM-M's", {name: dict.fromkeys(axis, mean) for name, mean in published.items()}
    )


_figure = partial(Figure, prepare=_measured)
FIGURE_4 = Figure(
    "P3.F4", "p3-parts", ("parts", "number of parts p"),
    (_D, _AVERAGE, _share((), {}), Panel("c_pn_ratio", "pn-ratio")),
    tuple(Curve(n.upper(), f"method == '{n}' and {_GIVEN}") for n in ("dcb-m", "dcbr-m")),
    log=True, prepare=_over_parts,
)  # fmt: skip
FIGURE_5 = _figure(
    "P3.F5", "p3-coverage", _TOPICS_AXIS, (_D, _share((500, 1000), {"at most": 0.03})),
    tuple(Curve(f"λ = {n}", f"method == 'dcbr-m' and o_coverage == {n} and ties == 'lowest'") for n in range(1, 5)),
)  # fmt: skip
FIGURE_6 = _figure(
    "P3.F6", "p3-laws", _NODES_AXIS, (_D, _AVERAGE, _share(_V, {"at most": 0.04})),
    tuple(Curve(f"{m.upper()}, {law.split('-')[0]}", f"method == '{m}' and workload == '{law}' and {_LOWEST}")
          for law in _P3_LAWS for m in ("gm-m", "dcbr-m")),
)  # fmt: skip
FIGURE_7 = _figure("P3.F7", "p3-nodes", _NODES_AXIS, (_D, _AVERAGE, _share(_V, {"DCBR-M": 0.0479, "DCB-M": 0.757})),
                   _curves(*_DIVIDED, where=_LOWEST))  # fmt: skip
FIGURE_8 = _figure(
    "P3.F8", "p3-topics", _TOPICS_AXIS, (_D, _AVERAGE, _share(_T, {"DCBR-M": 0.038})),
    _curves(*_DIVIDED, where=f"{_LOWEST} and workload == '{_UNIFORM}'"), _by_law("gm-m", "dcbr-m"),
)  # fmt: skip
FIGURE_9 = Figure(
    "P3.F9", "p3-sizes", ("mean_size", "average number of topics a node"), (_D, _AVERAGE, _share((), {})),
    _curves(*_DIVIDED, where=_LOWEST), prepare=_sized,
)  # fmt: skip
_RING = "method == 'ring-per-topic' and o_order == '{}'"
_FACTOR = "RingPT ÷ DCBR-M"
FIGURE_10 = _figure(
    "P3.F10", "p3-nodes", _NODES_AXIS,
    (_D, _AVERAGE, Panel("max_degree", "maximum degree, a ratio", {_FACTOR: dict.fromkeys(_V, 30.0)}, (
        Curve(_FACTOR, _RING.format("random-per-topic"), f"method == 'dcbr-m' and {_LOWEST} and {_KERNELS}"),
    ))),
    (*_curves("gm-m", "dcbr-m"), Curve("RingPT", _RING.format("random-per-topic"))),
    {"other orders of rings": tuple(Curve(f"RingPT, {order}", _RING.format(order)) for order in ("number", "random"))},
)  # fmt: skip
