"""What a study varied: parameters of workloads, options of methods, sizes of instances."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..catalogue import kind_named
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
    columns = _spread(runs["recipe"], lambda recipe: recipe.get("parameters") or {})
    options = _spread(runs["options"], lambda given: given)
    for name in sizes_of(runs):
        if name in columns and not _agree(columns[name], runs[name]):
            columns[f"total_{name}"] = runs[name]
        else:
            columns[name] = runs[name]
    chosen = {name: column for name, column in columns.items() if _varies(column, [runs["problem"]])}
    of_methods = [runs["problem"], runs["method"]]
    chosen |= {n: column for n, column in options.items() if n not in columns and _varies(column, of_methods)}
    return pd.DataFrame(chosen, index=runs.index)


def _varies(column: pd.Series[Any], groups: list[pd.Series[Any]]) -> bool:
    return bool((column.groupby(groups).nunique() > 1).any())


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


def _spread(texts: pd.Series[str], fields: Any) -> dict[str, pd.Series[Any]]:
    """A column for each field of JSON texts, each distinct text read once."""
    by_text = {text: fields(json.loads(text)) for text in texts.unique()}
    names = dict.fromkeys(name for given in by_text.values() for name in given)
    return {name: texts.map({text: given.get(name) for text, given in by_text.items()}) for name in names}


def _agree(parameter: pd.Series[Any], size: pd.Series[Any]) -> bool:
    both = parameter.notna() & size.notna()
    return bool((parameter[both].astype(float) == size[both]).all())
