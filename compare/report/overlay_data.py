"""The overlays that the page draws side by side: small topic instances with the answers of their runs."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from typing import Any

import pandas as pd

from ...instances.topics.files import TOPICS
from ...instances.topics.instance import TopicInstance

MOST_NODES = 60
MOST_BYTES = 1_500_000
_DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"


def overlay_data(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance]) -> dict[str, Any] | None:
    """The answers of the topic instances with at most `MOST_NODES` nodes, smallest first, up to `MOST_BYTES` of JSON.

    Parameters
    ----------
    runs : DataFrame
        From `judged_runs`, in the order of their anchors.
    load_instance : callable
        Maps a digest to its instance.

    Returns
    -------
    dict or None
        instances (each with digest, title, nodes, topics and wants: labels and the topics of each node), answers (two
        characters an edge, a node each), runs (number of a run → index of its answer), left_out (a sentence, or "").
        None if no run has an overlay to draw.

    Raises
    ------
    BadInput
        If an instance cannot be read.
    """
    given = runs[(runs["kind"] == TOPICS.name) & runs["answer"].notna()]
    small = given[given["nodes"] <= MOST_NODES].sort_values(["nodes", "subscriptions", "instance"], kind="stable")
    instances: list[dict[str, Any]] = []
    answers: dict[str, int] = {}
    drawn: dict[str, int] = {}
    size = 0
    for digest, group in small.groupby("instance", sort=False):
        instance = _instance(load_instance(str(digest)), group.iloc[0])
        codes = {run.anchor: _coded(run.answer) for run in group.itertuples()}
        size += len(json.dumps(instance)) + sum(len(code) + 20 for code in codes.values())
        if size > MOST_BYTES:
            break
        instances.append(instance)
        drawn |= {anchor.removeprefix("run-"): answers.setdefault(code, len(answers)) for anchor, code in codes.items()}
    if not instances:
        return None
    left = given["instance"].nunique() - len(instances)
    reason = f"Instances of more than {MOST_NODES} nodes, or beyond {MOST_BYTES / 1e6:g} MB in all, are left out"
    return {
        "instances": instances,
        "answers": list(answers),
        "runs": drawn,
        "left_out": f"{reason}: {left} of {given['instance'].nunique()}." if left else "",
    }


def _instance(instance: TopicInstance, run: Any) -> dict[str, Any]:
    return {
        "digest": run.instance[:8],
        "title": f"{run.family}, {instance.num_nodes} nodes, {instance.num_topics} topics",
        "nodes": [instance.node_label(node) for node in range(instance.num_nodes)],
        "topics": [instance.topic_label(topic) for topic in range(instance.num_topics)],
        "wants": [instance.topics_of(node).tolist() for node in range(instance.num_nodes)],
    }


def _coded(answer: Any) -> str:
    return "".join(_DIGITS[node] for node in answer)
