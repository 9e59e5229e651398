"""The columns by which a researcher asks for runs: workload parameters and options by their names in study.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ...instances.contract.result import Status
from ..catalogue import kind_named
from .bounds import measures_of, proven, sizes_of, with_bounds
from .row import SCHEMA, object_in
from .task import limits_in, without_limit

DERIVED = ("bound", "optimum", "ratio", "primal_integral", "dual_integral", "proven", "current")
"""Columns of the results that no row stores."""

_BEFORE_SEED = r'^(\{"family": "(?:[^"\\]|\\.)*", )"seed": [0-9]+, '


def parameters(rows: pd.DataFrame) -> pd.DataFrame:
    """The workload parameters of each row's instance (by its recipe), and the limits in its problem's name.

    A column each under its name in study.toml, missing where a row's workload has no such parameter or its instance is
    read from a file.
    """
    limits = {problem: limits_in(problem) for problem in rows["problem"].unique()}
    names = dict.fromkeys(name for each in limits.values() for name in each)
    of_problems = {name: rows["problem"].map({of: each.get(name) for of, each in limits.items()}) for name in names}
    given = _spread(_forms(rows["recipe"]), lambda recipe: recipe.get("parameters", {}))
    return given.set_axis(rows.index).assign(**of_problems)


def _forms(recipes: pd.Series[str]) -> pa.DictionaryArray:
    """The recipes (JSON) without their seeds, of which a million instances have a few."""
    texts = pc.replace_substring_regex(pa.array(recipes, pa.string()), pattern=_BEFORE_SEED, replacement=r"\1")
    return texts.dictionary_encode()


def varied_options(rows: pd.DataFrame) -> pd.DataFrame:
    """The options of methods that differ between the runs of one method on one problem: a column each."""
    options = _spread(pa.array(rows["options"], pa.string()).dictionary_encode(), dict).set_axis(rows.index)
    groups = [rows["method"], rows["problem"]]
    return options[[name for name in options if (options[name].groupby(groups).nunique() > 1).any()]]


def researched(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with `DERIVED` columns, and a column for each workload parameter and varied option.

    Where a parameter has the name of a size, the size is in ``total_NAME``, and ``NAME`` is the parameter; rows without
    the parameter have the size there if the two agree in all rows that have both. A parameter whose name is that of
    another column is in ``parameter_NAME``, such an option in ``option_NAME``. The rows are all runs of a study
    (:meth:`.Store.rows`): the bound of an instance is the best of them. Without their recipes or options there are no
    parameters or options.
    """
    pairs = proven(rows)
    rows = with_integrals(with_bounds(rows, pairs), pairs)
    sizes, taken = set(sizes_of(rows)), {*SCHEMA.names, *measures_of(rows), *DERIVED}
    given = parameters(rows) if "recipe" in rows else rows[[]]
    given = given.rename(columns=lambda name: f"parameter_{name}" if name in taken - sizes else name)
    collided = [name for name in given.columns if name in rows.columns]
    totals = rows[collided].add_prefix("total_")
    for name in collided:
        both = given[name].notna() & rows[name].notna()
        if (given.loc[both, name] == rows.loc[both, name]).all():
            given[name] = rows[name].where(rows[name].notna(), given[name])
    taken |= {*rows.columns, *given.columns}
    options = varied_options(rows) if "options" in rows else rows[[]]
    options = options.rename(columns=lambda name: f"option_{name}" if name in taken else name)
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


def _spread(texts: pa.DictionaryArray, fields: Callable[[Any], Mapping[str, Any]]) -> pd.DataFrame:
    """A column for each field of JSON texts, each distinct text read once."""
    read, at = [fields(object_in(text)) for text in texts.dictionary.to_pylist()], texts.indices.to_numpy()
    columns = {}
    for name in dict.fromkeys(name for given in read for name in given):
        values = [given.get(name) for given in read]
        types = {type(value) for value in values if value is not None}
        if len(types) > 1 and not types <= {int, float}:  # Parquet takes one type a column
            values = [None if value is None else str(value) for value in values]
        columns[name] = pd.Series(values).take(at).set_axis(range(len(at)))
    return pd.DataFrame(columns, index=range(len(at)))


def varied(runs: pd.DataFrame) -> pd.DataFrame:
    """A column for each parameter and size with several values in one problem, and option in one method.

    Names are as in study.toml; None (NaN for a size) where a run has no such parameter. A size that a workload has as a
    parameter with other values (``subscriptions`` a node) is called ``total_subscriptions``.
    """
    columns = parameters(runs)
    for name in sizes_of(runs):
        agrees = name not in columns or (columns[name].isna() | runs[name].isna() | (columns[name] == runs[name])).all()
        columns[name if agrees else f"total_{name}"] = runs[name]
    several = columns.groupby(runs["problem"].map(without_limit)).nunique().gt(1).any()
    options = varied_options(runs)
    return columns.loc[:, several].join(options[options.columns.difference(columns.columns, sort=False)])


def chosen_parameters(runs: pd.DataFrame) -> list[str]:
    """The names of what a study varied on purpose.

    These are the parameters with several values in one family, the first size where samples of a file have several;
    without any, the options with several values in one method.
    """
    by_family: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for recipe in map(object_in, _forms(runs["recipe"]).dictionary.to_pylist()):
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


Steps = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
VALUE, BOUND = "value", "lower_bound"


def gap(numbers: npt.ArrayLike, best: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """|number − best| ÷ max(|number|, |best|), from 0 to 1: 1 without a number (NaN), or if the signs differ."""
    numbers, best = (np.asarray(each, np.float64) for each in (numbers, best))
    largest = np.maximum(np.abs(numbers), np.abs(best))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(np.isinf(largest) | (numbers * best < 0), 1.0, np.abs(numbers - best) / largest)
    return np.where(np.isnan(numbers) | np.isnan(best), 1.0, np.where(numbers == best, 0.0, found))


class GapSteps(NamedTuple):
    """The gaps of runs to the best value known of their instances, as step functions of time, one after the other.

    Those of run i stand at ``starts[i]`` to ``starts[i + 1]``: from each of the `times` (seconds) on, the gap is this
    one; at time 0 it is 1.
    """

    starts: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]

    @classmethod
    def of(cls, points: Any, best: Any, of: str = VALUE) -> GapSteps:
        """The primal (or dual) gaps of runs with these points and best values known."""
        lists = pa.array(points, SCHEMA.field("points").type)
        lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        seconds, numbers = (lists.flatten().field(name).to_numpy(zero_copy_only=False) for name in ("seconds", of))
        sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
        ends = np.cumsum(sizes)
        gaps = gap(numbers, np.repeat(np.asarray(best, np.float64), sizes))
        starts = np.concatenate([[0], ends + np.arange(1, len(ends) + 1)])
        return cls(starts, np.insert(seconds, ends - sizes, 0.0), np.insert(gaps, ends - sizes, 1.0))

    def integrals(self, limits: Any) -> npt.NDArray[np.float64]:
        """The mean gap of each run from 0 to its limit: the primal or dual integral ÷ limit (Berthold 2013).

        0 is best: the best known value (or bound) from the start. 1 is no answer (or bound) in time. After the end of a
        run its last gap remains.
        """
        limits = np.asarray(limits, np.float64)
        until, ends = np.repeat(limits, np.diff(self.starts)), np.append(self.times[1:], np.inf)
        ends[self.starts[1:] - 1] = np.inf
        held = np.minimum(ends, until) - np.minimum(self.times, until)
        integrals: npt.NDArray[np.float64] = np.add.reduceat(held * self.gaps, self.starts[:-1]) / limits
        return integrals

    def mean(self) -> Steps:
        """The mean of the functions, as one."""
        changes = np.diff(self.gaps, prepend=0.0)
        changes[self.starts[:-1]] = 1.0
        order = np.argsort(self.times, kind="stable")
        times, total = self.times[order], np.cumsum(changes[order])
        last = np.append(np.flatnonzero(np.diff(times)), len(times) - 1)
        return times[last], total[last] / (len(self.starts) - 1)


def with_integrals(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The rows with primal_integral and dual_integral, against the best value known (`pairs`, of :func:`.proven`).

    Both are NaN for skipped runs, without a time limit, and where no value is known. A failed run has 1. Cost
    O(points).
    """
    best = rows[["instance", "problem"]].merge(pairs, on=["instance", "problem"], how="left")["best"].to_numpy()
    limits = rows["time_limit"].mask(rows["status"] == Status.SKIPPED).to_numpy(np.float64, na_value=np.nan)
    limits = np.where(np.isnan(best.astype(np.float64)), np.nan, limits)
    names = {"primal_integral": VALUE, "dual_integral": BOUND}
    found = {name: GapSteps.of(rows["points"], best, of).integrals(limits) for name, of in names.items() if len(rows)}
    return rows.assign(**{name: found.get(name, np.empty(0)) for name in names})
