"""The reference page and the JSON schema of study files agree with what is read."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import overlaybench as ob
from overlaybench.compare.studies.plot import MEASURES, Plot, report_of
from overlaybench.compare.studies.study import Files, Runs, Study, StudyTable, read_study, study_schema

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "study.md").read_text()
INSTANCES = '[[instances]]\nworkload = "zipf"\nnodes = 6\ntopics = 5\nsubscriptions = 2\n'
VARIED = re.sub(r"= (\d)", lambda found: f"= [{found[1]}, {int(found[1]) + 1}]", INSTANCES)
RUNS = '[[runs]]\nproblems = ["min-tco"]\nmethods = ["gm"]\n'
STUDY = f'name = "whole"\nseed = 1\ntime_limit = 5.0\nmemory_limit = 900\n{INSTANCES}{RUNS}repeats = 2\n'


@cache
def schema() -> Draft202012Validator:
    Draft202012Validator.check_schema(study_schema())
    return Draft202012Validator(study_schema())


def examples() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def completed(example: str) -> str:
    """An example with the tables that a study needs."""
    return example + "".join(
        table for key, table in (("instances", VARIED), ("runs", RUNS)) if key not in tomllib.loads(example)
    )


def accepted(text: str) -> bool:
    return bool(schema().is_valid(tomllib.loads(text)))


def read(text: str, folder: Path) -> Study:
    (folder / "study.toml").write_text(text)
    return read_study(folder / "study.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that the page's examples name."""
    (tmp_path / "data").mkdir()
    heads = dict.fromkeys(("subscriptions.csv", "lists.csv"), "node,topic\n") | {"listeners.tsv": "user\tartist\n"}
    for name in (*heads, "data/b.parquet", "data/a.parquet", "brokers.json"):
        (tmp_path / name).write_text(heads.get(name, ""))
    return tmp_path


@pytest.mark.parametrize("example", examples())
def test_every_example_of_the_page_is_a_study_that_the_schema_accepts(folder: Path, example: str) -> None:
    text = completed(example)
    assert read(text, folder).recipes
    assert list(schema().iter_errors(tomllib.loads(text))) == []


def test_the_page_explains_every_key_and_has_an_example_of_each() -> None:
    explained = set(re.findall(r"`\[*([a-z_]+)\]*`(?=[^|\n]*\|)", PAGE))
    used = set(re.findall(r"(?:^|[{,\[] *)([a-z_]+)(?:\]\]|\]| =)", "\n".join(examples()), re.MULTILINE))
    keys = {
        *(key for table in (StudyTable, Runs, Files) for key in table.__struct_fields__),
        "workload",
        "plots",
        *Plot.__struct_fields__,
    }
    assert keys <= explained
    assert keys <= used


@pytest.mark.parametrize(
    "file", [*ROOT.glob("compare/*.toml"), ROOT / "benchmarks" / "growth.toml"], ids=lambda file: file.name
)
def test_the_schema_accepts_the_studies_of_this_repository(file: Path) -> None:
    assert accepted(file.read_text())


FAULTS = [
    ("time_limit = 5.0", "time_limt = 5.0"),
    ("time_limit = 5.0", "time_limit = 0"),
    ("time_limit = 5.0", 'time_limit = "long"'),
    ("memory_limit = 900", "memory_limit = -1"),
    ("seed = 1", "seed = true"),
    ('name = "whole"', "name = 5"),
    ("nodes = 6", "node = 6"),
    ("nodes = 6", 'nodes = "six"'),
    ("nodes = 6", "nodes = 6\nseeds = 0"),
    ("nodes = 6", "nodes = 6\nsample = 3"),
    ('workload = "zipf"', 'workload = "zip"'),
    ('workload = "zipf"\n', ""),
    ('workload = "zipf"', 'file = ["a.csv", 3]'),
    ('["gm"]', '["mg"]'),
    ('["gm"]', "[]"),
    ('["gm"]', '[{ ties = "random" }]'),
    ('["gm"]', '[{ method = "gm", tie = "random" }]'),
    ('["gm"]', '[{ method = "low-oda", k = [3, 0] }]'),
    ('["gm"]', '"gm"'),
    ('["min-tco"]', '["min-toc"]'),
    ("repeats = 2", "repeats = 0"),
    ("repeats = 2", "nodes_at_most = 0"),
    ("[[runs]]", "[[run]]"),
    ("repeats = 2", "[report]\nplot = []"),
    ("repeats = 2", '[report]\nplots = [{ y = "ratio" }]'),
    ("repeats = 2", '[report]\nplots = [{ x = "nodes", by = "method" }]'),
    ("repeats = 2", '[report]\nplots = { x = "nodes" }'),
    ("repeats = 2", '[report]\nplots = [{ x = ["nodes"] }]'),
]


@pytest.mark.parametrize(("old", "new"), FAULTS)
def test_what_the_schema_rejects_is_bad_input(tmp_path: Path, old: str, new: str) -> None:
    text = STUDY.replace(old, new)
    assert accepted(STUDY)
    assert not accepted(text)
    with pytest.raises(ob.BadInput) as error:
        read(text, tmp_path)
    assert "\n" not in str(error.value)


def test_the_schema_takes_plug_ins_by_module_and_name() -> None:
    text = STUDY.replace('["gm"]', '["mine:all_pairs", { method = "a.b:C", most = [1, 2] }]')
    assert accepted(
        text.replace('workload = "zipf"', 'workload = "mine:ring"').replace('["min-tco"]', '["mine:leafy"]')
    )


def test_the_schema_knows_every_method_and_workload_and_their_options() -> None:
    definitions = study_schema()["$defs"]
    tables = definitions["Method"]["anyOf"] + definitions["Instances"]["anyOf"]
    known = {table.get("title"): set(table.get("properties", {})) for table in tables}
    for workload in ob.WORKLOADS.values():
        assert {option.name for option in workload.parameters} < known[workload.name]
    assert set(definitions["Method"]["anyOf"][0]["enum"]) == set(ob.METHODS)


def test_a_study_chooses_its_plots_and_keeps_them_in_its_text(tmp_path: Path) -> None:
    text = STUDY.replace(INSTANCES, VARIED)
    text += '[report]\nplots = [{ x = "nodes" }, { x = "topics", y = "time", group = "family" }]\n'
    plots = [Plot("nodes"), Plot("topics", "time", "family")]
    assert report_of(read(text, tmp_path).spec).plots == plots
    assert report_of(STUDY).plots == []


def test_the_measures_of_the_page_are_those_there_are() -> None:
    (line,) = [line for line in PAGE.splitlines() if line.startswith("| `y` |")]
    assert set(re.findall(r"`(\w+)`", line)) == {"y", *MEASURES}


def test_files_come_by_list_and_pattern_each_a_family(folder: Path) -> None:
    files = '[[instances]]\nfile = ["subscriptions.csv", "data/*.parquet"]\n'
    assert [recipe.family for recipe in read(files + RUNS, folder).recipes] == ["subscriptions", "a", "b"]
    named = files + 'family = "all"\n'
    assert {recipe.family for recipe in read(named + RUNS, folder).recipes} == {"all"}
    (folder / "data" / "deep").mkdir()
    (folder / "data" / "deep" / "a.parquet").write_text("")
    deep = files.replace("data/*", "data/**/*")
    families = [recipe.family for recipe in read(deep + RUNS, folder).recipes]
    assert families == ["subscriptions", "data/a.parquet", "b", "data/deep/a.parquet"]


def test_a_pattern_without_a_file_is_bad_input_or_has_a_stand_in(folder: Path) -> None:
    files = '[[instances]]\nfile = ["subscriptions.csv", "none/*.csv"]\n'
    with pytest.raises(ob.BadInput, match=r"instances\[1\]: none/\*\.csv does not exist: correct the path or give"):
        read(files + RUNS, folder)
    found = read(f'{files}stand_in = {{ workload = "uniform" }}\n{RUNS}', folder)
    assert [recipe.family for recipe in found.recipes] == ["subscriptions", "stand-in"]
    assert found.notes == ("none/*.csv was absent: stand-in instances stand in for it.",)
    for wrong in ('"***/x[.csv"', "[]", "3", '[""]'):
        with pytest.raises(ob.BadInput, match=r"instances\[1\]"):
            read(f"[[instances]]\nfile = {wrong}\n{RUNS}", folder)
