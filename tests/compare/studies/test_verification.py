"""Verify finds every forged row and file, and none of them ends in an error."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from math import inf as INF
from math import nan as NAN
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from overlaybench.compare.studies.rerun import Rerun, faults_of_rerun
from overlaybench.compare.studies.row import OBJECTS, SCHEMA, table_of, to_line
from overlaybench.compare.studies.spark_session import PlugIns
from overlaybench.compare.studies.store import Store, checksum, write_part
from overlaybench.compare.studies.task import STORED, Task
from overlaybench.compare.studies.verification import (
    Fault,
    Item,
    Verification,
    checked_in,
    faults_of_row,
    verified,
    verify,
)
from overlaybench.instances.contract.errors import BadInput
from tests.compare.studies.without_spark import study_done_in

Row = dict[str, Any]
Forgery = Callable[[Store, list[Row]], set[str]]
"""Changes rows or files of a folder; returns the keys and file names of which verify must find each."""

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
instances = [
  { workload = "plane", nodes = 6, topics = 5, subscriptions = 2 },
  { workload = "brokers-social", brokers = 6, subscriptions = 30, publications = 20 },
  { workload = "content", users = 5, brokers = 3 },
  { workload = "steiner-sparse", nodes = 8, edges = 12, terminals = 4 },
]
runs = [
  { problems = ["weighted-tco"], methods = ["weighted-gm", "branch-and-cut"] },
  { problems = ["k-tco"], methods = ["gm2", "branch-and-cut"] },
  { problems = ["filtering", "filtering=3@edges", "topic-diameter=2@edges"], methods = [
    { method = "edge-exchange", steps = 20 },
  ] },
  { problems = ["filtering"], methods = ["filtering-cp-sat"] },
  { problems = ["soft-links"], methods = [
    { method = "s2", simulate = "system", rate = 600, churn = 1 }, "cp-sat",
  ] },
  { problems = ["content-mst"], methods = ["greedy-packing", "branch-and-cut"] },
  { problems = ["steiner"], methods = ["mehlhorn", "branch-and-cut"] },
]
"""
NOT_OBJECTS = ("", "{", "[]", "3", '{"a": NaN}', '{"a":' * 5000 + "1" + "}" * 5000)
RECIPES: tuple[Row, ...] = (
    {"seed": 1},
    {"parameters": {"nodes": 7}},
    {"parameters": {"nodes": 10**9}},
    {"parameters": {"node": 7}},
    {"parameters": {"nodes": "many"}},
    {"workload": "zipfel"},
    {"more": 1},
    {"family": "mine", "seed": 1},
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A study of 16 runs."""
    return study_done_in(tmp_path_factory.mktemp("honest"), SPEC)


@pytest.fixture(scope="module")
def of_others(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A study of the problems with costs, faults, limits and systems of brokers."""
    return study_done_in(tmp_path_factory.mktemp("others"), SPEC_OF_OTHERS)


def checked_here(store: Store, *, rows: bool = True, **given: Any) -> Verification:
    """What verify finds, without Spark; without `rows`, each by itself is not checked."""

    def apply(items: list[Item], slices: int, plug_ins: PlugIns) -> list[Fault]:
        faults_of = checked_in(str(store.folder), plug_ins)
        return [fault for item in items if rows or isinstance(item, tuple) for fault in faults_of(item)]

    return verified(store, apply, **given)


def rows_of(store: Store) -> list[Row]:
    """One row of each problem and method."""
    first: dict[tuple[str, str], Row] = {}
    for row in store.table().to_pylist():
        first.setdefault((row["problem"], row["method"]), row)
    return list(first.values())


def forged_values(name: str, row: Row, other: Row) -> Iterator[Any]:
    """Values that the column of a row cannot have beside its other ones."""
    value = row[name]
    if value is not None:
        yield from ([] if name == "cpu_seconds" else [None])
        yield 3.5 if isinstance(value, str) else "text"
    if name in ("seconds", "cpu_seconds", "peak_memory"):
        yield from (-1.0, *((NAN, INF, 0.0, 1e6) if name == "seconds" else ()))
    elif name in OBJECTS:
        yield from NOT_OBJECTS
        yield from {"versions": ("{}",), "machine": ("{}",), "counters": evidence()}.get(name, (value + " ",))
        if name == "recipe":
            for given in RECIPES:
                recipe = json.loads(value)
                parameters = {**recipe.get("parameters", {}), **given.get("parameters", {})}
                yield json.dumps({**recipe, **given, "parameters": parameters}, ensure_ascii=False)
        if name == "options":
            yield json.dumps({**json.loads(value), "speed": 9})
    elif name == "points":
        yield from forged_points(row)
    elif name == "answer" and value is not None:
        yield from ([], [0, None], value[: len(value) // 2], [-1] * len(value), [2**31 - 1] * len(value))
        if row["kind"] == "topics":
            yield from (value[2:], value[::-1], value + value[:2], [3, 3])
    elif name in ("sizes", "measures") and value:
        yield from ([], value + value[:1], [(key, 10 * number + 1) for key, number in value])
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, -1, *((NAN, INF) if isinstance(value, float) else ()))
    elif isinstance(value, str) and name != "reason":
        yield from ("", value + "x", f"../{value}", *([] if name == "started" else [other[name]]))


def evidence() -> tuple[str, ...]:
    return '{"certified": 1.0}', json.dumps({"proof": "0" * 64, "certified": 1.0})


def forged_points(row: Row) -> Iterator[list[Any]]:
    if not row["points"]:
        return
    end = row["points"][-1]
    yield from ([], [None, end], [{**end, "seconds": None}], [{**end, "seconds": -1.0}, end], [{**end, "seconds": 1e9}])
    yield from ([end, {**end, "seconds": end["seconds"] / 2}], [*row["points"], {**end, "lower_bound": 1e9}])
    if end["value"] is not None:
        better, lost = {**end, "seconds": 0.0, "value": end["value"] - 1}, {**end, "seconds": 0.0, "value": None}
        yield from ([better, end], [{**end, "value": NAN}], [{**end, "value": -INF}, end], [{**end, "value": 1e9}])
        yield [{**lost, "value": end["value"]}, lost, end]


def found_in(row: Row, name: str, value: Any, folder: Path) -> bool:
    """Whether a forged value is found, in sentences of one line."""
    faults = faults_of_row({**row, name: value}, str(folder))
    assert not [fault for fault in faults if "cannot be checked" in fault or len(fault.splitlines()) > 1], (name, value)
    return bool(faults)


def test_an_honest_study_has_no_faults(honest: Store, of_others: Store) -> None:
    assert checked_here(honest) == Verification(16, 0, 0, (), ())
    assert checked_here(of_others).faults == ()


def test_a_study_without_a_name_has_no_faults(tmp_path: Path) -> None:
    text = SPEC.replace('name = "forged"', "").replace("[5, 6]", "5").replace(', "branch-and-cut"', "")
    store = study_done_in(tmp_path, text)
    assert store.plan().name == "spec"
    assert checked_here(store).faults == ()


@pytest.mark.parametrize("name", SCHEMA.names)
def test_any_forged_column_of_a_row_is_found(name: str, honest: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.compare.studies.verification._MOST_SECONDS", 1.0)
    rows, missed = rows_of(honest), []
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        for value in forged_values(name, row, other):
            if value != row[name] and not found_in(row, name, value, honest.folder):
                missed.append((row["problem"], row["method"], value))
    assert missed == []
    assert found_in({key: value for key, value in rows[0].items() if key != name}, "more", 1, honest.folder)


def test_forged_columns_of_other_problems_are_found(of_others: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.compare.studies.verification._MOST_SECONDS", 1.0)
    rows, draw, missed = rows_of(of_others), random.Random(1), []
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        for name in SCHEMA.names:
            values = [value for value in forged_values(name, row, other) if value != row[name]]
            for value in draw.sample(values, min(2, len(values))):
                if not found_in(row, name, value, of_others.folder):
                    missed.append((row["problem"], row["method"], name, value))
    assert missed == []


STATUSES: list[Row] = [
    {"status": "infeasible"},
    {"status": "failed", "reason": "none"},
    {"status": "failed", "value": None, "answer": None, "measures": [], "points": []},
    {"status": "failed", "value": None, "answer": None, "measures": [], "reason": "no", "lower_bound": 1.0},
    {"status": "skipped", "value": None, "answer": None, "measures": [], "points": [], "reason": "no", "seconds": 0.0},
    {"status": "optimal", "answer": None, "measures": []},
    {"status": "time-limit"},
]


@pytest.mark.parametrize("fields", STATUSES)
@pytest.mark.parametrize("method", ["gm", "branch-and-cut"])
def test_a_status_with_an_answer_reason_or_bound_that_it_cannot_have_is_found(
    method: str, fields: Row, honest: Store
) -> None:
    row = next(row for row in rows_of(honest) if row["method"] == method)
    if not (method == "gm" and fields == {"status": "time-limit"}):  # which a heuristic may say
        assert faults_of_row({**row, **fields}, str(honest.folder))


def rekeyed(row: Row, **fields: Any) -> Row:
    """The row with other fields, and the key that belongs to them; its points follow its outcome."""
    row = {**row, **fields}
    ended = {name: row[name] for name in ("seconds", "value", "lower_bound")}
    points = [] if (row["value"], row["lower_bound"]) == (None, None) else [ended]
    return {**row, "key": Task(**{name: row[name] for name in STORED}).key, "points": points}


def changed(rows: list[Row], which: Callable[[Row], bool], change: Callable[[Row], Row]) -> set[str]:
    """Change rows; all of them are to be found."""
    wrong = {number: change(row) for number, row in enumerate(rows) if which(row)}
    for number, row in wrong.items():
        rows[number] = row
    return {row["key"] for row in wrong.values()}


def of_first(change: Callable[[Row], Row], method: str = "gm", problem: str = "min-tco") -> Forgery:
    def forge(store: Store, rows: list[Row]) -> set[str]:
        chosen = next(row for row in rows if (row["method"], row["problem"]) == (method, problem))
        return changed(rows, lambda row: row is chosen, change)

    return forge


def of_method(method: str, change: Callable[[Row], Row]) -> Forgery:
    return lambda store, rows: changed(rows, lambda row: row["method"] == method, change)


def added(change: Callable[[Row], Row]) -> Forgery:
    """A changed copy of a row beside it."""

    def forge(store: Store, rows: list[Row]) -> set[str]:
        rows.append(change(next(row for row in rows if row["method"] == "low-oda")))
        return {rows[-1]["key"]}

    return forge


NO_ANSWER: Row = {"value": None, "answer": None, "measures": []}


def all_pairs(row: Row) -> Row:
    """Another answer that is valid: an edge between every two nodes."""
    nodes = dict(row["sizes"])["nodes"]
    edges = [(u, v) for u in range(nodes) for v in range(u + 1, nodes)]
    measures = {"edges": len(edges), "max_degree": nodes - 1, "average_degree": float(nodes - 1)}
    value, bound = float(len(edges)), row["lower_bound"] and float(len(edges))
    answer = [end for edge in edges for end in edge]
    return rekeyed(row, answer=answer, value=value, lower_bound=bound, measures=list(measures.items()))


def implied_bound(store: Store, rows: list[Row]) -> set[str]:
    """A degree that no answer to minmax-tco refutes, but |E| ≥ D of min-tco's answers does."""
    row = next(row for row in rows if (row["method"], row["problem"]) == ("branch-and-cut", "minmax-tco"))
    edges = min(each["value"] for each in rows if each["instance"] == row["instance"])
    forged = rekeyed(row, status="time-limit", **NO_ANSWER, lower_bound=edges + dict(row["sizes"])["nodes"])
    kept = [each for each in rows if each["problem"] == "min-tco" or each["instance"] != row["instance"]]
    rows[:] = [*kept, forged]
    return {forged["key"]}


def of_another_instance(row: Row, rows: list[Row]) -> Row:
    return rekeyed(row, instance=next(each["instance"] for each in rows if each["instance"] != row["instance"]))


OF_ROWS: dict[str, Forgery] = {
    "another seed": of_first(partial(rekeyed, seed=1)),
    "another memory limit": of_first(partial(rekeyed, memory_limit=2000)),
    "no limits": of_first(partial(rekeyed, time_limit=INF)),
    "an instance that is not stored": of_first(partial(rekeyed, instance="0" * 64)),
    "an instance outside the folder": of_first(partial(rekeyed, instance="../../etc/passwd")),
    "the instance of another row": lambda store, rows: of_first(partial(of_another_instance, rows=rows))(store, rows),
    "an unknown problem": of_first(partial(rekeyed, problem="max-tco")),
    "a problem of another kind": of_first(partial(rekeyed, problem="steiner")),
    "an unknown method": of_first(partial(rekeyed, method="gmm")),
    "another method": of_method("gm", partial(rekeyed, method="low-oda")),
    "heuristics called optimal": of_method("gm", lambda row: rekeyed(row, status="optimal", lower_bound=row["value"])),
    "answers removed": lambda store, rows: changed(
        rows, lambda row: row["problem"] == "2d-star", lambda row: rekeyed(row, answer=None, measures=[])
    ),
    "rows under other keys": lambda store, rows: changed(rows, lambda _: True, lambda row: {**row, "key": "0" * 32}),
    "a row more with another seed": added(partial(rekeyed, seed=5)),
    "an invented failure": added(
        partial(rekeyed, status="failed", **NO_ANSWER, lower_bound=None, reason="memory: 9 MiB", memory_limit=9)
    ),
    "two rows of one key": added(lambda row: {**row, "seconds": row["seconds"] + 1}),
    "a bound above another row's value": of_first(
        lambda row: rekeyed(row, status="time-limit", **NO_ANSWER, lower_bound=row["value"] + 1), "branch-and-cut"
    ),
    "a bound above what another problem implies": implied_bound,
    "called infeasible where others have answers": of_first(
        partial(rekeyed, status="infeasible", **NO_ANSWER, lower_bound=None), "branch-and-cut"
    ),
    "a worse answer called optimal": of_first(all_pairs, "branch-and-cut"),
}
"""Forgeries that other rows or the plan contradict too; each row has the key that belongs to its fields."""


def copied(honest: Store, folder: Path) -> Store:
    return Store(shutil.copytree(honest.folder, folder / "out"))


def forged_by(forgery: Forgery, honest: Store, folder: Path) -> tuple[Store, set[str]]:
    """A copy of the folder with forged rows in a part of the right checksum, and a second row of a key in another."""
    store = copied(honest, folder)
    rows = store.table().to_pylist()
    wrong = forgery(store, rows)
    for part in store.parts():
        part.unlink()
    first = {row["key"]: row for row in reversed(rows)}
    write_part(table_of(list(first.values())), store.runs)
    if more := [row for row in rows if first[row["key"]] is not row]:
        write_part(table_of(more), store.runs)
    return store, wrong


@pytest.mark.parametrize("name", OF_ROWS)
def test_forged_rows_are_found_where_they_are(name: str, honest: Store, tmp_path: Path) -> None:
    store, wrong = forged_by(OF_ROWS[name], honest, tmp_path)
    faults = checked_here(store).faults
    assert wrong
    assert wrong <= {key for key, _ in faults}
    assert not [fault for _, fault in faults if "cannot be checked" in fault or len(fault.splitlines()) > 1]


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to every value of JSON data, and to every table."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from leaves(value, (*path, key))


@pytest.mark.parametrize("name", ["plan.json", "instances/index.json"])
def test_any_changed_or_removed_value_of_plan_and_index_is_found(name: str, honest: Store, tmp_path: Path) -> None:
    store = copied(honest, tmp_path)
    text = (store.folder / name).read_text()
    for path in leaves(json.loads(text)):
        for remove in (False, True):
            data = json.loads(text)
            *above, last = path
            table = data
            for key in above:
                table = table[key]
            if remove and path != ("format",):
                del table[last]
            else:
                value = table[last]
                table[last] = value + "x" if isinstance(value, str) else value + 1 if isinstance(value, int) else 7
            (store.folder / name).write_text(json.dumps(data))
            assert found_or_refused(store, name), (path, remove)


def found_or_refused(store: Store, name: str) -> bool:
    """Whether verify finds faults, or refuses the folder in a line that names the file or folder."""
    try:
        faults = checked_here(store, rows=False).faults
    except BadInput as error:
        return str(store.folder) in str(error) and len(str(error).splitlines()) == 1
    assert not [fault for _, fault in faults if len(fault.splitlines()) > 1]
    return bool(faults)


@pytest.mark.parametrize("column", ["key", "family", "recipe"])
def test_any_changed_label_is_found(column: str, honest: Store, tmp_path: Path) -> None:
    store = copied(honest, tmp_path)
    file = store.folder / "plan.parquet"
    table = pq.read_table(file)
    labels = table.to_pylist()
    others = {label[column] for label in labels} - {labels[0][column]}
    for value in (*sorted(others)[-1:], "mine"):
        forged = [{**labels[0], column: value}, *labels[1:]]
        pq.write_table(pa.Table.from_pylist(forged, table.schema), file)
        assert found_or_refused(store, "plan.parquet")
    pq.write_table(table.slice(1), file)
    assert found_or_refused(store, "plan.parquet")


@pytest.mark.parametrize("pattern", ["study.toml", "history/*.toml", "plan.*", "instances/*", "runs/*.parquet"])
def test_any_damaged_byte_of_a_file_is_found_or_changes_nothing(pattern: str, honest: Store, tmp_path: Path) -> None:
    draw = random.Random(pattern)
    store = copied(honest, tmp_path)
    files = sorted(store.folder.glob(pattern))
    assert files
    for file in files:
        whole = file.read_bytes()
        for _ in range(6):
            at = draw.randrange(len(whole))
            file.write_bytes(whole[:at] + bytes([whole[at] ^ draw.randrange(1, 256)]) + whole[at + 1 :])
            assert found_or_refused(store, file.name) or unchanged(store, honest, file.name), (file.name, at)
        file.write_bytes(whole[: len(whole) // 2])
        assert found_or_refused(store, file.name)
        file.write_bytes(whole)
    assert checked_here(store).faults == ()


def unchanged(store: Store, honest: Store, name: str) -> bool:
    """Whether what the damaged file holds is read as before: a byte of padding or of a writer's name."""
    same = (store.plan(), store.index()) == (honest.plan(), honest.index()) and store.labels().equals(honest.labels())
    return same and name.startswith(("plan", "index", *(one.digest for one in honest.index().values())))


def in_a_log(store: Store, line: Callable[[Row], bytes]) -> str:
    """Move a row from its part to a log, as this line; returns its key."""
    (part,) = store.parts()
    rows = store.table().to_pylist()
    part.unlink()
    write_part(table_of(rows[1:]), store.runs)
    (store.runs / "host-1-0.log").write_bytes(line(rows[0]))
    return str(rows[0]["key"])


LINES: dict[str, Callable[[Row], bytes]] = {
    "damaged": lambda row: to_line(row).replace(b'"method"', b'"nethod"'),
    "an object": lambda row: b"{}\n",
    "a null": lambda row: to_line({**row, "method": None}),
    "a text as number": lambda row: to_line({**row, "seconds": "long"}),
    "a list as text": lambda row: to_line({**row, "problem": ["min-tco"]}),
    "a column less": lambda row: to_line({key: value for key, value in row.items() if key != "status"}),
}


@pytest.mark.parametrize("name", LINES)
def test_a_forged_or_damaged_line_of_a_log_is_found(name: str, honest: Store, tmp_path: Path) -> None:
    store = copied(honest, tmp_path)
    key = in_a_log(store, LINES[name])
    assert {key, "host-1-0.log"} & {found for found, _ in checked_here(store).faults}


@pytest.mark.parametrize("table", [pa.table({"key": ["0" * 32]}), pa.table({"a": [1]})])
def test_a_part_of_other_columns_is_found(table: pa.Table, honest: Store, tmp_path: Path) -> None:
    store = copied(honest, tmp_path)
    file = store.folder / "other.parquet"
    pq.write_table(table, file)
    name = f"{checksum(file)}.parquet"
    file.rename(store.runs / name)
    assert name in {found for found, _ in checked_here(store).faults}


@pytest.mark.slow
@pytest.mark.spark
def test_forged_rows_are_found_on_spark(honest: Store, tmp_path: Path) -> None:
    """A forged value of each column on a copy of a row, all in one folder."""
    store, wrong = copied(honest, tmp_path), []
    first, other = rows_of(honest)[:2]
    for number, name in enumerate(name for name in SCHEMA.names if name not in ("key", "reason")):
        value = next(value for value in forged_values(name, first, other) if value not in (None, "text", 3.5))
        wrong.append({**first, name: value, "key": f"{number:032x}"})
    write_part(table_of(wrong), store.runs)
    assert {row["key"] for row in wrong} <= {key for key, _ in verify(store.folder, "local[2]").faults}
    assert checked_here(honest).faults == verify(honest.folder, "local[2]").faults == ()


def test_a_random_share_is_repeated_and_a_forged_heuristic_found(honest: Store, tmp_path: Path) -> None:
    """Nothing in the folder contradicts a worse answer of a heuristic, only a repeated run."""
    assert checked_here(honest, share=0.2, seed=1) == Verification(16, 0, 4, (), ())
    store, wrong = forged_by(of_first(all_pairs), honest, tmp_path)
    assert checked_here(store).faults == ()
    assert {key for key, _ in checked_here(store, share=1.0).faults} == wrong


@pytest.mark.parametrize(
    ("before", "after", "faults"),
    [
        ({}, {}, 0),
        ({"value": 5.0}, {"value": 4.0}, 1),
        ({"status": "time-limit", "value": 5.0}, {"value": 4.0}, 0),
        ({"status": "time-limit", "value": 5.0}, {"value": 4.0, "lower_bound": 6.0}, 1),
        ({"seconds": 9.5, "value": 5.0}, {"value": 4.0}, 0),
        ({"status": "failed", "reason": "memory: 1 MiB", "value": None}, {"value": 4.0}, 0),
        ({"status": "failed", "reason": "ValueError: no", "value": None}, {"value": 4.0}, 1),
        ({"status": "infeasible", "value": None}, {"answer": [0, 1]}, 2),
        ({"code_version": "0" * 12, "value": 5.0}, {"value": 4.0}, 0),
    ],
)
def test_a_repeated_run_is_compared_as_far_as_no_limit_stopped_it(before: Row, after: Row, faults: int) -> None:
    row = {"status": "feasible", "reason": "", "value": 5.0, "lower_bound": None, "answer": None, "measures": []}
    row |= {"seconds": 1.0, "time_limit": 10.0, "code_version": "1" * 12}
    assert len(list(faults_of_rerun(Rerun({**row, **before}, {**row, **after})))) == faults
