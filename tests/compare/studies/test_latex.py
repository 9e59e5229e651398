"""Tables for papers: booktabs, escaped text, numbers of equal decimals, the best ones bold."""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.studies.latex import csv_text, escaped, latex_table, results_latex
from overlaybench.compare.studies.results import grouped
from tests.compare.report_rows import frame, run
from tests.outcomes import CLASSES, assert_latex_compiles, needs_latex

HOSTILE = r"100% of_a\b {x} ~^#$& <|V|²> ≤ ρ – −"
BREAKING = ("[2pt] x", "*", "a\n\nb", "\x00\x1b[31m", r"\end{tabular}", r"\input{/etc/passwd}", "=1+1", "``x''")


def body(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.endswith(r"\\")]


def test_a_table_has_rules_caption_and_label_and_is_long_above_forty_rows() -> None:
    text = latex_table(pd.DataFrame({"mean_ratio": [1.5], "runs": [3]}), "Ratios, 50%", "tab:ratios")
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert r"\caption{Ratios, 50\%}" in text
    assert r"\label{tab:ratios}" in text
    assert body(text)[0] == r"mean ratio & runs \\"
    assert r"\begin{longtable}" in latex_table(pd.DataFrame({"x": range(41)}))
    assert r"\begin{table}" in latex_table(pd.DataFrame({"x": range(40)}))


def test_the_numbers_of_a_column_have_equal_decimals_or_two_digits_and_missing_ones_are_dashes() -> None:
    frame = pd.DataFrame({"ratio": [1.03125, 12.5, np.nan], "runs": [1234567, -2, 0], "p": [0.5, 1.2e-9, 1.0]})
    assert body(latex_table(frame.assign(seconds=[2.342, 0.000527, 0.124])))[1:] == [
        r"1.0 & 1\,234\,567 & 0.50 & 2.34 \\",
        r"12.5 & $-$2 & $1.2 \cdot 10^{-9}$ & $5.3 \cdot 10^{-4}$ \\",
        r"-- & 0 & 1.00 & 0.12 \\",
    ]


def test_what_is_marked_is_bold() -> None:
    frame = pd.DataFrame({"method": ["a", "b", "c"], "value": [2.0, 1.0, 1.0]})
    lines = body(latex_table(frame, bold=frame[["value"]] == 1))[1:]
    assert lines == [r"a & 2 \\", r"b & \textbf{1} \\", r"c & \textbf{1} \\"]


def test_equal_headers_are_kept_apart_and_special_characters_escaped() -> None:
    frame = pd.DataFrame([[("a", "b"), None]], columns=["a_b", "a b"])
    assert body(latex_table(frame)) == [r"a b & a b \\", r"a b & -- \\"]
    line = body(latex_table(pd.DataFrame({"text": [HOSTILE]})))[1]
    assert line.startswith(r"100\% of\_a\textbackslash{}b \{x\} \textasciitilde{}\textasciicircum{}\#\$\& \textless{}")
    assert escaped("χ²") == r"$\chi^2$"


@pytest.mark.parametrize("label", BREAKING)
def test_no_label_ends_its_cell(label: str) -> None:
    lines = body(latex_table(pd.DataFrame({"text": [label, "x"]})))
    assert len(lines) == 3
    assert not lines[1].startswith(("[", "*"))
    assert lines[2] == r"x \\"


@pytest.mark.slow
@needs_latex
def test_latex_compiles_short_and_long_tables_with_hostile_text(tmp_path: Path) -> None:
    labels = [HOSTILE, *BREAKING] * 5
    frame = pd.DataFrame({HOSTILE: labels, "number": np.linspace(-1, 1e-9, len(labels))})
    tables = latex_table(frame.head(9), HOSTILE, "a", bold=frame[["number"]].head(9) < 0) + latex_table(
        frame, HOSTILE, "b"
    )
    assert_latex_compiles(tmp_path, tables, "booktabs,longtable")


def test_a_wide_table_is_narrowed_to_a_page() -> None:
    frame = pd.DataFrame(
        {f"a long head {k}": [k, 7] for k in range(9)} | {"name": ["one two " * 9, "x"], "same": [1, 1]}
    )
    text = latex_table(frame, "Wide.")
    assert r"\begin{tabular}[b]{@{}r@{}}a \\ long \\ head \\ 0\end{tabular}" in text
    assert r"\begin{tabular}[t]{@{}l@{}}one two one two one \\ two one" in text
    assert r"\caption{Wide. In all rows: a long head 7 = 7; same = 1.}" in text
    assert r"\centering\small\setlength{\tabcolsep}{4pt}" in text
    assert r"\small" not in latex_table(frame[["name", "same"]])
    rest = {f"{k}": [f"number-{k}"] * 2 for k in range(8)} | {f"c{k}": [f"{k}" * 9, "x"] for k in range(5)}
    last = latex_table(
        pd.DataFrame({"name": ["random-assignment", "x"], **rest}).assign(**{"0": ["content-tree", "y"]})
    )
    assert r"random- \\ assignment" in last
    assert r"1 & \{\} \\" in latex_table(frame.assign(options="{}"))
    many = latex_table(pd.DataFrame({f"number {k}": range(100_000, 100_050) for k in range(10)}))
    assert many.splitlines()[1].startswith("{\\footnotesize\\setlength{\\tabcolsep}{3pt}")


def wide(columns: int, rows: int = 5, text: str = "low-oda k=8 partitions=16") -> str:
    """A table of means of this many methods, the first ones best, in capitals, which are wider than other letters."""
    heads = [f"{text.upper()} {k}" for k in range(columns)]
    frame = pd.DataFrame(
        {"nodes": range(rows), **{head: [f"{123 + k}.0 ± 122.9†*" for k in range(rows)] for head in heads}}
    )
    bold = pd.DataFrame({head: [k % 2 == 0 for k in range(rows)] for head in heads})
    return latex_table(frame, "Times (s) ± the interval.", bold=bold)


def test_a_table_too_wide_for_a_column_is_set_over_both() -> None:
    texts = [wide(columns, text="gm") for columns in range(1, 7)]
    starred = [r"\begin{table*}" in text for text in texts]
    assert starred == sorted(starred)
    assert starred[0] is False
    assert starred[-1] is True
    assert all(text.count("{table*}") == 2 * star for text, star in zip(texts, starred, strict=True))


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("of", CLASSES)
def test_no_table_overflows_its_column_in_the_classes_of_papers(tmp_path: Path, of: str) -> None:
    for columns in range(1, 6):
        for text in ("gm", "low-oda k=8 partitions=16"):
            assert_latex_compiles(tmp_path, rf"\title{{x}}{wide(columns, text=text)}", of=of, overfull=False)
    long = rf"\title{{x}}x {wide(3, 60, 'gm')} y"
    assert_latex_compiles(tmp_path, long, "booktabs,longtable", of, overfull=False)


NO_COLUMNS = dict.fromkeys(("ratio", "optimum", "primal_integral", "dual_integral"), np.nan) | {"cpu_seconds": 1.0}


def test_groups_have_what_a_paper_prints_under_the_names_of_the_paper() -> None:
    rows = [run("min-tco", name, f"i{i}", value=10.0 + i * (name == "gm")) for name in ("gm", "ilp") for i in range(3)]
    known = frame(*rows).assign(**NO_COLUMNS)
    known = known.assign(ratio=known["value"] / 10, optimum=10.0, exact=False)
    groups = grouped(known, ["problem", "variant"])
    assert groups["reached"].tolist() == [1, 3]
    names = {"gm": "Greedy Merge", "min-tco": "Min-TCO"}
    text = results_latex(groups, ["problem", "variant"], names=names)
    assert [line for line in body(text) if line[-2:] == r"\\"][1:] == [
        r"Greedy Merge & 1.10 & 1.00--1.35 & 1.20 & 1 \\",
        r"ilp & 1.00 & 1.00--1.00 & 1.00 & 3 \\",
    ]
    assert "Results by problem and method" in text
    assert "In all rows: problem = Min-TCO; n = 3; mean time (s) = 1." in text
    shown = latex_table(pd.DataFrame({"panel": ["", ""], "exact": [True, False], "peak_memory": [2**20, 2**21]}))
    assert body(shown) == [r"exact & memory (MiB) \\", r"yes & 1 \\", r"no & 2 \\"]


def test_a_mean_over_fewer_instances_says_over_how_many() -> None:
    few = frame(
        run("min-tco", "gm", "small", value=12.0, seconds=2.0),
        run("min-tco", "gm", "large", value=50.0, seconds=2.0),
        run("min-tco", "ilp", "small", value=10.0, lower_bound=10.0, seconds=1.0),
    ).assign(**NO_COLUMNS)
    assert "1 of 2" in results_latex(grouped(few, ["variant"]), ["variant"])


def test_runs_have_the_columns_that_fit_a_page() -> None:
    line = body(results_latex(frame(run(value=3.0))))[0]
    assert line.startswith(r"problem & method & family & status & value & \begin{tabular}[b]{@{}r@{}}time \\ (s)")


def cells(table: pd.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_text(table)), strict=True))


@pytest.mark.parametrize(
    "label",
    ["=1+1", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "=HYPERLINK('x')", "\uff1d1", '=cmd|"/c"!A1'],
)
def test_a_text_that_looks_like_a_formula_gets_an_apostrophe(label: str) -> None:
    header, row = cells(pd.DataFrame({label: [label]}))
    assert row[0].startswith("'")
    assert header[0].startswith("'")


@pytest.mark.parametrize("label", ["gm", "low-oda k=8", "a=b", "", "<b>x</b>", r"\input{x}", 'a "b", c', "два\nlines"])
def test_any_other_text_is_as_it_was(label: str) -> None:
    assert cells(pd.DataFrame({"family": [label], "n": [1]}))[1] == [label, "1"]


def test_numbers_lists_and_equal_columns_stay_and_control_characters_are_replaced() -> None:
    assert cells(pd.DataFrame({"family": ["a\x00b\x1b[31mc\x7f\ud800"]}))[1] == ["a�b�[31mc��"]
    table = pd.DataFrame({"value": [-1.5, np.nan], "keys": [("-a", "b"), ()], "current": [True, False]})
    assert cells(table) == [["value", "keys", "current"], ["-1.5", "'-a b", "True"], ["", "", "False"]]
    assert cells(pd.DataFrame([["=1", 2]], columns=["a", "a"])) == [["a", "a"], ["'=1", "2"]]
