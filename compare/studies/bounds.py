"""The best lower bound and the best answer of each instance, from all runs of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.catalogue import KINDS, PROBLEMS
from ...instances.contract.kind import Kind
from ...instances.contract.problem import Implication
from ...instances.contract.result import Status
from ...instances.topics.files import TOPICS
from ...instances.topics.objective import Objective
from .proofs import TOLERANCE, VERDICT, levels, tolerances, weakest
from .row import object_in

_PAIR = ["problem", "instance"]
_OF_PAIRS = {*_PAIR, "key", "kind", "family", "method", "status", "value", "lower_bound", "counters"}


def implications(names: Iterable[str] = ()) -> list[tuple[str, Implication]]:
    """The implications of all problems that are known and of those of these names, each with its problem."""
    known = {name: PROBLEMS.get(name) for name in dict.fromkeys((*PROBLEMS, *names))}
    return [(name, one) for name, problem in known.items() if problem for one in problem.implications]


def proven(rows: pd.DataFrame) -> pd.DataFrame:
    """The best bound, the best overlay and, where they meet, the optimum of every instance and problem of a study.

    Every row that did not fail counts, whatever its method, and :func:`implications` carry bounds between problems.
    There is one row an (instance, problem) that occurs in `rows`, in the order of the problems, then of size: problem,
    instance, kind, family, the sizes, extent and volume (see :func:`.sized`), runs, bound (NaN if none), bound_keys
    (the runs behind it), bound_proof (the implications used), best (the lowest value of any answer, also of overlays
    for another problem), best_key, optimum (NaN unless proven), gap = (best − bound) ÷ best, proven (the level of the
    bound: the weakest of the runs behind it, see :func:`.levels`). Cost O(R + I·P) for R rows, I instances, P problems.
    """
    rows = sized(rows[[name for name in rows if name in _OF_PAIRS or name in (*sizes_of(rows), *measures_of(rows))]])
    instance, digests = pd.factorize(rows["instance"])
    problem, problems = pd.factorize(rows["problem"])
    rows["case"] = instance * len(problems) + problem
    pairs = rows.drop_duplicates("case")[["case", *_PAIR, "kind", "family", *sizes_of(rows), "extent", "volume"]]
    pairs = pairs.assign(runs=pairs["case"].map(rows["case"].value_counts()))
    known = rows[rows["status"] != Status.FAILED].sort_values("key", kind="stable")  # ties do not depend on the order
    nodes = np.full(len(digests), np.nan)
    nodes[instance] = rows["nodes"]
    found = _bounds(known, nodes, problems)
    at, of = np.divmod(pairs["case"].to_numpy(), max(1, len(problems)))
    for name, entry in _Bounds.of(len(pairs))._asdict().items():
        for number, each in enumerate(problems):
            if each in found:
                entry[of == number] = getattr(found[each], name)[at[of == number]]
        pairs[name] = entry
    best = _best(_with_implied_values(known, problems), "value").reindex(pairs["case"])
    pairs["best"], pairs["best_key"] = best["value"].to_numpy(), best["key"].fillna("").to_numpy()
    pairs["optimum"] = pairs["best"].where(near(pairs["bound"], pairs["best"], pairs["problem"]))
    pairs["gap"] = relative_gaps(pairs["best"], pairs["bound"])
    level = dict(zip(rows["key"], levels(rows), strict=True)) if found else {}
    pairs["proven"] = [weakest([level[key] for key in keys]) if keys else "" for keys in pairs["bound_keys"]]
    return sorted_by(pairs.drop(columns="case"), "problem", "family", "extent", "volume", "instance")


def with_bounds(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The rows in their order, each with the bound and optimum (`proven`) of its instance and problem, NaN if unknown.

    ratio = value ÷ bound is 1 if both are 0, and NaN for a failed run or without a positive bound; proven is the level
    of the row's own bound (:func:`.levels`).
    """
    known = rows[_PAIR].merge(pairs[[*_PAIR, "bound", "optimum"]], on=_PAIR, how="left").set_axis(rows.index)
    value, bound = rows["value"].astype(np.float64).where(rows["status"] != Status.FAILED), known["bound"]
    ratio = (value / bound.where(bound > 0)).mask((value == 0) & (bound == 0), 1.0)
    return rows.assign(bound=bound, optimum=known["optimum"], ratio=ratio, proven=levels(rows))


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
    values = optimal.groupby(_PAIR, sort=False)["value"]
    apart = optimal[~near(values.transform("min"), values.transform("max"), optimal["problem"])]
    for at, group in apart.groupby(_PAIR, sort=False):
        low, high = group.loc[group["value"].idxmin()], group.loc[group["value"].idxmax()]
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
        pairs[["problem", "instance", "best", "best_key"]], on=_PAIR
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


class _Bounds(NamedTuple):
    """The best bound of a problem on each instance (NaN if none), the runs behind it, and the implications used."""

    bound: npt.NDArray[np.float64]
    bound_keys: npt.NDArray[np.object_]
    bound_proof: npt.NDArray[np.object_]

    @classmethod
    def of(cls, number: int) -> _Bounds:
        """Without any."""
        none = cls(np.full(number, np.nan), *np.empty((2, number), object))
        none.bound_keys.fill(())
        none.bound_proof.fill("")
        return none


def _bounds(rows: pd.DataFrame, nodes: npt.NDArray[np.float64], problems: Sequence[str]) -> dict[str, _Bounds]:
    """The best bounds of each problem that has any, on all instances; `nodes` are theirs."""
    found: dict[str, _Bounds] = {}
    best = _best(rows, "lower_bound", highest=True)
    instances, of = np.divmod(best.index.to_numpy(), max(1, len(problems)))
    for number in np.unique(of):
        own, at = best[of == number], instances[of == number]
        found[problems[number]] = _Bounds.of(len(nodes))
        found[problems[number]].bound[at] = own["lower_bound"]
        found[problems[number]].bound_keys[at] = pd.Series([(key,) for key in own["key"]], dtype=object)
    if found:
        _imply(found, nodes, implications(problems))
    return found


def _best(rows: pd.DataFrame, name: str, *, highest: bool = False) -> pd.DataFrame:
    """The best finite number of a column of each case, and the key of the first row that has it."""
    numbers = rows[["case", "key"]].assign(**{name: pd.to_numeric(rows[name]).astype(np.float64)})
    finite = numbers[np.isfinite(numbers[name])].sort_values(name, ascending=not highest, kind="stable")
    return finite.drop_duplicates("case").set_index("case")


def _with_implied_values(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows, and after them one for each of the problems that an overlay is an answer to as well."""
    answered = rows.loc[rows["value"].notna(), ["case", "problem", "value", "key", "edges", "max_degree"]]
    problems = {name: PROBLEMS[name].objective for name in names if name in PROBLEMS}
    objectives = {name: each for name, each in problems.items() if isinstance(each, Objective)}
    implied = [answered]
    for number, target in enumerate(names):
        if (objective := objectives.get(target)) is not None:
            of = [name for name, other in objectives.items() if other.answers(objective) and not objective.weighted]
            own = answered[answered["problem"].isin(of)]
            cases = own["case"] // len(names) * len(names) + number
            implied.append(own.assign(case=cases, value=_by_row(objective.value, own[["edges", "max_degree"]])))
    return pd.concat(implied)


def _by_row(function: Callable[..., float], arguments: pd.DataFrame) -> npt.NDArray[np.float64]:
    """A function of each row of numbers, called once for equal rows."""
    different, at = arguments.drop_duplicates(), arguments.groupby(list(arguments), sort=False, dropna=False).ngroup()
    found = np.array([function(*each) for each in different.itertuples(index=False)], np.float64)
    values: npt.NDArray[np.float64] = found[at.to_numpy()]
    return values


def _imply(
    bounds: dict[str, _Bounds], nodes: npt.NDArray[np.float64], links: Sequence[tuple[str, Implication]]
) -> None:
    """Apply every implication until none helps; false bounds can raise each other forever, hence the limit."""
    for _ in links:
        raised = False
        for target, one in links:
            if not all(name in bounds for name in one.premises):
                continue
            premises = [bounds[name] for name in one.premises]
            known = np.flatnonzero(np.isfinite(np.sum([each.bound for each in premises], axis=0)))
            given = pd.DataFrame({number: each.bound[known].clip(0.0) for number, each in enumerate(premises)})
            given.insert(0, "nodes", nodes[known])
            found = _by_row(one.bound, given)
            if PROBLEMS[target].integral:
                found = np.ceil(found - TOLERANCE)
            best = bounds.get(target, _Bounds.of(len(nodes)))
            higher = np.isfinite(found) & ~(found <= best.bound[known])
            for at, bound in zip(known[higher].tolist(), found[higher].tolist(), strict=True):
                keys = dict.fromkeys(key for each in premises for key in each.bound_keys[at])
                proofs = dict.fromkeys([*(each.bound_proof[at] for each in premises), one.proof])
                best.bound[at], best.bound_keys[at] = bound, tuple(keys)
                best.bound_proof[at] = "; ".join(filter(None, proofs))
            if higher.any():
                bounds[target], raised = best, True
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
    present = set(rows["kind"].unique())
    others = KINDS.values() if present - {TOPICS.name} else ()  # their order is costly to know
    return [TOPICS, *(kind for kind in others if kind.name in present and kind is not TOPICS)]
