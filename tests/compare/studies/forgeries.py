"""Forged results folders: each changes some rows or files of a stored study, checksums and all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf as INF
from math import nan as NAN
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overlaybench.compare.studies.row import to_line
from overlaybench.compare.studies.store import Store, checksum, write_part
from overlaybench.compare.studies.task import STORED, Task

SPEC = """
name = "forged"
seed = 4
time_limit = 30
memory_limit = 1500
[[instances]]
workload = "zipf"
nodes = [5, 6]
topics = 5
subscriptions = 2
[[runs]]
problems = ["min-tco", "minmax-tco"]
methods = ["gm", "low-oda", "branch-and-cut"]
[[runs]]
problems = ["2d-star"]
methods = ["cd-oda", "branch-and-cut"]
"""
SPEC_OF_OTHERS = """
name = "others"
seed = 4
time_limit = 30
memory_limit = 1500
[[instances]]
workload = "plane"
nodes = 6
topics = 5
subscriptions = 2
[[instances]]
workload = "brokers-social"
brokers = 6
subscriptions = 30
publications = 20
[[instances]]
workload = "content"
users = 5
brokers = 3
[[instances]]
workload = "steiner-sparse"
nodes = 8
edges = 12
terminals = 4
[[runs]]
problems = ["weighted-tco"]
methods = ["weighted-gm", "branch-and-cut"]
[[runs]]
problems = ["k-tco"]
methods = ["gm2", "branch-and-cut"]
[[runs]]
problems = ["filtering", "filtering=3@edges", "topic-diameter=2@edges"]
methods = [{ method = "edge-exchange", steps = 20 }]
[[runs]]
problems = ["filtering"]
methods = ["filtering-cp-sat"]
[[runs]]
problems = ["soft-links"]
methods = [{ method = "s2", simulate = "system", rate = 600, churn = 1 }, "cp-sat"]
[[runs]]
problems = ["content-mst"]
methods = ["greedy-packing", "branch-and-cut"]
[[runs]]
problems = ["steiner"]
methods = ["mehlhorn", "branch-and-cut"]
"""
Row = dict[str, Any]


@dataclass
class Forged:
    """A folder to be forged.

    Attributes
    ----------
    rows : list of dict
        Its rows, which :meth:`write` stores.
    keys : list of str
        The keys and file names of which verify must find at least one each.
    """

    store: Store
    rows: list[Row]
    keys: list[str] = field(default_factory=list)
    schema: pa.Schema | None = None

    def __post_init__(self) -> None:
        self._before = list(self.store.runs.glob("*.parquet"))
        self._honest = {id(row): _outcome(row) for row in self.rows}

    def row(self, method: str, problem: str = "min-tco") -> Row:
        """The first row of a method and problem, which counts as forged from now on."""
        found = next(row for row in self.rows if (row["method"], row["problem"]) == (method, problem))
        self.keys.append(found["key"])
        return found

    def write(self) -> None:
        """Store the rows in one part with the right checksum; points follow a forged outcome."""
        for part in self._before:
            part.unlink()
        for row in self.rows:
            if self._honest.get(id(row)) != _outcome(row):
                ended = {"seconds": row["seconds"], "value": row["value"], "lower_bound": row["lower_bound"]}
                row["points"] = [] if (row["value"], row["lower_bound"]) == (None, None) else [ended]
        write_part(pa.Table.from_pylist(self.rows, self.schema), self.store.runs)


def _outcome(row: Row) -> tuple[object, ...]:
    return row["status"], row["value"], row["lower_bound"], row["seconds"]


Forgery = Callable[[Forged], object]


def rekeyed(forged: Forged, row: Row) -> None:
    """Give a row the key that belongs to its fields."""
    row["key"] = Task(**{name: row[name] for name in STORED}).key
    forged.keys[-1:] = [row["key"]]


def _set(of: str = "gm", with_key: bool = False, **fields: Any) -> Forgery:
    """Change fields of a row of a method; `with_key`, the key is that of the changed fields."""

    def forge(forged: Forged) -> None:
        row = forged.row(of)
        row |= fields
        if with_key:
            rekeyed(forged, row)

    return forge


def _by(change: Callable[[Row], object], of: str = "gm") -> Forgery:
    return lambda forged: change(forged.row(of))


def _without_answers(forged: Forged) -> None:
    for row in forged.rows:
        if row["problem"] == "2d-star":
            bound = row["lower_bound"] or 1.0
            row |= {"answer": None, "value": bound, "lower_bound": bound, "status": "optimal", "measures": []}
            forged.keys.append(row["key"])


def _points(row: Row, *points: tuple[float, float, float]) -> None:
    """Points before the outcome: their time, and what their value and bound add to it."""
    row["points"] = [
        {"seconds": at, "value": row["value"] + more, "lower_bound": row["lower_bound"] - less}
        for at, more, less in points
    ]


def _lost_value(row: Row) -> None:
    _points(row, (0.0, 0, 1), (1e-6, 0, 1), (2e-6, 0, 0))
    row["points"][1]["value"] = None


def _forged_proof(forged: Forged) -> None:
    for row in forged.rows:
        if row["method"] == "gm":
            row |= {"status": "optimal", "lower_bound": row["value"]}
            forged.keys.append(row["key"])


def _renamed(forged: Forged, *, key: bool) -> None:
    other = {"gm": "low-oda", "low-oda": "gm"}
    for row in forged.rows:
        if row["method"] in other:
            row["method"] = other[row["method"]]
            forged.keys.append(row["key"])
            if key:
                rekeyed(forged, row)


def _multiplied(column: str, row: Row) -> None:
    row[column] = [(name, 10 * value) for name, value in row[column]]


def _other_family(row: Row) -> None:
    recipe = json.loads(row["recipe"])
    row |= {"family": "mine", "recipe": json.dumps({**recipe, "family": "mine", "seed": recipe["seed"] + 1})}


def _recipe(row: Row, **fields: Any) -> None:
    recipe = json.loads(row["recipe"])
    parameters = {**recipe["parameters"], **fields.pop("parameters", {})}
    row["recipe"] = json.dumps({**recipe, "parameters": parameters, **fields}, ensure_ascii=False)


def _doubled(forged: Forged) -> None:
    for number, row in enumerate(list(forged.rows)):
        key = f"{number:032x}"
        forged.rows.append({**row, "key": key})
        forged.keys.append(key)


def _doubled_with_other_seeds(forged: Forged) -> None:
    copy = {**forged.row("gm"), "seed": 5}
    rekeyed(forged, copy)
    forged.rows.append(copy)


_FAILED: dict[str, Any] = {"status": "failed", "value": None, "lower_bound": None, "answer": None, "measures": []}


def _invented_failure(forged: Forged) -> None:
    copy = {**forged.row("low-oda"), **_FAILED, "reason": "memory: 9 MiB", "memory_limit": 9}
    rekeyed(forged, copy)
    forged.rows.append(copy)


def _plan(forged: Forged, change: Callable[[dict[str, Any]], object]) -> None:
    file = forged.store.folder / "plan.json"
    plan = json.loads(file.read_text())
    change(plan)
    file.write_text(json.dumps(plan))
    forged.keys.append("plan.json")


def _labels(forged: Forged, change: Callable[[list[Row]], str]) -> None:
    file = forged.store.folder / "plan.parquet"
    table = pq.read_table(file)
    labels = table.to_pylist()
    forged.keys.append(change(labels))
    pq.write_table(pa.Table.from_pylist(labels, table.schema), file)


def _label_family(labels: list[Row]) -> str:
    labels[0]["family"] = "mine"
    return str(labels[0]["key"])


def _label_recipe(labels: list[Row]) -> str:
    other = next(each for each in labels if each["recipe"] != labels[0]["recipe"])
    labels[0] |= {"recipe": other["recipe"], "family": other["family"]}
    return str(labels[0]["key"])


def _label_lost(labels: list[Row]) -> str:
    del labels[0]
    return "plan.parquet"


def _index(forged: Forged, change: Callable[[list[Row]], object]) -> None:
    file = forged.store.instances / "index.json"
    index = json.loads(file.read_text())
    change(list(index.values()))
    file.write_text(json.dumps(index))
    forged.keys.append("index.json")


def _exchanged(entries: list[Row]) -> None:
    entries[0]["digest"], entries[1]["digest"] = entries[1]["digest"], entries[0]["digest"]


def _file(forged: Forged, name: str, text: str, found: str = "plan.json") -> None:
    (forged.store.folder / name).write_text(text)
    forged.keys.append(found)


def _appended(forged: Forged, row: Row) -> None:
    """A second row in a part of its own."""
    forged.keys.append(row["key"])
    file = forged.store.folder / "second.parquet"
    table = pa.Table.from_pylist([row], forged.schema)
    pq.write_table(table, file)
    file.rename(forged.store.runs / f"{checksum(file)}.parquet")


def _two_rows_of_one_key(forged: Forged) -> None:
    row = forged.rows[0]
    _appended(forged, {**row, "seconds": row["seconds"] + 1})


def _in_a_log(forged: Forged, change: Callable[[Row], object], found: str = "") -> None:
    row = forged.rows.pop()
    change(row)
    (forged.store.runs / "host-1-0.log").write_bytes(to_line(row))
    forged.keys.append(found or row["key"])


def _damaged_log(forged: Forged) -> None:
    row = forged.rows.pop()
    (forged.store.runs / "host-1-0.log").write_bytes(to_line(row).replace(b"min-tco", b"max-tco") + b"{}\n")
    forged.keys.append("host-1-0.log")


def _other_part(forged: Forged, table: pa.Table) -> None:
    file = forged.store.folder / "other.parquet"
    pq.write_table(table, file)
    name = f"{checksum(file)}.parquet"
    file.rename(forged.store.runs / name)
    forged.keys.append(name)


def _damaged_part(forged: Forged) -> None:
    name = f"{'0' * 32}.parquet"
    (forged.store.runs / name).write_bytes(b"PAR1")
    forged.keys.append(name)


def _other_instance(forged: Forged) -> None:
    row = forged.row("gm")
    row["instance"] = next(each["instance"] for each in forged.rows if each["instance"] != row["instance"])
    rekeyed(forged, row)


def _other_instance_file(forged: Forged) -> None:
    first, second = sorted(forged.store.instances.glob("*.parquet"))
    first.write_bytes(second.read_bytes())
    forged.keys += [row["key"] for row in forged.rows if row["instance"] == first.stem]


def _implied_bound(forged: Forged) -> None:
    """A degree that no answer to minmax-tco refutes, but |E| ≥ D of min-tco's answers does."""
    row = forged.row("branch-and-cut", "minmax-tco")
    edges = min(each["value"] for each in forged.rows if each["instance"] == row["instance"])
    nodes = dict(row["sizes"])["nodes"]
    forged.rows[:] = [
        each
        for each in forged.rows
        if each is row or each["problem"] == "min-tco" or each["instance"] != row["instance"]
    ]
    row |= {"status": "time-limit", "value": None, "answer": None, "measures": [], "lower_bound": edges + nodes}


def _above_another(forged: Forged) -> None:
    """A bound that only the answer of another row refutes."""
    row = forged.row("branch-and-cut")
    row |= {"status": "time-limit", "value": None, "answer": None, "measures": [], "lower_bound": row["value"] + 1}


def _infeasible(forged: Forged) -> None:
    row = forged.row("branch-and-cut")
    row |= {"status": "infeasible", "value": None, "answer": None, "measures": [], "lower_bound": None}


def _all_pairs(row: Row) -> None:
    """Another answer that is valid: an edge between every two nodes."""
    nodes = dict(row["sizes"])["nodes"]
    edges = [(u, v) for u in range(nodes) for v in range(u + 1, nodes)]
    measures = {"edges": len(edges), "max_degree": nodes - 1, "average_degree": float(nodes - 1)}
    row |= {"answer": [end for edge in edges for end in edge], "value": float(len(edges))}
    row["measures"] = list(measures.items())


def _suboptimal(forged: Forged) -> None:
    """A worse answer called optimal."""
    row = forged.row("branch-and-cut")
    _all_pairs(row)
    row["lower_bound"] = row["value"]


def _one_more(row: Row, column: str) -> None:
    row[column] = None if row[column] is None else row[column] + 1


def _raised_bound(row: Row) -> None:
    row["lower_bound"] = (row["lower_bound"] or 0.0) + row["value"] + 1


OF_ANY_PROBLEM: dict[str, Callable[[Row], object]] = {
    "the value raised": lambda row: _one_more(row, "value"),
    "the bound raised": _raised_bound,
    "the measures": lambda row: _multiplied("measures", row),
    "the sizes": lambda row: _multiplied("sizes", row),
    "the recipe": lambda row: _recipe(row, seed=5),
    "the seed": lambda row: _one_more(row, "seed"),
    "the status": lambda row: row.update(status="optimal" if row["status"] == "feasible" else "feasible"),
    "the options": lambda row: row.update(options='{"simulate": "static"}'),
    "half an answer": lambda row: row.update(answer=row["answer"][: len(row["answer"]) // 2]),
    "no answer": lambda row: row.update(answer=None),
    "negative numbers": lambda row: row.update(answer=[-1] * len(row["answer"])),
    "large numbers": lambda row: row.update(answer=[2**31 - 1] * len(row["answer"])),
    "another problem of the kind": lambda row: row.update(problem="min-tco" if row["kind"] == "topics" else "steiner"),
    "no points": lambda row: row.update(points=[]),
    "a first point of another bound": lambda row: row["points"].insert(0, {**row["points"][-1], "lower_bound": 1e9}),
}
"""Forgeries of a row of any problem; those that leave a row as it is do not count."""


def exchanged_answer(forged: Forged) -> None:
    """A worse answer of a heuristic: nothing in the folder contradicts it, only a repeated run."""
    _all_pairs(forged.row("gm"))


def _options(row: Row, **options: Any) -> None:
    row["options"] = json.dumps(options)


def _escaping(forged: Forged) -> None:
    forged.row("gm")["key"] = forged.keys[-1] = "../../escaped"


OF_ONE_ROW: dict[str, Forgery] = {
    "the value raised": _set(value=99.0),
    "the value not a number": _set(value=float("nan")),
    "the value infinite": _set(value=float("inf")),
    "no value": _set(value=None),
    "seconds 0": _set(seconds=0.0),
    "seconds beyond limit and grace": _set(seconds=90.0),
    "seconds below 0": _set(seconds=-1.0),
    "seconds not a number": _set(seconds=float("nan")),
    "memory below 0": _set(peak_memory=-1.0),
    "cpu_seconds below 0": _set(cpu_seconds=-1.0),
    "a null as kind": _set(kind=None),
    "a null as instance": _set(instance=None),
    "a null as counters": _set(counters=None),
    "a null as status": _set(status=None),
    "a null as sizes": _set(sizes=None),
    "a null in the answer": _set(answer=[0, None]),
    "an answer without end": _set(answer=[0]),
    "an answer outside": _set(answer=[0, 77]),
    "an answer of negative numbers": _set(answer=[-1, 2]),
    "an empty answer": _set(answer=[]),
    "a loop as the answer": _set(answer=[3, 3]),
    "a problem of another kind": _set(problem="steiner"),
    "a problem of another kind, with its key": _set(with_key=True, problem="steiner"),
    "another kind": _set(kind="content"),
    "an unknown problem": _set(with_key=True, problem="max-tco"),
    "an unknown method": _set(with_key=True, method="gmm"),
    "an unknown kind": _set(kind="cities"),
    "an unknown status": _set(status="best"),
    "a key of another form": _escaping,
    "an instance outside the folder": _set(with_key=True, instance="../../etc/passwd"),
    "an instance that is not stored": _set(with_key=True, instance="0" * 64),
    "another seed": _set(seed=1),
    "a seed below 0": _set(with_key=True, seed=-1),
    "another time limit": _set(time_limit=60.0),
    "no limits": _set(with_key=True, time_limit=float("inf")),
    "a code version of another form": _set(with_key=True, code_version="mine"),
    "another variant": _set(variant="gm ties=random"),
    "called exact": _set(exact=True),
    "another judge": _set(judge="mine.Lenient"),
    "another family": _set(family="mine"),
    "status infeasible with an answer": _set(status="infeasible"),
    "status failed with an answer": _set(status="failed", reason="none"),
    "status failed without a reason": _set(**_FAILED),
    "status failed with a bound": _set(**{**_FAILED, "reason": "none", "lower_bound": 1.0}),
    "status skipped of a method that applies": _set(**{**_FAILED, "status": "skipped", "reason": "no", "seconds": 0.0}),
    "status time-limit with a closed bound": _set("branch-and-cut", status="time-limit"),
    "a bound of a method that proves none": _set(lower_bound=1.0),
    "an optimum above its bound": _set("branch-and-cut", lower_bound=1.0),
    "a bound above its own value": _set("branch-and-cut", lower_bound=99.0, status="time-limit"),
    "a bound that is no integer": _set("branch-and-cut", lower_bound=1.5, status="time-limit"),
    "a bound that is not a number": _set(lower_bound=float("nan")),
    "an infinite bound": _set("branch-and-cut", lower_bound=float("inf"), status="time-limit"),
    "no points": _set(points=[]),
    "a point that is null": _by(lambda row: row["points"].insert(0, None), "branch-and-cut"),
    "a point without a time": _by(lambda row: row["points"][0].update(seconds=None), "branch-and-cut"),
    "a point at a negative time": _by(lambda row: row["points"][0].update(seconds=-1.0), "branch-and-cut"),
    "a point whose value is not a number": _by(lambda row: _points(row, (0.0, NAN, 1), (1e-6, 0, 0)), "branch-and-cut"),
    "a point of infinite value": _by(lambda row: _points(row, (0.0, INF, 1), (1e-6, 0, 0)), "branch-and-cut"),
    "a bound above the value on the way": _by(lambda row: _points(row, (0.0, 0, -1), (1e-6, 0, 0)), "branch-and-cut"),
    "a value that is lost on the way": _by(lambda row: _lost_value(row), "branch-and-cut"),
    "a last point of another value": _by(lambda row: _points(row, (0.0, 2, 1)), "branch-and-cut"),
    "points after the end": _by(lambda row: _points(row, (9.0, 0, 0)), "branch-and-cut"),
    "points out of order": _by(lambda row: _points(row, (1e-6, 1, 0), (0.0, 0, 0)), "branch-and-cut"),
    "points that get worse": _by(lambda row: _points(row, (0.0, 0, 1), (0.0, 1, 0), (0.0, 0, 0)), "branch-and-cut"),
    "counters that are no JSON": _set(counters="{"),
    "counters with NaN": _set(counters='{"a": NaN}'),
    "counters that are a list": _set(counters="[]"),
    "counters nested deeply": _set(counters='{"a":' * 5000 + "1" + "}" * 5000),
    "a certified bound of no proof": _set(counters='{"certified": 1.0}'),
    "a proof that is missing": _set(counters='{"proof": "' + "0" * 64 + '", "certified": 1.0}'),
    "a start that is no time": _set(started="noon"),
    "a start without time zone": _set(started="2026-01-01T00:00:00"),
    "versions without Python": _set(versions="{}"),
    "a machine without name": _set(machine="{}"),
    "its measures × 10": _by(partial(_multiplied, "measures")),
    "its sizes × 10": _by(partial(_multiplied, "sizes")),
    "another family and recipe": _by(_other_family),
    "a recipe with another seed": _by(partial(_recipe, seed=1)),
    "a recipe with other nodes": _by(partial(_recipe, parameters={"nodes": 7})),
    "a recipe with too many nodes": _by(partial(_recipe, parameters={"nodes": 10**9})),
    "a recipe with an unknown parameter": _by(partial(_recipe, parameters={"node": 7})),
    "a recipe with a text as number": _by(partial(_recipe, parameters={"nodes": "many"})),
    "a recipe of an unknown workload": _by(partial(_recipe, workload="zipfel")),
    "a recipe with a field more": _by(partial(_recipe, more=1)),
    "a recipe in another form": _by(lambda row: row.update(recipe=row["recipe"] + " ")),
    "a recipe that is a text": _by(lambda row: row.update(recipe='"zipf"')),
    "an option changed": _by(partial(_options, ties="highest")),
    "an unknown option": _by(partial(_options, ties="lowest", speed=9)),
    "an edge twice": _by(lambda row: row.update(answer=row["answer"] + row["answer"][:2])),
    "an edge less": _by(lambda row: row.update(answer=row["answer"][2:])),
    "the answer reversed": _by(lambda row: row.update(answer=row["answer"][::-1])),
    "no measures": _by(lambda row: row.update(measures=[])),
    "the instance of another row": _other_instance,
    "a key outside the folder": _escaping,
}
"""Forgeries of a row, found by that row alone."""

OF_ROWS: dict[str, Forgery] = {
    "another seed, with its key": _set(with_key=True, seed=1),
    "another memory limit, with its key": _set(with_key=True, memory_limit=2000),
    "answers removed and called optimal": _without_answers,
    "heuristics called optimal": _forged_proof,
    "methods renamed": partial(_renamed, key=False),
    "methods renamed, with their keys": partial(_renamed, key=True),
    "rows doubled under new keys": _doubled,
    "a row doubled with another seed": _doubled_with_other_seeds,
    "a failed row invented": _invented_failure,
    "two rows of one key": _two_rows_of_one_key,
    "a bound above another row's value": _above_another,
    "a bound above what another problem implies": _implied_bound,
    "called infeasible where others have answers": _infeasible,
    "a worse answer called optimal": _suboptimal,
}
"""Forgeries of rows that only other rows or the plan contradict, or of many rows."""

OF_FILES: dict[str, Forgery] = {
    "the plan cut to three keys": lambda forged: _plan(forged, lambda plan: plan.update(keys=plan["keys"][:3])),
    "a key more in the plan": lambda forged: _plan(forged, lambda plan: plan["keys"].append("0" * 32)),
    "a key twice in the plan": lambda forged: _plan(forged, lambda plan: plan["keys"].append(plan["keys"][0])),
    "the plan's name": lambda forged: _plan(forged, lambda plan: plan.update(name="mine")),
    "the plan's notes": lambda forged: _plan(forged, lambda plan: plan.update(notes=["checked"])),
    "the plan's text": lambda forged: _plan(forged, lambda plan: plan.update(spec=SPEC.replace("= 4", "= 5"))),
    "no text in the plan": lambda forged: _plan(forged, lambda plan: plan.update(spec="instances = 3")),
    "another study.toml": lambda forged: _file(forged, "study.toml", SPEC.replace("gm", "gm-m")),
    "a study.toml that is none": lambda forged: _file(forged, "study.toml", "instances = 3", "study.toml"),
    "another study in history/": lambda forged: _file(forged, "history/0001.toml", SPEC.replace("gm", "gm-m")),
    "another family in plan.parquet": lambda forged: _labels(forged, _label_family),
    "another recipe in plan.parquet": lambda forged: _labels(forged, _label_recipe),
    "a row less in plan.parquet": lambda forged: _labels(forged, _label_lost),
    "no table in plan.parquet": lambda forged: _file(forged, "plan.parquet", "PAR1", "plan.parquet"),
    "digests exchanged in the index": lambda forged: _index(forged, _exchanged),
    "another size in the index": lambda forged: _index(forged, lambda entries: entries[0].update(size=9)),
    "a digest outside in the index": lambda forged: _index(forged, lambda entries: entries[0].update(digest="../x")),
    "a number as digest in the index": lambda forged: _index(forged, lambda entries: entries[0].update(digest=7)),
    "no index": lambda forged: _file(forged, "instances/index.json", "[", "index.json"),
    "another instance in an instance's file": _other_instance_file,
    "a damaged part": _damaged_part,
    "a part of other columns": lambda forged: _other_part(forged, pa.table({"key": ["0" * 32]})),
    "a part without names": lambda forged: _other_part(forged, pa.table({"a": [1]})),
    "a damaged line in a log": _damaged_log,
    "a null in a log": lambda forged: _in_a_log(forged, lambda row: row.update(method=None)),
    "a text as number in a log": lambda forged: _in_a_log(forged, lambda row: row.update(seconds="long")),
    "a list as text in a log": lambda forged: _in_a_log(forged, lambda row: row.update(problem=["min-tco"])),
    "a row without status in a log": lambda forged: _in_a_log(forged, lambda row: row.pop("status")),
}
