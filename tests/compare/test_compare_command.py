"""``overlaybench compare``: two studies, two code versions, or methods on shared instances."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import overlaybench as ob
from overlaybench.compare.commands.results import compare as command
from overlaybench.compare.figures.style import Chart, FigureOptions, styled
from overlaybench.compare.studies.row import SCHEMA, table_of
from overlaybench.compare.studies.store import Plan, Store, write_part
from tests.compare.report_rows import run
from tests.outcomes import assert_latex_compiles, needs_latex

SPEC = 'name = "by hand"\n'
VALUES = {"gm": (12, 11, 10, 14, 13, 12), "low-oda": (12, 13, 12, 15, 15, 14), "gm-m": (20, 21, 22, 23, 24, 25)}


def stored(folder: Path, rows: list[dict[str, Any]], planned: int | None = None) -> Path:
    """A results folder that holds these rows; the first ones are planned."""
    store = Store(folder)
    store.open_for(SPEC)
    store.write_plan(Plan("by hand", (), SPEC), [pa.table({"key": [row["key"] for row in rows[:planned]]})])
    whole = [_row(row) for row in rows]
    write_part(table_of(whole), store.runs)
    return folder


def _row(row: dict[str, Any]) -> dict[str, Any]:
    extra = {
        "sizes": [(name, row[name]) for name in ("nodes", "topics", "subscriptions")],
        "measures": [],
        "cpu_seconds": 1.0,
        "judge": "",
        "versions": "{}",
        "machine": "{}",
        "started": "2026-01-01T00:00:00.000+00:00",
    }
    return {name: {**row, **extra}[name] for name in SCHEMA.names}


def study(**given: Any) -> list[dict[str, Any]]:
    return [
        run(method=method, instance=f"{number:08x}", value=float(value), lower_bound=10.0, **given)
        for method, values in VALUES.items()
        for number, value in enumerate(values)
    ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two studies that differ in one value and in their seeds, the second with a run more."""
    folder = tmp_path_factory.mktemp("studies")
    changed = study(seed=2)
    changed[0] = run(method="gm", instance=f"{0:08x}", value=13.0, lower_bound=10.0, seed=2)
    return stored(folder / "a", study()), stored(folder / "b", [*changed, run("low-tco", value=3.0)])


def call(*words: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


def test_two_studies_are_summarised_and_check_fails_where_a_value_is_worse(folders: tuple[Path, Path]) -> None:
    done = call(*folders)
    assert done.exit_code == 0
    lines = [line.split() for line in done.output.splitlines()]
    assert ["min-tco", "gm", "6", "0", "5", "1"] in [line[:6] for line in lines]
    assert "12 → 13" in done.output
    assert all(
        len(line) <= 80 for line in done.output.splitlines() if line.startswith(("problem", "min-tco", "run in"))
    )
    assert "1 runs only in B" in done.output
    assert call(*folders, "--check").exit_code == 1
    assert call(*reversed(folders), "--check").exit_code == 0


def test_json_is_one_object_without_nan(folders: tuple[Path, Path]) -> None:
    data = json.loads(call(*folders, "--json").output)
    assert (data["worse"], len(data["most_changed"])) == (True, 1)
    assert sum(line["runs"] for line in data["summary"]) == 18
    paired = json.loads(call(folders[0], "--paired", "gm", "low-oda", "gm-m", "--json").output)
    assert [one["problem"] for one in paired] == ["min-tco"]
    assert paired[0]["pairs"][0]["wins"] == 5
    assert paired[0]["not_told_apart"] == [["gm", "low-oda"], ["low-oda", "gm-m"]]


def test_two_code_versions_in_one_folder_are_compared(tmp_path: Path) -> None:
    older = [
        {**row, "key": f"{number:032x}", "code_version": "000aaa"} for number, row in enumerate(study(seconds=2.0))
    ]
    folder = stored(tmp_path / "both", [*study(), *older], planned=len(study()))
    done = call(folder, "--versions", "000", "abc123")
    assert "0.5 0.5 0.5" in " ".join(done.output.split())
    assert isinstance(call(folder, "--versions", "f", "abc").exception, ob.BadInput)


def test_methods_are_compared_with_intervals_tests_and_a_sentence_on_what_they_say(folders: tuple[Path, Path]) -> None:
    output = call(folders[0], "--paired", "gm", "low-oda").output
    assert "gm low-oda −0.15 [" in " ".join(output.split())
    assert "5/1/0" in output
    assert "6 instances that all methods have, repeats averaged first; none was left out." in output
    assert "A large p does not prove that methods are equal." in output


def test_files_are_tables_latex_and_figures(folders: tuple[Path, Path], tmp_path: Path) -> None:
    names = ("pairs.csv", "pairs.parquet", "pairs.tex", "figure.svg")
    files = [tmp_path / name for name in names]
    assert call(folders[0], "--paired", "gm", "low-oda", "gm-m", *(f"-o{file}" for file in files)).exit_code == 0
    assert pd.read_csv(files[0])["wins"].tolist() == pd.read_parquet(files[1])["wins"].tolist() == [5, 6, 6]
    assert r"gm & low-oda & $-$" in files[2].read_text()
    parts = [tmp_path / f"figure-{part}.svg" for part in ("differences", "profile", "ranks")]
    assert [file for file in sorted(tmp_path.iterdir()) if file.suffix == ".svg"] == parts
    assert "critical difference" in parts[2].read_text()
    studies = [tmp_path / f"runs.{ending}" for ending in ("csv", "parquet", "tex")]
    assert call(*folders, *(f"-o{file}" for file in studies)).exit_code == 0
    assert len(pd.read_csv(studies[0])) == len(pd.read_parquet(studies[1])) == 18
    assert r"\toprule" in studies[2].read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "compare needs two folders"),
        (("--paired", "gm"), "at least two"),
        (("--paired", "gm", "nothing"), "unknown method 'nothing'"),
        (("--paired", "gm", "low-oda", "--problem", "low-tco"), "unknown method 'gm'"),
        (("--paired", "gm", "low-oda", "--versions", "1", "2"), "leave them out"),
        (("--paired", "gm", "low-oda", "-o", "x.doc"), "unknown ending '.doc'"),
        (("--paired", "gm", "low-oda", "--y", "degree"), "no instance has the measure 'degree'"),
        (("nowhere",), "nowhere: holds no results"),
        (("nowhere", "--versions", "1", "2"), "or one and `--versions V1 V2`"),
        (("nowhere", "--problem", "min-tco"), "--where problem="),
        (("--where", "problem=steiner", "--versions", "abc", "abc"), "there are no such runs"),
        (("--where", "problem=mintco", "--versions", "abc", "abc"), "'mintco': did you mean 'min-tco'?"),
    ],
)
def test_bad_input_says_what_is_wrong(folders: tuple[Path, Path], words: tuple[str, ...], message: str) -> None:
    error = call(folders[0], *words).exception
    assert isinstance(error, ob.BadInput)
    assert message in str(error)


@pytest.mark.parametrize(
    ("call", "rows", "columns"),
    [
        (partial(ob.paired, measure="value"), 3, {"first", "second", "mean_low", "p_holm"}),
        (ob.critical_difference, 3, {"method", "mean_rank", "not_apart"}),
        (ob.profile, 12, {"method", "factor", "share"}),
        (partial(ob.mean_interval, by="family"), 3, {"family", "instances", "low", "high", "worst"}),
    ],
)
def test_comparisons_are_tables_with_figures(
    folders: tuple[Path, Path], call: Any, rows: int, columns: set[str]
) -> None:
    table = call(folders[0], *VALUES, problem="min-tco")
    assert len(table) >= rows
    assert columns <= set(table.to_pandas().columns)
    assert table.drawn is not None
    assert json.dumps(table.drawn())
    assert r"\toprule" in table.to_latex()
    assert "gm" in repr(table)
    with pytest.raises(ob.BadInput, match="unknown method 'nothing'"):
        call(folders[0], "nothing", "gm", "gm-m")


def test_ratios_are_plotted_against_what_a_study_varied(tmp_path: Path) -> None:
    varied = [run(nodes=nodes, instance=f"{nodes:08x}", value=float(nodes), lower_bound=8.0) for nodes in (10, 12, 20)]
    table = ob.ratio_plot(stored(tmp_path / "s", varied), "gm", x="nodes")
    assert table.rows[["x", "mean"]].to_numpy().tolist() == [[10, 1.25], [12, 1.5], [20, 2.5]]
    chart = table.plot()
    chart.savefig(tmp_path / "ratio.pdf")
    assert (tmp_path / "ratio.pdf").read_bytes().startswith(b"%PDF")
    assert isinstance(chart, Chart)
    assert chart._repr_svg_().startswith("<svg")
    with pytest.raises(ob.BadInput, match="does not vary"):
        ob.ratio_plot(tmp_path / "s", x="topics")


def test_tables_for_a_paper_have_the_names_of_the_study_file(folders: tuple[Path, Path], tmp_path: Path) -> None:
    spec = 'name = "named"\n[report.names]\ngm = "Greedy Merge"\n"low-oda" = "Low-ODA"\n'
    store, named = Store(folders[0]), Store(tmp_path / "named")
    named.open_for(spec)
    named.write_plan(Plan("named", (), spec), [store.labels()])
    write_part(store.table(), named.runs)
    given = (named.folder, "--paired", "gm", "low-oda", "gm-m", "--rename", "gm-m=GM-M", "-o", tmp_path / "pairs.tex")
    assert call(*given).exception is None
    text = (tmp_path / "pairs.tex").read_text(encoding="utf-8")
    assert r"\label{tab:paired}" in text
    assert "Greedy Merge & GM-M &" in text
    assert "low-oda" not in text
    ranks = ob.critical_difference(named.folder, *VALUES).to_latex(names={"gm-m": "GM-M"})
    assert not {"gm", "gm-m", "low-oda"} & set(ranks.replace(",", " ").split())
    for table in (ob.profile(named.folder), ob.mean_interval(named.folder), ob.StudyResults(named.folder).results()):
        assert "Greedy Merge" in table.to_latex()
    with styled(FigureOptions(names={"gm": "Greedy Merge"})):
        for table in (ob.profile(named.folder), ob.paired(named.folder, *VALUES)):
            spec = json.dumps(table.drawn(), ensure_ascii=False)
            assert '"gm"' not in spec
            assert '"Greedy Merge"' in spec


def test_means_by_two_columns_have_a_panel_for_each_value_of_the_first(tmp_path: Path) -> None:
    rows = [
        run(nodes=nodes, topics=topics, instance=f"{nodes:04x}{topics:04x}", value=float(nodes), lower_bound=8.0)
        for nodes in (10, 20)
        for topics in (3, 4)
    ]
    table = ob.mean_interval(stored(tmp_path / "s", rows), by=["nodes", "topics"])
    assert table.drawn is not None
    assert [f'"min-tco, nodes {nodes}"' in json.dumps(table.drawn()) for nodes in (10, 20)] == [True, True]


def test_means_have_the_interval_of_their_instances(folders: tuple[Path, Path]) -> None:
    table = ob.mean_interval(folders[0], "gm").rows
    assert table[["instances", "mean", "worst"]].to_numpy().tolist() == [[6, pytest.approx(1.2), 1.4]]
    assert 1.0 < table["low"][0] < 1.2 < table["high"][0] < 1.4


@pytest.mark.slow
@needs_latex
def test_the_latex_of_a_paired_comparison_compiles(folders: tuple[Path, Path], tmp_path: Path) -> None:
    call(folders[0], "--paired", "gm", "low-oda", "gm-m", "-o", tmp_path / "pairs.tex")
    call(*folders, "-o", tmp_path / "changes.tex")
    assert_latex_compiles(tmp_path, r"\input{pairs}\input{changes}")
