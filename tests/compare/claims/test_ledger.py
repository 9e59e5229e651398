"""The ledger: verdicts from intervals, statements, rows on record, pages, the commands and resuming."""

import json
import math
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.claims import register, statements
from overlaybench.compare.claims.bench import Bench, RunFailed, rows_here
from overlaybench.compare.claims.claim import (
    CaseTally,
    Claim,
    Judgement,
    LedgerRow,
    Limit,
    Line,
    Verdict,
    about,
    at_most,
    depends_on,
    exact,
    judged,
    verdict_of,
)
from overlaybench.compare.claims.data import FIGURES, GRIDS, TABLES, limit, read
from overlaybench.compare.claims.figures import Curve, Figure, Panel, PaperTable, draw, points_of
from overlaybench.compare.claims.grids import Grid, Sheet
from overlaybench.compare.claims.pages import VERDICTS, listed, pages, printed, row_of, write_pages
from overlaybench.compare.claims.register import (
    CLAIMS,
    claims_named,
    expected_seconds,
    judge,
    keep_rows,
    record,
    rows_in,
    run_claims,
    version_of_claim,
)
from overlaybench.compare.claims.rows import Part, on_rows
from overlaybench.compare.claims.statements import papers
from overlaybench.compare.command_line import cli
from overlaybench.compare.intervals import Interval, mean_interval
from tests.compare.claims import test_p1 as p1
from tests.compare.claims import test_p2 as p2
from tests.compare.claims import test_p3 as p3
from tests.compare.claims import test_p4 as p4
from tests.compare.claims import test_p5 as p5
from tests.outcomes import output_of

NUMBERS = st.floats(-1e6, 1e6)


@settings(deadline=None)
@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_a_verdict_is_decided_by_the_whole_interval(a: float, b: float, c: float, d: float) -> None:
    number, limit = Interval((a + b) / 2, min(a, b), max(a, b), 9), Limit(min(c, d), max(c, d))
    inside = limit.low <= min(a, b) and max(a, b) <= limit.high
    outside = max(a, b) < limit.low or min(a, b) > limit.high
    wanted = Verdict.CONFIRMED if inside else Verdict.CONTRADICTED if outside else Verdict.NOT_DECIDED
    assert verdict_of(number, limit) is wanted
    assert verdict_of(number, limit, Limit()) in (Verdict.CONFIRMED, Verdict.ORDER)


def test_an_interval_is_students_and_wider_for_several_that_hold_together() -> None:
    for together, quantile in ((1, 4.303), (2, 6.205)):  # of t with 2 degrees of freedom, at 97.5% and 98.75%
        found = mean_interval([1.0, 2.0, 3.0], together=together)
        assert [2 - found.low, found.high - 2] == pytest.approx([quantile / math.sqrt(3)] * 2, rel=1e-3)
    assert mean_interval([1.0, 2.0, 3.0], least=1.0).low == 1
    assert mean_interval([0.5, 0.7], least=1.0).low == pytest.approx(0.6), "where rounding is below the least"
    assert str(Interval(1.23456, 1.2, 1.26789, 3)) == "1.235 [1.2, 1.268]"


def test_a_single_sample_or_a_failed_run_decides_nothing_and_a_count_does() -> None:
    def fails(bench: Bench) -> Judgement:
        raise RunFailed("gm on min-tco: out of memory")

    assert verdict_of(Interval(3.0, math.nan, math.nan, 1), at_most(5)) is Verdict.NOT_DECIDED
    assert judged(exact(3), at_most(5)).verdict is judged(exact(30), about(30)).verdict is Verdict.CONFIRMED
    assert CaseTally().judgement(least=1).verdict is Verdict.NOT_DECIDED
    found = judge(Claim("X.1", fails)).judgement
    assert (found.verdict, found.because) == (Verdict.NOT_DECIDED, "a run failed: gm on min-tco: out of memory")


def test_a_value_that_must_be_proven_is_not_the_best_one_found() -> None:
    instance = ob.WORKLOADS["uniform"].generate(seed=0, nodes=40, topics=30, subscriptions=5)
    bench = Bench(True)
    assert bench.value("gm", instance, "min-tco") > 0
    with pytest.raises(RunFailed, match="gm on min-tco: no optimum is proven"):
        bench.value("gm", instance, "min-tco", proven=True)
    small = ob.WORKLOADS["uniform"].generate(seed=0, nodes=6, topics=4, subscriptions=2)
    assert bench.value("branch-and-cut", small, "min-tco", proven=True) <= bench.value("gm", small, "min-tco")


def test_sides_of_an_open_choice_that_disagree_make_the_verdict_depend() -> None:
    sides = {"lowest": judged(exact(3), at_most(5)), "highest": judged(exact(9), at_most(5))}
    found = depends_on("ties", sides)
    assert found.verdict is Verdict.DEPENDS
    assert [line.varied for line in found.sensitivity] == ["highest"]
    assert depends_on("ties", {"a": sides["lowest"], "b": sides["lowest"]}).verdict is Verdict.CONFIRMED


def test_every_claim_has_a_statement_with_its_place_and_points_to_a_finding() -> None:
    every = [one for paper in papers().values() for one in paper.claims.values()]
    findings = {one.id for paper in papers().values() for one in paper.finding}
    assert {one.id for one in every} == {id_ for id_ in CLAIMS if not id_.startswith(("HUB", "TEST"))}
    assert [one.id for one in every if not (one.place and one.statement)] == []
    assert {one.finding for one in every if one.finding} <= findings
    assert not [id_ for id_, count in Counter(one.id for one in every).items() if count > 1]
    assert all(one.reason and one.id not in CLAIMS for paper in papers().values() for one in paper.not_run)


def test_every_claim_of_a_paper_changes_its_verdict_in_a_test() -> None:
    tables = (p1.FAULTS, p2.FAULTS, p2.PUBLISHED, p3.FAULTS, p3.ROWS, p3.OTHER_WAY, p4.FAULTS, p5.FAULTS)
    by_tests_of_their_own = {
        *("P2.L2", "P2.S6.1", "P2.S6.5.1", "P2.S6.5.2", "P2.S6.5.3", "P3.S4A.1", "P3.S5.3", "P4.S6.1"),
        *("P5.F13c", "P5.F14", "P5.F13.2"),
    }
    assert {id_ for id_ in CLAIMS if id_.startswith("P")} <= by_tests_of_their_own.union(*tables) <= set(CLAIMS)


def test_statements_with_an_unknown_key_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "p9.toml"
    file.write_text('[[claim]]\nid = "P9.1"\nplace = "§1"\nkind = "theorem"\nstatment = "?"\n')
    with pytest.raises(ob.BadInput, match=r"p9\.toml.*statment"):
        statements._paper(file)


def test_claims_are_named_by_id_or_paper() -> None:
    assert [claim.id for claim in claims_named(["P1.L6.6", "P1.L6.6"])] == ["P1.L6.6"]
    assert {claim.id[:2] for claim in claims_named(["P2"])} == {"P2"}


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ("p1.l6.6", {"P1.L6.6"}),
        ("P1 L6.6", {"P1.L6.6"}),
        ("P1 Lemma 6.6", {"P1.L6.6"}),
        ("p1 lemma 6.6", {"P1.L6.6"}),
        ("P1 Fig. 2", {"P1.F2"}),
        ("P1 Figure 4", {"P1.F4a", "P1.F4b"}),
        ("P1 Section 6.4", {"P1.S6.4", "P1.S6.4.3", "P1.S6.4.4"}),
        ("P4 Figure 10", {"P4.F10", "P4.F10.1"}),
    ],
)
def test_claims_are_found_by_their_place_in_the_paper(asked: str, ids: set[str]) -> None:
    assert {claim.id for claim in claims_named([asked])} == ids


@pytest.mark.parametrize("asked", ["P1 Lemma", "P1 Lemma 6", "", "Lemma 6.6", "P9 Figure 2"])
def test_a_place_that_no_claim_has_is_unknown(asked: str) -> None:
    with pytest.raises(ob.BadInput, match="unknown claim"):
        claims_named([asked])


def test_advice_is_not_cut_and_every_verdict_is_explained() -> None:
    for row in record().values():
        advice = CLAIMS[row.id].statement.advice if row.id in CLAIMS else ""
        assert "".join(advice.split()) in "".join(printed(row).split()), row.id
    for shown in (listed(record()), VERDICTS):
        assert all(f"{verdict.capitalize()}: " in " ".join(shown.split()) for verdict in Verdict)


def test_every_grid_makes_runs_and_every_figure_and_claim_names_one() -> None:
    for grid in GRIDS.values():
        for quick in (True, False):
            assert grid.experiment(quick).runs, grid.name
    used = {name for claim in CLAIMS.values() for name in claim.grids}
    assert used | {one.grid for one in FIGURES.values()} | {one.grid for one in TABLES.values()} <= set(GRIDS)


def rows() -> pd.DataFrame:
    sheet = Sheet("uniform", {"nodes": (20, 30), "topics": 10, "subscriptions": 3}, "min-tco", ("gm", "ring-per-topic"))
    return rows_here(Grid("x", (sheet,), {"p_nodes": (20, 30, 90), "samples": 5}).experiment(True), ob.METHODS)


def test_rows_are_judged_part_by_part_and_readings_are_not_counted() -> None:
    paper = {"p_nodes": (20, 30, 90), "samples": 5}
    more = Part("rings ÷ GM", "`ring-per-topic` / gm", Limit(1.0), measure="edges")
    less = replace(more, must=at_most(0.5))
    bench = Bench(True, tables={"x": rows()})
    vary = {"large": "p_nodes == 30", "none": "p_nodes == 7"}
    found = on_rows("X.1", "x", more, vary=vary, where="", paper=paper).judge(bench)
    assert found.verdict is Verdict.CONFIRMED
    assert found.scale == "|V| up to 30 of 90, 2 of 5 samples a point"
    assert [line.varied for line in found.sensitivity] == ["large"]
    assert on_rows("X.2", "x", more, less, where="").judge(bench).verdict is Verdict.CONTRADICTED
    grows = Part("edges", "gm", Limit(1e-9), measure="edges", along="p_nodes", doubling=True)
    assert on_rows("X.3", "x", grows, where="").judge(bench).verdict is Verdict.CONFIRMED
    vary = {"only GM": "method == 'gm'", "large": "p_nodes == 30"}
    lines = on_rows("X.4", "x", more, grows, vary=vary, where="").judge(bench).sensitivity
    assert [line.varied for line in lines] == ["large"], "a line must not show another part's number"
    failed = bench.tables["x"].assign(status="failed", reason="out of memory")
    with pytest.raises(RunFailed, match="out of memory"):
        on_rows("X.1", "x", more).judge(Bench(True, tables={"x": failed}))


PAPER = """
[let]
low = "ties == 'lowest'"
[each]
law = [{ name = "uniform", at = 2 }, { name = "zipf", at = 3 }]
t = [10, 20]
[[grid]]
name = "y"
sheets = { problem = "min-tco", methods = ["gm"] }
[[grid.sheet]]
workload = "{law.name}"
shape = { nodes = 20, topics = "{t}", subscriptions = 3 }
options = { ties = ["lowest", "highest"] }
[[claim]]
id = "Y.{law.at}"
grid = "y"
where = "{low}"
vary = { "|T| = {t}" = "p_topics == {t}" }
part = [{ name = "edges, {law.name}", of = "gm", must = "≤ {law.at}", measure = "edges", published = "{law.at}" }]
[[table]]
name = "Y.2"
"""


def test_a_file_of_runs_is_filled_and_repeated(tmp_path: Path) -> None:
    (file := tmp_path / "p3_runs.toml").write_text(PAPER)
    grid, *claims, table = read(file)
    assert isinstance(grid, Grid)
    assert isinstance(table, PaperTable)
    assert [(s.workload, s.shape["topics"]) for s in grid.sheets] == [
        ("uniform", 10), ("uniform", 20), ("zipf", 10), ("zipf", 20)
    ]  # fmt: skip
    assert grid.sheets[0].methods == (("gm", {"ties": ("lowest", "highest")}),)
    assert [one.name for one in claims] == ["Y.2", "Y.3"]
    made = rows_here(grid.experiment(True), ob.METHODS)
    assert isinstance(claims[1], Claim)
    found = claims[1].judge(Bench(True, tables={"y": made}))
    assert (found.verdict, [line.varied for line in found.sensitivity]) == (
        Verdict.CONTRADICTED, ["|T| = 10", "|T| = 20"]
    )  # fmt: skip
    assert [(part.name, part.published) for part in table.parts] == [("edges, uniform", 2)]
    with pytest.raises(ValueError, match="'2' is no limit"):
        limit("2")


def test_a_figure_draws_its_curves_and_the_published_marks_in_three_formats() -> None:
    rings = Curve("rings ÷ GM", "method == 'ring-per-topic'", "method == 'gm'")
    figure = Figure("X.F1", "x", ("p_nodes", "nodes"), (Panel("edges", "edges", {"GM": {"20": 31.0}}),),
                    (Curve("GM", "method == 'gm'"), rings),
                    )  # fmt: skip
    points = points_of(figure, rows())
    assert points.groupby("curve").size().to_dict() == {"GM": 3, "rings ÷ GM": 2}
    assert points[points["published"]]["y"].tolist() == [31.0]
    assert set(draw(figure, points).files) == {"pdf", "svg", "png"}


LINES = st.lists(
    st.builds(Line, st.text("ab |", min_size=1), st.just(exact(2.0)), st.sampled_from(Verdict)), max_size=3
)


@settings(deadline=None)
@given(st.sampled_from(Verdict), st.text("abc ≤×", max_size=400), LINES)
def test_a_row_is_the_same_after_writing_and_fits_a_terminal(verdict: Verdict, why: str, lines: list[Line]) -> None:
    judgement = Judgement(verdict, why, Interval(1.5, 1.25, 1.75, 4), tuple(lines), (why,), "|V| up to 2", 7)
    row = LedgerRow("P3.F10", False, judgement, 1.0, 2.0, "v")
    assert LedgerRow.from_dict(json.loads(json.dumps(row.to_dict()))) == row
    shown = printed(row).splitlines()
    assert len(shown) <= 15
    assert max(map(len, shown)) <= 80
    assert shown[0].startswith(f"P3.F10  {verdict}")


def test_the_record_has_a_row_for_each_claim_and_keeps_the_newest(tmp_path: Path) -> None:
    assert set(record()) <= set(CLAIMS)
    file, row = tmp_path / "record.json", LedgerRow("P3.F10", False, Judgement(Verdict.CONFIRMED))
    keep_rows([row], file)
    keep_rows([replace(row, version="new"), replace(row, quick=True)], file)
    assert [(one.version, one.quick) for one in rows_in(file)] == [("new", False), ("", True)]
    assert record(file)["P3.F10"].version == "new"


def test_what_claims_take_is_as_recorded_each_grid_once_and_the_mean_of_those_without_a_record(tmp_path: Path) -> None:
    chosen = [Claim(id_, lambda bench: Judgement(Verdict.CONFIRMED), grids) for id_, grids in GRIDS_OF.items()]
    rows = [
        LedgerRow(one, False, Judgement(Verdict.CONFIRMED), 3.0, 1e6 * one.startswith("G")) for one in ("G.1", "G.2")
    ]
    keep_rows([*rows, LedgerRow("H.1", False, Judgement(Verdict.CONFIRMED), 9.0)], tmp_path / "record.json")
    judges, whole = expected_seconds(chosen, False, tmp_path / "record.json")
    assert judges == {"G.1": 3, "G.2": 3, "H.1": 9, "N.1": 5}
    assert whole == 20 + 1e6 / len(os.sched_getaffinity(0))
    few, many = (expected_seconds(chosen * times, True, tmp_path / "record.json")[1] for times in (1, 9))
    assert few < many < 9 * few < whole


GRIDS_OF: dict[str, tuple[str, ...]] = {"G.1": ("g",), "G.2": ("g",), "H.1": (), "N.1": ()}


def test_the_pages_count_claims_and_are_short() -> None:
    made = pages(record())
    assert len(made["claims.md"].splitlines()) <= 300
    assert all(len(text.splitlines()) <= 450 for text in made.values())
    assert made["claims.md"].splitlines()[2].startswith(f"{len(statements.statements())} claims, one verdict each")
    assert all(f"## {id_}" in made[f"claims/{id_.partition('.')[0].lower()}.md"] for id_ in statements.statements())
    links = re.findall(r"\]\((claims/\w+\.md)#([^)]+)", made["claims.md"])
    heads = {
        (name, re.sub(r"\W", "", head).lower()) for name in made for head in re.findall("^## (.*)", made[name], re.M)
    }
    assert links
    assert set(links) <= heads


def interrupted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []

    def judgement(claim: Claim, bench: Bench) -> Judgement:
        calls.append(claim.id)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return Judgement(Verdict.CONFIRMED)

    monkeypatch.setattr(register, "_judgement", judgement)
    return calls


def test_claims_that_were_interrupted_go_on_and_repeat_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, ids = interrupted(monkeypatch), ("P3.L3", "P3.L4", "P3.L6")

    def start() -> list[str]:
        done = run_claims([CLAIMS[id_] for id_ in ids], True, tmp_path, "local[1]", lambda claim: None)
        return [one.id for one in done if isinstance(one, LedgerRow)]

    with pytest.raises(KeyboardInterrupt):
        start()
    assert start() == list(ids)
    assert calls == ["P3.L3", "P3.L4", "P3.L4", "P3.L6"]
    monkeypatch.setattr(register, "version_of_claim", lambda claim: "changed")
    assert start() == list(ids)
    assert len(calls) == 7
    assert version_of_claim(CLAIMS["P3.L3"]) != version_of_claim(CLAIMS["P3.L12"])
    assert version_of_claim(Claim("X.1", lambda bench: Judgement(Verdict.CONFIRMED))) == ""


def test_an_exception_is_a_line_with_the_claims_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judgement(claim: Claim, bench: Bench) -> Judgement:
        if claim.id == "P3.L3":
            raise ZeroDivisionError("no phases")
        return Judgement(Verdict.CONFIRMED, runs=1)

    monkeypatch.setattr(register, "_judgement", judgement)
    command = ["claims", "P3.L3", "P3.L4", "--quick", "--out", str(tmp_path), "--record", str(tmp_path / "r.json")]
    ran = CliRunner().invoke(cli, command)
    assert ran.exit_code == 1
    assert "overlaybench: P3.L3: ZeroDivisionError: no phases\n" in ran.stderr
    assert ran.stdout.startswith("P3.L4  confirmed")
    assert [row.id for row in rows_in(tmp_path / "r.json")] == ["P3.L4"]
    ran = CliRunner().invoke(cli, ["claims", "P3.L4", "--quick", "--out", str(tmp_path), "--json"])
    (found,) = json.loads(ran.stdout)
    assert (found["id"], found["verdict"], found["place"]) == ("P3.L4", "confirmed", "Lemma 4")


def test_claims_without_a_name_are_listed_with_their_verdicts(tmp_path: Path) -> None:
    shown = output_of("claims", "--page", tmp_path / "claims.md")
    assert shown.startswith(listed(record()))
    assert "or --all" in shown
    assert (tmp_path / "claims" / "p3.md").read_text().startswith("# P3: Chen")
    assert row_of({}, "P3.F10").judgement.verdict is Verdict.NOT_DECIDED
    (tmp_path / "taken").touch()
    with pytest.raises(ob.BadInput, match="taken: cannot be created"):
        write_pages({}, tmp_path / "taken")


@pytest.mark.parametrize("text", ["{", "7", '["a"]', '[{"id": "P1.E1"}]'])
def test_a_file_that_is_no_record_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "record.json"
    file.write_text(text)
    with pytest.raises(ob.BadInput, match="no verdicts"):
        record(file)


def test_a_claim_is_shown_as_recorded_and_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.compare.claims.commands.run_claims", None)
    short, whole = (CliRunner().invoke(cli, ["claims", "P3.F10", *more]).stdout for more in ((), ("--all",)))
    assert short == printed(row_of(record(), "P3.F10")) + "\n"
    assert set(short.splitlines()[:4]) <= set(whole.splitlines())
    assert all(line.varied.split()[0] in whole for line in row_of(record(), "P3.F10").judgement.sensitivity)
    every = json.loads(output_of("claims", "--json"))
    assert [one["id"] for one in every] == list(CLAIMS)
