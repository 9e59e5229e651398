"""Scores of methods on the library: gaps to the best known values, proofs, primal integrals, and ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.problem import family_of
from ...instances.contract.result import Status
from ..studies.anytime import gap, gap_integral
from ..studies.store import Store
from .table import Record, Table

_ENOUGH = 0.5
_TOLERANCE = 1e-6
Runs = dict[tuple[str, str, float], dict[str, Record]]
"""By problem, method and limit, the run on each instance, by name."""


class LibraryRow(NamedTuple):
    """A row of a study, the library's name of its instance, and its method with the options that are not defaults."""

    name: str
    row: Mapping[str, Any]


def library_rows(table: Table, store: Store) -> Iterator[LibraryRow]:
    """The rows of a folder's present study that are runs of the library: on its instances, and for its problems."""
    rows = store.table(store.plan().keys).to_pylist()
    for row in rows:
        entry = table.by_digest.get(row["instance"])
        if entry is not None and row["problem"] in entry.problems and row["status"] != Status.SKIPPED:
            yield LibraryRow(entry.name, row)


def scored(table: Table, rows: Iterable[LibraryRow]) -> pd.DataFrame:
    """The score of each method, by problem and time limit.

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
    given = list(rows)
    best = {(one.name, one.row["problem"]): table.known(one.name, one.row["problem"]).value for one in given}
    known = dict(best)
    for one in given:
        if (value := one.row["value"]) is not None:
            at = one.name, one.row["problem"]
            best[at] = value if math.isnan(best[at]) else min(best[at], value)
    runs: Runs = {}
    for one in given:
        record = record_of(one, best[one.name, one.row["problem"]])
        runs.setdefault((record.problem, record.method, record.time_limit), {})[one.name] = record
    others: Runs = {}
    for record in table.records.values():
        others.setdefault((record.problem, record.method, record.time_limit), {})[record.instance] = record
    sizes = pd.Series([problem for _, problem in table.pairs()]).value_counts()
    lines = []
    for (problem, method, limit), here in runs.items():
        values = {name: record.value for name, record in here.items()}
        gaps = [gap(value, best[name, problem]) for name, value in values.items()]
        rivals = [
            each for key, each in (others | runs).items() if key[0] == problem and key != (problem, method, limit)
        ]
        places = [place for rival in rivals if (place := _is_better(rival, here, best, problem)) is not None]
        improved = sum(value < known[name, problem] * (1 - _TOLERANCE) for name, value in values.items())
        lines.append(
            {
                "problem": problem,
                "method": method,
                "time_limit": limit,
                "instances": len(here),
                "answered": sum(not math.isnan(value) for value in values.values()),
                "of": int(sizes.get(problem, 0)),
                "mean_gap": sum(gaps) / len(gaps),
                "improved": improved,
                "proven": sum(record.status == Status.OPTIMAL for record in here.values()) / len(here),
                "primal_integral": _mean(record.integral for record in here.values()),
                "rank": 1 + sum(places),
                "compared": 1 + len(places),
            }
        )
    order = {name: number for number, name in enumerate(PROBLEMS)}
    lines.sort(key=lambda line: (order.get(family_of(line["problem"]), len(order)), *map(line.get, _BY)))
    return pd.DataFrame(lines, columns=list(_COLUMNS))


_BY = ("problem", "mean_gap", "method")
_COLUMNS = (
    *("problem", "method", "time_limit", "instances", "answered", "of", "mean_gap", "improved", "proven"),
    *("primal_integral", "rank", "compared"),
)


def standings(table: Table) -> pd.DataFrame:
    """The scores of the methods that the table has records of, as :func:`scored`."""
    digests = {name: entry.digest for name, entry in table.entries.items()}
    rows = (LibraryRow(record.instance, _as_row(record, digests[record.instance])) for record in table.records.values())
    return scored(table, rows)


def record_of(one: LibraryRow, best: float) -> Record:
    """A run as a record without a bound; its integral is against the best value given."""
    row = one.row
    value = math.nan if row["value"] is None else float(row["value"])
    integral = row["primal_integral"] if "primal_integral" in row else _integral(row, best)
    seconds = row["cpu_seconds"]
    return Record(
        instance=one.name,
        problem=row["problem"],
        method=row["variant"],
        time_limit=float(row["time_limit"]),
        status=Status(row["status"]),
        value=value,
        bound=math.nan,
        seconds=math.nan if seconds is None else float(seconds),
        integral=integral,
        proof="",
        version=row["code_version"][:12],
    )


def _integral(row: Mapping[str, Any], best: float) -> float:
    return math.nan if math.isnan(best) else gap_integral(row["points"], best, row["time_limit"])


def _as_row(record: Record, digest: str) -> dict[str, Any]:
    return {
        "instance": digest,
        "problem": record.problem,
        "variant": record.method,
        "time_limit": record.time_limit,
        "status": record.status,
        "value": None if math.isnan(record.value) else record.value,
        "cpu_seconds": record.seconds,
        "primal_integral": record.integral,
        "code_version": record.version,
    }


def _is_better(
    rival: Mapping[str, Record], here: Mapping[str, Record], best: Mapping[tuple[str, str], float], problem: str
) -> bool | None:
    """Whether a rival has the lower mean gap on the instances that both ran on; None if these are less than half."""
    common = [name for name in here if name in rival]
    if len(common) < _ENOUGH * len(here):
        return None
    ours, theirs = (
        sum(gap(runs[name].value, best[name, problem]) for name in common) / len(common) for runs in (here, rival)
    )
    return theirs < ours - _TOLERANCE


def _mean(numbers: Iterable[float]) -> float:
    known = [number for number in numbers if not math.isnan(number)]
    return sum(known) / len(known) if known else math.nan
