"""What a study varied: parameters of workloads, options of methods, sizes of instances."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..catalogue import kind_named
from .columns import parameters, varied_options
from .sizes import sizes_of


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
    recipes = {text: json.loads(text) for text in runs["recipe"].unique()}
    by_family: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for recipe in recipes.values():
        sample = {kind_named(recipe["file_kind"]).sizes[0]: recipe["sample"]} if recipe.get("sample") else {}
        own = {**sample, **(recipe.get("parameters") or {})}
        by_family.setdefault((recipe.get("family", ""), recipe.get("workload", "")), []).append(own)
    if names := _changing(by_family.values()):
        return names
    by_method = runs.drop_duplicates(["problem", "method", "options"]).groupby(["problem", "method"])["options"]
    return _changing([json.loads(text) for text in texts] for _, texts in by_method)


def _changing(groups: Iterable[list[dict[str, Any]]]) -> list[str]:
    names: dict[str, None] = {}
    for group in groups:
        for name in group[0]:
            if len({each.get(name) for each in group}) > 1:
                names[name] = None
    return list(names)
