"""A study grows in its folder: what is new is run, what was removed stays stored, and its history is kept."""

import json
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pandas as pd
import pytest

from overlaybench.compare.studies import run_table as table_module
from overlaybench.compare.studies import spark_study
from overlaybench.compare.studies.results import results
from overlaybench.compare.studies.row import table_of
from overlaybench.compare.studies.spark_study import Again
from overlaybench.compare.studies.store import Store, write_part
from overlaybench.instances.contract.errors import BadInput
from tests.compare.studies.without_spark import study_done_in
from tests.outcomes import output_of

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "results.md").read_text()
SPEC = """
name = "grows"
instances = [{ workload = "zipf", nodes = [5, 6], topics = 5, subscriptions = 2, seeds = 2 }]
runs = [{ problems = ["min-tco"], methods = ["gm"] }]
"""
METHODS_MORE = '["ring-per-topic", "gm"]'
MORE = SPEC.replace("seeds = 2", "seeds = 4").replace('["gm"]', METHODS_MORE).replace("[5, 6]", "[7, 6, 5]")


def done(text: str, store: Store) -> tuple[set[str], set[str]]:
    """Do what is missing of a study; the keys of its runs, and those done now."""
    before = set(store.done().to_pylist())
    keys = set(study_done_in(store.folder.parent, text).keys().to_pylist())
    return keys, keys - before


def test_more_methods_seeds_and_sizes_run_only_what_is_new(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    first, _ = done(SPEC, store)
    columns = ["key", "recipe", "value", "seconds", "started", "answer"]
    before = store.table(first, columns)
    grown, new = done(MORE, store)
    assert (len(first), len(grown)) == (4, 24)
    assert new == grown - first
    assert first < grown
    assert store.table(first, columns).equals(before)


def test_removed_runs_stay_stored_and_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    grown, _ = done(MORE, store)
    present, new = done(SPEC, store)
    assert not new
    assert set(results(store.folder)["key"]) == present
    everything = results(store.folder, all_runs=True)
    assert set(everything["key"]) == grown
    assert set(everything[everything["current"]]["key"]) == present
    assert results(store.folder)["current"].all()


def test_two_versions_of_the_code_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "out")
    old, _ = done(SPEC, store)
    monkeypatch.setattr(table_module, "version_of", lambda *names: "0123456789ab")
    monkeypatch.setattr(spark_study, "version_of", lambda *names: "0123456789ab")
    now, new = done(SPEC, store)
    assert new == now
    assert not old & now
    assert set(results(store.folder)["code_version"]) == {"0123456789ab"}
    everything = results(store.folder, all_runs=True)
    assert everything.groupby("code_version")["current"].agg(["size", "all"]).loc["0123456789ab"].tolist() == [4, True]
    assert set(everything[~everything["current"]]["key"]) == old


def test_other_programs_find_the_present_rows_with_their_present_family_as_the_page_says(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    done(MORE, store)
    present, new = done(SPEC.replace('workload = "zipf"', 'workload = "zipf", family = "renamed"'), store)
    assert not new
    assert {json.loads(recipe)["family"] for recipe in results(store.folder)["recipe"]} == {"renamed"}
    assert set(results(store.folder)["family"]) == {"renamed"}
    pages = {language: re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) for language in ("sql", "python")}
    sql, pandas = (block[1].replace("DIR", str(store.folder)) for block in pages.values() if block)
    means = f"{sql.strip().removesuffix(';')} ORDER BY ALL"
    code = (
        "import duckdb, json, sys\n"
        "given = [duckdb.sql(each) for each in sys.argv[1].split(';')][-1].fetchall()\n"
        "print(json.dumps([given, duckdb.sql('SELECT key, family FROM present').fetchall()]))"
    )
    # In a process of its own: DuckDB complains of leaks when a process that imported it ends.
    said = subprocess.run([sys.executable, "-c", code, means], capture_output=True, text=True, check=True).stdout
    grouped, rows = json.loads(said)
    values = results(store.folder)["value"]
    assert grouped == [["min-tco", "gm", values.mean(), 5.5]]
    assert dict(rows) == dict.fromkeys(present, "renamed")
    found: dict[str, pd.DataFrame] = {}
    exec(pandas, found)
    assert dict(zip(found["present"]["key"], found["present"]["family"], strict=True)) == dict.fromkeys(
        present, "renamed"
    )


def test_an_unrelated_study_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    done(SPEC, store)
    before = {file: file.read_bytes() for file in store.folder.rglob("*") if file.is_file()}
    other = SPEC.replace("grows", "other").replace("topics = 5", "topics = 6")
    with pytest.raises(BadInput, match=r"holds the study 'grows', which shares no instance with 'other': .*--grow"):
        done(other, store)
    assert {file: file.read_bytes() for file in store.folder.rglob("*") if file.is_file()} == before
    done(SPEC.replace("grows", "other"), store)  # a new name for the same instances
    assert store.plan().name == "other"


def test_every_study_that_was_run_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    for text in (SPEC, SPEC, MORE, SPEC):
        done(text, store)
    kept = sorted(store.history.iterdir())
    assert [file.name for file in kept] == ["0001.toml", "0002.toml", "0003.toml"]
    assert [file.read_text() for file in kept] == [SPEC, MORE, SPEC]
    assert (store.folder / "study.toml").read_text() == SPEC


TWICE = SPEC.replace('["gm"]', METHODS_MORE)


class Killed(Exception):
    """The process ends here."""


@pytest.mark.parametrize("writes", range(1, 5))
def test_a_kill_while_replacing_a_plan_is_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    store = Store(tmp_path / "out")
    done(SPEC, store)
    replace, count = Path.replace, 0

    def killed(file: Path, target: Path) -> Path:
        nonlocal count
        if target.parent in (store.folder, store.history) and target.name != "progress.json":
            count += 1
            if count == writes:
                raise Killed
        return replace(file, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(Killed) if writes <= 3 else nullcontext():
            done(TWICE, store)
    assert len(results(store.folder)) == (8 if writes > 3 else 4)
    done(TWICE, store)
    assert [file.read_text() for file in sorted(store.history.glob("*.toml"))] == [SPEC, TWICE]
    assert len(results(store.folder)) == 8


def ended_at(store: Store, method: str, *statuses: str) -> None:
    """Let the runs of a method have ended so, those of lower limits first."""
    rows = store.table().to_pylist()
    for row in rows:
        if row["method"] == method:
            row["status"] = statuses[sorted({other["time_limit"] for other in rows}).index(row["time_limit"])]
    for part in store.parts():
        part.unlink()
    write_part(table_of(rows), store.runs)


def limits(store: Store) -> dict[str, set[float]]:
    found: dict[str, set[float]] = results(store.folder).groupby("method")["time_limit"].agg(set).to_dict()
    return found


def test_only_runs_that_ended_so_are_repeated_under_the_new_limit(tmp_path: Path) -> None:
    store, again = Store(tmp_path / "out"), Again(("time-limit",), 90.0)
    first, _ = done(TWICE, store)
    ended_at(store, "gm", "time-limit")
    before = set(store.done().to_pylist())
    study_done_in(tmp_path, TWICE, again)
    assert len(set(store.done().to_pylist()) - before) == 4
    assert limits(store) == {"gm": {90.0}, "ring-per-topic": {60.0}}
    assert len(store.keys()) == len(first) == 8
    stored = len(store.done())
    study_done_in(tmp_path, TWICE, again)  # resumed: nothing is left
    assert len(store.done()) == stored
    study_done_in(tmp_path, TWICE, Again(("time-limit",), 120.0))  # those of 90 s have ended
    assert len(store.done()) == stored
    assert limits(store)["gm"] == {90.0}
    ended_at(store, "gm", "time-limit", "time-limit")
    study_done_in(tmp_path, TWICE, Again(("time-limit",), 120.0))
    assert limits(store) == {"gm": {120.0}, "ring-per-topic": {60.0}}
    study_done_in(tmp_path, TWICE)
    assert limits(store) == {"gm": {60.0}, "ring-per-topic": {60.0}}


@pytest.mark.parametrize("status", ["time-limit", "memory-limit", "failed"])
def test_the_command_takes_each_status_that_is_run_again(tmp_path: Path, status: str) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(SPEC)
    assert "4 runs" in output_of("study", file, "--again", status, "--time-limit", 3, "--dry-run")
