"""Costs of links from a table of pairs: what a pair costs, or how much speaks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import whole
from ..contract.errors import BadInput, unknown_ending
from ..contract.files import errors_in, unpacked_name
from ..contract.tables import check_columns, separated
from ..contract.terms import said
from .instance import TopicInstance
from .link_costs import MOST_COST, LinkCosts

_LEVELS = 1000
_TABLES = (".csv", ".tsv", ".txt")
_MOST_NODES = 10_000
Row = tuple[str, str, str, Any]


def priced(
    instance: TopicInstance, pairs: str | Path | Mapping[tuple[str, str], float], *, cost: str = "", score: str = ""
) -> TopicInstance:
    """The instance with costs of edges from a table, for ``weighted-tco``.

    Raises BadInput if the table cannot be used; with the file, the line and the fix.

    Parameters
    ----------
    instance : TopicInstance
    pairs : path or mapping
        A table (CSV, TSV and other separators) whose first two columns are the labels of a pair; or numbers by pairs of
        labels. Whatever its order, a pair has one number, which may be repeated.
    cost : str
        The column with numbers above 0 (of a mapping: any text). Decimals are multiplied by the power of 10 that makes
        all costs integers, from 1 to 1,000,000. Every two nodes that share a topic must have one; other pairs cost as
        much as the dearest.
    score : str
        In place of `cost`: the column with numbers that speak for a pair, such as how often it was seen together; 0 for
        a pair that is not listed. The overlay of least total cost then has fewest edges, and of all with so few edges
        the largest total score. Scores that are no integers, or span more than 1000, are rounded to 1000 levels.

    Examples
    --------
    >>> import overlaybench as ob
    >>> triangle = ob.read({"AIR": ["anima"], "SOUL": ["anima"], "LIFE": ["anima"]})
    >>> seen = {("AIR", "SOUL"): 1, ("SOUL", "LIFE"): 7, ("LIFE", "AIR"): 4}
    >>> best = ob.solve(ob.priced(triangle, seen, score="together"), "weighted-tco", "branch-and-cut").answer
    >>> best.to_networkx(triangle).has_edge("AIR", "SOUL")
    False
    """
    if bool(cost) == bool(score):
        raise BadInput("costs of links need a column of costs or a column of scores: name one of the two")
    if isinstance(pairs, Mapping):
        rows: Iterable[Row] = ((f"pair {pair}", str(pair[0]), str(pair[1]), value) for pair, value in pairs.items())
        return instance.with_costs(_costs(instance, rows, with_scores=bool(score)))
    path = Path(pairs)
    with errors_in(path):
        return instance.with_costs(_costs(instance, _rows(path, cost or score), with_scores=bool(score)))


def _rows(path: Path, column: str) -> Iterator[Row]:
    """Where each row stands, its pair and the value in a column after the first two."""
    if unpacked_name(path).suffix not in _TABLES:
        raise unknown_ending(path, _TABLES)
    rows = separated(path, [column])
    at = 2 + check_columns([column], next(rows)[1][2:])[0]
    for line, row in rows:
        yield f"line {line}", row[0], row[1], row[at]


def _costs(instance: TopicInstance, rows: Iterable[Row], *, with_scores: bool) -> LinkCosts:
    ids = {instance.node_label(v): v for v in range(instance.num_nodes)}
    if len(ids) > _MOST_NODES:
        raise BadInput(f"costs of the pairs of {len(ids):,} {said('nodes')}: give at most {_MOST_NODES:,} of them")
    given, numbers = np.full((len(ids), len(ids)), np.nan), dict[tuple[int, int], Decimal]()
    for where, one, other, text in rows:
        for label in (one, other):
            if label not in ids:
                raise BadInput(f"{where}: {said('unknown node')} '{label}': correct the name or remove the line")
        u, v = ids[one], ids[other]
        if u == v:
            raise BadInput(f"{where}: a pair of '{one}' with itself: remove the line")
        number, known = _number(where, text, with_scores), numbers.get((min(u, v), max(u, v)))
        if known not in (None, number):
            raise BadInput(f"{where}: '{one}' and '{other}' have the value {known} already: remove one of the two")
        numbers[min(u, v), max(u, v)] = number
    values, unit = [float(number) for number in numbers.values()], 1
    if not with_scores:
        integers, unit = whole([*numbers.values()])
        if max(integers, default=0) > MOST_COST:
            largest, times = max(numbers.values()), f" times {unit:,}, for the decimals" if unit > 1 else ""
            raise BadInput(f"the cost {largest}{times}, is above {MOST_COST:,}: scale or round the costs")
        values = [float(number) for number in integers]
    for (u, v), value in zip(numbers, values, strict=True):
        given[u, v] = given[v, u] = value
    return LinkCosts.given(_of_scores(instance, given) if with_scores else _of_costs(instance, given), unit)


def _number(where: str, text: Any, is_score: bool) -> Decimal:
    try:
        value = Decimal(str(text).strip())
    except InvalidOperation:
        value = Decimal("nan")
    if value.is_finite() and (abs(value) <= 2**53 if is_score else 0 < value <= MOST_COST):
        return value
    needs = "a number" if is_score else f"a number above 0, at most {MOST_COST:,}"
    raise BadInput(f"{where}: {str(text)!r:.40} is no {'score' if is_score else 'cost'}: give {needs}")


def _of_costs(instance: TopicInstance, given: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shared = instance.to_scipy().astype(np.int32)
    together = (shared @ shared.T).toarray() > 0
    np.fill_diagonal(together, False)
    for u, v in np.argwhere(together & np.isnan(given)):
        one, other = instance.node_label(int(u)), instance.node_label(int(v))
        raise BadInput(f"no cost of '{one}' and '{other}', which {said('share a topic')}: add a line")
    return np.where(np.isnan(given), np.nanmax(given, initial=1), given)


def _of_scores(instance: TopicInstance, given: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """One more edge costs more than all that the edges of an overlay may lack of the highest score."""
    scores = np.where(np.isnan(given), 0.0, given)
    np.fill_diagonal(scores, scores.max(where=~np.eye(len(scores), dtype=np.bool_), initial=-np.inf))
    lacking = scores.max() - scores
    span, most_edges = float(lacking.max()), max(1, instance.num_subscriptions - instance.num_topics)
    levels = min(_LEVELS, (MOST_COST - 1) // (most_edges + 1))
    if levels < 1:
        raise BadInput(f"scores of {most_edges:,} possible edges: at most {MOST_COST - 2:,}: give costs, or a sample")
    if span and (span > levels or (scores != np.rint(scores)).any()):
        lacking, span = np.rint(lacking * (levels / span)), float(levels)
    costs: npt.NDArray[np.float64] = lacking + span * most_edges + 1
    return costs
