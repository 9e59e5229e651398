"""The columns by which a researcher asks for runs: workload parameters and options by their names in study.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from ..catalogue import kind_named
from .anytime import with_integrals
from .bounds import measures_of, proven, sizes_of, with_bounds
from .row import SCHEMA, TYPED, object_in

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
    return _spread(rows["recipe"], lambda recipe: recipe.get("parameters", {}))


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
    rows = with_integrals(with_bounds(rows, pairs), pairs).drop(columns=list(TYPED.values()), errors="ignore")
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
    read = {text: fields(object_in(text)) for text in texts.unique()}
    columns = {}
    for name in dict.fromkeys(name for given in read.values() for name in given):
        values = {text: given.get(name) for text, given in read.items()}
        types = {type(value) for value in values.values() if value is not None}
        if len(types) > 1 and not types <= {int, float}:  # Parquet takes one type a column
            values = {text: None if value is None else str(value) for text, value in values.items()}
        columns[name] = texts.map(values)
    return pd.DataFrame(columns, index=texts.index)


def varied(runs: pd.DataFrame) -> pd.DataFrame:
    """A column for each parameter and size with several values in one problem, and option in one method.

    Parameters
    ----------
    runs : DataFrame
        With the columns problem, method, recipe, options, kind and the sizes of the kinds that occur.

    Returns
    -------
    DataFrame
        With the index of `runs` and names as in study.toml; None (NaN for a size) where a run has no such parameter. A
        size that a workload has as a parameter with other values (``subscriptions`` a node) is called
        ``total_subscriptions``.

    Notes
    -----
    Cost O(R) for R runs.
    """
    columns = parameters(runs)
    for name in sizes_of(runs):
        agrees = name not in columns or (columns[name].isna() | runs[name].isna() | (columns[name] == runs[name])).all()
        columns[name if agrees else f"total_{name}"] = runs[name]
    several = columns.groupby(runs["problem"]).nunique().gt(1).any()
    options = varied_options(runs)
    return columns.loc[:, several].join(options[options.columns.difference(columns.columns, sort=False)])


def chosen_parameters(runs: pd.DataFrame) -> list[str]:
    """The names of what a study varied on purpose.

    These are the parameters with several values in one family, the first size where samples of a file have several;
    without any, the options with several values in one method.
    """
    by_family: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for recipe in map(object_in, runs["recipe"].unique()):
        sample = {kind_named(recipe["file_kind"]).sizes[0]: recipe["sample"]} if recipe.get("sample") else {}
        own = {**sample, **recipe.get("parameters", {})}
        by_family.setdefault((recipe.get("family", ""), recipe.get("workload", "")), []).append(own)
    if names := _changing(by_family.values()):
        return names
    by_method = runs.drop_duplicates(["problem", "method", "options"]).groupby(["problem", "method"])["options"]
    return _changing([object_in(text) for text in texts] for _, texts in by_method)


def _changing(groups: Iterable[list[Mapping[str, Any]]]) -> list[str]:
    names: dict[str, None] = {}
    for group in groups:
        for name in group[0]:
            if len({each.get(name) for each in group}) > 1:
                names[name] = None
    return list(names)
