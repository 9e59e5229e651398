"""Costs of the links between any two nodes of a topic instance, in positive integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, frozen
from ..contract.errors import BadInput

MOST_COST = 1_000_000
_MOST_SITES = 20_000
_NO_POINTS, _NO_SITES, _NO_TABLE = np.empty((0, 2), np.int32), np.empty(0, np.int32), np.empty((0, 0), np.int32)


@dataclass(frozen=True, eq=False)
class LinkCosts:
    """The cost of an edge between any two nodes, from 1 to 1,000,000.

    Either every node has a point in the plane, and an edge costs the Euclidean distance of its ends rounded to the
    nearest integer, but at least 1. Or every node is at a site, and an edge costs what a table says for its two sites;
    with a site of its own for each node, the table has the cost of every edge. Integers make sums exact, so that one
    seed gives one answer on every machine and lower bounds may be rounded up.

    Parameters
    ----------
    points : int32 array, shape (|V|, 2)
        None rows if the costs are those of sites. No two points are further than 1,000,000 apart.
    sites : int32 array, shape (|V|,)
        The index of each node's site; empty if the costs are those of points.
    table : int32 array, shape (S, S)
        Symmetric; its diagonal has the cost between two nodes of one site.

    Raises
    ------
    BadInput
        If the shapes do not fit, or a cost is out of range.

    Examples
    --------
    >>> import overlaybench as ob
    >>> costs = ob.LinkCosts.plane([(0, 0), (3, 4), (0, 1)])
    >>> costs.between([0, 0], [1, 2]).tolist()
    [5, 1]
    """

    points: Ids = field(default_factory=lambda: _NO_POINTS)
    sites: Ids = field(default_factory=lambda: _NO_SITES)
    table: Ids = field(default_factory=lambda: _NO_TABLE)

    def __post_init__(self) -> None:
        points, sites, table = (frozen(each, np.int32) for each in (self.points, self.sites, self.table))
        if (len(points) > 0) == (len(sites) > 0):
            raise BadInput("link costs need points or sites: give one of the two")
        if len(points):
            self._check_points(points)
        else:
            self._check_table(sites, table)
            sites, table = (frozen(each, np.int32) for each in _renumbered(sites, table))
        for name, value in (("points", points), ("sites", sites), ("table", table)):
            object.__setattr__(self, name, value)

    @staticmethod
    def _check_points(points: Ids) -> None:
        if points.ndim != 2 or points.shape[1] != 2:
            raise BadInput(f"points of shape {points.shape}: give two coordinates a node")
        extent = points.max(axis=0).astype(np.float64) - points.min(axis=0)
        if float(np.hypot(*extent)) > MOST_COST:
            raise BadInput(f"points that span {np.hypot(*extent):.0f}: scale them to at most {MOST_COST:,}")

    @staticmethod
    def _check_table(sites: Ids, table: Ids) -> None:
        if table.ndim != 2 or table.shape[0] != table.shape[1] or sites.ndim != 1:
            raise BadInput(f"a cost table of shape {table.shape}: give a square one, a row and a column a site")
        if len(table) > _MOST_SITES:
            raise BadInput(f"{len(table):,} sites: give at most {_MOST_SITES:,}")
        if sites.min() < 0 or sites.max() >= len(table):
            raise BadInput(f"node {int(np.argmax((sites < 0) | (sites >= len(table))))} has no site of the cost table")
        off_range = np.argwhere((table < 1) | (table > MOST_COST))
        if len(off_range):
            a, b = off_range[0]
            raise BadInput(f"the cost {table[a, b]} of sites {a} and {b} must lie from 1 to {MOST_COST:,}")
        if len(skew := np.argwhere(table != table.T)):
            a, b = skew[0]
            raise BadInput(f"sites {a} and {b} cost {table[a, b]} one way and {table[b, a]} the other: make them equal")

    @classmethod
    def plane(cls, points: npt.ArrayLike) -> LinkCosts:
        """Distances between points with integer coordinates, shape (|V|, 2)."""
        given = np.asarray(points)
        if given.size and (given.dtype.kind not in "iuf" or (given != np.rint(given)).any()):
            raise BadInput("the coordinates of points must be integers: scale and round them")
        return cls(points=given.astype(np.int32))

    @classmethod
    def between_sites(cls, sites: npt.ArrayLike, table: npt.ArrayLike) -> LinkCosts:
        """The costs of a table by the sites of the nodes."""
        return cls(sites=np.asarray(sites, np.int32), table=_whole(table))

    @classmethod
    def given(cls, costs: npt.ArrayLike) -> LinkCosts:
        """The cost of every pair, a symmetric matrix of shape (|V|, |V|); its diagonal is ignored."""
        table = _whole(costs).copy()
        if table.ndim == 2 and table.shape[0] == table.shape[1]:
            np.fill_diagonal(table, 1)
        return cls(sites=np.arange(len(table), dtype=np.int32), table=table)

    @property
    def num_nodes(self) -> int:
        """|V|."""
        return max(len(self.points), len(self.sites))

    def between(self, u: npt.ArrayLike, v: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The costs of the edges between the nodes in two arrays of equal shape."""
        one, other = np.asarray(u, np.int64), np.asarray(v, np.int64)
        if len(self.sites):
            in_table: npt.NDArray[np.int64] = self.table[self.sites[one], self.sites[other]].astype(np.int64)
            return in_table
        steps = self.points[one].astype(np.float64) - self.points[other]
        # The squares are integers below 2^53 and square roots are rounded correctly: the same on every machine.
        length = np.floor(np.sqrt((steps**2).sum(axis=-1)) + 0.5)
        costs: npt.NDArray[np.int64] = np.maximum(length, 1).astype(np.int64)
        return costs

    def induced(self, nodes: npt.NDArray[np.integer]) -> LinkCosts:
        """The costs on distinct nodes, in the order given."""
        return (
            LinkCosts(points=self.points[nodes])
            if len(self.points)
            else LinkCosts(sites=self.sites[nodes], table=self.table)
        )

    @property
    def contents(self) -> bytes:
        """What a digest is taken of: two costs of equal contents are the same."""
        shape = np.array([len(self.points), len(self.sites), len(self.table)], "<i8").tobytes()
        arrays = (self.points, self.sites, self.table)
        return b"".join([b"costs\n", shape, *(each.astype("<i4", copy=False).tobytes() for each in arrays)])

    def __reduce__(self) -> tuple[Any, ...]:
        return LinkCosts, (self.points, self.sites, self.table)


def _renumbered(sites: Ids, table: Ids) -> tuple[Ids, Ids]:
    """Sites in the order of their first nodes, and no others: equal costs have equal arrays."""
    used, first, index, sizes = np.unique(sites, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept = table[np.ix_(used[order], used[order])]
    alone = np.flatnonzero(sizes[order] == 1)
    kept[alone, alone] = 1
    return rank[index].astype(np.int32), kept


def _whole(costs: npt.ArrayLike) -> Ids:
    array = np.asarray(costs)
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all() or (array != np.rint(array)).any():
        raise BadInput("link costs must be integers: scale and round them")
    whole: Ids = np.clip(array, -1, MOST_COST + 1).astype(np.int32)
    return whole


def as_labels(costs: LinkCosts, node_label: Callable[[int], str]) -> dict[str, object]:
    """The costs as JSON, by node label: the inverse of :func:`from_labels`.

    The keys are ``points``, ``sites`` and ``between``, or ``links`` where each node has a site of its own.
    """
    nodes = range(costs.num_nodes)
    if len(costs.points):
        return {"points": {node_label(v): costs.points[v].tolist() for v in nodes}}
    size, table = len(costs.table), costs.table.tolist()
    if np.array_equal(costs.sites, np.arange(size)):
        return {"links": [[node_label(u), node_label(v), table[u][v]] for u in nodes for v in range(u + 1, size)]}
    return {
        "sites": {node_label(v): f"s{costs.sites[v]}" for v in nodes},
        "between": [[f"s{a}", f"s{b}", table[a][b]] for a in range(size) for b in range(a, size)],
    }


def from_labels(content: object, labels: Iterable[str]) -> LinkCosts:
    """Read the costs of the nodes with the given labels.

    Parameters
    ----------
    content : object
        ``{"points": {node: [x, y]}}``; ``{"sites": {node: site}, "between": [[site, site, cost], …]}`` with every two
        sites and each site with itself; or ``{"links": [[node, node, cost], …], "other": cost}``, where ``other`` is
        the cost of every pair that is not listed and may be left out if all are.

    Raises
    ------
    BadInput
        With the node, site or entry, and the fix.
    """
    nodes = list(labels)
    if isinstance(content, Mapping):
        if "points" in content:
            return LinkCosts.plane(_points(content["points"], nodes))
        if "sites" in content:
            sites = _of_nodes(content["sites"], nodes, "sites")
            names = {name: index for index, name in enumerate(dict.fromkeys(map(str, sites)))}
            table = _table(content.get("between"), names, "between", own=True)
            return LinkCosts.between_sites([names[str(site)] for site in sites], table)
        if "links" in content:
            names = {name: index for index, name in enumerate(nodes)}
            return LinkCosts.given(_table(content["links"], names, "links", other=content.get("other")))
    raise BadInput('"costs" needs one of "points", "sites" with "between", or "links": give one')


def _of_nodes(given: object, nodes: list[str], what: str) -> list[Any]:
    if not isinstance(given, Mapping):
        raise BadInput(f'"{what}" of the costs must be an object with an entry a node')
    if missing := [name for name in nodes if name not in given]:
        raise BadInput(f"\"{what}\" of the costs has no entry for node '{missing[0]}': add it")
    return [given[name] for name in nodes]


def _points(given: object, nodes: list[str]) -> list[list[int]]:
    points = _of_nodes(given, nodes, "points")
    for name, point in zip(nodes, points, strict=True):
        if not (isinstance(point, list) and len(point) == 2 and all(_is_whole(each) for each in point)):
            raise BadInput(f"the point of node '{name}' is {point}: give two integers")
        if max(map(abs, point)) > 2**30:
            raise BadInput(f"the point of node '{name}' is {point}: scale the points to at most {MOST_COST:,}")
    return points


def _table(given: object, names: Mapping[str, int], what: str, *, other: object = None, own: bool = False) -> Ids:
    if len(names) > _MOST_SITES:
        raise BadInput(f"costs for {len(names):,} nodes one by one: give points, or at most {_MOST_SITES:,} sites")
    if not isinstance(given, list):
        raise BadInput(f'"{what}" of the costs must be a list of [from, to, cost]')
    table = np.zeros((len(names), len(names)), np.int32)
    if other is not None:
        table[:] = _cost(other, '"other" of the costs')
    for number, entry in enumerate(given):
        where = f'entry {number} of "{what}"'
        if not isinstance(entry, list) or len(entry) != 3:
            raise BadInput(f"{where} is {entry}: give [from, to, cost]")
        ends = [names.get(str(end)) for end in entry[:2]]
        if ends[0] is None or ends[1] is None:
            if own and what == "between":
                continue  # a site without a node
            raise BadInput(f"{where}: unknown node '{entry[0] if ends[0] is None else entry[1]}': name a node")
        table[ends[0], ends[1]] = table[ends[1], ends[0]] = _cost(entry[2], where)
    if not own:
        np.fill_diagonal(table, 1)
    if len(missing := np.argwhere(table == 0)):
        one, two = (list(names)[int(each)] for each in missing[0])
        raise BadInput(f"\"{what}\" of the costs has none for '{one}' and '{two}': add it")
    return table


def _cost(value: object, where: str) -> int:
    if not _is_whole(value) or not 1 <= int(str(value)) <= MOST_COST:
        raise BadInput(f"{where} has the cost {value}: give an integer from 1 to {MOST_COST:,}")
    return int(str(value))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
