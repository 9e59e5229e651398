"""The smoothed optimum of a short trace: fewest links over its snapshots and fewest changes, by one branch-and-cut.

The LP has a column x for each snapshot and each pair of nodes that has a common topic in it, and a column z ≥ |x − x'|
for each pair that has one in two consecutive snapshots. The rows of a snapshot are the partition inequalities of its
topics. A link of a pair that has no common topic before must be added, and without one after, removed: these changes
are in the cost of x, except at the start and where a node of the pair departs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.graph import root_of
from ...heuristics.over_time.incremental_merge import incremental_merge
from ...heuristics.over_time.recomputed import recomputed
from ...heuristics.topics.greedy_merge import greedy_merge
from ...instances.contract.arrays import Flags, Ids, Offsets
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.over_time.link_log import LinkLog
from ...instances.over_time.trace import LEAVE, TopicTrace
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import Clock, interruptible, offer, offer_bound, offer_made
from ..engine.exact_method import PROGRESS, SearchLog, SolverOutcome, check_size, proving_method, solve_exactly
from ..engine.parallel_tree import THREADS
from ..engine.relaxation import Reals, RowList, SparseRelaxation, SparseRows
from ..engine.tree_search import Incumbent, TreeSearch
from ..topics.lp_heuristics.lp_guided import ends_by_edge
from ..topics.relaxation.separation import Separator
from ..topics.relaxation.topic_rows import CandidateEdges, all_pairs, count_links, crossing, keys_of, singleton_rows
from ..topics.search.edge_minimisation import SearchSettings
from .snapshot_optima import skip_delays, snapshot_optima

_MOST_LINKS = 1_000_000
_VIOLATION, _STALL = 1e-4, 1e-3
_SNAPSHOTS = 0.3  # of the time left, for the bounds of single snapshots


class _Snapshot(NamedTuple):
    """The pairs of a snapshot with a common topic, from column `first` on; the links of each are consecutive."""

    edges: CandidateEdges
    first: int
    offsets: Offsets  # of each pair, its links
    ends: Ids  # of each link, two entries of the subscribers of all topics, shape (links, 2)

    @property
    def columns(self) -> slice:
        return slice(self.first, self.first + len(self.edges))


class TimeExpanded:
    """The columns of all snapshots of a trace, their costs, and how they follow each other.

    `follows` has the columns of one pair in two consecutive snapshots, shape (k, 2): a z for each stands after all x.
    """

    def __init__(self, trace: TopicTrace, change_cost: int, clock: Clock) -> None:
        self.trace, self.change_cost = trace, change_cost
        check_size(sum(count_links(each) for each in trace.snapshots() if each is not None), _MOST_LINKS)
        n, self.num_pairs = trace.num_nodes, 0
        self.snapshots: list[_Snapshot | None] = []
        costs, follows = [np.zeros(0, np.int64)], [np.zeros((0, 2), np.int64)]
        before, first_before = np.zeros(0, np.int64), 0
        for step, instance in enumerate(trace.snapshots()):
            clock.check()
            first, keys = self.num_pairs, np.zeros(0, np.int64)
            if instance is not None:
                edges = CandidateEdges(instance, all_pairs(instance))
                keys = edges.keys
                self.snapshots.append(_Snapshot(edges, first, *ends_by_edge(edges)))
            else:
                self.snapshots.append(None)
            self.num_pairs += len(keys)
            cost = np.ones(len(keys), np.int64)
            if step:
                _, old, new = np.intersect1d(before, keys, assume_unique=True, return_indices=True)
                follows.append(np.column_stack([old + first_before, new + first]))
                cost += change_cost * ~np.isin(keys, before)
                gone = trace.nodes[(trace.kinds >= LEAVE) & (trace.step_of == step)]
                vanishes = np.isin(before // n, gone) | np.isin(before % n, gone)
                costs[-1] += change_cost * ~(np.isin(before, keys) | vanishes)
            costs.append(cost)
            before, first_before = keys, first
        self.costs = np.concatenate(costs)
        self.follows = np.concatenate(follows)
        self.chains = _chains(self.num_pairs, self.follows)

    def rows(self, least: Iterable[int]) -> SparseRows:
        """The first rows: z of each change, at least so many links in each snapshot, and in each topic."""
        rows = RowList()
        for each, links in zip(self.snapshots, least, strict=True):
            if each is None:
                continue
            rows.add(np.arange(each.first, each.first + len(each.edges)), 1, links)
            kept = singleton_rows(each.edges.interest)
            offsets, crossed = crossing(kept, each.edges.links, 0)
            for r in np.flatnonzero(kept.rhs > 0).tolist():
                rows.add(crossed[offsets[r] : offsets[r + 1]] + each.first, 1, int(kept.rhs[r]))
        of_snapshots, follows = rows.rows(), self.follows if self.change_cost else self.follows[:0]
        z = self.num_pairs + np.arange(len(follows))
        return SparseRows(
            np.concatenate([3 * np.arange(2 * len(z)), of_snapshots.offsets + 6 * len(z)]),
            np.concatenate([np.repeat(np.column_stack([z, follows]), 2, axis=0).ravel(), of_snapshots.columns]),
            np.concatenate([np.tile([1, -1, 1, 1, 1, -1], len(z)), of_snapshots.values]),
            np.concatenate([np.zeros(2 * len(z), np.int64), of_snapshots.rhs]),
            np.concatenate([np.full(2 * len(z), None), of_snapshots.texts]),
        )

    def value(self, chosen: Flags) -> int:
        changes = int((chosen[self.follows[:, 0]] != chosen[self.follows[:, 1]]).sum())
        return int(self.costs[chosen].sum()) + self.change_cost * changes

    def value_of(self, chain: list[int], chosen: Flags) -> int:
        """What the chosen columns of one pair in consecutive snapshots cost, changes between them included."""
        changes = int((chosen[1:] != chosen[:-1]).sum())
        return int(self.costs[chain][chosen].sum()) + self.change_cost * changes

    def chosen(self, log: LinkLog) -> Flags:
        chosen, departures = np.zeros(self.num_pairs, np.bool_), self.trace.departures()
        for time, each in zip(self.trace.step_times.tolist(), self.snapshots, strict=True):
            if each is not None:
                chosen[each.columns] = np.isin(each.edges.keys, keys_of(log.at(time, departures)))
        return chosen

    def log(self, chosen: Flags) -> LinkLog:
        n = self.trace.num_nodes
        taken = [np.zeros(0, np.int64) if s is None else s.edges.keys[chosen[s.columns]] for s in self.snapshots]
        overlays = (Overlay.from_edges(n, np.column_stack([keys // n, keys % n])) for keys in taken)
        return LinkLog.from_overlays(self.trace, overlays)


def _chains(num_pairs: int, follows: npt.NDArray[np.int64]) -> list[list[int]]:
    """The columns of each pair in consecutive snapshots."""
    after = dict(follows.tolist())
    chains = []
    for first in sorted(set(range(num_pairs)) - set(after.values())):
        chains.append([first])
        while (column := after.get(chains[-1][-1])) is not None:
            chains[-1].append(column)
    return chains


class TimeExpandedCuts(SparseRelaxation):
    """The LP of a trace, with the violated partition inequalities of each snapshot."""

    def __init__(self, model: TimeExpanded, least: Iterable[int]) -> None:
        self.model, self._separator = model, Separator()
        changes = np.full(len(model.follows) if model.change_cost else 0, model.change_cost)
        super().__init__(np.concatenate([model.costs, changes]), model.rows(least))

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        links = fractional[fractional < self.model.num_pairs]
        return links if len(links) else fractional

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        rows = RowList()
        for each in filter(None, self.model.snapshots):
            cuts = self._separator.violated(each.edges, x[each.columns], tolerance=_VIOLATION, exact=exact)
            offsets, crossed = crossing(cuts, each.edges.links, 0)
            for r, rhs in enumerate(cuts.rhs.tolist()):
                rows.add(crossed[offsets[r] : offsets[r + 1]] + each.first, 1, rhs)
        return rows.rows()


class TimeExpandedIncumbent(Incumbent):
    """The best answer so far, as its chosen columns."""

    def __init__(self, model: TimeExpanded, unit: int, clock: Clock) -> None:
        self.model, self.unit, self._clock = model, unit, clock
        self.best: Flags | None = None

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        links = chosen[: self.model.num_pairs].copy()
        if (value := self.model.value(links)) < self.value:
            self.value, self.best = value, links
            offer_made(partial(self.model.log, links))

    def build_along(self, columns: object, x: Reals) -> None:
        """Take links of large value that connect components, those of the snapshot before first; then improve them."""
        chosen = np.zeros(self.model.num_pairs, np.bool_)
        follows = dict(self.model.follows[:, ::-1].tolist())
        for each in filter(None, self.model.snapshots):
            kept = [chosen[follows.get(column, column)] for column in range(*each.columns.indices(len(chosen)))]
            worth = x[each.columns] + self.model.change_cost / (1 + self.model.change_cost) * np.array(kept)
            order = np.lexsort((-each.edges.common, -worth))
            chosen[each.columns] = _connecting(order, each.offsets, each.ends, len(each.edges.instance.topic_nodes))
        self.offer_chosen(columns, self.improved(chosen))

    def improved(self, chosen: Flags) -> Flags:
        """Give the links of one pair after the other their best times beside all others, until none changes.

        Ends early when the time is over. Cost O(links of a snapshot) for each link of a chain.
        """
        model, chosen = self.model, chosen.copy()
        snapshot_of = [s for s in model.snapshots if s is not None for _ in range(len(s.edges))]
        changed = True
        while changed:
            changed = False
            for chain in model.chains:
                if not chosen[chain].any():
                    continue
                if self._clock.passed:
                    return chosen
                required = [
                    bool(chosen[column])
                    and _is_required(
                        column - (each := snapshot_of[column]).first,
                        chosen[each.columns],
                        each.offsets,
                        each.ends,
                        len(each.edges.instance.topic_nodes),
                    )
                    for column in chain
                ]
                best = np.array(_best_times(model.costs[chain].tolist(), required, model.change_cost))
                if model.value_of(chain, best) < model.value_of(chain, chosen[chain]):
                    chosen[chain], changed = best, True
        return chosen


def _best_times(costs: list[int], required: list[bool], change_cost: int) -> list[bool]:
    """When a link is there at the least cost, at least when it is required. Dynamic programming over its steps."""
    off, on = (0.0, []), (0.0, [])  # type: tuple[float, list[bool]], tuple[float, list[bool]]
    for at, (cost, needed) in enumerate(zip(costs, required, strict=True)):
        change = change_cost if at else 0
        stays = min((off[0], off[1]), (on[0] + change, on[1]))
        comes = min((on[0], on[1]), (off[0] + change, off[1]))
        off = (np.inf if needed else stays[0], [*stays[1], False])
        on = (comes[0] + cost, [*comes[1], True])
    return min(off, on)[1]


@kernel
def _connecting(order: Offsets, offsets: Offsets, ends: Ids, num_slots: int) -> Flags:
    """The pairs that connect two components of a topic when they are taken in this order."""
    parent, taken = np.arange(num_slots).astype(np.int32), np.zeros(len(order), np.bool_)
    for pair in order:
        for k in range(offsets[pair], offsets[pair + 1]):
            one, other = root_of(parent, ends[k, 0]), root_of(parent, ends[k, 1])
            if one != other:
                parent[one] = other
                taken[pair] = True
    return taken


@kernel
def _is_required(pair: int, chosen: Flags, offsets: Offsets, ends: Ids, num_slots: int) -> bool:
    """Whether a topic of the pair is disconnected without its link."""
    parent = np.arange(num_slots).astype(np.int32)
    for other in range(len(chosen)):
        if chosen[other] and other != pair:
            for k in range(offsets[other], offsets[other + 1]):
                parent[root_of(parent, ends[k, 0])] = root_of(parent, ends[k, 1])
    apart = False
    for k in range(offsets[pair], offsets[pair + 1]):
        apart |= root_of(parent, ends[k, 0]) != root_of(parent, ends[k, 1])
    return apart


def minimise_over_time(
    trace: TopicTrace, change_cost: int, start: LinkLog | None, clock: Clock, *, seed: int, threads: int, progress: str
) -> SolverOutcome[LinkLog]:
    """The log of least cost, with its proof; or the best one and a proven bound if it was stopped.

    A proven bound on the links of each snapshot comes first: rounded up one by one, they are stronger than the LP.
    Bounds are proven in integers at every node of the tree. Raises OutOfTime, and ModelTooLarge above a million pairs
    of subscribers, summed over topics and snapshots.
    """
    model = TimeExpanded(trace, change_cost, clock)
    settings = SearchSettings(seed=seed, threads=threads, progress="off")
    single = snapshot_optima(trace, clock=clock.share(_SNAPSHOTS), settings=settings)
    planes = TimeExpandedCuts(model, [each.bound for each in single])
    incumbent = TimeExpandedIncumbent(model, planes.unit, clock)
    for known in (start, LinkLog.from_overlays(trace, (each.overlay for each in single))):
        if known is not None:
            incumbent.offer_chosen(None, incumbent.improved(model.chosen(known)))
    incumbent.build_along(None, np.zeros(model.num_pairs))
    log = SearchLog(progress, on_bound=offer_bound)
    root = planes.tighten(clock, stall=_STALL, enough=incumbent.cutoff)
    tree = TreeSearch(planes, incumbent, progress=log)
    if root is not None:
        incumbent.build_along(None, planes.lp.x)
        tree.run(clock, root, planes.lp.x)
    counters = {**planes.counters, "nodes": tree.nodes, "pairs": model.num_pairs, "snapshots": trace.num_steps}
    bound = tree.units if root is not None else planes.best_units
    answer = None if incumbent.best is None else model.log(incumbent.best)
    least = sum(each.bound for each in single)
    return SolverOutcome(answer, max(least, planes.least_value(bound)), not tree.complete, counters)


def _solve(
    trace: TopicTrace,
    problem: Problem[TopicTrace, LinkLog],
    *,
    seed: int,
    time_limit: float | None,
    threads: int,
    progress: str,
) -> Proposal[LinkLog]:
    with interruptible(time_limit) as clock:
        offer(incremental := incremental_merge(trace))
        starts, change_cost = [incremental, recomputed(trace, greedy_merge, clock)], getattr(problem, "change_cost", 0)
        minimise = partial(minimise_over_time, trace, change_cost, seed=seed, threads=threads, progress=progress)
        return solve_exactly(partial(problem.value, trace), minimise, clock, starts=starts, lower_bound=0)


SMOOTHED_OPTIMUM: Method[TopicTrace, LinkLog] = proving_method(
    name="smoothed-optimum",
    problems=("dynamic-tco",),
    summary="a proven optimum of links and changes over a short trace, by branch-and-cut on all its snapshots",
    source="P1 §4 over time; docs/traces.md",
    guarantee="the optimum of an adversary who knows the future, with proof in integers; when stopped, a proven bound",
    cost="exponential in the worst case; an LP of all pairs in all snapshots",
    solve=_solve,
    options=(THREADS, PROGRESS),
    skip=skip_delays,
)
