"""Scores of methods on the library: gaps to the best known values, proofs, primal integrals, and ranks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
from msgspec import structs

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.problem import family_of
from ...instances.contract.result import Status
from ..studies.columns import gap
from .table import Record, Table

_ENOUGH = 0.5
_TOLERANCE = 1e-6
_METHOD = ["problem", "method", "time_limit"]


def scored(table: Table, records: Iterable[Record]) -> pd.DataFrame:
    """The score of each method of some runs, by problem and time limit.

    Returns
    -------
    DataFrame
        problem, method, time_limit; instances (run), answered, of (that the library has for the problem); mean_gap:
        the mean of |value − best| ÷ value, 1 without an answer, where best is the best value known, or that of these
        runs if it is lower; improved: answers below the best value known; proven: the share of the instances on which
        the run proved its own answer optimal; primal_integral: its mean, in shares of the time limit; rank and
        compared: the rank by mean gap among `compared` methods, which are these and those of the table, each compared
        on the instances that both ran on, if these are at least half.
    """
    own = {_key(each): each for each in records}
    runs = [structs.asdict(each) for each in ({_key(each): each for each in table.records.values()} | own).values()]
    every = pd.DataFrame(runs, columns=list(Record.__struct_fields__))
    pairs = list(zip(every["instance"], every["problem"], strict=True))
    record = [table.known(instance, problem).value for instance, problem in pairs]
    best = every.assign(known=record)[["known", "value"]].min(axis=1).groupby([every["instance"], every["problem"]])
    every = every.assign(known=record, best=best.transform("min"))
    every["gap"] = [gap(value, least) for value, least in zip(every["value"], every["best"], strict=True)]
    sizes = pd.Series([problem for _, problem in table.pairs()], dtype=object).value_counts()
    gaps = {
        problem: rows.pivot(index="instance", columns=_METHOD, values="gap")
        for problem, rows in every.groupby("problem")
    }
    lines, ran = [], {key[:3] for key in own}
    for key, rows in every.groupby(_METHOD, sort=False):
        if key in ran:
            places = _beaten_by(gaps[key[0]], key)
            numbers = {
                "instances": len(rows),
                "answered": int(rows["value"].notna().sum()),
                "of": int(sizes.get(key[0], 0)),
                "mean_gap": rows["gap"].mean(),
                "improved": int((rows["value"] < rows["known"] * (1 - _TOLERANCE)).sum()),
                "proven": (rows["status"] == Status.OPTIMAL).mean(),
                "primal_integral": rows["integral"].mean(),
                "rank": 1 + sum(places),
                "compared": 1 + len(places),
            }
            lines.append(dict(zip(_METHOD, key, strict=True)) | numbers)
    order = {name: number for number, name in enumerate(PROBLEMS)}
    by = ("problem", "mean_gap", "method")
    lines.sort(key=lambda line: (order.get(family_of(line["problem"]), len(order)), *map(line.get, by)))
    return pd.DataFrame(lines, columns=list(_COLUMNS))


_COLUMNS = (
    *("problem", "method", "time_limit", "instances", "answered", "of", "mean_gap", "improved", "proven"),
    *("primal_integral", "rank", "compared"),
)


def standings(table: Table) -> pd.DataFrame:
    """The scores of the methods that the table has records of, as :func:`scored`."""
    return scored(table, table.records.values())


def score_row(line: Any) -> dict[str, str]:
    """A score as texts of a table."""
    return {
        "problem": line.problem,
        "method": line.method,
        "limit": f"{line.time_limit:g} s",
        "instances": f"{line.instances} of {line.of}",
        "mean gap": f"{line.mean_gap:.2%}",
        "proven": f"{line.proven:.0%}",
        "primal integral": f"{line.primal_integral:.2%}",
        "rank": f"{line.rank} of {line.compared}",
    }


def _key(record: Record) -> tuple[str, str, float, str]:
    return record.problem, record.method, record.time_limit, record.instance


def _beaten_by(gaps: pd.DataFrame, method: tuple[str, str, float]) -> list[bool]:
    """Whether it has the lower mean gap, for each other method that ran on half of a method's instances."""
    here = gaps[method].dropna()
    rivals = gaps.loc[here.index].drop(columns=[method])
    enough = rivals.notna().sum() >= _ENOUGH * len(here)
    better = rivals.mean() < rivals.notna().mul(here, axis=0).sum() / rivals.notna().sum() - _TOLERANCE
    return [bool(one) for one in better[enough]]
