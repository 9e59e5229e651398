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
from overlaybench.compare.studies.row import SCHEMA, object_in, of_bytes, row, to_bytes
from overlaybench.compare.studies.store import Plan, RowWriter, Store, index_of
from overlaybench.compare.studies.task import FileKey, Recipe, Task, options_json
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
    return row(task, PATH, IsolatedRun(result, 5.0, 1.5))


def added(writer: RowWriter, *seeds: int) -> list[str]:
    """Finished runs, a batch each; returns their keys."""
    tasks = [task_of(seed=seed) for seed in seeds]
    for task in tasks:
        writer.add(to_bytes([row_of(task, GM.run(PATH, ob.PROBLEMS["min-tco"]))]))
    return [task.key for task in tasks]


def journalled(store: Store, *seeds: int) -> list[str]:
    """Finished runs in the journal, as a killed driver leaves them."""
    return added(RowWriter(store), *seeds)


def written(store: Store, *seeds: int) -> list[str]:
    """Finished runs in a part."""
    with RowWriter(store) as writer:
        return added(writer, *seeds)


@pytest.mark.parametrize("merged", [False, True])
def test_a_row_is_read_as_it_was_written(tmp_path: Path, merged: bool) -> None:
    store, task = stored(tmp_path), task_of()
    result = GM.run(PATH, ob.PROBLEMS["min-tco"])
    (written if merged else journalled)(store, task.seed)
    rows = store.rows()
    assert set(rows.columns) == {*SCHEMA.names, *TOPICS.sizes, *TOPICS.measures} - {"sizes", "measures"}
    assert store.done().to_pylist() == [task.key]
    only = rows.iloc[0]
    assert (only["value"], only["status"], only["nodes"], only["variant"]) == (2.0, "feasible", 3, "gm")
    assert np.isnan(only["lower_bound"])
    assert ob.Overlay(3, np.array(only["answer"], dtype=np.int32).reshape(-1, 2)) == result.answer
    assert object_in(only["counters"]) == dict(result.counters)


@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"time_limit": 2.0}, {"problem": "low-tco"}, {"code_version": "abd"}, {"instance": "0"}]
)
def test_a_key_changes_with_whatever_decides_the_result(change: dict[str, Any]) -> None:
    assert task_of(**change).key != task_of().key


def test_the_content_of_a_file_is_kept_once_and_read_in_place_of_the_file(tmp_path: Path) -> None:
    store, file = stored(tmp_path), tmp_path / "own.csv"
    file.write_text("node,topic\na,x\nb,x\nb,y\nc,y\n")
    key = FileKey(str(file), "topics", ())
    recipe = Recipe("own", 0, file=str(file))
    digest = store.add_source(key, key.read().instance)
    assert digest == store.add_source(key, key.read().instance) == PATH.digest
    assert [kept.name for kept in store.instances.iterdir()] == [f"{digest}.parquet"]
    store.write_index(index_of([recipe.to_json()], [digest], [3], [digest]))
    file.unlink()
    assert store.instance(recipe.to_json(), digest) == PATH
    with pytest.raises(ob.BadInput, match="gives another instance than 0"):
        store.instance(recipe.to_json(), "0" * 64)
    store.source(key, digest).write_text("")  # as a power cut leaves it
    assert [remark.split(" ")[0] for remark in store.recover()] == [f"{digest}.parquet"]
    assert not store.source(key, digest).exists()


@pytest.mark.parametrize("name", [f"{'a' * 32}.parquet", "rows.journal"])
@pytest.mark.parametrize(
    "make", [Path.mkdir, lambda file: file.symlink_to(file.name), lambda file: file.symlink_to("-")]
)
def test_rows_that_cannot_be_read_are_bad_input(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    store = stored(tmp_path)
    make(store.runs / name)
    for use in (store.rows, store.done, store.recover):
        with pytest.raises(ob.BadInput, match=f"{name}: cannot be read .*: remove it and run the study again"):
            use()


@pytest.mark.parametrize("folders", [1, 2])
def test_a_folder_left_by_a_kill_before_its_study_file_is_taken(folders: int, tmp_path: Path) -> None:
    store = Store(tmp_path)
    for folder in (store.runs, store.history)[:folders]:
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


def test_a_part_has_every_row_of_the_journal_once_with_its_columns_and_version(tmp_path: Path) -> None:
    store = stored(tmp_path)
    keys = journalled(store, 1, 2)
    before = store.table()
    assert store.recover() == []
    (part,) = store.runs.iterdir()
    schema = pq.read_schema(part)
    assert schema.names == SCHEMA.names
    assert schema.metadata[b"overlaybench"] == b"results/4"
    assert store.table().equals(before)
    keys += written(store, 3)
    assert sorted(store.done().to_pylist()) == sorted(keys)
    assert not store.journal.exists()


def test_a_part_is_written_whenever_many_rows_have_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.compare.studies.store._PART_ROWS", 2)
    store = stored(tmp_path)
    with RowWriter(store) as writer:
        keys = added(writer, 1, 2, 3)
        assert len(store.parts()) == 1
        assert store.journal.exists()
        assert sorted(store.done().to_pylist()) == sorted(keys)
    assert len(store.parts()) == 2
    assert store.table(columns=["key"])["key"].to_pylist() == sorted(keys)


def test_a_kill_between_a_part_and_the_end_of_its_journal_doubles_nothing(tmp_path: Path) -> None:
    store = stored(tmp_path)
    keys = journalled(store, 1, 2)
    copy = store.journal.read_bytes()
    store.recover()
    store.journal.write_bytes(copy)
    assert store.table(columns=["key"])["key"].to_pylist() == sorted(keys)
    store.recover()
    assert len(list(store.runs.iterdir())) == 1
    assert store.table(columns=["key"])["key"].to_pylist() == sorted(keys)


@pytest.mark.parametrize("damage", [lambda data: data[:-7], lambda data: data[:99] + b"\x00" + data[100:]])
def test_a_damaged_part_is_refused_moved_and_reported(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    store = stored(tmp_path)
    written(store, 1, 2)
    (part,) = store.parts()
    kept = written(store, 3)
    part.write_bytes(damage(part.read_bytes()))
    with pytest.raises(ob.BadInput, match="is damaged"):
        store.rows()
    (remark,) = store.recover()
    assert part.name in remark
    assert store.done().to_pylist() == kept
    assert (store.damaged / part.name).is_file()


def test_a_torn_or_changed_batch_costs_its_own_runs_only(tmp_path: Path) -> None:
    store = stored(tmp_path)
    keys = journalled(store, 1, 2, 3, 4)
    data = store.journal.read_bytes()
    size = len(data) // 4
    damaged = data[size : 2 * size].replace(b"min-tco", b"max-tco")
    assert damaged != data[size : 2 * size]
    store.journal.write_bytes(data[:size] + damaged + data[2 * size : 3 * size] + bytes(99) + data[3 * size : -20])
    assert store.done().to_pylist() == [keys[0], keys[2]]
    (remark,) = store.recover()
    assert "damaged bytes are in damaged/ now" in remark
    assert sorted(store.done().to_pylist()) == sorted([keys[0], keys[2]])
    assert (store.damaged / "rows.journal").read_bytes() == damaged + bytes(99) + data[3 * size : -20]


@property_test(
    100, text=st.text(), number=st.floats(allow_nan=False), answer=st.none() | st.lists(st.integers(0, 2**31 - 1))
)
def test_any_row_survives_its_bytes(text: str, number: float, answer: list[int] | None) -> None:
    filled = dict.fromkeys(SCHEMA.names, None) | {"key": "k", "sizes": [("nodes", 3)], "measures": [(text, number)]}
    (back,) = of_bytes(to_bytes([filled | {"reason": text, "value": number, "answer": answer}])).to_pylist()
    assert (back["reason"], back["value"], back["measures"], back["answer"]) == (text, number, [(text, number)], answer)


def test_what_a_plug_in_returns_is_stored_as_arrow_can_read_it(tmp_path: Path) -> None:
    store = stored(tmp_path)
    given: Any = {"reason": "a\udc80", "value": np.int64(3)}
    result: ob.Result[Any] = ob.Result(problem="p", method="gm", status=ob.Status.FAILED, **given)
    with RowWriter(store) as writer:
        writer.add(to_bytes([row_of(task_of(), result)]))
    assert store.table(columns=["reason", "value"]).to_pylist() == [{"reason": r"a\udc80", "value": 3}]


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    store = stored(tmp_path)
    for other in ("results/1", "results/9"):
        store.write_plan(Plan("n", [], "seed = 1", format=other))
        for attempt in (lambda: Store.existing(store.folder), lambda: store.open_for("seed = 1")):
            with pytest.raises(ob.BadInput, match=f"holds '{other}', and this version reads 'results/4'"):
                attempt()


@pytest.mark.parametrize("digest", ["../../etc/passwd", "..", "", "a/b", "a" * 8 + "/../x"])
def test_a_digest_that_leads_out_of_the_folder_is_refused(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ob.BadInput, match="no digest"):
        stored(tmp_path).source(FileKey("own.csv", "topics", ()), digest)


def test_a_full_disk_leaves_complete_batches_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(tmp_path)
    writer = RowWriter(store)
    added(writer, 1)
    write = os.write

    def half(handle: int, data: bytes) -> int:
        if len(data) < 400:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data[: len(data) // 2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(ob.BadInput, match="No space left on device"):
            added(writer, 2)
    added(writer, 3)
    assert store.recover() == []
    assert sorted(store.done().to_pylist()) == sorted([task_of(seed=1).key, task_of(seed=3).key])
