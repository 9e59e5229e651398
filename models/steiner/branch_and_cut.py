"""Branch-and-cut for Steiner trees: reductions, dual ascent, directed cuts, branch and bound on arcs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ...heuristics.steiner.graph import Flags, graph_of
from ...heuristics.steiner.mehlhorn import mehlhorn
from ...heuristics.steiner.shortest_paths import evenly_spaced
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, interruptible, offer
from ...instances.steiner.instance import SteinerInstance
from ..engine.proof import Multipliers, ProofFile, Tree
from ..engine.search_log import PROGRESS, SearchLog
from ..engine.sparse_relaxation import Text
from ..engine.tree_search import TreeSearch
from .bound_reduction import BoundReduction
from .directed_cuts import DirectedCuts
from .dual_ascent import Ascent, dual_ascent, least_through
from .incumbent import SteinerIncumbent
from .reduction import ReducedInstance, reduce

PRESOLVE = Option("presolve", True, "reduce the instance first, keeping an optimal tree")
_ROOTS = 20
_REDUCING = 0.4  # of the time
_ARCS, _ALL_ARCS = 200_000, 20_000_000


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
    """A cheapest tree with proof, or the best one found with a proven bound.

    Parameters
    ----------
    seed : int
        Unused: no step is random.
    time_limit : float, optional
        Seconds; Ctrl-C has the same effect.
    presolve : bool
        Whether to reduce the instance first.
    progress : {"auto", "on", "off"}
        Lines on stderr.
    proof : path, optional
        Write a proof of the bound to this file (docs/proofs.md).

    Returns
    -------
    Proposal
        Its bound is proven in integers at every node of the search tree. Infeasible if the terminals are not connected.
        Counters: nodes, cuts, the size after reductions, the bound of dual ascent and the arcs that it leaves.

    Notes
    -----
    Exponential in the worst case; docs/steiner.md has the proofs and measurements.
    """
    with interruptible(time_limit) as clock, ProofFile(proof) as file:
        if file.is_written:
            file.head(problem="steiner", instance=instance.digest)
        offer(mehlhorn(instance))
        best = BoundReduction(instance, offer)
        bounding = None if file.is_written else best.superfluous
        reduced = reduce(instance, file, clock.share(_REDUCING), bounding) if presolve else _unreduced(instance)
        counters: dict[str, float | str] = {
            "reduced_nodes": reduced.instance.num_nodes,
            "reduced_edges": reduced.instance.num_edges,
        }
        bound, reason = best.value, ""
        if reduced.instance.num_terminals == 1:
            best.keep(reduced, np.zeros(reduced.instance.num_edges, np.bool_))
            bound = best.value
        elif not best.is_optimal:
            search = _Search(reduced, clock, progress, file, best)
            search.run()
            counters |= search.counters
            bound, reason = reduced.fixed_cost + search.bound, search.reason
        if best.tree is None:
            return Proposal(None, None, Status.INFEASIBLE, counters, reason)
        file.claim(best.value, bound, best.tree.edges.tolist())
        return Proposal(best.tree, bound, None if bound >= best.value else Status.TIME_LIMIT, counters, reason)


def _unreduced(instance: SteinerInstance) -> ReducedInstance:
    return ReducedInstance(
        instance, (), tuple((e,) for e in range(instance.num_edges)), 0, tuple(range(instance.num_nodes))
    )


class _Search:
    def __init__(
        self,
        reduced: ReducedInstance,
        clock: Clock,
        progress: str,
        file: ProofFile,
        best: BoundReduction,
    ) -> None:
        self.fixed_cost = reduced.fixed_cost
        self.instance, self.names, self.file = reduced.instance, reduced.nodes, file
        self.clock, self.progress = clock, SearchLog(progress, on_bound=self._offer_bound)
        instance = self.instance
        self.graph = graph_of(instance.num_nodes, instance.edges)
        self.incumbent = SteinerIncumbent(instance, self.graph, clock, lambda chosen: best.keep(reduced, chosen))
        self.incumbent.value = best.value - reduced.fixed_cost
        self.bound = 0
        self.possible = True
        self.counters: dict[str, float | str] = {}

    @property
    def reason(self) -> str:
        if not self.possible:
            return "the terminals lie in different components of the graph"
        return "interrupted" if self.clock.interrupted else ""

    def run(self) -> None:
        self.incumbent.start(self.clock)
        if not np.isfinite(self.incumbent.value):
            self.possible = False
            return
        root, ascent, useful = self._ascend()
        self.bound = min(ascent.bound, int(self.incumbent.value))
        self._offer_bound(self.bound)
        self.counters = {"dual_ascent": ascent.bound, "arcs": int(useful.sum()), "cuts": 0, "nodes": 0}
        if self.bound < self.incumbent.value and not useful.any():
            self.bound = int(self.incumbent.value)
        if self.bound < self.incumbent.value and not self.clock.passed:
            self._branch(root, ascent, np.flatnonzero(useful))
        else:
            self._case(root, ascent, self._sides(root, ascent), 1).end(self.incumbent.value)

    def _ascend(self) -> tuple[int, Ascent, Flags]:
        """The root of best dual ascent bound, its dual ascent, and the arcs that a cheaper tree may use."""
        costs = np.repeat(self.instance.costs, 2)
        terminals = self.instance.terminals
        best, root = None, int(terminals[0])
        useful = np.ones(len(costs), np.bool_)
        for terminal in evenly_spaced(terminals, _ROOTS):
            if best is not None and self.clock.passed:
                break
            most = _ALL_ARCS if self.file.is_written else _ARCS
            ascent = dual_ascent(self.graph, costs, terminals, terminal, most)
            if best is None or ascent.bound > best.bound:
                best, root = ascent, terminal
            if best.bound >= self.incumbent.value:
                break
        assert best is not None
        limit = int(self.incumbent.value) - best.bound
        useful = least_through(self.graph, best.reduced, terminals, root) < limit
        return root, best, useful

    def _branch(self, root: int, ascent: Ascent, arcs: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        sides = self._sides(root, ascent)
        planes = DirectedCuts(self.instance, self.graph, root, arcs, ascent, self.names, sides)
        case = self._case(root, ascent, sides, planes.unit)
        incumbent = self.incumbent
        incumbent.arcs, incumbent.unit = arcs, planes.unit

        def closed(_bound: object) -> bool:
            incumbent.build_along(planes.columns, planes.lp.x)
            self._offer_bound(planes.best_units / planes.unit)
            return planes.best_units > incumbent.cutoff

        bound = planes.tighten(self.clock, at_round=closed)
        tree = TreeSearch(planes, incumbent, progress=self.progress, proof=case)
        if bound is not None:
            case.bound(0, bound.proven)
            tree.run(self.clock, bound, planes.lp.x)
        case.end(incumbent.value)
        proven = -(-(tree.units if bound is not None else planes.best_units) // planes.unit)
        # Arcs that no cheaper tree has are not in the model: its bound is valid only up to the incumbent's value.
        self.bound = max(self.bound, int(min(proven, incumbent.value)))
        self.counters |= {
            "root_bound": round(planes.best_units / planes.unit, 6),
            "cuts": planes.cuts,
            "simplex_iterations": planes.lp.iterations,
            "nodes": tree.nodes,
        }

    def _offer_bound(self, bound: float) -> None:
        """Offer it in the costs of the instance as it was given; it is valid only up to the incumbent's value."""
        offer(lower_bound=float(self.fixed_cost + min(bound, self.incumbent.value)))

    def _sides(self, root: int, ascent: Ascent) -> list[Text]:
        """The texts of the ascent's cuts, if they are needed for a proof."""
        if not self.file.is_written:
            return []
        return [("cut", *(self.names[v] for v in side)) for side in ascent.sides(self.graph, root)]

    def _case(self, root: int, ascent: Ascent, sides: Sequence[Text], unit: int) -> Tree:
        """Begin the proof: the bound of dual ascent, and the arcs that it excludes."""
        case = self.file.case(root=self.names[root], unit=unit)
        case.paths(Multipliers(zip(sides, (ascent.duals * unit).tolist(), strict=False)))
        return case


@cache
def _warm_up() -> None:
    """Compile the kernels, and load the LP solver."""
    for presolve in (False, True):
        steiner_branch_and_cut(_PETERSEN, presolve=presolve, progress="off")
    incumbent = SteinerIncumbent(_PETERSEN, graph_of(10, _PETERSEN.edges), Clock(None))
    # Dual ascent may solve so small an instance without an LP.
    ascent = dual_ascent(incumbent.graph, np.repeat(_PETERSEN.costs, 2), _PETERSEN.terminals, 0)
    planes = DirectedCuts(_PETERSEN, incumbent.graph, 0, incumbent.arcs, ascent, range(10))
    ascent.sides(incumbent.graph, 0)
    x = np.full(len(planes.columns), 0.2)
    planes.violated(x, exact=True)
    incumbent.build_along(planes.columns, x)


# The Petersen graph: neither a path nor a star connects its outer cycle and one inner node.
_PETERSEN = SteinerInstance.from_edges(
    10,
    [(v, (v + 1) % 5, 3) for v in range(5)]
    + [(v, v + 5, 2) for v in range(5)]
    + [(v + 5, (v + 2) % 5 + 5, 1) for v in range(5)],
    [0, 1, 2, 3, 4, 7],
)

STEINER_BRANCH_AND_CUT: Method[SteinerInstance, Overlay] = Method(
    name="branch-and-cut",
    problems=("steiner",),
    summary="Steiner trees by reductions, dual ascent and branch-and-cut on directed cuts",
    source="Wong 1984; Koch, Martin 1998; docs/steiner.md",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound; bounds are proven in integers",
    cost="exponential in the worst case",
    exact=True,
    solve=steiner_branch_and_cut,
    options=(PRESOLVE, PROGRESS),
    inputs=("proof",),
    warm_up=_warm_up,
)
