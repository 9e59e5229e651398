"""A study file becomes tasks; errors in it are one line each."""

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import overlaybench as ob
from overlaybench.compare.library.study import known_times
from overlaybench.compare.studies import study as study_module
from overlaybench.compare.studies.progress import RunTally
from overlaybench.compare.studies.run_table import RunTable, run_table
from overlaybench.compare.studies.store import Store, index_of
from overlaybench.compare.studies.study import Study, read_study
from overlaybench.compare.studies.task import RunGroup, Task
from tests.outcomes import output_of

SPEC = """
name = "trial"
seed = 5
time_limit = 3

[[instances]]
workload = "zipf"
nodes = [4, 6]
topics = 5
subscriptions = 2
seeds = 3

[[instances]]
workload = "uniform"
family = "even"
nodes = 5
topics = 5
subscriptions = 2

[[runs]]
problems = ["min-tco", "minmax-tco"]
methods = ["gm", { method = "gm", ties = ["highest", "random"] }]
nodes_at_most = 5

[[runs]]
problems = ["2d-star"]
methods = ["2d-oda"]
families = ["even"]
repeats = 2
time_limit = 9.5
"""


RUNS = '[[runs]]\nproblems = ["min-tco"]\nmethods = ["gm"]\n'


def study_of(tmp_path: Path, text: str) -> Study:
    file = tmp_path / "study.toml"
    file.write_text(text)
    return read_study(file)


def table_of(study: Study) -> RunTable:
    made = [recipe.make() for recipe in study.recipes]
    sizes = [each.num_nodes for each in made]
    return run_table(study, index_of(study.recipes.texts(), [each.digest for each in made], sizes, [""] * len(made)))


def tasks_of(study: Study) -> list[Task]:
    """The runs of a study, whose keys are those of its table."""
    table = table_of(study)
    assert [task.key for task in table] == table.keys.to_pylist()
    return list(table)


def test_a_study_is_the_product_of_its_lists(tmp_path: Path) -> None:
    study = study_of(tmp_path, SPEC)
    assert len(study.recipes) == 7
    tasks = tasks_of(study)
    assert len(tasks) == 4 * 2 * 3 + 2
    assert {task.variant for task in tasks} == {"gm", "gm ties=highest", "gm ties=random", "2d-oda"}
    low_oda = replace(tasks[0], problem="min-tco", method="low-oda", options='{"k": 2.0, "ties": "lowest"}')
    assert low_oda.variant == "low-oda k=2"
    assert {task.time_limit for task in tasks if task.problem == "2d-star"} == {9.5}
    assert {task.time_limit for task in tasks if task.problem != "2d-star"} == {3.0}


def test_a_run_with_a_proof_takes_the_place_of_the_same_run_without(tmp_path: Path) -> None:
    table = '[[runs]]\nproblems = ["min-tco"]\nmethods = ["branch-and-cut"]\nfamilies = ["even"]\n'
    for tables in (f"{table}proof = true\n{table}", f"{table}{table}proof = true\n"):
        study = study_of(tmp_path, SPEC + tables)
        tasks = tasks_of(study)
        assert [task.proof for task in tasks if task.exact] == [True]
        assert tasks[0].exact, "what takes longest begins first"


def test_keys_and_seeds_depend_on_the_task_and_the_study_and_not_on_the_order(tmp_path: Path) -> None:
    study = study_of(tmp_path, SPEC)
    tables = SPEC.split("\n[[")
    turned = study_of(tmp_path, "\n[[".join([tables[0], tables[2], tables[1], tables[4], tables[3]]))
    keyed = {task.key: task for task in tasks_of(study)}
    assert {task.key: task for task in tasks_of(turned)} == keyed
    assert len(keyed) == len({(t.instance, t.problem, t.options, t.seed) for t in keyed.values()})
    one, other = study_of(tmp_path, SPEC), study_of(tmp_path, SPEC.replace("seed = 5", "seed = 6"))
    assert not {recipe.seed for recipe in one.recipes} & {recipe.seed for recipe in other.recipes}
    assert not {t.key for t in tasks_of(one)} & {t.key for t in tasks_of(other)}
    texts = (SPEC.replace("seeds = 3", "seeds = [0]").replace("seed = 5", f"seed = {seed}") for seed in (5, 6))
    one, other = (study_of(tmp_path, text) for text in texts)  # of equal instances
    assert not {t.seed for t in tasks_of(one)} & {t.seed for t in tasks_of(other)}


def test_samples_of_a_file_are_seeded_and_relative_to_the_study(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = "".join(f"u{i},a{i % 7}\nu{i},b{i % 3}\n" for i in range(40))
    (tmp_path / "data" / "rows.csv").write_text("user,artist\n" + rows)
    text = """
    [[instances]]
    file = "data/rows.csv"
    node_column = "user"
    topic_column = "artist"
    sample = [5, 10, 0]
    seeds = 2
    """
    study = study_of(tmp_path, text + RUNS)
    assert [recipe.make().num_nodes for recipe in study.recipes] == [5, 5, 10, 10, 40]
    assert study.recipes[0].make() != study.recipes[1].make()
    assert study.recipes[0].family == "rows"
    (tmp_path / "rows.csv").write_text("user,artist\nu,a\n")
    text = text.replace('"data/rows.csv"', '["data/rows.csv", "rows.csv"]').replace("5, 10, ", "")
    study = study_of(tmp_path, text + RUNS)
    assert [recipe.family for recipe in study.recipes] == ["data/rows.csv", "rows.csv"]


def test_an_absent_file_is_replaced_by_its_stand_in_and_that_is_noted(tmp_path: Path) -> None:
    text = """
    [[instances]]
    file = "absent.csv"
    family = "listeners"
    seeds = 2
    stand_in = { family = "synthetic", workload = "zipf", nodes = [4, 5], topics = 5, subscriptions = 2 }
    """
    study = study_of(tmp_path, text + RUNS)
    assert {recipe.family for recipe in study.recipes} == {"synthetic"}
    assert len(study.recipes) == 4
    assert study.notes == ("absent.csv was absent: synthetic instances stand in for it.",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("time_limit = 3", "time_limt = 3", "unknown key 'time_limt': did you mean 'time_limit'?"),
        ("seed = 5", "seed = = 5", "(at line 3, column 8): correct the TOML there"),
        ("seed = 5", "seed = 5\nreport.names = { gm = 3 }", "report.names['gm']: give a text, not a whole number"),
        ('methods = ["2d-oda"]', 'methods = ["2d-oad"]', "runs[2]: unknown method '2d-oad': did you mean '2d-oda'?"),
        ("ties = [", "tie = [", "unknown option 'tie' of method 'gm': did you mean 'ties'?"),
        ('"highest", "random"]', '"hihgest"]', "did you mean 'highest'?"),
        ('families = ["even"]', 'families = ["evn"]', "unknown family 'evn': did you mean 'even'?"),
        ('workload = "zipf"', 'workload = "zip"', "instances[1]: unknown workload 'zip': did you mean 'zipf'?"),
        ("nodes = [4, 6]", 'nodes = ["many"]', "option 'nodes' takes a whole number, not 'many'"),
        ("seeds = 3", "seeds = 0", "instances[1]: seeds: give a whole number >= 1"),
        ("name =", "name = 3  #", "name: give a text, not a whole number"),
        ('workload = "zipf"', 'file = "nowhere.csv"', "instances[1]"),
        ("time_limit = 3", "time_limit = nan", "time_limit: give a number > 0"),
        ("time_limit = 3", "memory_limit = 1", "memory_limit: give a whole number >= 16"),
        ("nodes = [4, 6]", "nodes = []", "instances[1]: nodes: the list is empty"),
        ("subscriptions = 2", "subscriptions = 6", "instances[1]: 6 subscriptions a node from 5 topics"),
        ("seed = 5", 'seed = 5\nreport = { plots = [{ x = "foo" }] }', "report.plots[1]: unknown x 'foo'"),
        (
            "seed = 5",
            'seed = 5\nreport = { plots = [{ x = "nodes" }, { x = "topics" }] }',
            "report.plots[2]: topics does not vary in this study: give it several values",
        ),
        ("seed = 5", 'seed = 5\nreport = { x = "nodes" }', "report: leave out the unknown key `x`"),
        ("[[runs]]", "[runs]", "write [[runs]]"),
        ("repeats = 2", "options = { k = 2 }", "runs[2]: options: options stand with the name"),
        ("repeats = 2", "k = 2", "runs[2]: k: options stand with the name of their method: methods ="),
        ("repeats = 2", "repeat = 2", "runs[2]: unknown key 'repeat': did you mean 'repeats'?"),
        ('["2d-oda"]', '[{ name = "2d-oda" }]', """{method = "low-oda", k = [4, 8]}], not {'name': '2d-oda'}"""),
        ('["2d-oda"]', '[{ method = "2d-oda", options = {} }]', "runs[2]: options stand with the name of their method"),
        ("[[runs]]", "[[rusn]]", "unknown key 'rusn': did you mean 'runs'?"),
    ],
)
def test_an_error_is_one_line_with_its_location_and_fix(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SPEC
    once = SPEC.replace(old, new)
    if new == "[runs]":
        once = SPEC[: SPEC.rindex(old)].replace(old, new)
    with pytest.raises(ob.BadInput) as error:
        study_of(tmp_path, once)
    message = str(error.value)
    assert message.startswith(str(tmp_path / "study.toml"))
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("k = 1\n" * 1_000_000, "is larger than 4 MiB"),
        ("".join(f"k{number} = 1\n" for number in range(10_000)), "unknown key 'k0'"),
        ("seed = " + "[" * 100_000, "is nested too deeply"),
        ("seed = " + "9" * 5000, "a number of too many digits"),
        (f"memory_limit = {2**63}\n{SPEC}", "memory_limit: give a whole number <= 2147483648"),
        ("a" + ".a" * 100_000 + " = 1", "more than 64 dots"),
        ('["a' + '" . "' * 100_000 + '"]', "more than 64 dots"),
        ("a" * 4_000_000, "Expected .=."),
        (SPEC.replace("seeds = 3", "seeds = 1_000_000_000"), "more than 10,000,000 instances: divide the study"),
        (SPEC.replace("repeats = 2", "repeats = 1_000_000_000"), "more than 10,000,000 runs"),
    ],
)
def test_a_study_that_would_exhaust_the_machine_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ob.BadInput, match=said) as error:
        study_of(tmp_path, text)
    assert "\n" not in str(error.value)


def test_as_many_runs_are_allowed_as_the_limit_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 7 * (2 * 3 + 2)
    monkeypatch.setattr(study_module, "_MOST_RUNS", most)
    study_of(tmp_path, SPEC)
    monkeypatch.setattr(study_module, "_MOST_RUNS", most - 1)
    with pytest.raises(ob.BadInput, match=f"more than {most - 1}"):
        study_of(tmp_path, SPEC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("node,topic\na,x\nb,\n", "own: .*own.csv: line 3: an empty topic"),
        ("node,topic\na,x\nb,x\n", "own: a sample of 3 nodes from 2: choose from 1 to 2"),
    ],
)
def test_files_are_read_before_spark_starts(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "own.csv").write_text(text)
    study = study_of(tmp_path, SPEC + '[[instances]]\nfile = "own.csv"\nsample = [2, 3]\n')
    with pytest.raises(ob.BadInput, match=said):
        list(study.files(study.recipes))
    assert list(study.files([])) == []


def test_a_file_whose_name_is_no_utf_8_gives_a_family_that_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / "own\udcff.csv").write_text("node,topic\na,x\nb,x\n")
    study = study_of(tmp_path, SPEC + '[[instances]]\nfile = "*.csv"\n')
    assert study.recipes[-1].family == r"own\udcff"
    list(study.files(study.recipes))
    (tmp_path / "own\udcff.toml").write_text(SPEC.replace('name = "', '# "'))
    assert read_study(tmp_path / "own\udcff.toml").name == r"own\udcff"


def test_seeds_may_be_listed_and_are_those_of_generate(tmp_path: Path) -> None:
    study = study_of(tmp_path, SPEC.replace("seeds = 3", "seeds = [0, 7]"))
    zipf = [recipe for recipe in study.recipes if recipe.workload == "zipf"]
    assert [(dict(recipe.parameters)["nodes"], recipe.seed) for recipe in zipf] == [(4, 0), (4, 7), (6, 0), (6, 7)]
    for seeds in ("[]", "[-1]", '["a"]', "[true]"):
        with pytest.raises(ob.BadInput, match=r"instances\[1\]: seeds.*: give"):
            study_of(tmp_path, SPEC.replace("seeds = 3", f"seeds = {seeds}"))


def test_a_folder_of_parquet_parts_is_read_as_a_file(tmp_path: Path) -> None:
    whole = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
    folder = tmp_path / "wanted.parquet"
    folder.mkdir()
    (folder / "_SUCCESS").write_text("")
    for start in (0, 2):
        pq.write_table(whole.to_arrow().slice(start, 2), folder / f"part-{start}.parquet")
    study = study_of(tmp_path, '[[instances]]\nfile = "*.parquet"\n' + RUNS)
    assert [recipe.make().digest for recipe in study.recipes] == [whole.digest]


def test_methods_are_skipped_with_a_line_on_problems_that_they_do_not_answer(tmp_path: Path) -> None:
    asked = 'problems = ["min-tco", "2d-star"]\nmethods = ["gm", "2d-oda", { method = "low-oda", k = [2, 4] }]'
    text = SPEC.replace('problems = ["2d-star"]\nmethods = ["2d-oda"]', asked)
    study = study_of(tmp_path, text)
    assert study.notes == ("Methods that do not answer 2d-star are skipped on it: gm, low-oda.",)
    pairs = {(task.problem, task.variant) for task in table_of(study) if task.time_limit == 9.5}
    on_min_tco = {("min-tco", variant) for variant in ("gm", "2d-oda", "low-oda k=2", "low-oda k=4")}
    assert pairs == {("2d-star", "2d-oda"), *on_min_tco}


@pytest.mark.parametrize(
    ("problems", "methods"), [('"min-tco"', '"gm", "steiner-mixing"'), ('"min-tco", "2d-star"', '"gm"')]
)
def test_a_method_without_a_problem_and_a_problem_without_a_method_are_bad_input(
    tmp_path: Path, problems: str, methods: str
) -> None:
    text = SPEC.replace(
        'problems = ["2d-star"]\nmethods = ["2d-oda"]', f"problems = [{problems}]\nmethods = [{methods}]"
    )
    with pytest.raises(ob.BadInput, match=r"runs\[2\]: method '.*' does not answer"):
        study_of(tmp_path, text)


@pytest.mark.parametrize(
    ("nodes", "method", "least", "most"),
    [
        (20, "branch-and-cut", 0.001, 3.0),
        (40, "branch-and-cut", 0.001, 3.0),  # a limit of 60 s is no estimate
        (5000, "gm", 0.005, 3.0),
        (20_000, "branch-and-cut", 5.0, 60.0),
    ],
)
def test_a_dry_run_takes_times_from_the_librarys_runs(nodes: int, method: str, least: float, most: float) -> None:
    group = RunGroup("min-tco", method, "{}", 60.0, 4096, "")
    tally = RunTally(Store(Path("none")), {(group, nodes): 1})
    tally.learn(known_times([method]))
    assert least <= tally.work.left <= most
    assert not tally.work.is_limited


def test_a_dry_run_needs_no_folder_and_says_the_estimate_and_the_most(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        'instances = [{ workload = "zipf", nodes = 20, topics = 20, subscriptions = 3, seeds = 1000 }]\n'
        'runs = [{ problems = ["min-tco"], methods = ["branch-and-cut"] }]\n'
    )
    shown = output_of("study", file, "--dry-run", "--master", "local[2]")
    assert "at most 8 h 20 min, if every exact method takes its time limit" in shown
    assert shown.splitlines()[-1].startswith("about ")
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
