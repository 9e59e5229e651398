"""The best lower bound and the best answer of each instance, from all runs of a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.catalogue import KINDS, PROBLEMS
from ...instances.contract.kind import Kind
from ...instances.contract.result import Status
from ...instances.topics.files import TOPICS
from .proofs import VERDICT, levels, weakest
from .row import object_in

Floats = npt.NDArray[np.float64]
TOLERANCE = 1e-6
_CONNECTED = ("min-tco", "minmax-tco", "low-tco")
_ANSWERS = {
    **dict.fromkeys((*_CONNECTED, "weighted-tco"), _CONNECTED),
    "k-tco": (*_CONNECTED, "k-tco"),
    "2d-true": (*_CONNECTED, "2d-true"),
    "2d-star": (*_CONNECTED, "2d-true", "2d-star"),
}


@dataclass(frozen=True)
class Implication:
    """Lower bounds of some problems that bound another one on the same instance.

    Attributes
    ----------
    target, premises : str, tuple of str
        The problem bounded, and those it is bounded by.
    bound : callable
        From |V| and one array of bounds a premise, each of shape (instances,), to the target's bounds.
    proof : str
        Why it holds, in one line.
    """

    target: str
    premises: tuple[str, ...]
    bound: Callable[..., Floats]
    proof: str


IMPLICATIONS: tuple[Implication, ...] = (
    Implication(
        "2d-true",
        ("min-tco",),
        lambda nodes, edges: edges,
        "a topic of diameter at most 2 is connected, so such an overlay is topic-connected",
    ),
    Implication(
        "2d-star", ("2d-true",), lambda nodes, edges: edges, "a star on a topic's subscribers has diameter at most 2"
    ),
    Implication("weighted-tco", ("min-tco",), lambda nodes, edges: edges, "no edge costs less than 1"),
    Implication("k-tco", ("min-tco",), lambda nodes, edges: edges, "a fault-tolerant overlay is topic-connected"),
    Implication(
        "min-tco", ("minmax-tco",), lambda nodes, degree: degree, "a node of degree D ends D different edges: |E| ≥ D"
    ),
    Implication(
        "minmax-tco",
        ("min-tco",),
        lambda nodes, edges: 2 * edges / nodes,
        "the degrees add up to 2|E| and none exceeds D: D ≥ 2|E| ÷ |V|",
    ),
    Implication(
        "low-tco",
        ("min-tco", "minmax-tco"),
        lambda nodes, edges, degree: edges * degree,
        "every topic-connected overlay obeys both bounds, so |E| × D is at least their product",
    ),
    Implication(
        "min-tco",
        ("low-tco",),
        lambda nodes, product: np.maximum(np.sqrt(product), product / np.maximum(nodes - 1, 1)),
        "D ≤ |E| and D ≤ |V| − 1, so |E|² ≥ |E| × D and |E| ≥ (|E| × D) ÷ (|V| − 1)",
    ),
    Implication(
        "minmax-tco",
        ("low-tco",),
        lambda nodes, product: np.sqrt(2 * product / nodes),
        "|E| ≤ |V| × D ÷ 2, so D² ≥ 2 × (|E| × D) ÷ |V|",
    ),
    *(
        Implication(
            target,
            ("content-steiner",),
            lambda nodes, cost: cost,
            "whatever tree carries a message, none is cheaper than a Steiner tree of the same brokers",
        )
        for target in ("content-mst", "content-shared-tree")
    ),
)


def proven(rows: pd.DataFrame) -> pd.DataFrame:
    """The best bound, the best overlay and, where they meet, the optimum of every instance and problem of a study.

    Parameters
    ----------
    rows : DataFrame
        One row a run: key, problem, instance, kind and the sizes and measures of its kind, family, status, value,
        lower_bound. Failed rows are ignored; every other row counts, whatever its method, and `IMPLICATIONS` carry
        bounds from problem to problem.

    Returns
    -------
    DataFrame
        One row an (instance, problem) that occurs in `rows`, in the order of the problems, then of size: problem,
        instance, kind, family, the sizes, extent and volume (see :func:`.sized`), runs, bound (NaN if
        none), bound_keys (the runs behind it), bound_proof (the implications used), best (the lowest value of any
        answer, also of overlays for another problem), best_key, optimum (NaN unless proven), gap = (best −
        bound) ÷ best, proven (the level of the bound: the weakest of the runs behind it, see :mod:`.evidence`).

    Notes
    -----
    Cost O(R + I·P) for R rows, I instances and P problems.
    """
    rows = sized(rows)
    grouped = rows.groupby(["problem", "instance"], sort=False)
    pairs = grouped[["kind", "family", *sizes_of(rows), "extent", "volume"]].first()
    pairs = pairs.assign(runs=grouped.size()).reset_index()
    known = rows[rows["status"] != Status.FAILED].sort_values("key")  # ties do not depend on the order of rows
    bounds = _Best(rows, highest=True)
    for key, instance, problem, bound in _columns(known, "key", "instance", "problem", "lower_bound"):
        bounds.offer(instance, problem, bound, (key,), "")
    bounds.imply()
    values = _Best(rows, highest=False)
    for key, instance, problem, value in _columns(known, "key", "instance", "problem", "value"):
        values.offer(instance, problem, value, (key,), "")
    for key, instance, problem, edges, degree in _columns(
        known[known["value"].notna()], "key", "instance", "problem", "edges", "max_degree"
    ):
        for target in _ANSWERS.get(problem, ()):
            values.offer(instance, target, _value_in(target, edges, degree), (key,), "")
    at = list(zip(pairs["instance"], pairs["problem"], strict=True))
    pairs["bound"] = [bounds.value(*pair) for pair in at]
    pairs["bound_keys"] = [bounds.keys(*pair) for pair in at]
    pairs["bound_proof"] = [bounds.proof(*pair) for pair in at]
    pairs["best"] = [values.value(*pair) for pair in at]
    pairs["best_key"] = [(values.keys(*pair) or ("",))[0] for pair in at]
    closed = (pairs["best"] - pairs["bound"]).abs() <= TOLERANCE * pairs["best"].abs().clip(lower=1)
    pairs["optimum"] = pairs["best"].where(closed)
    pairs["gap"] = relative_gaps(pairs["best"], pairs["bound"])
    level = dict(zip(rows["key"], levels(rows), strict=True))
    pairs["proven"] = [weakest([level[key] for key in keys]) for keys in pairs["bound_keys"]]
    rank = {name: index for index, name in enumerate(problem_order(rows))}
    return pairs.sort_values(
        ["problem", "family", "extent", "volume", "instance"],
        key=lambda column: column.map(rank) if column.name == "problem" else column,
        ignore_index=True,
    )


def with_bounds(rows: pd.DataFrame, pairs: pd.DataFrame | None = None) -> pd.DataFrame:
    """The rows in their order, with bound and optimum of their instance and problem, their ratio to it, and its level.

    Parameters
    ----------
    rows : DataFrame
        One row a run, as for `proven`.
    pairs : DataFrame, optional
        The result of `proven`, if it is known.

    Returns
    -------
    DataFrame
        `bound` and `optimum` are NaN if unknown; ratio = value ÷ bound is 1 if both are 0, and NaN for a failed run or
        without a positive bound; `proven` is the level of the row's own bound (:func:`.levels`).
    """
    pairs = (proven(rows) if pairs is None else pairs)[["problem", "instance", "bound", "optimum"]]
    joined = rows.merge(pairs, on=["problem", "instance"], how="left").set_axis(rows.index)
    value = joined["value"].astype(np.float64).where(joined["status"] != Status.FAILED)
    both_zero = (value == 0) & (joined["bound"] == 0)
    ratio = (value / joined["bound"].where(joined["bound"] > 0)).mask(both_zero, 1.0)
    return joined.assign(ratio=ratio, proven=levels(rows))


def disagreements(rows: pd.DataFrame, pairs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Runs of one instance that contradict each other, so that some proof is wrong.

    Parameters
    ----------
    rows : DataFrame
        One row a run.
    pairs : DataFrame, optional
        The result of `proven` for them.

    Returns
    -------
    DataFrame
        One row a contradiction: problem, instance, kind, sentence, keys (tuple of the contradicting runs). Kinds:
        ``two optima`` (two runs proved different optimal values), ``value below bound`` (an answer, perhaps to
        another problem, is better than a proven bound), ``infeasible`` (proven to have no answer, yet answered),
        ``optimal without proof`` (status optimal with a lower bound that is not its value) and ``wrong proof`` (the
        checker refused it).
    """
    pairs = proven(rows) if pairs is None else pairs
    found: list[tuple[str, str, str, str, tuple[str, ...]]] = []
    refused = rows[rows["counters"].str.contains(f'"{VERDICT}": "wrong', regex=False)]
    for key, problem, instance, counters in _columns(refused, "key", "problem", "instance", "counters"):
        sentence = f"the checker refused a proof: {object_in(counters)[VERDICT]}"
        found.append((problem, instance, "wrong proof", sentence, (key,)))
    optimal = rows[rows["status"] == Status.OPTIMAL]
    for key, problem, instance, value, bound in _columns(optimal, "key", "problem", "instance", "value", "lower_bound"):
        if not abs(value - bound) <= TOLERANCE * max(1.0, abs(value)):
            sentence = f"status optimal with value {value:g} and lower bound {bound:g}"
            found.append((problem, instance, "optimal without proof", sentence, (key,)))
    for (problem, instance), group in optimal.groupby(["problem", "instance"], sort=False):
        low, high = group.loc[group["value"].idxmin()], group.loc[group["value"].idxmax()]
        if high["value"] - low["value"] > TOLERANCE * max(1.0, abs(high["value"])):
            sentence = (
                f"{low['variant']} proved {low['value']:g} optimal, {high['variant']} proved {high['value']:g} optimal"
            )
            found.append((problem, instance, "two optima", sentence, (low["key"], high["key"])))
    reported = {(problem, instance) for problem, instance, kind, _, _ in found if kind == "two optima"}
    names = dict(zip(rows["key"], rows["variant"], strict=True))
    below = pairs[pairs["best"] < pairs["bound"] - TOLERANCE * pairs["bound"].abs().clip(lower=1)]
    for pair in below.itertuples():
        if (pair.problem, pair.instance) not in reported:
            sentence = (
                f"an overlay of {names[pair.best_key]} is worth {pair.best:g}, "
                f"below the bound {pair.bound:g} of {' and '.join(names[key] for key in pair.bound_keys)}"
            ) + (f" ({pair.bound_proof})" if pair.bound_proof else "")
            keys = (pair.best_key, *pair.bound_keys)
            found.append((pair.problem, pair.instance, "value below bound", sentence, keys))
    best = {(pair.problem, pair.instance): pair for pair in pairs.itertuples()}
    for key, problem, instance in _columns(rows[rows["status"] == Status.INFEASIBLE], "key", "problem", "instance"):
        answered = best[problem, instance]
        if np.isfinite(answered.best):
            sentence = f"{names[key]} proved that there is no answer, {names[answered.best_key]} has one"
            found.append((problem, instance, "infeasible", sentence, (key, answered.best_key)))
    return pd.DataFrame(found, columns=["problem", "instance", "kind", "sentence", "keys"])


def problem_order(rows: pd.DataFrame) -> list[str]:
    """The problems that occur in `rows`, in the order ``overlaybench list problems`` has, others after."""
    present = set(rows["problem"])
    return [name for name in PROBLEMS if name in present] + sorted(present - set(PROBLEMS))


def relative_gaps(values: pd.Series[float], bounds: pd.Series[float]) -> pd.Series[float]:
    """(value − bound) ÷ |value|, elementwise; 0 where they are equal, NaN where either is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = (values - bounds) / values.abs()
    return gaps.mask(values == bounds, 0.0)


class _Best:
    """A table (instance, problem) of the best number offered, with its runs and proofs."""

    def __init__(self, rows: pd.DataFrame, *, highest: bool) -> None:
        first = rows.drop_duplicates("instance")
        self._row = {instance: index for index, instance in enumerate(first["instance"])}
        names = dict.fromkeys([*PROBLEMS, *rows["problem"]])
        self._column = {problem: index for index, problem in enumerate(names)}
        self._nodes = first["nodes"].to_numpy(dtype=np.float64)
        self._values = np.full((len(self._row), len(names)), np.nan)
        self._keys: dict[tuple[int, int], tuple[str, ...]] = {}
        self._proofs: dict[tuple[int, int], str] = {}
        self._sign = 1 if highest else -1

    def value(self, instance: str, problem: str) -> float:
        return float(self._values[self._row[instance], self._column[problem]])

    def keys(self, instance: str, problem: str) -> tuple[str, ...]:
        return self._keys.get((self._row[instance], self._column[problem]), ())

    def proof(self, instance: str, problem: str) -> str:
        return self._proofs.get((self._row[instance], self._column[problem]), "")

    def offer(self, instance: str, problem: str, value: float, keys: tuple[str, ...], proof: str) -> None:
        self._offer((self._row[instance], self._column[problem]), value, keys, proof)

    def _offer(self, at: tuple[int, int], value: float, keys: tuple[str, ...], proof: str) -> None:
        if np.isfinite(value) and not self._sign * value <= self._sign * self._values[at]:
            self._values[at], self._keys[at], self._proofs[at] = value, keys, proof

    def imply(self) -> None:
        """Apply every implication until none helps; false bounds can raise each other forever, hence the limit."""
        for _ in IMPLICATIONS:
            before = self._values.copy()
            for implication in IMPLICATIONS:
                self._apply(implication)
            if np.array_equal(before, self._values, equal_nan=True):
                return

    def _apply(self, implication: Implication) -> None:
        target = self._column[implication.target]
        premises = [self._column[name] for name in implication.premises]
        bounds = implication.bound(self._nodes, *(np.maximum(self._values[:, column], 0) for column in premises))
        if PROBLEMS[implication.target].integral:
            bounds = np.ceil(bounds - TOLERANCE)
        for row in np.flatnonzero(np.isfinite(bounds) & ~(bounds <= self._values[:, target])).tolist():
            keys = dict.fromkeys(key for column in premises for key in self._keys[row, column])
            proofs = [*(self._proofs[row, column] for column in premises), implication.proof]
            self._offer((row, target), bounds[row], tuple(keys), "; ".join(filter(None, dict.fromkeys(proofs))))


def _columns(rows: pd.DataFrame, *names: str) -> Any:
    return zip(*(rows[name].tolist() for name in names), strict=True)


def _value_in(problem: str, edges: float, degree: float) -> float:
    """The value of an overlay in a problem that it answers, from its measures."""
    return {"minmax-tco": degree, "low-tco": edges * degree}.get(problem, edges)


def sizes_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """The names of the sizes of all kinds that occur in `rows`, and those of topic instances in any case."""
    return tuple(dict.fromkeys(name for kind in _kinds(rows) for name in kind.sizes))


def measures_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """The names of the measures of all kinds that occur in `rows`, and those of topic instances in any case."""
    return tuple(dict.fromkeys(name for kind in _kinds(rows) for name in kind.measures))


def sized(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column for every size and measure there is, NaN where a row's kind has none, and two more.

    Returns
    -------
    DataFrame
        A copy. ``extent`` and ``volume`` are the first and the last size of the row's kind (for topics, the nodes and
        the subscriptions), so that instances of any kind can be sorted by size.
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
    return [TOPICS, *(kind for kind in KINDS.values() if kind.name in present and kind is not TOPICS)]
