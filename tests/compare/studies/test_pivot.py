"""Tables as papers print them: a column across, others down, means with intervals or worst runs, the best marked."""

import random
import re
import statistics
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats

import overlaybench as ob
from overlaybench.compare.studies.columns import researched
from overlaybench.compare.studies.pivot import FORMATS, pivot, renamed, write_pivot
from overlaybench.instances.contract.errors import BadInput
from tests.compare.report_rows import frame, run
from tests.outcomes import output_of, refusal_of

METHODS = ("gm", "low-oda", "ilp")


def runs(seed: int = 0, problems: tuple[str, ...] = ("min-tco",)) -> pd.DataFrame:
    """Two sizes of four instances, each solved twice by two heuristics and by ``ilp``, which proves the optimum 20."""
    draw = random.Random(seed)
    rows = []
    for problem, nodes, i, method, repeat in product(problems, (9, 30), range(4), METHODS, (1, 2)):
        exact = method == "ilp"
        value = 20.0 if exact else float(draw.randint(20, 60))
        given: dict[str, Any] = {"nodes": nodes, "seed": repeat, "value": value}
        given |= {"seconds": draw.uniform(0.001, 9), "status": "optimal" if exact else "feasible"}
        rows.append(run(problem, method, f"i{nodes}-{i}", **given))
    return researched(frame(*rows).assign(cpu_seconds=1.0)).assign(current=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("cell", "column"), [("ratio", "ratio"), ("time", "seconds")])
def test_cells_are_means_over_instances_with_half_of_the_interval_or_the_worst_run(
    seed: int, cell: str, column: str
) -> None:
    of = runs(seed)
    intervals, worst = (pivot(of, ["nodes"], "method", cell, form).table for form in ("interval", "worst"))
    assert intervals["nodes"].tolist() == [9, 30]
    for at, nodes in enumerate((9, 30)):
        for method in METHODS:
            own = of[(of["nodes"] == nodes) & (of["method"] == method)]
            means = [statistics.fmean(each[column]) for _, each in own.groupby("instance")]
            mean, half = statistics.fmean(means), stats.t.ppf(0.975, 3) * statistics.stdev(means) / 2
            shown, interval = (float(text) for text in re.findall(r"[\d.]+", intervals[method][at]))
            assert shown == pytest.approx(mean, rel=0.006)
            assert interval == pytest.approx(half, abs=0.051)
            text = re.findall(r"[\d.]+", worst[method][at])
            assert [float(number) for number in text] == pytest.approx([mean, own[column].max()], rel=0.006)
            assert all(len(number.replace(".", "").lstrip("0")) <= 3 for number in text)


@pytest.mark.parametrize("across", ["method", "nodes"])
def test_the_best_method_of_a_size_is_bold_whichever_is_across(across: str) -> None:
    of = runs(1)
    of.loc[of["method"] == "ilp", "seconds"] = 0.5
    of.loc[(of["method"] == "gm") & (of["nodes"] == 9), "seconds"] = 0.25
    found = pivot(of, ["nodes" if across == "method" else "method"], across, "time")
    best = {
        (size, method)
        for size, head in ((9, "nodes = 9"), (30, "nodes = 30"))
        for method in METHODS
        if (
            found.best[method][found.table["nodes"].tolist().index(size)]
            if across == "method"
            else found.best[head][found.table["method"].tolist().index(method)]
        )
    }
    assert best == {(9, "gm"), (30, "ilp")}


def test_a_dagger_marks_proven_optima_and_an_asterisk_means_over_fewer_instances_which_are_not_compared() -> None:
    of = runs(2)
    easy = (of["method"] == "gm") & (of["nodes"] == 9)
    of = of[~(easy & (of["instance"] == "i9-0"))].reset_index(drop=True)
    of.loc[(of["method"] == "gm") & (of["nodes"] == 9), ["value", "ratio"]] = [20.0, 1.0]
    found = pivot(of, ["nodes"], "method")
    assert found.table["gm"][0] == "1.00 ± 0.00†*"
    assert found.table["ilp"].tolist() == ["1.00 ± 0.00†"] * 2
    assert not found.best["gm"].any()
    assert found.best["ilp"].all()
    assert "fewer instances" in found.caption
    failed = of.assign(status=of["status"].where(of["instance"] != "i30-1", "failed"))
    assert "†" not in pivot(failed[failed["instance"] == "i30-1"], ["nodes"], "method", "time").caption


def test_problems_are_not_mixed_and_mixed_variants_are_named() -> None:
    found = pivot(runs(0, ("min-tco", "low-tco")), ["nodes"], "method")
    assert list(found.table) == ["problem", "nodes", *METHODS]
    assert len(found.table) == 4
    of = runs()
    assert "combine" not in pivot(of, ["nodes"], "method").caption
    of["variant"] += (" k=" + of["seed"].astype(str)).where(of["method"] == "low-oda", "")
    assert "Cells combine low-oda k=1, low-oda k=2." in pivot(of, ["nodes"], "method").caption
    assert "combine" not in pivot(of, ["nodes"], "variant").caption
    of["variant"] += [f" t={at}" for at in range(len(of))]
    assert ", 40 more." in pivot(of, ["nodes"], "method").caption


def test_whole_numbers_down_have_no_decimals_and_a_name_holds_once() -> None:
    of = runs().assign(nodes=lambda own: own["nodes"].astype(float))
    table = renamed(pivot(of, ["nodes"], "method"), {"nodes": "number of nodes"}).table
    assert next(iter(table)) == "number of nodes"
    assert [str(size) for size in table["number of nodes"]] == ["9", "30"]


def test_short_times_are_in_milliseconds_and_single_runs_have_no_interval() -> None:
    of = runs()
    of = of[(of["instance"] == "i9-0") & (of["seed"] == 1)].assign(seconds=[0.25, 0.0000001, 0.0125])
    found = pivot(of, ["nodes"], "method", "time")
    assert sorted(found.table.iloc[0, 1:]) == ["12.5†", "250", "<0.001"]
    assert found.caption.startswith("Time (ms) on min-tco by nodes and method")
    assert pivot(of, ["nodes"], "method", "memory").best.to_numpy().all()  # a tie


def test_names_of_the_paper_and_marks_are_in_every_format(tmp_path: Path) -> None:
    found = renamed(pivot(runs(), ["nodes"], "method"), {"gm": "GM | <best>", "nodes": "size"})
    texts = {}
    for ending in set(FORMATS) - {".xlsx"}:
        write_pivot(found, tmp_path / f"t{ending}")
        texts[ending] = (tmp_path / f"t{ending}").read_text(encoding="utf-8")
    assert r"\textbf{1.00 $\pm$ 0.00$\dagger$} \\" in texts[".tex"]
    assert "| **1.00 ± 0.00†** |" in texts[".md"]
    assert r"| size | GM \| <best> |" in texts[".md"]
    assert "<b>1.00 ± 0.00†</b>" in texts[".html"]
    assert "GM | &lt;best&gt;" in texts[".html"]
    assert texts[".csv"].startswith("size,GM | <best>,low-oda,ilp\n9,")
    write_pivot(found, tmp_path / "t.xlsx")
    assert (tmp_path / "t.xlsx").read_bytes().startswith(b"PK")
    with pytest.raises(BadInput, match=r"\.json"):
        write_pivot(found, tmp_path / "t.json")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((["sizes"], "method"), "column 'sizes'"),
        ((["nodes"], "nodes"), "one column across"),
        ((["nodes"], "method", "speed"), "measure 'speed'"),
        ((["nodes"], "method", "ratio", "median"), "form 'median'"),
        ((["nodes"], "method", "degree"), "no run has a degree"),
    ],
)
def test_what_no_run_has_is_bad_input(given: tuple[list[str], str], error: str) -> None:
    with pytest.raises(BadInput, match=error):
        pivot(runs(), *given)


def test_the_command_and_python_write_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.compare.python_api.studies.results", lambda *given, **others: runs())
    monkeypatch.setattr("overlaybench.compare.commands.results._names", lambda folder, rename: {})
    output_of("results", tmp_path, "--table", "nodes:method", "--cell", "ratio", "-o", tmp_path / "a.tex")
    table = ob.StudyResults(tmp_path).results().pivot("nodes", "method", "ratio")
    table.save(tmp_path / "b.tex")
    assert (tmp_path / "a.tex").read_bytes() == (tmp_path / "b.tex").read_bytes()
    assert r"\textbf" in table.to_latex()
    assert "<b>" in table._repr_html_()
    shown = output_of("results", tmp_path, "--table", "nodes:method", "--worst")
    assert "**1.00 (1.00)†**" in shown
    assert "nodes:method" in refusal_of("results", tmp_path, "--table", "nodes")
    both = ("--table", "nodes:method", "--by", "nodes")
    assert "without --by" in refusal_of("results", tmp_path, *both)
