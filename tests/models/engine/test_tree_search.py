"""A tree searched depth first has the same optimum, LPs restart where they were, and one cut off proves its bound."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.compare.studies.proofs import checked_proof
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.engine import tree_search
from overlaybench.models.engine.proof import NO_PROOF, Multipliers, ProofTree
from overlaybench.models.engine.relaxation import NO_COLUMNS, Bound, RowList, SparseRelaxation, SparseRows
from overlaybench.models.topics.search import edge_minimisation
from tests.outcomes import bound_of


@pytest.mark.slow
def test_the_last_value_is_searched_depth_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = ob.generate("uniform", nodes=18, topics=18, subscriptions=9, seed=2)
    proof, turns = tmp_path / "proof.gz", []
    solve = tree_search.TreeSearch._solve

    def noting(tree: tree_search.TreeSearch, *arguments: object) -> object:
        turns.append(arguments[0].turn)  # type: ignore[attr-defined]
        least = min((node.units for node in [*tree.open, arguments[0]]), default=0)  # type: ignore[attr-defined]
        assert tree.units == max(tree.planes.best_units, least)
        return solve(tree, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(edge_minimisation, "MOST_PAIRS", 0)  # without rows of neighbours, so that there is a tree
    broad = ob.solve(instance, "min-tco", "branch-and-cut")
    monkeypatch.setattr(tree_search, "_BROAD", 2)
    monkeypatch.setattr(tree_search.TreeSearch, "_solve", noting)
    deep = ob.solve(instance, "min-tco", "branch-and-cut", proof=proof)
    assert (deep.status, deep.value) == ("optimal", broad.value) == ("optimal", bound_of(broad))
    assert checked_proof(instance, ob.PROBLEMS["min-tco"], proof, 1).accepted
    assert min(turns) < 0


class _Chosen(SparseRelaxation):
    """An LP of its first rows alone."""

    def violated(self, x: object, *, exact: bool) -> SparseRows:
        return RowList().rows()


def _covers(edges: list[tuple[int, int]]) -> SparseRows:
    rows = RowList()
    for edge in edges:
        rows.add(sorted(edge), 1, 1)
    return rows.rows()


def test_an_lp_restarts_at_the_basis_of_a_node() -> None:
    lp = _Chosen(np.ones(21), _covers([(v, (v + 1) % 21) for v in range(21)]))  # nodes that cover an odd cycle
    lp._add_rows(_covers([(v, (v + 3) % 21) for v in range(0, 21, 2)]))
    lp.tighten(Clock(None))
    position, value = lp.position, lp.lp.value
    lp.permanent, lp.idle = 21, np.where(lp.lp.row_duals > 0, 0, 99)
    lp._drop_idle_rows()
    lp._add_rows(_covers([(0, 10), (5, 15)]))
    ends = np.zeros(21, np.int8), np.ones(21, np.int8)
    ends[0][:9] = 1
    lp.tighten(Clock(None), lower=ends[0], upper=ends[1])
    assert lp.lp.value > value
    lp.start_from(position)
    before = lp.lp.iterations
    lp.tighten(Clock(None), lower=0 * ends[0], upper=ends[1])
    assert lp.lp.value == pytest.approx(value)
    assert lp.lp.iterations == before


@pytest.mark.parametrize(("units", "written"), [(None, ["best"]), (4, ["best", "root"]), (5, ["root"])])
def test_the_root_by_which_columns_are_fixed_is_written_last(
    units: int | None, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    best, root = (partial(Multipliers, [((name,), 1)]) for name in ("best", "root"))
    lp, lines = _Chosen(np.ones(2), _covers([(0, 1)])), list[str]()
    lp.best_units, lp.best_proven = 5, best
    monkeypatch.setattr(ProofTree, "bound", lambda _, node, proven: lines.append(proven().rows[node][0][0]))
    lp.write_root(NO_PROOF, None if units is None else Bound(units, NO_COLUMNS, NO_COLUMNS, root))
    assert lines == written


def test_an_lp_that_is_cut_off_proves_more_than_was_enough() -> None:
    random, rows = np.random.default_rng(0), RowList()
    for _ in range(300):
        rows.add(np.sort(random.choice(120, 4, replace=False)), 1, 1)
    lp = _Chosen(np.ones(120), rows.rows())
    none, free = np.zeros(120, np.int8), np.ones(120, np.int8)
    upper = free.copy()
    upper[random.choice(120, 40, replace=False)] = 0
    ends = []
    for enough in np.linspace(30.1, 33.1, 16):
        lp.tighten(Clock(None), lower=none, upper=free)
        bound = lp.tighten(Clock(None), lower=none, upper=upper, enough=int(enough * lp.unit))
        assert bound is not None
        assert bound.units > int(enough * lp.unit)  # no values satisfy the rows
        ends.append(lp.lp.is_cut_off)
    assert any(ends)
