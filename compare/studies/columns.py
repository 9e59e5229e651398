"""The columns by which a researcher asks for runs: workload parameters and options by their names in study.toml."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from .anytime import with_integrals
from .bounds import proven, with_bounds
from .row import SCHEMA
from .sizes import measures_of, sizes_of

DERIVED = ("bound", "optimum", "ratio", "primal_integral", "dual_integral", "proven", "current")
"""Columns of the results that no row stores."""


def parameters(rows: pd.DataFrame) -> pd.DataFrame:
    """The workload parameters of each row's instance.

    Parameters
    ----------
    rows : DataFrame
        One row a run, with its ``recipe``.

    Returns
    -------
    DataFrame
        The index of `rows`, and a column for each parameter under its name in study.toml, missing where a row's
        workload has no such parameter or its instance is read from a file.
    """
    return _spread(rows["recipe"], lambda recipe: recipe.get("parameters") or {})


def varied_options(rows: pd.DataFrame) -> pd.DataFrame:
    """The options of methods that differ between the runs of one method on one problem: a column each."""
    options = _spread(rows["options"], lambda given: given)
    groups = [rows["method"], rows["problem"]]
    return options[[name for name in options if (options[name].groupby(groups).nunique() > 1).any()]]


def researched(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with `DERIVED` columns, and a column for each workload parameter and varied option.

    Where a parameter has the name of a size, the size is in ``total_NAME``, and ``NAME`` is the parameter; rows without
    the parameter have the size there if the two agree in all rows that have both. A parameter whose name is that of
    another column is in ``parameter_NAME``, such an option in ``option_NAME``.

    Parameters
    ----------
    rows : DataFrame
        All runs of a study, as :meth:`.Store.rows` gives them: the bound of an instance is the best of them.
    """
    pairs = proven(rows)
    rows = with_integrals(with_bounds(rows, pairs), pairs)
    sizes, taken = set(sizes_of(rows)), {*SCHEMA.names, *measures_of(rows), *DERIVED}
    given = parameters(rows).rename(columns=lambda name: f"parameter_{name}" if name in taken - sizes else name)
    collided = [name for name in given.columns if name in rows.columns]
    totals = rows[collided].add_prefix("total_")
    for name in collided:
        both = given[name].notna() & rows[name].notna()
        if (given.loc[both, name] == rows.loc[both, name]).all():
            given[name] = rows[name].where(rows[name].notna(), given[name])
    taken |= {*rows.columns, *given.columns}
    options = varied_options(rows).rename(columns=lambda name: f"option_{name}" if name in taken else name)
    derived = [name for name in DERIVED if name in rows]
    names = rows.columns.drop([*collided, *derived]).tolist()
    for before, added in (
        ("problem", [*given.columns, *totals.columns]),
        ("exact", options.columns),
        ("seconds", derived),
    ):
        at = names.index(before)
        names[at:at] = added
    return pd.concat([rows.drop(columns=collided), given, totals, options], axis=1)[names]


def _spread(texts: pd.Series[str], fields: Callable[[Any], Mapping[str, Any]]) -> pd.DataFrame:
    """A column for each field of JSON texts, each distinct text read once."""
    read = {text: fields(json.loads(text)) for text in texts.unique()}
    names = dict.fromkeys(name for given in read.values() for name in given)
    columns = {name: texts.map(_of_one_type({text: read[text].get(name) for text in read})) for name in names}
    return pd.DataFrame(columns, index=texts.index)


def _of_one_type(values: dict[str, Any]) -> dict[str, Any]:
    """The values as texts where they have several types, which Parquet does not take."""
    types = {type(value) for value in values.values() if value is not None}
    if len(types) < 2 or types <= {int, float}:
        return values
    return {at: None if value is None else str(value) for at, value in values.items()}
