"""Branch-and-cut against brute force on random instances, and its incumbent and bound when it is stopped."""

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import overlaybench as ob
from overlaybench.compare.studies.proofs import checked_proof
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.engine.relaxation import HighsLP
from overlaybench.models.topics.branch_and_cut import BRANCH_AND_CUT
from overlaybench.models.topics.lp_bound import LP_BOUND
from overlaybench.models.topics.relaxation.presolve import drop_implied_topics
from overlaybench.models.topics.relaxation.separation import Goal
from overlaybench.models.topics.search import edge_minimisation
from overlaybench.models.topics.search.edge_minimisation import SearchSettings, minimise_edges
from tests.interrupts import ctrl_c_at_answer
from tests.models.checker.tiny import read_lines
from tests.models.topics.small_instances import bounded, priced, uniform_instance
from tests.outcomes import bound_of, known, value_of


@pytest.mark.parametrize("name", ["low-tco", pytest.param("weighted-tco", marks=pytest.mark.slow)])
def test_rows_of_neighbours_prove_the_same_optimum(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    instance = uniform_instance(16, 16, 8, 2)
    instance = priced(instance, 1) if name == "weighted-tco" else instance
    monkeypatch.setattr(edge_minimisation, "_FAR", -math.inf)
    values, proof = [], tmp_path / "lines.gz"
    for pairs in (1_000, 0):
        monkeypatch.setattr(edge_minimisation, "MOST_PAIRS", pairs)
        result = BRANCH_AND_CUT.run(instance, ob.PROBLEMS[name], seed=1, steps=0, proof=proof)
        assert result.status is ob.Status.OPTIMAL
        values.append(value_of(result))
        assert any(line[:2] == ["row", "near"] for line in read_lines(proof)) == bool(pairs)
        checked = checked_proof(instance, ob.PROBLEMS[name], proof, 1)
        assert checked.lower_bound == result.lower_bound, checked.sentence
    assert values[0] == values[1]


@pytest.mark.parametrize(
    ("limit", "name"),
    [
        pytest.param(limit, name, marks=pytest.mark.slow if limit else [])
        for limit, name in product((0.0, 0.05, 0.5), BRANCH_AND_CUT.problems)
    ],
)
def test_a_time_limit_leaves_incumbent_bound_and_gap(name: str, limit: float) -> None:
    instance = uniform_instance(60, 40, 12)
    result = BRANCH_AND_CUT.run(instance, ob.PROBLEMS[name], time_limit=limit)
    assert result.status in (ob.Status.TIME_LIMIT, ob.Status.OPTIMAL), result.reason
    _, value, bound = bounded(result)
    assert 0 <= bound <= value
    assert 0 <= known(result.gap) < 1 or limit == 0


class TestInterrupted:
    @pytest.fixture(autouse=True)
    def press_ctrl_c_at_an_answer(self) -> Iterator[None]:
        with ctrl_c_at_answer():
            yield

    @pytest.mark.parametrize("name", BRANCH_AND_CUT.problems)
    def test_branch_and_cut_keeps_incumbent_and_bound(self, name: str) -> None:
        size = (50, 40, 15) if name == "2d-star" else (90, 60, 25)
        result = BRANCH_AND_CUT.run(uniform_instance(*size), ob.PROBLEMS[name])
        assert result.status is ob.Status.TIME_LIMIT
        assert result.reason == "interrupted"
        _, value, bound = bounded(result)
        assert 0 <= bound < value

    def test_lp_bound_keeps_its_bound(self) -> None:
        result = LP_BOUND.run(uniform_instance(300, 60, 20), ob.PROBLEMS["min-tco"])
        assert result.status is ob.Status.TIME_LIMIT
        _, value, bound = bounded(result)
        assert 0 < bound < value


def test_progress_is_a_table_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    BRANCH_AND_CUT.run(uniform_instance(20, 15, 4), ob.PROBLEMS["min-tco"], progress="on")
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].split() == ["seconds", "nodes", "open", "cuts", "edges", "incumbent", "bound", "gap"]
    assert all(len(line.split()) == 8 for line in lines[1:])
    assert len(lines) > 1


def test_local_search_on_a_tiny_instance_ends_long_before_a_limit() -> None:
    sizes = (6, 2, 4, 3, 5, 4)
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": [*"abcdef"[:size]] for v, size in enumerate(sizes)})
    answers = [BRANCH_AND_CUT.run(instance, ob.PROBLEMS["k-tco"], seed=1, steps=steps).answer for steps in (400, 9000)]
    assert answers[0] == answers[1]


def test_a_start_with_edges_of_no_topic_or_of_an_implied_one_does_no_harm() -> None:
    """Edges of topic "all" only, which the pairs imply, and edges of no topic at all are no candidates."""
    subscriptions = {f"n{v:02d}": ["all", f"p{v}", f"p{v + 1}"] for v in range(40)}
    instance = ob.TopicInstance.from_subscriptions(subscriptions)
    start = ob.Overlay.from_edges(40, [(u, v) for u in range(40) for v in range(u + 1, 40)])
    reduced, _, _ = drop_implied_topics(instance)
    outcome = minimise_edges(reduced, Goal(), start, Clock(None), SearchSettings(progress="off"))
    assert not outcome.stopped
    assert known(outcome.answer).num_edges == 39


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["min-tco", "weighted-tco"])
def test_without_the_lp_the_split_bounds(problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HighsLP, "solve", lambda *_: False)
    instance = uniform_instance(120, 60, 6)
    instance = priced(instance, 0) if problem == "weighted-tco" else instance
    first = ob.solve(instance, problem, "weighted-gm" if problem == "weighted-tco" else "gm")
    result = ob.solve(instance, problem, "branch-and-cut", time_limit=3, proof=tmp_path / "proof.gz")
    assert 0.8 * value_of(result) < bound_of(result) <= value_of(result) < value_of(first)
    checked = checked_proof(instance, ob.PROBLEMS[problem], tmp_path / "proof.gz", 1)
    assert (checked.accepted, checked.lower_bound) == (True, result.lower_bound), checked.sentence
