"""Rows of a study as the store returns them, written by hand."""

import hashlib
import json
from typing import Any

import numpy as np
import pandas as pd

import overlaybench as ob
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS


def recipe(workload: str = "zipf", seed: int = 1, **parameters: Any) -> str:
    """The recipe of a generated instance, as rows have it."""
    return json.dumps({"family": "f", "seed": seed, "workload": workload, "parameters": parameters})


def run(problem: str = "min-tco", method: str = "gm", instance: str = "i1", **given: Any) -> dict[str, Any]:
    """A row with defaults; a `value` without a status is a feasible answer."""
    value, bound = given.pop("value", None), given.pop("lower_bound", None)
    status = given.pop("status", "feasible" if value is not None else "failed")
    if status == "optimal" and bound is None:
        bound = value
    row: dict[str, Any] = {
        "instance": instance,
        "recipe": json.dumps({"workload": "by hand"}),
        "family": "by hand",
        "kind": "topics",
        "nodes": 10,
        "topics": 3,
        "subscriptions": 20,
        "problem": problem,
        "method": method,
        "variant": method,
        "options": "{}",
        "exact": method in ("ilp", "cp-sat"),
        "seed": 1,
        "time_limit": 10.0,
        "memory_limit": 1000,
        "status": status,
        "reason": "killed" if status == "failed" else "",
        "value": value,
        "lower_bound": bound,
        "seconds": 1.0,
        "edges": None,
        "max_degree": None,
        "average_degree": None,
        "counters": "{}",
        "answer": None,
        "peak_memory": 1e8,
        "code_version": "abc123",
    }
    row |= given
    outcome = {name: row[name] for name in ("seconds", "value", "lower_bound")}
    row = {"points": [] if status in ("failed", "skipped") or outcome["seconds"] is None else [outcome], **row}
    identity = json.dumps([row[name] for name in ("instance", "problem", "variant", "options", "seed", "time_limit")])
    return {"key": hashlib.sha256(identity.encode()).hexdigest()[:32], **row}


def answered(
    instance: ob.TopicInstance, edges: list[tuple[int, int]], problem: str, method: str, **given: Any
) -> dict[str, Any]:
    """A row whose answer is a valid overlay of the instance, with the problem's value."""
    overlay = ob.Overlay.from_edges(instance.num_nodes, edges)
    judge = ob.PROBLEMS[problem]
    assert not judge.violations(instance, overlay)
    fields = {
        "nodes": instance.num_nodes,
        "topics": instance.num_topics,
        "subscriptions": instance.num_subscriptions,
        "value": judge.value(instance, overlay),
        "edges": overlay.num_edges,
        "max_degree": overlay.max_degree,
        "average_degree": overlay.average_degree,
        "answer": overlay.edges.ravel(),
    }
    return run(problem, method, instance.digest, **(fields | given))


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    """Rows with the types of the store."""
    columns = list(dict.fromkeys(name for row in (run(), *rows) for name in row))
    table = pd.DataFrame(list(rows), columns=columns)
    floats = ("time_limit", "value", "lower_bound", "seconds", "edges", "max_degree", "average_degree", "peak_memory")
    whole = ("nodes", "topics", "subscriptions", "seed", "memory_limit")
    types = {**dict.fromkeys(floats, np.float64), **dict.fromkeys(whole, np.int64), "exact": bool}
    return table.astype(types)


# A path of 5 nodes is the best overlay of the first, a star of the second.
PATH = ob.TopicInstance.from_subscriptions({f"n{v}": [f"t{t}" for t in (v, v + 1)] for v in range(5)})
STAR = ob.TopicInstance.from_subscriptions({f"n{v}": ["hub", f"t{v % 2}"] for v in range(6)})
INSTANCES = {instance.digest: instance for instance in (PATH, STAR)}
PATH_EDGES = [(v, v + 1) for v in range(4)]
STAR_EDGES = [(0, v) for v in range(1, 6)] + [(1, 3), (1, 5)]
TREE_EDGES = [(0, 2), (2, 4), (1, 3), (3, 5), (0, 1)]


def study_rows() -> pd.DataFrame:
    """Two instances, all problems that trees answer; on one of them Greedy Merge is worse than the optimum."""
    rows = []
    for problem in (problem.name for problem in TOPIC_PROBLEMS if problem.name != "k-tco"):
        rows.append(answered(PATH, PATH_EDGES, problem, "ilp", family="real & <true>", status="optimal"))
        rows.append(answered(PATH, PATH_EDGES, problem, "gm", family="real & <true>", seconds=0.004))
        rows.append(answered(STAR, STAR_EDGES, problem, "gm", seconds=0.0))
        crash = {"status": "failed", "reason": "<script>alert(1)</script>"}
        rows.append(run(problem, "cp-sat", STAR.digest, nodes=6, topics=3, subscriptions=12, **crash))
    for problem in ("min-tco", "minmax-tco"):
        rows.append(answered(STAR, TREE_EDGES, problem, "ilp", status="optimal"))
    rows.append(answered(STAR, TREE_EDGES, "low-tco", "ilp", status="time-limit", lower_bound=7))
    return frame(*rows)
