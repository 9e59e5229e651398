"""Rows are stored completely, once, and for one study."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.studies.isolation import IsolatedRun
from overlaybench.compare.studies.row import SCHEMA, TYPED, from_line, row, to_line
from overlaybench.compare.studies.store import Plan, RunLog, Store
from overlaybench.compare.studies.task import Task, options_json
from overlaybench.instances.topics.files import TOPICS
from tests.properties import property_test

PATH = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
GM = ob.METHODS["gm"]


def task_of(**changes: Any) -> Task:
    fields: dict[str, Any] = {
        "instance": PATH.digest,
        "recipe": "{}",
        "family": "path",
        "problem": "min-tco",
        "method": GM.name,
        "options": options_json(GM.complete({}, "min-tco")),
        "seed": 3,
        "time_limit": 1.0,
        "memory_limit": 100,
        "code_version": "abc",
    }
    return Task(**{**fields, **changes})


def stored(tmp_path: Path) -> Store:
    store = Store(tmp_path / "out")
    store.open_for("seed = 1")
    return store


def row_of(task: Task, result: ob.Result[Any]) -> dict[str, Any]:
    return row(task, PATH, IsolatedRun(result, 5.0, 1.5), "2020")


def log(store: Store, *seeds: int) -> list[str]:
    """A log of finished runs that its worker has closed; returns the keys of the runs."""
    worker = RunLog(store.runs)
    tasks = [task_of(seed=seed) for seed in seeds]
    for task in tasks:
        worker.add(row_of(task, GM.run(PATH, ob.PROBLEMS["min-tco"])))
    worker.close()
    return [task.key for task in tasks]


@pytest.mark.parametrize("merged", [False, True])
def test_a_row_is_read_as_it_was_written(tmp_path: Path, merged: bool) -> None:
    store, task = stored(tmp_path), task_of()
    result = GM.run(PATH, ob.PROBLEMS["min-tco"])
    log(store, task.seed)
    if merged:
        store.merge()
    rows = store.rows()
    assert set(rows.columns) == {*SCHEMA.names, *TOPICS.sizes, *TOPICS.measures, *TYPED.values()} - {
        "sizes",
        "measures",
    }
    assert store.done() == {task.key}
    only = rows.iloc[0]
    assert (only["value"], only["status"], only["nodes"], only["variant"]) == (2.0, "feasible", 3, "gm")
    assert np.isnan(only["lower_bound"])
    assert ob.Overlay(3, np.array(only["answer"], dtype=np.int32).reshape(-1, 2)) == result.answer
    assert only["counter_values"] == dict(result.counters)


@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"time_limit": 2.0}, {"problem": "low-tco"}, {"code_version": "abd"}, {"instance": "0"}]
)
def test_a_key_changes_with_whatever_decides_the_result(change: dict[str, Any]) -> None:
    assert task_of(**change).key != task_of().key


def test_instances_are_kept_by_digest_and_checked(tmp_path: Path) -> None:
    store = stored(tmp_path)
    store.add_instance(PATH, TOPICS)
    assert store.instance(PATH.digest, TOPICS) == PATH
    other = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x"]})
    (store.instances / f"{PATH.digest}.parquet").rename(store.instances / f"{other.digest}.parquet")
    with pytest.raises(ob.BadInput, match="does not hold the instance"):
        store.instance(other.digest, TOPICS)
    (store.instances / f"{PATH.digest}.parquet").write_text("?")
    with pytest.raises(ob.BadInput, match=r"parquet: is damaged: remove it and run the study again.* \(cannot be read"):
        store.instance(PATH.digest, TOPICS)
    (store.instances / f"{PATH.digest}.parquet").write_text("")  # as a power cut leaves it
    assert [remark.split(" ")[0] for remark in store.recover()] == [f"{PATH.digest}.parquet"]
    assert not store.has_instance(PATH.digest, TOPICS)


@pytest.mark.parametrize("name", [f"{'a' * 32}.parquet", "host.log"])
@pytest.mark.parametrize(
    "make", [Path.mkdir, lambda file: file.symlink_to(file.name), lambda file: file.symlink_to("-")]
)
def test_rows_that_cannot_be_read_are_bad_input(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    store = stored(tmp_path)
    make(store.runs / name)
    for use in (store.rows, store.done, store.recover):
        with pytest.raises(ob.BadInput, match=f"{name}: cannot be read .*: remove it and run the study again"):
            use()


@pytest.mark.parametrize("folders", [1, 4])
def test_a_folder_left_by_a_kill_before_its_study_file_is_taken(folders: int, tmp_path: Path) -> None:
    store = Store(tmp_path)
    for folder in (store.runs, store.instances, store.history, store.proofs)[:folders]:
        folder.mkdir()
    (tmp_path / ".study.toml.x1").write_text("na")
    store.open_for("name = 'a'")
    assert (tmp_path / "study.toml").read_text() == "name = 'a'"


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(ob.BadInput, match="holds other files"):
        Store(tmp_path / "full").open_for("seed = 1")
    with pytest.raises(ob.BadInput, match="holds no results"):
        Store.existing(tmp_path / "full")
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["thesis.tex"]


def test_a_second_study_in_the_same_folder_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    """The lock is one of an opened file: a second opening in this process stands for another process."""
    store = stored(tmp_path)
    with (
        store.locked(),
        pytest.raises(ob.BadInput, match="another study is running there"),
        Store(store.folder).locked(),
    ):
        pass
    with Store(store.folder).locked():
        assert store.is_locked()


def test_merging_keeps_every_row_once_in_parts_with_their_columns_and_version(tmp_path: Path) -> None:
    store = stored(tmp_path)
    keys = log(store, 1, 2) + log(store, 3)
    before = store.table()
    assert store.merge() == []
    assert store.logs() == []
    (part,) = store.runs.iterdir()
    schema = pq.read_schema(part)
    assert schema.names == SCHEMA.names
    assert schema.metadata[b"overlaybench"] == b"results/3"
    assert store.done() == set(keys)
    assert store.table().equals(before)


def test_a_log_that_is_being_written_is_read_and_not_merged(tmp_path: Path) -> None:
    store, worker = stored(tmp_path), RunLog(tmp_path / "out" / "runs")
    worker.add(row_of(task_of(), GM.run(PATH, ob.PROBLEMS["min-tco"])))
    Store(store.folder).merge()
    assert len(store.logs()) == 1
    assert store.done() == {task_of().key}
    worker.close()
    store.merge()
    assert store.logs() == []
    assert store.done() == {task_of().key}


def test_an_incomplete_merge_doubles_nothing(tmp_path: Path) -> None:
    store = stored(tmp_path)
    keys = log(store, 1, 2)
    copies = {file: file.read_bytes() for file in store.logs()}
    store.merge()
    for file, content in copies.items():
        file.write_bytes(content)
    assert store.table(columns=["key"])["key"].to_pylist() == sorted(keys)
    store.merge()
    assert len(list(store.runs.iterdir())) == 1
    assert store.table(columns=["key"])["key"].to_pylist() == sorted(keys)


@pytest.mark.parametrize("damage", [lambda data: data[:-7], lambda data: data[:99] + b"\x00" + data[100:]])
def test_a_damaged_part_is_refused_moved_and_reported(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    store = stored(tmp_path)
    log(store, 1, 2)
    store.merge()
    kept = log(store, 3)
    (part,) = store.runs.glob("*.parquet")
    part.write_bytes(damage(part.read_bytes()))
    with pytest.raises(ob.BadInput, match="is damaged"):
        store.rows()
    (remark,) = store.recover()
    assert part.name in remark
    assert store.done() == set(kept)
    assert (store.damaged / part.name).is_file()


def test_a_torn_or_changed_line_costs_its_own_run_only(tmp_path: Path) -> None:
    store = stored(tmp_path)
    keys = log(store, 1, 2, 3)
    (file,) = store.logs()
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1].replace(b'"gm"', b'"mg"') + lines[2][:-20])
    assert store.done() == {keys[0]}
    (remark,) = store.recover()
    assert "2 damaged lines" in remark
    assert store.done() == {keys[0]}
    assert (store.damaged / file.name).read_bytes() == lines[1].replace(b'"gm"', b'"mg"') + lines[2][:-20]


@property_test(
    100, text=st.text(), number=st.floats(allow_nan=False), answer=st.none() | st.lists(st.integers(0, 2**31 - 1))
)
def test_any_row_survives_its_log_line(text: str, number: float, answer: list[int] | None) -> None:
    filled = dict.fromkeys(SCHEMA.names, None) | {"key": "k", "sizes": [("nodes", 3)], "measures": [(text, number)]}
    back = from_line(to_line(filled | {"reason": text, "value": number, "answer": answer}))
    assert (back["reason"], back["value"], back["measures"]) == (text, number, [(text, number)])
    assert (None if back["answer"] is None else back["answer"].tolist()) == answer


def test_what_a_plug_in_returns_is_stored_as_arrow_can_read_it(tmp_path: Path) -> None:
    store = stored(tmp_path)
    given: Any = {"reason": "a\udc80", "value": np.int64(3)}
    result: ob.Result[Any] = ob.Result(problem="p", method="gm", status=ob.Status.FAILED, **given)
    worker = RunLog(store.runs)
    worker.add(row_of(task_of(), result))
    worker.close()
    store.merge()
    assert store.table(columns=["reason", "value"]).to_pylist() == [{"reason": r"a\udc80", "value": 3}]


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    store = stored(tmp_path)
    store.write_plan(Plan("n", [], "seed = 1", []))
    for other in ('"format": "results/1"', '"format": "results/9"'):
        text = (store.folder / "plan.json").read_text()
        (store.folder / "plan.json").write_text(text.replace('"format": "results/3"', other))
        for attempt in (lambda: Store.existing(store.folder), lambda: store.open_for("seed = 1")):
            with pytest.raises(ob.BadInput, match="this version reads 'results/3'"):
                attempt()
        (store.folder / "plan.json").write_text(text)


@pytest.mark.parametrize("digest", ["../../etc/passwd", "..", "", "a/b", "a" * 8 + "/../x"])
def test_a_digest_that_leads_out_of_the_folder_is_refused(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ob.BadInput, match="no digest"):
        stored(tmp_path).instance(digest, TOPICS)


def test_a_full_disk_leaves_complete_lines_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, worker = stored(tmp_path), RunLog(tmp_path / "out" / "runs")
    result = GM.run(PATH, ob.PROBLEMS["min-tco"])
    worker.add(row_of(task_of(seed=1), result))
    write = os.write

    def half(handle: int, data: bytes) -> int:
        if len(data) < 400:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data[: len(data) // 2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(ob.BadInput, match="No space left on device"):
            worker.add(row_of(task_of(seed=2), result))
    worker.add(row_of(task_of(seed=3), result))
    worker.close()
    assert store.recover() == []
    assert store.done() == {task_of(seed=1).key, task_of(seed=3).key}
