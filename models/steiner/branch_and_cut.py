"""Branch-and-cut for Steiner trees: reductions, dual ascent, directed cuts, and trees grown along LP values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...heuristics.graph import Graph, graph_of
from ...heuristics.steiner.local_search import improve_tree
from ...heuristics.steiner.mehlhorn import mehlhorn
from ...heuristics.steiner.shortest_paths import evenly_spaced, grown_nodes
from ...heuristics.steiner.spanning_trees import spanning_tree
from ...instances.contract.arrays import Flags
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, interruptible, offer
from ...instances.steiner.instance import SteinerInstance
from ..engine.exact_method import PROGRESS, SearchLog
from ..engine.proof import Multipliers, ProofFile
from ..engine.relaxation import Reals
from ..engine.tree_search import Incumbent, TreeSearch
from .directed_cuts import Ascent, DirectedCuts, dual_ascent, least_through
from .reduction import ReducedInstance, Reduction
from .terminal_sets import Search, cheaper_tree

_STARTS, _ROOTS, _FEW_ROOTS = 20, 20, 3
_FEW_STARTS, _SEARCHED = 4, 20_000_000  # starts of large instances; nodes times edges in all starts of others
_TREES, _NOISE = 2, 2.0  # trees grown along the LP values of a round; the largest factor of their costs
_LARGEST = 10**8  # edges times terminals, of which an ascent takes about a second at worst
_REDUCING = 0.4  # of the time
_ARCS, _ALL_ARCS = 200_000, 20_000_000
_SEARCHES = ((3, 50_000_000), (10, 500_000_000))  # roots of bounds, and then steps over terminal sets, before the LP
PRESOLVE = Option("presolve", True, "reduce the instance first, and leave out arcs on no cheap path")


class SteinerIncumbent(Incumbent):
    """The best tree as marked edges (`chosen`, shape (m,)), and its cost.

    The clock ends the improvement of trees; `found` takes the marked edges of each better tree.
    """

    def __init__(self, instance: SteinerInstance, graph: Graph, clock: Clock, found: Callable[[Flags], object]) -> None:
        self._clock, self._found = clock, found
        self.instance, self.graph, self.unit = instance, graph, 1
        self.chosen: Flags | None = None
        self.arcs: npt.NDArray[np.int64] = np.arange(2 * instance.num_edges)
        self._costs = instance.costs.astype(np.float64)
        self._order = np.argsort(instance.costs, kind="stable").astype(np.int32)
        self._grown, self._random = 0, np.random.default_rng(0)

    def start(self, most: int = _STARTS) -> None:
        """Grow and improve trees from several terminals, from fewer where a local search takes long."""
        size = max(1, self.instance.num_nodes * self.instance.num_edges)
        starts = min(most, max(_FEW_STARTS, _SEARCHED // size))
        for terminal in evenly_spaced(self.instance.terminals, starts):
            if not self._clock.passed or not np.isfinite(self.value):
                self._grow(self._costs, terminal)

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        """Offer the minimum spanning tree of the nodes of the chosen arcs."""
        used = self.arcs[chosen[: len(self.arcs)]] // 2
        inside = np.zeros(self.instance.num_nodes, np.bool_)
        inside[self.instance.terminals] = True
        inside[self.graph.u[used]] = inside[self.graph.v[used]] = True
        self._offer(inside, improve=False)

    def build_along(self, columns: object, x: Reals) -> None:
        """Grow and improve trees under costs that fall with the edges' LP values, all but the first with noise."""
        along = np.zeros(self.instance.num_edges)
        np.add.at(along, self.arcs // 2, x[: len(self.arcs)])
        costs = self._costs * (1.0 - np.minimum(along, 1.0))
        for number in range(_TREES):
            if not self._clock.passed:
                start = int(self.instance.terminals[self._grown % self.instance.num_terminals])
                self._grow(costs * self._random.uniform(1.0, _NOISE, len(costs)) if number else costs, start)
                self._grown += 1

    def grow_along(self, reduced: npt.NDArray[np.int64], terminal: int) -> None:
        self._grow(self._costs + reduced, terminal)

    def _grow(self, costs: Reals, terminal: int) -> None:
        self._offer(grown_nodes(self.graph, costs, self.instance.terminals, terminal), improve=True)

    def _offer(self, inside: Flags, improve: bool) -> None:
        terminals = self.instance.terminals
        kept, separate = spanning_tree(self.graph, self._order, inside, terminals)
        if separate:
            return
        if improve:
            self.keep(kept)
            kept = improve_tree(self.graph, self._costs, kept, terminals, self._clock)
        self.keep(kept)

    def keep(self, kept: Flags) -> None:
        """Keep the tree of these edges if it is the best."""
        cost = int(self.instance.costs[kept].sum())
        if cost < self.value:
            self.chosen, self.value = kept, cost
            self._found(kept)


class BoundReduction:
    """The best tree of an instance so far (`tree`, `value`), and what it excludes from smaller forms of the instance.

    `is_optimal` says that no tree is cheaper.
    """

    def __init__(self, original: SteinerInstance) -> None:
        self._original = original
        self.tree: Overlay | None = None
        self.value = np.inf
        self.is_optimal = False

    def superfluous(self, reduced: ReducedInstance, clock: Clock, roots: int = 10) -> Flags:
        """The edges of a reduced instance without which it keeps all trees cheaper than the best one, shape (m,).

        Those for which the bound of dual ascent plus the least reduced cost of a path through them reaches the best
        tree's cost in both directions (docs/steiner.md; Duin 1993; Polzin, Vahdati Daneshmand 2001,
        https://doi.org/10.1016/S0166-218X(00)00319-X). An edge once excluded costs too much for a cheaper tree in the
        ascent from the next root. Trees are grown along the reduced costs. Cost: one ascent for each root; with more
        than `_LARGEST` edges times terminals, none is made and no edge removed, to keep time limits.
        """
        instance = reduced.instance
        graph = graph_of(instance.num_nodes, instance.edges)
        incumbent = SteinerIncumbent(instance, graph, clock, lambda chosen: self.keep(reduced, chosen))
        incumbent.value = self.value - reduced.fixed_cost
        removed = np.zeros(instance.num_edges, np.bool_)
        if instance.num_edges * instance.num_terminals > _LARGEST:
            return removed
        for root in evenly_spaced(instance.terminals, roots):
            if clock.passed:
                break
            if not np.isfinite(incumbent.value):
                incumbent.start(1)
                if incumbent.chosen is None:
                    break
            costs = np.where(removed, int(incumbent.value), instance.costs)
            ascent = dual_ascent(graph, np.repeat(costs, 2), instance.terminals, root, 0)
            incumbent.grow_along(np.minimum(ascent.reduced[::2], ascent.reduced[1::2]), root)
            allowed = int(incumbent.value) - ascent.bound
            if allowed <= 0:
                self.is_optimal = True
                return np.zeros(instance.num_edges, np.bool_)
            through = least_through(graph, ascent.reduced, instance.terminals, root)
            removed |= np.minimum(through[::2], through[1::2]) >= allowed
        return removed

    def keep(self, reduced: ReducedInstance, chosen: Flags) -> None:
        """Keep the tree of chosen edges of a reduced instance if it is the best."""
        edges = reduced.expand(self._original, chosen)
        value = int(self._original.costs[edges].sum())
        if value < self.value:
            self.tree = Overlay.from_edges(self._original.num_nodes, self._original.edges[edges])
            self.value = value
            offer(self.tree)


def steiner_branch_and_cut(
    instance: SteinerInstance,
    problem: Problem[SteinerInstance, Overlay] | None = None,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    presolve: bool = True,
    progress: str = "auto",
    proof: str | Path | None = None,
) -> Proposal[Overlay]:
    """A cheapest tree with proof, or the best one found with a proven bound; noise is the same in all runs.

    `presolve` reduces the instance, looks for a cheaper tree by sets of terminals (:func:`.cheaper_tree`) up to the
    steps in `_SEARCHES`, and leaves out arcs on no path that is cheap enough; then comes the LP. `proof` names the file
    for a proof of the bound (docs/proofs.md): what sets of terminals show has none, so the LP proves it. Ctrl-C has the
    effect of the time limit, in seconds. The bound is proven
    in integers; infeasible if the terminals are not connected. Counters: nodes, cuts, pairs of a node and a set, the
    size after reductions, the bound of dual ascent and the arcs that it leaves. Exponential in the worst case;
    docs/steiner.md has the proofs and measurements.
    """
    with interruptible(time_limit) as clock, ProofFile(proof) as file:
        if file.is_written:
            file.head(problem="steiner", instance=instance.digest)
        offer(mehlhorn(instance))
        best = BoundReduction(instance)
        counters: dict[str, float | str] = {}
        reduction = Reduction(instance, file)
        reduced = reduction.reduced()
        for roots, steps in _SEARCHES if presolve else ():
            if file.is_written:
                reduced = reduction.run(clock.share(_REDUCING))
                break
            reduced = reduction.run(clock.share(_REDUCING), partial(best.superfluous, roots=roots))
            if not clock.passed:
                counters |= _search_sets(reduced, best, clock, steps)
            if best.is_optimal:
                break
        counters["reduced_nodes"], counters["reduced_edges"] = reduced.instance.num_nodes, reduced.instance.num_edges
        bound, reason = best.value, ""
        if reduced.instance.num_terminals == 1:
            best.keep(reduced, np.zeros(reduced.instance.num_edges, np.bool_))
            bound = best.value
        elif not best.is_optimal:
            bound, reason, searched = _search(reduced, best, clock, progress, file, by_paths=presolve)
            bound, counters = bound + reduced.fixed_cost, counters | searched
        if best.tree is None:
            return Proposal(None, None, Status.INFEASIBLE, counters, instance.unreachable() or reason)
        file.claim(best.value, bound, best.tree.edges.tolist())
        return Proposal(best.tree, bound, None if bound >= best.value else Status.TIME_LIMIT, counters, reason)


def _search_sets(reduced: ReducedInstance, best: BoundReduction, clock: Clock, steps: int) -> dict[str, float | str]:
    """Search for a cheaper tree than the best one by sets of terminals."""
    instance = reduced.instance
    if best.is_optimal or instance.num_terminals < 3 or not np.isfinite(best.value):
        return {}
    graph = graph_of(instance.num_nodes, instance.edges)
    upper = int(best.value) - reduced.fixed_cost
    root, ascent = _best_ascent(instance, graph, upper, clock, _ARCS, _FEW_ROOTS)
    try:
        search = cheaper_tree(instance, root, ascent, upper, clock, steps)
    except MemoryError:
        search = Search(False, 0)
    if search.chosen is not None:
        best.keep(reduced, search.chosen)
    best.is_optimal = search.is_complete
    return {"dual_ascent": min(ascent.bound, upper), "pairs": search.pairs}


def _search(
    reduced: ReducedInstance, best: BoundReduction, clock: Clock, progress: str, file: ProofFile, *, by_paths: bool
) -> tuple[float, str, dict[str, float | str]]:
    """Prove a bound on the trees of a reduced instance, without the fixed cost; also why it ended, and counters.

    Arcs that no cheaper tree has are left out `by_paths`, or each by itself.
    """
    instance, names = reduced.instance, reduced.nodes.tolist()
    graph = graph_of(instance.num_nodes, instance.edges)
    incumbent = SteinerIncumbent(instance, graph, clock, lambda chosen: best.keep(reduced, chosen))
    incumbent.value = best.value - reduced.fixed_cost

    def offer_bound(bound: float) -> None:
        """Offer it in the costs of the instance as it was given; it is valid only up to the incumbent's value."""
        offer(lower_bound=float(reduced.fixed_cost + min(bound, incumbent.value)))

    log = SearchLog(progress, on_bound=offer_bound)
    incumbent.start()
    if not np.isfinite(incumbent.value):
        return 0, "the terminals lie in different components of the graph", {}
    root, ascent = _best_ascent(instance, graph, incumbent.value, clock, _ALL_ARCS if file.is_written else _ARCS)
    least = least_through(graph, ascent.reduced, instance.terminals, root) if by_paths else ascent.reduced
    arcs = np.flatnonzero(least < int(incumbent.value) - ascent.bound)
    bound = min(ascent.bound, int(incumbent.value))
    offer_bound(bound)
    if not len(arcs):
        bound = int(incumbent.value)
    counters: dict[str, float | str] = {"dual_ascent": ascent.bound, "arcs": len(arcs), "cuts": 0, "nodes": 0}
    spans = zip(ascent.node_offsets[:-1], ascent.node_offsets[1:], strict=True) if file.is_written else ()
    sides = [("cut", *(names[v] for v in sorted(ascent.nodes[first:last].tolist()))) for first, last in spans]
    is_open = bound < incumbent.value and not clock.passed
    planes = DirectedCuts(instance, graph, root, arcs, ascent, names, sides) if is_open else None
    unit = 1 if planes is None else planes.unit
    # The proof begins with the bound of dual ascent, and the arcs that it excludes.
    case = file.case(root=names[root], unit=unit)
    case.paths(Multipliers(zip(sides, (ascent.duals * unit).tolist(), strict=False)), excluding=by_paths)
    if planes is not None:
        incumbent.arcs, incumbent.unit = arcs, unit

        def closed(_bound: object) -> bool:
            incumbent.build_along(planes.columns, planes.lp.x)
            offer_bound(planes.best_units / unit)
            return planes.best_units > incumbent.cutoff

        tightened = planes.tighten(clock, at_round=closed)
        tree = TreeSearch(planes, incumbent, progress=log, proof=case)
        planes.write_root(case, tightened)
        if tightened is not None:
            tree.run(clock, tightened, planes.lp.x)
        proven = -(-(planes.best_units if tightened is None else tree.units) // unit)
        # Arcs that no cheaper tree has are not in the model: its bound is valid only up to the incumbent's value.
        bound = max(bound, int(min(proven, incumbent.value)))
        counters |= {**planes.counters, "nodes": tree.nodes}
    case.end(incumbent.value)
    return bound, "interrupted" if clock.interrupted else "", counters


def _best_ascent(
    instance: SteinerInstance, graph: Graph, enough: float, clock: Clock, most_arcs: int, roots: int = _ROOTS
) -> tuple[int, Ascent]:
    """The root of best dual ascent bound among some terminals, until one has `enough`, and its dual ascent."""
    costs, best = np.repeat(instance.costs, 2), None
    for terminal in evenly_spaced(instance.terminals, roots):
        if best is not None and (clock.passed or best[1].bound >= enough):
            break
        ascent = dual_ascent(graph, costs, instance.terminals, terminal, most_arcs)
        if best is None or ascent.bound > best[1].bound:
            best = terminal, ascent
    assert best is not None
    return best


STEINER_BRANCH_AND_CUT: Method[SteinerInstance, Overlay] = Method(
    name="branch-and-cut",
    problems=("steiner",),
    summary="Steiner trees by dual ascent, sets of terminals, and branch-and-cut on directed cuts",
    source="Wong 1984; Koch, Martin 1998; Iwata, Shigemura 2019; docs/steiner.md",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound; bounds are proven in integers",
    cost="exponential in the worst case",
    exact=True,
    solve=steiner_branch_and_cut,
    options=(PRESOLVE, PROGRESS),
    inputs=("proof",),
    compiled=True,
)
