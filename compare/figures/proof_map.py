"""The map of what is proven: nodes against topics a node, a panel a law, coloured by time to the proof or by gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .curves import Axis, colours, panels, shapes, x_channel, y_channel
from .style import QUIET, Style

LIMITS = (60.0, 600.0)
_STATES = {
    f"proven in {LIMITS[0]:g} s": Style("#117733", "o", "-"),
    f"proven in {LIMITS[1]:g} s": Style("#88CCEE", "o", "-"),
    "proven later": Style("#332288", "o", "-"),
    "gap to 1%": Style("#F6D9A8", "s", "-"),
    "gap to 5%": Style("#E9A25C", "s", "-"),
    "gap to 20%": Style("#DD7733", "s", "-"),
    "larger gap": Style("#7A1020", "s", "-"),
    "no bound": Style("#FFFFFF", "s", "-"),
}
_GAPS = (0.0, 0.01, 0.05, 0.2)
_LEAST, _RING = 14, 26  # square points: the innermost mark of one place, and what each one around it adds


def proof_map(points: pd.DataFrame) -> Mapping[str, Any]:
    """The specification of the map; both axes are logarithmic.

    `points` has a row an instance: law, nodes, subscriptions (topics a node), gap (0 if the optimum is proven, NaN
    without a bound), seconds (processor seconds of the run that proved it). Instances of equal size lie around each
    other, what is proven best innermost.
    """
    shown = points.sort_values(
        ["law", "nodes", "subscriptions", "gap", "seconds"], ascending=False, kind="stable", na_position="first"
    )
    around = shown.groupby(["law", "nodes", "subscriptions"]).cumcount(ascending=False)
    names = list(_STATES)
    late = np.searchsorted(LIMITS, shown["seconds"])
    wide = len(LIMITS) + np.searchsorted(_GAPS, shown["gap"])
    state = np.where(shown["gap"].isna(), len(names) - 1, np.where(shown["gap"] > 0, wide, late))
    data = pd.DataFrame(
        {
            "panel": pd.Categorical(shown["law"], points["law"].unique()),
            "curve": [names[rank] for rank in state],
            "x": shown["nodes"],
            "y": shown["subscriptions"],
            "gap": shown["gap"],
            "size": _LEAST + _RING * around,
        }
    ).sort_values("panel", kind="stable")
    dots = alt.Chart().mark_point(filled=True, opacity=1, stroke=QUIET, strokeWidth=0.4)
    layer = dots.encode(
        x=x_channel(Axis("nodes n", log=True), data["x"]),
        y=y_channel(Axis("topics a node s", log=True)),
        color=colours(_STATES, symbolStrokeWidth=0.4, symbolStrokeColor=QUIET),
        shape=shapes(_STATES),
        size=alt.Size("size:Q", scale=None, legend=None),
        tooltip=["curve:N", "x:Q", "y:Q", "gap:Q"],
    )
    return panels([layer], data.assign(panel=data["panel"].astype(str)), names)
