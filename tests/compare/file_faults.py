"""Faults of files in the folder of a finished study, which the next start repairs or refuses in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pyarrow.parquet as pq

from overlaybench.compare.studies.store import Store, read_log
from tests.compare.trial_study import Trial


def _finished(trial: Trial) -> Store:
    trial.finish()
    trial.note_faults()
    return Store(trial.out)


def _refused_and_removed(trial: Trial, name: str) -> None:
    """A damaged file is refused in a line that names it; once it is removed, the study restores it."""
    store = _finished(trial)
    (store.folder / name).write_bytes(b"\x00" * 100)
    messages = len(trial.damage.messages)
    assert trial.end(trial.start()) == 2
    assert len(trial.damage.messages) == messages + 1
    assert f"{name}: is damaged: remove it and run the study again" in trial.damage.messages[-1]
    (store.folder / name).unlink()
    trial.finish()
    assert store.plan().keys


def damaged_plan(trial: Trial) -> None:
    """plan.json is all zeros."""
    _refused_and_removed(trial, "plan.json")


def damaged_index(trial: Trial) -> None:
    """The index of instances is all zeros."""
    _refused_and_removed(trial, "instances/index.json")


def damaged_labels(trial: Trial) -> None:
    """plan.parquet is all zeros; the next start writes it again."""
    store = _finished(trial)
    (store.folder / "plan.parquet").write_bytes(b"\x00" * 100)
    trial.finish()
    assert pq.read_table(store.folder / "plan.parquet").num_rows == len(store.plan().keys)


def empty_instances(trial: Trial) -> None:
    """Every instance file is empty, as after a power cut."""
    store = _finished(trial)
    for file in store.instances.glob("*.parquet"):
        file.write_bytes(b"")
    trial.finish()
    assert all(file.stat().st_size for file in store.instances.glob("*.parquet"))


def lost_instances(trial: Trial) -> None:
    """The folder of instances is gone."""
    shutil.rmtree(_finished(trial).instances)
    trial.finish()


def incomplete_merge(trial: Trial) -> None:
    """The logs of a killed study are merged, and there again: the merge was killed before it removed them."""
    study = trial.begin(20)
    study.kill()
    study.wait()
    trial.note_faults()
    store = Store(trial.out)
    kept = {log: log.read_bytes() for log in store.logs()}
    assert any(list(read_log(log)) for log in kept)
    store.merge()
    for log, data in kept.items():
        log.write_bytes(data)
    trial.finish()


def zeros_in_a_log(trial: Trial) -> None:
    """A log ends in zeros, as after a power cut."""
    study = trial.begin(10)
    study.kill()
    study.wait()
    store = Store(trial.out)
    trial.note_faults()
    for log in store.logs():
        log.write_bytes(log.read_bytes() + b"\x00" * 4096)
    trial.finish()
    assert any("damaged lines are in damaged/ now" in line for line in trial.damage.messages)


def temporary_files(trial: Trial) -> None:
    """Temporary files of killed writes are everywhere."""
    store = _finished(trial)
    for folder in (store.folder, store.runs, store.instances, store.history, store.proofs):
        (folder / ".left.parquet.77").write_bytes(b"half")
    trial.finish()
    assert not list(store.folder.rglob(".left*"))


def lost_part(trial: Trial) -> None:
    """A file of merged rows is gone: its runs are repeated."""
    store = _finished(trial)
    part = next(iter(store.runs.glob("*.parquet")))
    trial.expect_repeated(set(pq.read_table(part)["key"].to_pylist()))
    part.unlink()
    trial.finish()


def damaged_progress(trial: Trial) -> None:
    """progress.json, which only `status` reads, is all zeros."""
    store = _finished(trial)
    (store.folder / "progress.json").write_bytes(b"\x00" * 100)
    trial.finish()


FILE_FAULTS: dict[str, Callable[[Trial], None]] = {
    "plan damaged": damaged_plan,
    "index damaged": damaged_index,
    "labels damaged": damaged_labels,
    "instances empty": empty_instances,
    "instances lost": lost_instances,
    "incomplete merge": incomplete_merge,
    "zeros in a log": zeros_in_a_log,
    "temporary files": temporary_files,
    "part lost": lost_part,
    "progress damaged": damaged_progress,
}
