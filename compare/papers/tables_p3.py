"""Tables II to IV of P3: maximum and average degrees, time ratios and the number of representatives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import pandas as pd

from .figure import PaperTable
from .grids_p3 import TABLE_LAWS
from .rows_p3 import chosen, labelled

METHODS = {"gm-m": "GMM", "dcb-m": "DCB", "dcbr-m": "DCBR"}
RUNS = 400


class Printed(NamedTuple):
    """A line of a table: the statistics of 400 runs."""

    mean: float
    least: float
    most: float
    variance: float


# Table II prints GM-M's maximum degree a second time instead of its average degree.
PRINTED: Mapping[str, Mapping[str, Printed]] = {
    "P3.T2": {
        "D_DCBR": Printed(10.883, 10, 11, 0.104),
        "D_DCB": Printed(10.29, 10, 11, 0.206),
        "D_GMM": Printed(8.013, 8, 9, 0.0124),
        "d_DCBR": Printed(8.188, 8.02, 8.402, 0.00387),
        "d_DCB": Printed(8.170, 8.018, 8.388, 0.00376),
        "T_DCBR/T_GMM": Printed(0.112, 0.0983, 0.132, 0.0000283),
        "T_DCB/T_GMM": Printed(0.655, 0.615, 0.690, 0.0000820),
        "|R|/|L|": Printed(0.142, 0.105, 0.189, 0.000180),
    },
    "P3.T3": {
        "D_DCBR": Printed(16.3925, 15, 18, 0.450),
        "D_DCB": Printed(16.378, 15, 18, 0.426),
        "D_GMM": Printed(11.14, 10, 13, 0.181),
        "d_DCBR": Printed(8.065, 7.878, 8.318, 0.00530),
        "d_DCB": Printed(8.064, 7.864, 8.308, 0.00530),
        "d_GMM": Printed(6.487, 6.356, 6.66, 0.00265),
        "T_DCBR/T_GMM": Printed(0.248, 0.207, 0.287, 0.000153),
        "T_DCB/T_GMM": Printed(0.601, 0.564, 0.645, 0.000135),
        "|R|/|L|": Printed(0.0742, 0.0504, 0.110, 0.0000862),
    },
    "P3.T4": {
        "D_DCBR": Printed(10.798, 9, 13, 0.468),
        "D_DCB": Printed(10.793, 9, 13, 0.461),
        "D_GMM": Printed(8.4425, 7, 12, 0.348),
        "d_DCBR": Printed(4.499, 4.394, 4.586, 0.00122),
        "d_DCB": Printed(4.499, 4.392, 4.59, 0.00124),
        "d_GMM": Printed(3.93, 3.86, 4.02, 0.000747),
        "T_DCBR/T_GMM": Printed(0.130, 0.111, 0.161, 0.0000678),
        "T_DCB/T_GMM": Printed(0.833, 0.787, 0.883, 0.000225),
        "|R|/|L|": Printed(0.0748, 0.0438, 0.0977, 0.0000891),
    },
}


def samples(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """The statistics of Tables II to IV, a number an instance each, from labelled rows of one rule for ties."""
    found = dict[str, pd.Series]()
    for letter, measure in (("D", "max_degree"), ("d", "average_degree")):
        table = rows.pivot_table(index="instance", columns="method", values=measure)
        found |= {f"{letter}_{name}": table[method].dropna() for method, name in METHODS.items() if method in table}
    seconds = rows.pivot_table(index="instance", columns="method", values="cpu")
    for method in ("dcbr-m", "dcb-m"):
        if method in seconds:
            found[f"T_{METHODS[method]}/T_GMM"] = (seconds[method] / seconds["gm-m"]).dropna()
    return found | {"|R|/|L|": rows[rows["method"] == "dcbr-m"].groupby("instance")["share"].mean().dropna()}


def table_means(rows: pd.DataFrame, table: str) -> dict[str, float]:
    """The means in Tables II to IV, from the runs of one grid with ties lowest; times are those of our kernels."""
    own = chosen(labelled(rows[rows["family"] != f"{table} laws"]))
    return {name: float(sample.mean()) for name, sample in samples(own[own["ties"] == "lowest"]).items()}


TABLES_P3: Mapping[str, PaperTable] = {
    table: PaperTable(partial(table_means, table=table), {name: line.mean for name, line in PRINTED[table].items()})
    for table in TABLE_LAWS
}
