"""Plug-ins in studies: the version of their code in the keys of runs, what workers get, and studies without them."""

import importlib
import json
import linecache
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.compare.catalogue import version_of, workload_version
from overlaybench.compare.claims.bench import Bench
from overlaybench.compare.claims.register import claims_named
from overlaybench.compare.commands.listing import explanations
from overlaybench.compare.plug_in_code import digest_of_main, plug_in_files
from overlaybench.compare.python_api.studies import own_name
from overlaybench.compare.studies import spark_study
from overlaybench.compare.studies.results import results
from overlaybench.compare.studies.run_table import run_table
from overlaybench.compare.studies.spark_session import PlugIns, find_plug_ins
from overlaybench.compare.studies.store import Store, index_of
from overlaybench.compare.studies.study import Study, read_study
from overlaybench.compare.studies.task import Task
from overlaybench.instances.contract.catalogue import WORKLOADS, modules_beside
from overlaybench.instances.runtime.code import closure, digest_of
from tests.compare.conftest import run_apart
from tests.compare.loopback_cluster import loopback_cluster

MINE = '''
import overlaybench as ob
from helper_of_mine import edges

@ob.method("mine", problems=["min-tco", "mine-too"], skip=lambda instance, problem: "large" * (instance.num_nodes > 9))
def mine(instance, seed, k=2):
    """Every two subscribers of a topic are adjacent."""
    return edges(instance)

@ob.workload("mine-ring")
def ring(*, seed, nodes=6):
    """A ring of topics."""
    wanted = {f"n{v}": [f"t{(v + seed) % 3}", f"t{(v + seed + 1) % 3}"] for v in range(nodes)}
    return ob.TopicInstance.from_subscriptions(wanted)

class Mine(ob.Problem):
    name, kind, summary, source = "mine-too", "topics", "the largest degree", "tests"
    def value(self, instance, answer):
        return float(answer.max_degree)
    def violations(self, instance, answer):
        return ob.PROBLEMS["min-tco"].violations(instance, answer)

MINE_TOO = Mine()
'''
HELPER = '''
from itertools import combinations

def edges(instance):
    """Pairs."""
    for topic in range(instance.num_topics):
        yield from combinations(instance.subscribers(topic).tolist(), 2)
'''
SPEC = """
name = "mine"
time_limit = 10
instances = [{ workload = "module_of_mine:ring", nodes = [6, 12] }]
runs = [
  { problems = ["module_of_mine:MINE_TOO", "min-tco"], methods = [{ method = "module_of_mine:mine", k = [2, 3] }] },
  { problems = ["min-tco"], methods = ["gm"] },
]
"""
CELL = """
import numpy as np
import overlaybench as ob

LEAST = 2

def edges(instance):
    return [(0, v) for v in range(1, instance.num_nodes) if LEAST]

class Table:
    offset = 1

@ob.method("of-a-cell", problems=["min-tco"])
def of_a_cell(instance, k=3):
    \"\"\"A star.\"\"\"
    return edges(instance) or Table.offset
"""


@pytest.fixture
def folder(tmp_path: Path, own_plug_ins: None) -> Iterator[Path]:
    """A study and its module, which no other test knows."""
    (tmp_path / "module_of_mine.py").write_text(MINE)
    (tmp_path / "helper_of_mine.py").write_text(HELPER)
    (tmp_path / "study.toml").write_text(SPEC)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if not name.startswith("overlaybench."):
            del sys.modules[name]


def tasks(folder: Path) -> list[Task]:
    study = read_study(folder / "study.toml")
    known = len(study.recipes)
    return list(run_table(study, index_of(study.recipes.texts(), ["ab" * 16] * known, [6] * known, [""] * known)))


def test_a_study_names_plug_ins_by_their_own_names(folder: Path) -> None:
    study, planned = read_study(folder / "study.toml"), tasks(folder)
    assert {recipe.workload for recipe in study.recipes} == {"mine-ring"}
    assert {(task.problem, task.variant) for task in planned} == {
        ("mine-too", "mine"),
        ("mine-too", "mine k=3"),
        ("min-tco", "mine"),
        ("min-tco", "mine k=3"),
        ("min-tco", "gm"),
    }


def test_runs_of_plug_ins_have_their_code_and_what_they_use_of_ours_in_the_key(folder: Path) -> None:
    read_study(folder / "study.toml")
    assert version_of("mine", "min-tco") == digest_of(["module_of_mine", "overlaybench.instances.topics.problems"])
    files = closure(["module_of_mine"])
    assert {"module_of_mine", "helper_of_mine", "overlaybench.instances.topics.instance"} <= set(files)
    assert not any(name.startswith("overlaybench.heuristics") for name in files)


def test_a_change_of_a_plug_ins_helper_changes_the_key(folder: Path) -> None:
    read_study(folder / "study.toml")
    before, ring = version_of("mine", "min-tco"), workload_version("mine-ring")
    assert (version_of("mine", "min-tco"), workload_version("mine-ring")) == (before, ring)
    (folder / "helper_of_mine.py").write_text(HELPER.replace(", 2)", ", 1 + 1)"))
    assert version_of("mine", "min-tco") != before
    assert workload_version("mine-ring") != ring
    assert workload_version("zipf") == ""


def test_an_instance_of_a_changed_workload_is_another_one(folder: Path) -> None:
    recipe = read_study(folder / "study.toml").recipes[0]
    (folder / "helper_of_mine.py").write_text(HELPER + "\nMORE = 1\n")
    changed = read_study(folder / "study.toml").recipes[0]
    assert changed != recipe
    assert replace(changed, code=recipe.code) == recipe
    assert type(recipe).from_json(recipe.to_json()) == recipe
    assert "code" not in json.loads(replace(recipe, workload="zipf", code="").to_json())


def test_workers_get_the_modules_that_a_plug_in_imports_and_no_library(folder: Path) -> None:
    read_study(folder / "study.toml")
    plug_ins = PlugIns.among(methods=["mine", "gm"], problems=["min-tco"])
    assert plug_ins == PlugIns((("methods", "module_of_mine:mine"),))
    files = plug_in_files({"module_of_mine:mine": ob.METHODS["mine"]})
    assert {name: file.parent for name, file in files.items()} == {
        "helper_of_mine.py": folder,
        "module_of_mine.py": folder,
    }


def test_plug_ins_of_a_stored_study_are_found_as_far_as_they_exist(folder: Path) -> None:
    sys.path.append(str(folder))
    errors = find_plug_ins(SPEC.replace('"gm"', '"no_such_module:X", "gm"'))
    assert [str(error).partition(" is in")[0] for error in errors] == [
        "method 'no_such_module:X': no module 'no_such_module'"
    ]
    assert "mine" in ob.METHODS
    assert "mine-too" in ob.PROBLEMS
    assert "mine-ring" in WORKLOADS


def test_a_study_without_its_module_is_refused_in_one_line(folder: Path) -> None:
    (folder / "module_of_mine.py").unlink()
    with pytest.raises(ob.BadInput, match=r"study.toml: instances\[1\]: workload .*no module 'module_of_mine'"):
        read_study(folder / "study.toml")


def test_a_claim_of_another_package_is_named_by_reference() -> None:
    (claim,) = claims_named(["tests.compare.plug_in_claim:CLAIM"])
    assert claim.id == "TEST.1"
    assert claims_named(["TEST.1"]) == [claim]


def test_the_claim_of_the_example_is_judged_uninstalled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs/examples/plugin")
    claim = importlib.import_module("hub_overlays.hubs_and_rings").HUBS_AND_RINGS
    assert claim.judge(Bench(True)).verdict == "confirmed"


def test_plug_ins_have_the_names_of_their_study_and_examples_if_anything_answers(folder: Path) -> None:
    with modules_beside(folder):
        (explanation,) = explanations("module_of_mine:MINE_TOO")
        assert explanation.examples == ()  # no method is loaded that answers it
        assert own_name("module_of_mine:mine k=3") == "mine k=3"
    assert own_name("gm") == "gm"


def cell(code: str) -> str:
    """The version of a method that a notebook's cell defines, whose source Python knows as IPython tells it."""
    name, scope = f"cell {hash(code)}", dict[str, Any](__name__="__main__")
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    exec(compile(code, name, "exec"), scope)
    return digest_of_main({"__main__:of_a_cell": scope["of_a_cell"]})


def test_the_version_of_a_notebooks_method_is_that_of_its_source_and_what_it_refers_to() -> None:
    first = cell(CELL)
    assert cell(CELL.replace("LEAST = 2\n", "\n\nLEAST = 2  # or more\nother = 7\n")) == first
    changed = [("LEAST = 2", "LEAST = 3"), ("offset = 1", "offset = 2"), ("k=3", "k=4"), ("(0, v)", "(v, 0)")]
    assert len({first, *(cell(CELL.replace(*change)) for change in changed)}) == 5


@pytest.mark.usefixtures("own_plug_ins")
def test_a_function_of_a_notebook_is_a_method_in_a_study_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = ModuleType("__main__")
    vars(main)["gm_too"] = ob.METHODS["gm"]  # imported there, and not defined
    exec(CELL, vars(main))
    monkeypatch.setitem(sys.modules, "__main__", main)
    asked: list[Study] = []
    monkeypatch.setattr(spark_study, "run_study", lambda study, *given, **others: asked.append(study))
    file = tmp_path / "study.toml"
    text = (
        'instances = [{ workload = "zipf", nodes = 6 }]\nruns = [{ problems = ["min-tco"], methods = ["of-a-cell"] }]'
    )
    file.write_text(text)
    ob.study(file, tmp_path / "out")
    assert [runs.methods for runs in asked[0].runs] == [(("of-a-cell", ()),)]
    assert [at for at in ob.METHODS.plug_ins if at.startswith("__main__:")] == ["__main__:of_a_cell"]
    file.write_text(text.replace("of-a-cell", "edges"))
    ob.study(file, tmp_path / "out")
    assert asked[-1].runs[0].methods == (("edges", ()),)
    plain = ob.METHODS["edges"]
    assert plain.problems == ("min-tco",), "a plain function answers the problems beside it"
    assert plain.run(ob.generate("zipf", nodes=6), ob.PROBLEMS["min-tco"]).method == "edges"


def command(*words: object, cwd: Path) -> str:
    done = run_apart(*words, cwd=cwd, PYTHONSAFEPATH="1")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.spark
def test_workers_run_a_module_beside_the_study(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    study, out = folder / "study.toml", elsewhere / "out"
    printed = command("study", study, "--out", out, "--master", "local[2]", "--quiet", cwd=elsewhere)
    assert "10 runs: 6 feasible, 4 skipped" in printed
    rows = results(out)
    assert set(rows[rows["status"] == "skipped"]["reason"]) == {"large"}
    assert set(rows["variant"]) == {"gm", "mine", "mine k=3"}
    stored = set(Store(out).done().to_pylist())
    (folder / "helper_of_mine.py").write_text(HELPER.replace(", 2)", ", 1 + 1)"))
    command("study", study, "--out", out, "--master", "local[2]", "--quiet", cwd=elsewhere)
    assert stored < set(Store(out).done().to_pylist())
    (folder / "module_of_mine.py").unlink()
    assert "mine k=3" in command("results", out, cwd=elsewhere)
    command("report", out, cwd=elsewhere)
    assert "mine-too" in (out / "report.html").read_text(encoding="utf-8")


NOTEBOOK = """
from pathlib import Path

Path("cell.toml").write_text('''
instances = [{ workload = "zipf", nodes = 6, topics = 3, subscriptions = 1 }]
runs = [{ problems = ["min-tco"], methods = ["of-a-cell"] }]
''')
ob.study("cell.toml", "out", master="local[1]", quiet=True)
"""


@pytest.mark.slow
@pytest.mark.spark
def test_workers_run_a_method_that_is_defined_in_a_notebook(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", CELL + NOTEBOOK], cwd=tmp_path, check=True, timeout=280)
    (row,) = results(tmp_path / "out").to_dict("records")
    assert (row["method"], row["status"], row["value"]) == ("of-a-cell", "feasible", 5)


@pytest.mark.slow
@pytest.mark.spark
def test_a_cluster_gets_the_modules_too(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("cluster")
    study = ("study", folder / "study.toml", "--out", elsewhere / "out", "--quiet", "--master")
    with loopback_cluster(1) as cluster:
        assert "10 runs: 6 feasible, 4 skipped" in command(*study, cluster.master, cwd=elsewhere)
