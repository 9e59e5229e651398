"""Verify finds every forged row and file, and none of them ends in an error."""

import hashlib
import json
import math
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import overlaybench as ob
from overlaybench.compare.command_line import cli
from overlaybench.compare.studies import verification
from overlaybench.compare.studies.row import COLUMNS, table_of, to_bytes
from overlaybench.compare.studies.store import _FRAME, _MAGIC, Store, checksum, write_part
from overlaybench.compare.studies.task import STORED, Recipe, Task
from overlaybench.compare.studies.verification import (
    Fault,
    Rerun,
    Verification,
    faults_of_rerun,
    faults_of_row,
    verify,
)
from tests.compare.loopback_cluster import loopback_cluster
from tests.compare.studies.without_spark import in_this_process, study_done_in

pytestmark = pytest.mark.interpreted

Row = dict[str, Any]
Forgery = Callable[[Store, list[Row]], set[str]]
"""Changes rows or files of a folder; returns the keys and file names of which verify must find each."""

SPEC = """
name = "forged"
seed = 4
time_limit = 30
memory_limit = 1500
instances = [{ workload = "zipf", nodes = [5, 6], topics = 5, subscriptions = 2 }]
runs = [
  { problems = ["min-tco", "minmax-tco"], methods = ["gm", "low-oda", "branch-and-cut"] },
  { problems = ["2d-star"], methods = ["cd-oda", "branch-and-cut"] },
]
"""
SPEC_OF_OTHERS = """
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


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A study of 16 runs."""
    return study_done_in(tmp_path_factory.mktemp("honest"), SPEC)


@pytest.fixture(scope="module")
def of_others(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A study of the problems with costs, faults, limits and systems of brokers."""
    return study_done_in(tmp_path_factory.mktemp("others"), SPEC_OF_OTHERS)


def checked_here(store: Store, **given: Any) -> Verification:
    """What verify finds, without Spark."""
    return verify(store.folder, "none", start=in_this_process, **given)


def rows_of(store: Store) -> list[Row]:
    """One row of each problem and method."""
    first: dict[tuple[str, str], Row] = {}
    for row in store.table().to_pylist():
        first.setdefault((row["problem"], row["method"]), row)
    return list(first.values())


TEXTS = ("", "{", "[]", "3", '{"a": NaN}', "../x", "9999-12-31T23:59:59+00:00", "wrong: line 1", "feasible")
LONG = (json.dumps({"note": "x" * 3_000_000}), '{"a":' * 5000 + "1" + "}" * 5000)
NUMBERS = (0.0, -1.0, 1e300, math.inf, -math.inf, math.nan, 2.0**53)


def forged_value(value: Any, others: Sequence[Any], draw: random.Random) -> Any:
    """Another value than a row has: of another row or type, near by, special, or with a part changed or removed."""
    if draw.random() < 0.15:
        return draw.choice(others)
    if value is None or draw.random() < 0.03:
        return draw.choice([None, "text", 3.5, 7, [], [0, 1]])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw.choice([value + 1, value - 1, 2 * value, -1, draw.randrange(2**31), 2**63 - 1])
    if isinstance(value, float):
        near = (value + 1, value - 1, math.nextafter(value, math.inf), value * draw.random(), draw.uniform(0, 1e6))
        return draw.choice([*near, *NUMBERS])
    if isinstance(value, str) and value.startswith("{"):
        changed = json.dumps(forged_value(json.loads(value), [{}], draw), ensure_ascii=False)
        return draw.choice([changed] * 6 + [*TEXTS, *LONG, value + " "])
    if isinstance(value, str):
        at = draw.randrange(len(value) + 1)
        return draw.choice([*TEXTS, value + "x", value[:at], value[:at] + draw.choice("019aZ/-") + value[at + 1 :]])
    at = draw.choice(list(value)) if isinstance(value, dict) and value else draw.randrange(max(1, len(value)))
    part = forged_value(value[at], [None, 7, "text"], draw) if value else None
    if isinstance(value, dict):
        rest = {name: each for name, each in value.items() if name != at}
        return draw.choice([rest, {**value, at: part}, {**value, at: part}, {**rest, f"{at}s": part}])
    shuffled = draw.sample(value, len(value)) if isinstance(value, list) else value
    replaced = [*value[:at], part, *value[at + 1 :]]
    return type(value)(draw.choice([value[:at], value[at:], [*value, *value[at:]], shuffled, replaced, replaced]))


def is_another_answer(row: Row, packed: Any) -> bool:
    """Whether a packed answer is valid, of the row's value and measures."""
    problem = ob.PROBLEMS[row["problem"]]
    instance, kind = Recipe.from_json(row["recipe"]).make(), ob.KINDS[problem.kind]
    answer = kind.unpack(np.asarray(packed, np.int32), instance)
    measures = list(problem.measures(instance, answer).items())
    return (
        not problem.violations(instance, answer)
        and problem.value(instance, answer) == row["value"]
        and measures == row["measures"]
    )


def are_possible_points(row: Row, points: list[Row]) -> bool:
    """Whether points end as the row's do, in the order of time, each better than the one before."""
    seconds = [0.0, *(point["seconds"] for point in points)]
    values = [math.inf if point["value"] is None else point["value"] for point in points]
    bounds = [-math.inf if point["lower_bound"] is None else point["lower_bound"] for point in points]
    ordered = seconds == sorted(seconds) and values == sorted(values, reverse=True) and bounds == sorted(bounds)
    outcomes = [{**run[-1], "seconds": 0.0} for run in (points, row["points"])]
    return ordered and outcomes[0] == outcomes[1] and seconds[-1] <= row["seconds"]


def fields_of(text: str) -> dict[str, type]:
    return {name: type(value) for name, value in json.loads(text).items()}


NOT_PROMISED: dict[str, Callable[[Row, Any], bool]] = {
    "recipe": lambda row, value: Recipe.from_json(value).make().digest == row["instance"],
    "status": lambda row, value: (
        {row["status"], value} <= {"failed", "infeasible", "time-limit"} and row["answer"] is None
    ),
    "reason": lambda row, value: row["status"] != "optimal" and (bool(value) or row["status"] != "failed"),
    "seconds": lambda row, value: (
        0 <= value < math.inf
        if row["status"] == "failed"
        else max([0, *(point["seconds"] for point in row["points"])]) <= value <= 2 * row["time_limit"]
    ),
    "cpu_seconds": lambda row, value: (
        row["status"] in ("failed", "optimal") if math.isnan(value) else 0 <= value <= 1e4 * row["time_limit"]
    ),
    "counters": lambda row, value: (
        len(value) < 1e5
        and set(fields_of(value).values()) <= {int, float, str}
        and not {"proof", "proof_check", "certified"} & set(fields_of(value))
    ),
    "answer": is_another_answer,
    "peak_memory": lambda row, value: 0 <= value <= json.loads(row["machine"])["memory"] * 2**20,
    "versions": lambda row, value: set(fields_of(value).values()) == {str} and "python" in fields_of(value),
    "machine": lambda row, value: fields_of(value) == fields_of(row["machine"]),
    "started": lambda row, value: datetime.fromisoformat(value) < datetime.now(UTC) + timedelta(days=2),
    "points": are_possible_points,
}
"""Of the columns whose description says that some of their values are not promised: which these are."""


def failed(row: Row) -> Row:
    """The row of a run that crashed in place of giving this one."""
    empty: Row = {"value": None, "lower_bound": None, "answer": None, "measures": [], "points": []}
    return {**row, **empty, "status": "failed", "reason": "crash: killed by SIGSEGV", "cpu_seconds": math.nan}


def missed(
    rows: list[Row], times: int, others: list[Row], draw: random.Random
) -> tuple[Counter[str], list[tuple[Any, ...]]]:
    """How many columns were forged, each `times` a row, and what of it was promised and not found."""
    seen, unfound = Counter[str](), []
    for row in rows:
        assert faults_of_row(row) == []
        for name in COLUMNS:
            for _ in range(times):
                value = forged_value(row[name], [other[name] for other in others], draw)
                if value == row[name] or (name == "cpu_seconds" and value != value != row[name] != row[name]):
                    continue
                faults = faults_of_row({**row, name: value})
                seen.update(("tries", "refused" if faults else "accepted"))
                assert all(len(fault.splitlines()) == 1 for fault in faults), (name, value)
                if not faults and not (name in NOT_PROMISED and NOT_PROMISED[name](row, value)):
                    unfound.append((row["problem"], row["method"], row["status"], name, str(value)[:200]))
    return seen, unfound


def test_an_honest_study_has_no_faults(honest: Store, of_others: Store) -> None:
    assert checked_here(honest) == Verification(16, 0, 0, (), ())
    assert of_others.plan().name == "spec"
    assert checked_here(of_others).faults == ()


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_any_column_of_any_row_changed_to_any_other_value_is_found_or_not_promised(
    times: int, honest: Store, of_others: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlaybench.compare.studies.verification._MOST_SECONDS", 1.0)
    for store in (honest, of_others):
        rows = [*(honest_rows := rows_of(store)), failed(honest_rows[0])]
        seen, unfound = missed(rows, times, rows, random.Random(times))
        assert unfound == []
        assert seen["tries"] > 20 * times * len(honest_rows)


def test_the_columns_that_are_not_wholly_promised_say_so_as_the_page_does() -> None:
    page = (Path(__file__).parents[3] / "docs" / "results.md").read_text(encoding="utf-8")
    checked = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", page.partition("checked against |")[2], re.MULTILINE))
    assert list(checked)[: len(COLUMNS)] == list(COLUMNS)
    assert set(NOT_PROMISED) == {name for name in COLUMNS if re.search(r"\bnot\b", checked[name])}


def test_a_column_less_is_found(honest: Store) -> None:
    row = rows_of(honest)[0]
    for name in COLUMNS:
        assert faults_of_row({key: value for key, value in row.items() if key != name})


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("gm", {"status": "time-limit"}),
        ("branch-and-cut", {"status": "feasible", "lower_bound": None}),
        ("gm", {"status": "failed", "reason": "no", "value": None, "answer": None, "measures": [], "lower_bound": 1.0}),
        ("gm", {"status": "skipped", "reason": "no", "value": None, "answer": None, "measures": [], "seconds": 0.0}),
    ],
)
def test_a_status_that_the_method_cannot_have_is_found(method: str, fields: Row, honest: Store) -> None:
    row = next(row for row in rows_of(honest) if row["method"] == method)
    assert faults_of_row(rekeyed(row, **fields))


def rekeyed(row: Row, **fields: Any) -> Row:
    """The row with other fields, and the key that belongs to them; its points follow its outcome."""
    row = {**row, **fields}
    ended = {name: row[name] for name in ("seconds", "value", "lower_bound")}
    points = [] if (row["value"], row["lower_bound"]) == (None, None) else [ended]
    return {**row, "key": Task(**{name: row[name] for name in STORED}).key, "points": points}


def of_first(change: Callable[[Row], Row], method: str = "gm") -> Forgery:
    """Change the first row of a method on min-tco."""

    def forge(store: Store, rows: list[Row]) -> set[str]:
        at = next(at for at, row in enumerate(rows) if (row["method"], row["problem"]) == (method, "min-tco"))
        rows[at] = change(rows[at])
        return {rows[at]["key"]}

    return forge


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


OF_ROWS: dict[str, Forgery] = {
    "heuristics called optimal": of_first(lambda row: rekeyed(row, status="optimal", lower_bound=row["value"])),
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


def in_the_journal(store: Store, data: Callable[[Row], bytes]) -> str:
    """Move a row from its part to the journal, as these bytes; returns its key."""
    (part,) = store.parts()
    rows = store.table().to_pylist()
    part.unlink()
    write_part(table_of(rows[1:]), store.runs)
    store.journal.write_bytes(data(rows[0]))
    return str(rows[0]["key"])


def framed(body: bytes) -> bytes:
    """Bytes as a batch in a journal, with their checksum."""
    return _FRAME.pack(_MAGIC, len(body), hashlib.sha256(body).digest()) + body


def stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def with_texts(table: pa.Table, column: str) -> pa.Table:
    """A table with a text in a column of numbers."""
    return table.set_column(table.column_names.index(column), column, pa.array(["long"]))


BATCHES: dict[str, Callable[[Row], bytes]] = {
    "damaged": lambda row: framed(to_bytes([row])).replace(row["key"].encode(), b"0" * 32),
    "no rows": lambda row: framed(b"{}"),
    "a null": lambda row: framed(to_bytes([{**row, "method": None}])),
    "zeros": lambda row: bytes(4096),
    "a column less": lambda row: framed(stream(table_of([row]).drop_columns("status"))),
    "another type": lambda row: framed(stream(with_texts(table_of([row]), "seconds"))),
}


@pytest.mark.parametrize("name", BATCHES)
def test_a_forged_or_damaged_batch_of_the_journal_is_found(name: str, honest: Store, tmp_path: Path) -> None:
    store = copied(honest, tmp_path)
    key = in_the_journal(store, BATCHES[name])
    assert {key, "rows.journal"} & {found for found, _ in checked_here(store).faults}


@pytest.mark.parametrize("table", [pa.table({"key": ["0" * 32]}), pa.table({"a": [1]})])
def test_a_part_of_other_columns_is_found(table: pa.Table, honest: Store, tmp_path: Path) -> None:
    store = copied(honest, tmp_path)
    file = store.folder / "other.parquet"
    pq.write_table(table, file)
    name = f"{checksum(file)}.parquet"
    file.rename(store.runs / name)
    assert name in {found for found, _ in checked_here(store).faults}


@pytest.mark.parametrize("faults", [(), (("a" * 32, "has another value"),)])
def test_the_command_prints_the_faults_and_its_exit_status_is_1_if_there_are_some(
    faults: tuple[Fault, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "verify", lambda *_, **given: Verification(3, 0, 0, faults, ()))
    ended = CliRunner().invoke(cli, ["verify", "out"])
    lines = [*(f"{key}: {fault}" for key, fault in faults), f"out: 3 answers checked, {len(faults)} faults found"]
    assert (ended.exit_code, ended.output.splitlines()) == (len(faults), lines)


@pytest.mark.slow
@pytest.mark.spark
def test_forged_rows_are_found_by_processes_and_on_a_cluster(honest: Store, tmp_path: Path) -> None:
    store, wrong = forged_by(OF_ROWS["heuristics called optimal"], honest, tmp_path)
    with loopback_cluster(1) as cluster:
        for master in ("local[2]", cluster.master):
            assert wrong <= {key for key, _ in verify(store.folder, master).faults}
            assert verify(honest.folder, master) == checked_here(honest)


def test_a_run_that_cannot_be_repeated_here_is_a_remark(honest: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(folder: Path, key: str) -> Rerun:
        raise ob.BadInput("no module 'own'")

    monkeypatch.setattr(verification, "rerun", lacking)
    found = checked_here(honest, share=0.1, seed=1)
    assert (found.repeated, found.faults, len(found.notes)) == (0, (), 2)
    assert "cannot be repeated: no module 'own'" in found.notes[0]


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
    row |= {"problem": "min-tco", "seconds": 1.0, "time_limit": 10.0, "code_version": "1" * 12}
    assert len(list(faults_of_rerun(Rerun({**row, **before}, {**row, **after})))) == faults
