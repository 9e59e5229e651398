"""Costs of the links between any two nodes of a topic instance, in positive integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct, structs

from ..contract.arrays import Ids, ReadOnly, frozen
from ..contract.errors import BadInput

MOST_COST = 1_000_000
_Coordinate = Annotated[int, Meta(ge=-(2**30), le=2**30)]
_Cost = Annotated[int, Meta(ge=1, le=MOST_COST)]
_Entry = tuple[str, str, _Cost]
_MOST_SITES = 20_000
_NO_POINTS, _NO_SITES, _NO_TABLE = np.empty((0, 2), np.int32), np.empty(0, np.int32), np.empty((0, 0), np.int32)


@dataclass(frozen=True, eq=False)
class LinkCosts(ReadOnly):
    """The cost of an edge between any two nodes, from 1 to 1,000,000.

    Either every node has a point in the plane, and an edge costs the Euclidean distance of its ends rounded to the
    nearest integer, but at least 1. Or every node is at a site, and an edge costs what a table says for its two sites;
    with a site of its own for each node, the table has the cost of every edge. Integers make sums exact, so that one
    seed gives one answer on every machine and lower bounds may be rounded up. Raises BadInput if the shapes do not fit,
    or a cost is out of range.

    Parameters
    ----------
    points : int32 array, shape (|V|, 2)
        None rows if the costs are those of sites. No two points are further than 1,000,000 apart.
    sites : int32 array, shape (|V|,)
        The index of each node's site; empty if the costs are those of points.
    table : int32 array, shape (S, S)
        Symmetric; its diagonal has the cost between two nodes of one site.
    unit : int
        By which costs with decimals were multiplied; it is shown, and part of no digest.

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
    unit: int = 1

    def __post_init__(self) -> None:
        points, sites, table = (frozen(each, np.int32) for each in (self.points, self.sites, self.table))
        if (len(points) > 0) == (len(sites) > 0):
            raise BadInput("link costs need points or sites: give one of the two")
        if len(points):
            _check_points(points)
        else:
            _check_table(sites, table)
            sites, table = (frozen(each, np.int32) for each in _renumbered(sites, table))
        self._set(points=points, sites=sites, table=table)

    @classmethod
    def plane(cls, points: npt.ArrayLike) -> LinkCosts:
        """Distances between points with integer coordinates, shape (|V|, 2)."""
        return cls(points=np.asarray(points))

    @classmethod
    def between_sites(cls, sites: npt.ArrayLike, table: npt.ArrayLike) -> LinkCosts:
        """The costs of a table by the sites of the nodes."""
        return cls(sites=np.asarray(sites, np.int32), table=_whole(table))

    @classmethod
    def given(cls, costs: npt.ArrayLike, unit: int = 1) -> LinkCosts:
        """The cost of every pair, a symmetric matrix of shape (|V|, |V|); its diagonal is ignored."""
        table = _whole(costs).copy()
        if table.ndim == 2 and table.shape[0] == table.shape[1]:
            np.fill_diagonal(table, 1)
        return cls(sites=np.arange(len(table), dtype=np.int32), table=table, unit=unit)

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
        if len(self.points):
            return LinkCosts(points=self.points[nodes])
        return LinkCosts(sites=self.sites[nodes], table=self.table, unit=self.unit)

    @property
    def contents(self) -> bytes:
        """What a digest is taken of: two costs of equal contents are the same."""
        shape = np.array([len(self.points), len(self.sites), len(self.table)], "<i8").tobytes()
        arrays = (self.points, self.sites, self.table)
        return b"".join([b"costs\n", shape, *(each.astype("<i4", copy=False).tobytes() for each in arrays)])


def _check_points(points: Ids) -> None:
    if points.ndim != 2 or points.shape[1] != 2:
        raise BadInput(f"points of shape {points.shape}: give two coordinates a node")
    span = float(np.hypot(*np.ptp(points.astype(np.float64), axis=0)))
    if span > MOST_COST:
        raise BadInput(f"points that span {span:.0f}: scale them to at most {MOST_COST:,}")


def _check_table(sites: Ids, table: Ids) -> None:
    if table.ndim != 2 or table.shape[0] != table.shape[1] or sites.ndim != 1:
        raise BadInput(f"a cost table of shape {table.shape}: give a square one, a row and a column a site")
    if len(table) > _MOST_SITES:
        raise BadInput(f"{len(table):,} sites: give at most {_MOST_SITES:,}")
    for lost in np.flatnonzero((sites < 0) | (sites >= len(table))):
        raise BadInput(f"node {lost} has no site of the cost table: give 0…{len(table) - 1}")
    for a, b in np.argwhere((table < 1) | (table > MOST_COST) | (table != table.T)):
        raise BadInput(
            f"sites {a} and {b} cost {table[a, b]} one way and {table[b, a]} the other: make them equal, "
            f"from 1 to {MOST_COST:,}"
        )


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


class CostsInFile(Struct):
    """The key ``costs`` of a JSON file.

    One of ``points``, ``{node: [x, y]}``; ``sites``, ``{node: site}``, with ``between``, ``[site, site, cost]`` for
    every two sites and each site with itself; or ``links``, ``[node, node, cost]``, with the cost ``other`` of every
    pair that is not listed. Points and sites are those of all nodes and no others; no pair is listed twice.
    """

    points: dict[str, tuple[_Coordinate, _Coordinate]] | None = None
    sites: dict[str, str] | None = None
    between: list[_Entry] | None = None
    links: list[_Entry] | None = None
    other: _Cost | None = None


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


def from_labels(content: CostsInFile, labels: Iterable[str]) -> LinkCosts:
    """Read the costs of the nodes with the given labels.

    Raises BadInput with the node, site or entry, and the fix.
    """
    nodes = {name: index for index, name in enumerate(labels)}
    given = {key: entries for key, entries in structs.asdict(content).items() if entries is not None}
    for key, named in given.items():
        if key in ("points", "sites") and named.keys() != nodes.keys():
            if missing := [name for name in nodes if name not in named]:
                raise BadInput(f"\"{key}\" of the costs has no entry for node '{missing[0]}': add it")
            unknown = next(name for name in named if name not in nodes)
            raise BadInput(f"\"{key}\" of the costs has an entry for '{unknown}', which is no node: remove it")
    match sorted(given):
        case ["points"]:
            return LinkCosts.plane([given["points"][name] for name in nodes])
        case ["between", "sites"]:
            sites = [given["sites"][name] for name in nodes]
            used = list(dict.fromkeys(sites))
            listed = (site for row in given["between"] for site in row[:2])
            index = {site: number for number, site in enumerate(dict.fromkeys([*used, *listed]))}
            table = _table(given["between"], index, "between", np.zeros(len(index), np.int32))
            return LinkCosts.between_sites([index[site] for site in sites], _complete(table, used, "between"))
        case ["links"] | ["links", "other"]:
            table = _table(given["links"], nodes, "links", np.ones(len(nodes), np.int32))
            table[table == 0] = given.get("other", 0)
            return LinkCosts.given(_complete(table, list(nodes), "links"))
    raise BadInput('"costs" needs one of "points", "sites" with "between", or "links" (perhaps with "other"): give one')


def _table(rows: list[_Entry], index: Mapping[str, int], what: str, own: Ids) -> Ids:
    """The costs between any two names; 0 where none is listed, and `own` within a name."""
    if len(index) > _MOST_SITES:
        raise BadInput(f"costs for {len(index):,} nodes one by one: give points, or at most {_MOST_SITES:,} sites")
    table = np.diag(own)
    for number, (a, b, cost) in enumerate(rows):
        if a not in index or b not in index:
            raise BadInput(f"entry {number} of \"{what}\": unknown node '{b if a in index else a}': name a node")
        if table[index[a], index[b]]:
            raise BadInput(f"entry {number} of \"{what}\": '{a}' and '{b}' have a cost already: remove one of the two")
        table[index[a], index[b]] = table[index[b], index[a]] = cost
    return table


def _complete(table: Ids, names: list[str], what: str) -> Ids:
    """The part of a table for its first names, all of whose costs are known."""
    part = table[: len(names), : len(names)]
    for missing in np.argwhere(part == 0):
        one, two = (names[int(each)] for each in missing)
        raise BadInput(f"\"{what}\" of the costs has none for '{one}' and '{two}': add it")
    return part
