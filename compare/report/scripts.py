"""The scripts of the page: its own, the library of its plots, and the data that both read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from ...heuristics.compiled import cache_folder
from ...instances.contract.files import atomic_write
from ...instances.topics.instance import TopicInstance
from ..figures.drawing_page import embedded_json
from ..studies.plot import Plot
from .overlay_data import overlay_data
from .plot_data import plot_data

_OWN = ("page.js", "tables.js", "plots.js", "overlays.js")


def own_scripts() -> Markup:
    """The page's own scripts, a few kilobytes."""
    return Markup("\n".join((Path(__file__).parent / name).read_text(encoding="utf-8") for name in _OWN))


def plot_library() -> Markup:
    """Vega, Vega-Lite and vegaEmbed as one script (0.9 MB), from vl-convert; the first time it takes two seconds."""
    import vl_convert

    file = cache_folder() / f"vega-{version('vl-convert-python')}.js"
    if not file.is_file():
        script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        # A closing tag within a string of the script would end it.
        script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
        atomic_write(file, script)
    return Markup(file.read_text(encoding="utf-8"))


def interactive(
    runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance], plots: Sequence[Plot] = ()
) -> dict[str, Any]:
    """The template's variables of the plots and the overlays side by side; parameters as for `write_report`.

    Parameters
    ----------
    runs : DataFrame
        From `judged_runs`.

    Raises
    ------
    BadInput
        If an instance cannot be read.
    """
    overlays = overlay_data(runs, load_instance)
    return {
        "scripts": own_scripts(),
        "library": plot_library() if len(runs) else "",
        "plot_json": Markup(embedded_json(plot_data(runs, plots))) if len(runs) else "",
        "overlay_json": Markup(embedded_json(overlays)) if overlays else "",
        "left_out": overlays["left_out"] if overlays else "",
    }
