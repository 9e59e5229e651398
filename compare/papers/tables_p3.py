"""Tables II to IV of P3: maximum and average degrees, time ratios and the number of representatives."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pandas as pd

from .figure import PaperTable

METHODS = {"gm-m": "GMM", "dcb-m": "DCB", "dcbr-m": "DCBR"}
_MEANS = ("D_DCBR", "D_DCB", "D_GMM", "d_DCBR", "d_DCB", "d_GMM", "T_DCBR/T_GMM", "T_DCB/T_GMM", "|R|/|L|")
# Table II prints GM-M's maximum degree a second time instead of its average degree.
_PUBLISHED = {
    "P3.T2": (10.883, 10.29, 8.013, 8.188, 8.170, None, 0.112, 0.655, 0.142),
    "P3.T3": (16.3925, 16.378, 11.14, 8.065, 8.064, 6.487, 0.248, 0.601, 0.0742),
    "P3.T4": (10.798, 10.793, 8.4425, 4.499, 4.499, 3.93, 0.130, 0.833, 0.0748),
}


def table_means(rows: pd.DataFrame) -> dict[str, float]:
    """The means in Tables II to IV, from the runs of one law: D, d, time ratios on the same instance, |R|/|L|."""
    by = rows.groupby("method")
    means = {f"D_{name}": float(by["max_degree"].mean()[method]) for method, name in METHODS.items()}
    means |= {f"d_{name}": float(by["average_degree"].mean()[method]) for method, name in METHODS.items()}
    seconds = rows.pivot_table(index="instance", columns="method", values="seconds")
    for method in ("dcbr-m", "dcb-m"):
        means[f"T_{METHODS[method]}/T_GMM"] = float((seconds[method] / seconds["gm-m"]).mean())
    counters = [json.loads(text) for text in rows[rows["method"] == "dcbr-m"]["counters"]]
    means["|R|/|L|"] = float(np.mean([one["representatives"] / one["lightweight"] for one in counters]))
    return means


TABLES_P3: Mapping[str, PaperTable] = {
    table: PaperTable(table_means, {name: mean for name, mean in zip(_MEANS, means, strict=True) if mean is not None})
    for table, means in _PUBLISHED.items()
}
