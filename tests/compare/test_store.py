"""Rows are kept whole, once, and for one study."""

import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from compare.store import SCHEMA, Made, Plan, Store, row
from compare.task import Task, options_json
from heuristics import HEURISTICS
from instances import PROBLEMS, BadInput, Overlay, TopicInstance
from instances.topics import TOPICS

PATH = TopicInstance.from_subscriptions({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
GM = HEURISTICS[0]


def task_of(**changes):
    fields = {
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


def stored(tmp_path):
    store = Store(tmp_path / "out")
    store.open_for("seed = 1")
    return store


def test_a_row_comes_back_as_it_was_put(tmp_path):
    store, task = stored(tmp_path), task_of()
    result = GM.run(PATH, PROBLEMS["min-tco"])
    store.add(row(task, PATH, TOPICS, result, exact=False, peak=5.0))
    rows = store.rows()
    assert set(rows.columns) == {*SCHEMA.names, *TOPICS.sizes, *TOPICS.measures} - {"sizes", "measures"}
    assert task.key in store
    assert store.done() == {task.key}
    only = rows.iloc[0]
    assert (only["value"], only["status"], only["nodes"], only["variant"]) == (2.0, "feasible", 3, "gm")
    assert np.isnan(only["lower_bound"])
    assert Overlay(3, np.array(only["answer"], dtype=np.int32).reshape(-1, 2)) == result.answer
    assert json.loads(only["counters"]) == dict(result.counters)


def test_rows_can_be_read_for_some_keys_and_without_any_rows(tmp_path):
    store = stored(tmp_path)
    assert len(store.rows()) == 0
    for seed in range(3):
        store.add(row(task_of(seed=seed), PATH, TOPICS, GM.run(PATH, PROBLEMS["min-tco"]), exact=False, peak=0.0))
    keys = [task_of(seed=seed).key for seed in (0, 2, 9)]
    assert set(store.rows(keys)["seed"]) == {0, 2}


@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"time_limit": 2.0}, {"problem": "low-tco"}, {"code_version": "abd"}, {"instance": "0"}]
)
def test_a_key_changes_with_whatever_decides_the_outcome(change):
    assert task_of(**change).key != task_of().key


def test_a_key_does_not_change_with_names():
    assert task_of(family="other", recipe='{"a": 1}').key == task_of().key


def test_instances_are_kept_by_digest_and_checked(tmp_path):
    store = stored(tmp_path)
    store.add_instance(PATH, TOPICS)
    assert store.instance(PATH.digest, TOPICS) == PATH
    other = TopicInstance.from_subscriptions({"a": ["x"], "b": ["x"]})
    (store.instances / f"{PATH.digest}.parquet").rename(store.instances / f"{other.digest}.parquet")
    with pytest.raises(BadInput, match="does not hold the instance"):
        store.instance(other.digest, TOPICS)


def test_the_index_and_plan_come_back(tmp_path):
    store = stored(tmp_path)
    assert store.index() == {}
    store.write_index({"{}": Made("d", 3)})
    assert store.index() == {"{}": Made("d", 3)}
    store.write_plan(Plan("n", ["note"], "seed = 1", ["k"]))
    assert store.plan() == Plan("n", ["note"], "seed = 1", ["k"])


def test_a_folder_with_another_study_or_other_files_is_refused(tmp_path):
    store = stored(tmp_path)
    store.open_for("seed =   1 # the same")
    with pytest.raises(BadInput, match="holds another study"):
        store.open_for("seed = 2")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(BadInput, match="holds other files"):
        Store(tmp_path / "full").open_for("seed = 1")
    with pytest.raises(BadInput, match="holds no results"):
        Store.existing(tmp_path / "full")
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["thesis.tex"]


def test_a_second_study_in_the_same_folder_is_refused_while_the_first_runs(tmp_path):
    store = stored(tmp_path)
    code = (
        "import sys; from pathlib import Path; from compare.store import Store; from instances import BadInput\n"
        "try:\n    with Store(Path(sys.argv[1])).locked(): print('in')\n"
        "except BadInput as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(store.folder)]
    with store.locked():
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "another study is running there" in said
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "in\n"


def test_a_row_file_is_plain_parquet_that_names_its_columns(tmp_path):
    store = stored(tmp_path)
    store.add(row(task_of(), PATH, TOPICS, GM.run(PATH, PROBLEMS["min-tco"]), exact=False, peak=0.0))
    table = pq.read_table(store.runs / f"{task_of().key}.parquet")
    assert table.schema.names == SCHEMA.names
