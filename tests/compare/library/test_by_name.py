"""Instances of the library by name: ``@NAME`` wherever a file is read, and ``load``."""

import json
from pathlib import Path

import pytest

import overlaybench as ob
from overlaybench.compare.library.table import read_table
from overlaybench.compare.studies.library_entries import library_entry
from overlaybench.compare.studies.study import read_study
from tests.outcomes import output_of as run

SMALL = "small-uniform-20-20-5-s0"
ABSENT = next(entry.name for entry in read_table().entries.values() if entry.needs)


def test_load_and_read_make_the_instance_of_the_table() -> None:
    digest = read_table().entry(SMALL).digest
    assert ob.load(SMALL).digest == ob.read(f"@{SMALL}").digest == digest


def test_a_name_stands_for_a_file_in_every_command_on_an_instance(tmp_path: Path) -> None:
    answer, proof, drawn, file = (tmp_path / name for name in ("a.json", "p.gz", "d.svg", "i.csv"))
    solved = json.loads(run("solve", f"@{SMALL}", "--json", "-o", answer, "--proof", proof))
    assert (solved["problem"], solved["status"]) == ("min-tco", "optimal")
    assert solved["value"] == read_table().known(SMALL, "min-tco").value
    assert "valid for min-tco" in run("check", f"@{SMALL}", answer)
    assert "is optimal" in run("check-proof", f"@{SMALL}", proof)
    run("draw", f"@{SMALL}", answer, "-o", drawn)
    assert drawn.stat().st_size
    run("export", "instance", f"@{SMALL}", "-o", file)
    assert ob.read(file).digest == ob.load(SMALL).digest


def test_the_default_problem_is_the_first_that_the_library_poses() -> None:
    solved = json.loads(run("solve", "@plane-30-15-4-s0", "--method", "weighted-gm", "--json"))
    assert solved["problem"] == "weighted-tco"


def test_an_unknown_name_gives_the_three_nearest() -> None:
    with pytest.raises(ob.BadInput) as error:
        ob.load("small-uniform-20-20-5-s9")
    assert sum(f"'{name}'" in str(error.value) for name in read_table().entries) == 3


def test_an_instance_that_needs_data_of_others_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ob.WORKLOADS[read_table().entry(ABSENT).workload]

    def without_data(**_: object) -> None:
        raise ob.BadInput("no such data: get them")

    monkeypatch.setattr(type(entry), "generate", lambda self, **given: without_data(**given))
    with pytest.raises(ob.BadInput, match=f"'{ABSENT}' is not here: no such data") as error:
        ob.load(ABSENT)
    assert "\n" not in str(error.value)


def test_a_file_with_such_a_name_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"@{SMALL}").write_text("")
    assert library_entry(f"@{SMALL}") is None


def test_a_study_file_names_instances_of_the_library(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    runs = '[[runs]]\nproblems = ["min-tco"]\nmethods = ["gm"]\n'
    file.write_text(f'[[instances]]\nfile = ["@{SMALL}", "@small-zipf-20-20-5-s1"]\n{runs}')
    recipes = read_study(file).recipes
    assert [recipe.make().digest for recipe in recipes] == [
        read_table().entry(name).digest for name in (SMALL, "small-zipf-20-20-5-s1")
    ]
    assert [recipe.family for recipe in recipes] == [SMALL, "small-zipf-20-20-5-s1"]
    file.write_text(f'[[instances]]\nfile = "@{SMALL}"\nsample = 5\n{runs}')
    with pytest.raises(ob.BadInput, match="no samples"):
        read_study(file)
    file.write_text(f'[[instances]]\nfile = "@{SMALL}9"\n{runs}')
    with pytest.raises(ob.BadInput, match="did you mean"):
        read_study(file)
