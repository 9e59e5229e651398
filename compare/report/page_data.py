"""The data of the page's scripts: every run once in columns, the charts of them, and the overlays side by side."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ...instances.contract.files import atomic_write
from ...instances.contract.terms import said
from ...instances.runtime.compiled import cache_folder
from ...instances.topics.files import TOPICS
from ...instances.topics.instance import TopicInstance
from ..figures.charts import chosen_charts
from ..figures.curves import outline
from ..figures.style import method_styles
from ..studies.bounds import problem_order, sizes_of
from ..studies.columns import varied
from ..studies.plot import MEASURES, Plot

MOST_NODES = 60
MOST_BYTES = 1_500_000
_TEXTS = ("problem", "label", "family", "status")
_TAKEN = (*_TEXTS, *MEASURES, "run", "instance", "proven", "seed", "bound", "runs", "instances", "lowest", "highest")
_NODES = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"


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


def plot_data(runs: pd.DataFrame, plots: Sequence[Plot] = ()) -> dict[str, Any]:
    """The runs (`judged_runs`) in columns for the page's script, about 120 bytes a run in the order of their anchors.

    texts (column → its distinct texts, problems in their usual order), codes (column → index into texts, a run each),
    numbers (column → a number a run, None where it has none), x and y (names of columns → titles), styles (label →
    colour, outline of the marker in a square from −1 to 1, exact), first (x and y of each of the `plots`, which are
    shown first), charts (`chosen_charts`).
    """
    own = runs.reset_index(drop=True)
    texts = {name: own[name].astype(str) for name in _TEXTS} | {"instance": own["instance"].str[:8]}
    numbers = {name: own[name] for name in ("seed", "bound")} | {"proven": own["optimum"].notna().astype(int)}
    titles = {}
    columns, sizes = varied(own), sizes_of(own)
    for given in sorted(columns, key=lambda name: name not in sizes):
        name = f"parameter {given}" if given in _TAKEN else str(given)
        titles[name] = str(given).replace("_", " ")
        as_numbers = pd.to_numeric(columns[given], errors="coerce")
        if as_numbers.notna().sum() == columns[given].notna().sum():
            numbers[name] = as_numbers
        else:
            texts[name] = columns[given].map(str, na_action="ignore").fillna("")
    shown = {name: one for name, one in MEASURES.items() if one.column in own and own[one.column].notna().any()}
    numbers |= {name: own[one.column] / one.unit for name, one in shown.items()}
    measures = {name: one.title for name, one in shown.items()}
    known = {name: sorted(column.unique()) for name, column in texts.items()} | {"problem": problem_order(own)}
    exact = dict(zip(own["label"], own["exact"], strict=True))
    return {
        "texts": known,
        "codes": {name: pd.Index(known[name]).get_indexer(column).tolist() for name, column in texts.items()},
        "numbers": {name: _numbers(column) for name, column in numbers.items()},
        "x": {**titles, "family": "family", "label": "method", **measures},
        "y": measures,
        "styles": {
            label: [style.colour, outline(style.marker), bool(exact[label])]
            for label, style in method_styles(own).items()
        },
        "first": [[plot.x, plot.y] for plot in plots],
        "charts": chosen_charts(),
    }


def _numbers(column: pd.Series[float]) -> list[float | None]:
    """The numbers for JSON: None for what is not finite, whole ones exact, others with six digits."""
    values = pd.to_numeric(column).to_numpy(dtype=np.float64)
    short = (int(value) if value == round(value) else float(f"{value:.6g}") for value in values[np.isfinite(values)])
    return [next(short) if finite else None for finite in np.isfinite(values)]


def overlay_data(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance | None]) -> dict[str, Any] | None:
    """The answers of the topic instances with at most `MOST_NODES` nodes, smallest first, up to `MOST_BYTES` of JSON.

    instances (each with digest, title, nodes, topics and wants: labels and the topics of each node), answers (two
    characters an edge, a node each), runs (number of a run → index of its answer), left_out (a sentence, or ""). None
    if no run has an overlay to draw.
    """
    given = runs[(runs["kind"] == TOPICS.name) & runs["answer"].notna()]
    small = given[given["nodes"] <= MOST_NODES].sort_values(["nodes", "subscriptions", "instance"], kind="stable")
    instances, answers, drawn = list[dict[str, Any]](), dict[str, int](), dict[str, int]()
    size = 0
    for digest, group in small.groupby("instance", sort=False):
        if (made := load_instance(str(digest))) is None:
            continue
        instance = _instance(made, group.iloc[0])
        pairs = zip(group["anchor"], group["answer"], strict=True)
        codes = {anchor: "".join(_NODES[node] for node in answer) for anchor, answer in pairs}
        size += len(json.dumps(instance)) + sum(len(code) + 20 for code in codes.values())
        if size > MOST_BYTES:
            break
        instances.append(instance)
        drawn |= {anchor.removeprefix("run-"): answers.setdefault(code, len(answers)) for anchor, code in codes.items()}
    if not instances:
        return None
    left = given["instance"].nunique() - len(instances)
    reason = f"Instances beyond {MOST_NODES} nodes or {MOST_BYTES / 1e6:g} MB in all, or of lost plug-ins, are left out"
    return {
        "instances": instances,
        "answers": list(answers),
        "runs": drawn,
        "left_out": f"{reason}: {left} of {given['instance'].nunique()}." if left else "",
    }


def _instance(instance: TopicInstance, run: Any) -> dict[str, Any]:
    return {
        "digest": run.instance[:8],
        "title": f"{run.family}, " + said(f"{instance.num_nodes} nodes, {instance.num_topics} topics"),
        "nodes": [instance.node_label(node) for node in range(instance.num_nodes)],
        "topics": [instance.topic_label(topic) for topic in range(instance.num_topics)],
        "wants": [instance.topics_of(node).tolist() for node in range(instance.num_nodes)],
    }
