"""Texts in CSV files are no formulas of a spreadsheet, and control characters break no reader."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.studies.latex import csv_text


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


def test_control_characters_are_replaced() -> None:
    assert cells(pd.DataFrame({"family": ["a\x00b\x1b[31mc\x7f\ud800"]}))[1] == ["a�b�[31mc��"]


def test_numbers_and_lists_are_as_they_were() -> None:
    table = pd.DataFrame({"value": [-1.5, np.nan], "keys": [("-a", "b"), ()], "current": [True, False]})
    assert cells(table) == [["value", "keys", "current"], ["-1.5", "'-a b", "True"], ["", "", "False"]]


def test_columns_of_equal_names_are_kept_apart() -> None:
    assert cells(pd.DataFrame([["=1", 2]], columns=["a", "a"])) == [["a", "a"], ["'=1", "2"]]
