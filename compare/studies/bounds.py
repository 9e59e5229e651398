"""The best lower bound and the best answer of each instance, from all runs of a study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...instances.contract.catalogue import KINDS, PROBLEMS
from ...instances.contract.kind import Kind
from ...instances.contract.problem import Implication
from ...instances.contract.result import Status
from ...instances.topics.files import TOPICS
from ...instances.topics.objective import Objective
from .proofs import TOLERANCE, VERDICT, levels, tolerances, weakest
from .row import object_in


class Implied(NamedTuple):
    """An implication of a problem, the `target`."""

    target: str
    by: Implication


def implications(names: Iterable[str] = ()) -> list[Implied]:
    """The implications of all problems that are known, and of those of these names."""
    known = {name: PROBLEMS.get(name) for name in dict.fromkeys((*PROBLEMS, *names))}
    return [Implied(name, one) for name, problem in known.items() if problem for one in problem.implications]


def proven(rows: pd.DataFrame) -> pd.DataFrame:
    """The best bound, the best overlay and, where they meet, the optimum of every instance and problem of a study.

    Every row that did not fail counts, whatever its method, and :func:`implications` carry bounds between problems.
    There is one row an (instance, problem) that occurs in `rows`, in the order of the problems, then of size: problem,
    instance, kind, family, the sizes, extent and volume (see :func:`.sized`), runs, bound (NaN if none), bound_keys
    (the runs behind it), bound_proof (the implications used), best (the lowest value of any answer, also of overlays
    for another problem), best_key, optimum (NaN unless proven), gap = (best − bound) ÷ best, proven (the level of the
    bound: the weakest of the runs behind it, see :func:`.levels`). Cost O(R + I·P) for R rows, I instances, P problems.
    """
    rows = sized(rows)
    grouped = rows.groupby(["problem", "instance"], sort=False)
    pairs = grouped[["kind", "family", *sizes_of(rows), "extent", "volume"]].first()
    pairs = pairs.assign(runs=grouped.size()).reset_index()
    known = rows[rows["status"] != Status.FAILED].sort_values("key")  # ties do not depend on the order of rows
    bounds = {(i, p): _Known(bound, (key,)) for i, p, bound, key in _best(known, "lower_bound", highest=True)}
    if bounds:
        links = implications(rows["problem"])
        sizes = rows.drop_duplicates("instance").set_index("instance")["nodes"]
        for instance in dict.fromkeys(instance for instance, _ in bounds):
            _imply(bounds, instance, sizes[instance], links)
    values = {
        (i, p): (value, key)
        for i, p, value, key in _best(_with_implied_values(known, pairs["problem"].unique()), "value")
    }
    at = list(zip(pairs["instance"], pairs["problem"], strict=True))
    pairs["bound"], pairs["bound_keys"], pairs["bound_proof"] = (
        [getattr(bounds.get(pair, _NOTHING), name) for pair in at] for name in _Known._fields
    )
    pairs["best"], pairs["best_key"] = ([values.get(pair, (math.nan, ""))[i] for pair in at] for i in (0, 1))
    pairs["optimum"] = pairs["best"].where(near(pairs["bound"], pairs["best"], pairs["problem"]))
    pairs["gap"] = relative_gaps(pairs["best"], pairs["bound"])
    level = dict(zip(rows["key"], levels(rows), strict=True))
    pairs["proven"] = [weakest([level[key] for key in keys]) for keys in pairs["bound_keys"]]
    return sorted_by(pairs, "problem", "family", "extent", "volume", "instance")


def with_bounds(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The rows in their order, each with the bound and optimum (`proven`) of its instance and problem, NaN if unknown.

    ratio = value ÷ bound is 1 if both are 0, and NaN for a failed run or without a positive bound; proven is the level
    of the row's own bound (:func:`.levels`).
    """
    pairs = pairs[["problem", "instance", "bound", "optimum"]]
    joined = rows.merge(pairs, on=["problem", "instance"], how="left").set_axis(rows.index)
    value = joined["value"].astype(np.float64).where(joined["status"] != Status.FAILED)
    both_zero = (value == 0) & (joined["bound"] == 0)
    ratio = (value / joined["bound"].where(joined["bound"] > 0)).mask(both_zero, 1.0)
    return joined.assign(ratio=ratio, proven=levels(rows))


def disagreements(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Runs of one instance that contradict each other by what is `proven` of them, so that some proof is wrong.

    One row a contradiction: problem, instance, kind, sentence, keys (tuple of the contradicting runs). Kinds: ``two
    optima``, ``value below bound`` (an answer, perhaps to another problem, is better than a proven bound),
    ``infeasible`` (yet answered), ``optimal without proof`` (its lower bound is not its value), ``wrong proof``.
    """
    found: list[tuple[str, str, str, str, tuple[str, ...]]] = []
    names, optimal = dict(zip(rows["key"], rows["variant"], strict=True)), rows[rows["status"] == Status.OPTIMAL]

    def add(kind: str, row: Any, sentence: str, *keys: str) -> None:
        found.append((row.problem, row.instance, kind, sentence, keys))

    for row in rows[rows["counters"].str.contains(f'"{VERDICT}": "wrong', regex=False)].itertuples():
        add("wrong proof", row, f"the checker refused a proof: {object_in(row.counters)[VERDICT]}", row.key)
    both = optimal["lower_bound"].astype(float), optimal["value"].astype(float)
    for row in optimal[~near(*both, optimal["problem"])].itertuples():
        sentence = f"status optimal with value {row.value:g} and lower bound {row.lower_bound:g}"
        add("optimal without proof", row, sentence, row.key)
    contradicted = set()
    for at, group in optimal.groupby(["problem", "instance"], sort=False):
        low, high = group.loc[group["value"].idxmin()], group.loc[group["value"].idxmax()]
        if not near(low["value"], high["value"], low["problem"]):
            contradicted.add(at)
            sentence = " and ".join(f"{one['variant']} proved {one['value']:g} optimal" for one in (low, high))
            add("two optima", low, sentence, low["key"], high["key"])
    close = near(pairs["best"], pairs["bound"], pairs["problem"])
    for pair in pairs[(pairs["best"] < pairs["bound"]) & ~close].itertuples():
        if (pair.problem, pair.instance) not in contradicted:
            by = " and ".join(names[key] for key in pair.bound_keys)
            better = f"an overlay of {names[pair.best_key]} is worth {pair.best:g}"
            sentence = f"{better}, below the bound {pair.bound:g} of {by}"
            sentence += f" ({pair.bound_proof})" if pair.bound_proof else ""
            add("value below bound", pair, sentence, pair.best_key, *pair.bound_keys)
    infeasible = rows[rows["status"] == Status.INFEASIBLE].merge(
        pairs[["problem", "instance", "best", "best_key"]], on=["problem", "instance"]
    )
    for row in infeasible[np.isfinite(infeasible["best"])].itertuples():
        sentence = f"{row.variant} proved that there is no answer, {names[row.best_key]} has one"
        add("infeasible", row, sentence, row.key, row.best_key)
    return pd.DataFrame(found, columns=["problem", "instance", "kind", "sentence", "keys"])


def problem_order(rows: pd.DataFrame) -> list[str]:
    """The problems that occur in `rows`, in the order ``overlaybench list problems`` has, others after."""
    present = set(rows["problem"].unique())
    if len(present) < 2:  # the order of all is costly to know
        return list(present)
    return [name for name in PROBLEMS if name in present] + sorted(present - set(PROBLEMS))


def sorted_by(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The rows sorted by columns (stable), problems in the order of :func:`problem_order`."""
    rank = {name: index for index, name in enumerate(problem_order(rows))}

    def ranked(column: pd.Series[Any]) -> pd.Series[Any]:
        return column.map(rank) if column.name == "problem" else column

    return rows.sort_values(list(columns), key=ranked, kind="stable", ignore_index=True)


def near(numbers: Any, others: Any, problems: Any = "") -> Any:
    """Whether numbers equal others but for rounding, elementwise; never where one is missing or infinite.

    `problems` are names, one or as many as numbers; see :func:`tolerances`.
    """
    with np.errstate(invalid="ignore"):
        close = np.abs(numbers - others) <= tolerances(problems) * np.abs(others)
    return close & np.isfinite(numbers) & np.isfinite(others)


def exceeds(number: float, other: float, problem: str = "") -> bool:
    """Whether a value or bound of a problem is above another by more than rounding (:func:`near`)."""
    return bool(number > other and not near(number, other, problem))


def relative_gaps(values: pd.Series[float], bounds: pd.Series[float]) -> pd.Series[float]:
    """(value − bound) ÷ |value|, elementwise; 0 where they are equal, NaN where either is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = (values - bounds) / values.abs()
    return gaps.mask(values == bounds, 0.0)


class _Known(NamedTuple):
    """The best number known of an instance and problem, the runs behind it, and the implications used."""

    value: float
    keys: tuple[str, ...]
    proof: str = ""


_NOTHING, _UNBOUNDED = _Known(math.nan, ()), _Known(-math.inf, ())


def _best(rows: pd.DataFrame, name: str, *, highest: bool = False) -> Iterator[tuple[str, str, float, str]]:
    """Instance, problem, the best finite number of a column, and the key of the first row that has it."""
    finite = rows[np.isfinite(pd.to_numeric(rows[name]).astype(np.float64))]
    best = finite.sort_values(name, ascending=not highest, kind="stable").drop_duplicates(["instance", "problem"])
    yield from zip(*(best[column].tolist() for column in ("instance", "problem", name, "key")), strict=True)


def _with_implied_values(rows: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """The rows, and after them one for each of the problems that an overlay is an answer to as well."""
    answered = rows.loc[rows["value"].notna(), ["instance", "problem", "value", "key", "edges", "max_degree"]]
    problems = {name: PROBLEMS[name].objective for name in names if name in PROBLEMS}
    objectives = {name: each for name, each in problems.items() if isinstance(each, Objective)}
    implied = [answered]
    for target, objective in objectives.items():
        of = [name for name, other in objectives.items() if other.answers(objective) and not objective.weighted]
        own = answered[answered["problem"].isin(of)]
        measured = zip(own["edges"].tolist(), own["max_degree"].tolist(), strict=True)
        found = [objective.value(edges, degree) for edges, degree in measured]
        implied.append(own.assign(problem=target, value=np.array(found, np.float64)))
    return pd.concat([answered, *implied[1:]])


def _imply(bounds: dict[tuple[str, str], _Known], instance: str, nodes: float, links: Sequence[Implied]) -> None:
    """Apply every implication until none helps; false bounds can raise each other forever, hence the limit."""
    for _ in links:
        raised = False
        for target, one in links:
            premises = [bounds.get((instance, name), _NOTHING) for name in one.premises]
            if _NOTHING in premises:
                continue
            bound = one.bound(nodes, *(max(premise.value, 0.0) for premise in premises))
            if PROBLEMS[target].integral and math.isfinite(bound):
                bound = float(math.ceil(bound - TOLERANCE))
            keys = dict.fromkeys(key for premise in premises for key in premise.keys)
            proofs = dict.fromkeys([*(premise.proof for premise in premises), one.proof])
            implied = _Known(bound, tuple(keys), "; ".join(filter(None, proofs)))
            if math.isfinite(bound) and bound > bounds.get((instance, target), _UNBOUNDED).value:
                bounds[instance, target], raised = implied, True
        if not raised:
            return


def sizes_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """The names of the sizes of all kinds that occur in `rows`, and those of topic instances in any case."""
    return tuple(dict.fromkeys(name for kind in _kinds(rows) for name in kind.sizes))


def measures_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """The names of the measures of all kinds that occur in `rows`, and those of topic instances in any case."""
    return tuple(dict.fromkeys(name for kind in _kinds(rows) for name in kind.measures))


def sized(rows: pd.DataFrame) -> pd.DataFrame:
    """A copy with a column for every size and measure there is, NaN where a row's kind has none, extent and volume.

    These two are the first and the last size of the row's kind (for topics, the nodes and the subscriptions), so that
    instances of any kind can be sorted by size.
    """
    names = [*sizes_of(rows), *measures_of(rows)]
    rows = rows.reindex(columns=[*rows.columns, *(name for name in names if name not in rows)])
    rows[names] = rows[names].astype("float64")
    for column, index in (("extent", 0), ("volume", -1)):
        rows[column] = float("nan")
        for kind in _kinds(rows):
            of_kind = rows["kind"] == kind.name
            rows.loc[of_kind, column] = rows.loc[of_kind, kind.sizes[index]]
    return rows


def _kinds(rows: pd.DataFrame) -> list[Kind[Any, Any]]:
    present = set(rows["kind"])
    others = KINDS.values() if present - {TOPICS.name} else ()  # their order is costly to know
    return [TOPICS, *(kind for kind in others if kind.name in present and kind is not TOPICS)]
