"""The optima of small instances and the classes of their edges, against the enumeration of all graphs."""

import copy
import random
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.models.topics.optima import EDGES_PROOF, OPEN, SHARING, SharedEdges, shared_edges
from tests.models.checker.mutants import KINDS, Mutant, lift, mutate
from tests.models.checker.tiny import Tiny, checker, read_lines, write_lines
from tests.models.topics.small_instances import priced, small_instance
from tests.properties import property_test
from tests.topic_brute_force import all_graphs, values_and_validity
from tests.topic_strategies import topic_instances

Edge = tuple[int, int]
PRICED = st.builds(priced, topic_instances(max_nodes=5), st.integers(0, 99))


def enumerated(instance: ob.TopicInstance, problem: str, within: int) -> set[frozenset[Edge]]:
    """The valid graphs of a value of at most the optimum + `within` from which no edge can be removed."""
    graphs = all_graphs(instance.num_nodes)
    values, valid = values_and_validity(instance, problem)
    good = np.flatnonzero(valid & (values <= values[valid].min() + within))
    bits = [1 << index for index in range(len(graphs.pairs))]
    kept = [mask for mask in good.tolist() if not any(mask & bit and valid[mask & ~bit] for bit in bits)]
    return {frozenset(p for p, bit in zip(graphs.pairs, bits, strict=True) if mask & bit) for mask in kept}


def listed(found: SharedEdges) -> list[frozenset[Edge]]:
    return [frozenset((int(u), int(v)) for u, v in overlay.edges) for overlay in found.overlays]


def classes_of(found: SharedEdges) -> dict[Edge, str]:
    return {(int(u), int(v)): str(one) for (u, v), one in zip(found.edges, found.classes, strict=True)}


def expected_classes(optima: set[frozenset[Edge]], edges: set[Edge]) -> dict[Edge, str]:
    every, some = frozenset.intersection(*optima), frozenset.union(*optima)
    assert some <= edges
    return {edge: "every" if edge in every else "some" if edge in some else "none" for edge in edges}


WITHIN = [*((problem, 0) for problem in SHARING), *product(("min-tco", "weighted-tco"), (1, 2))]


@property_test(25, PRICED, quick=4)
@pytest.mark.parametrize(("problem", "within"), WITHIN)
def test_the_optima_and_others_within_a_tolerance_and_the_classes_of_edges_are_those_of_all_graphs(
    problem: str, within: int, instance: ob.TopicInstance
) -> None:
    found = shared_edges(instance, ob.PROBLEMS[problem], most=2000, within=within)
    expected = enumerated(instance, problem, within)
    assert found.complete
    assert len(found.overlays) == len(set(listed(found)))
    assert set(listed(found)) == expected
    assert classes_of(found) == expected_classes(expected, set(classes_of(found)))


@property_test(10, topic_instances(max_nodes=5), st.integers(1, 3), quick=3)
def test_a_list_that_is_cut_says_so_and_the_classes_stay_proven(instance: ob.TopicInstance, most: int) -> None:
    found, expected = shared_edges(instance, ob.PROBLEMS["min-tco"], most=most), enumerated(instance, "min-tco", 0)
    assert found.complete == (len(expected) <= most)
    assert len(found.overlays) == min(most, len(expected))
    assert set(listed(found)) <= expected
    assert classes_of(found) == expected_classes(expected, set(classes_of(found)))


@property_test(10, PRICED, st.sampled_from(SHARING), quick=4)
def test_the_checker_settles_every_edge_by_the_proof(instance: ob.TopicInstance, problem: str) -> None:
    with TemporaryDirectory() as folder:
        found = shared_edges(instance, ob.PROBLEMS[problem], proof=Path(folder))
        assert found.value is not None
        model = examined(instance, problem, Path(folder))
    assert model.settled[found.value + 1] == {
        u * instance.num_nodes + v: int(name == "every") for (u, v), name in classes_of(found).items() if name != "some"
    }
    assert not model.shared() or model.shared().endswith(" 0 are open")


def examined(instance: ob.TopicInstance, problem: str, folder: Path) -> Any:
    Tiny(problem, instance).write(folder / "instance.json")
    return checker().examine(str(folder / "instance.json"), str(folder / EDGES_PROOF))[0]


@pytest.mark.parametrize("count", [pytest.param(150), pytest.param(6_000, marks=pytest.mark.slow)])
def test_no_changed_proof_settles_an_edge_wrongly(count: int, tmp_path: Path) -> None:
    draw, accepted = random.Random(count), 0
    while count:
        instance, problem = priced(small_instance(draw.randrange(10**6)), draw.randrange(99)), draw.choice(SHARING)
        shared_edges(instance, ob.PROBLEMS[problem], within=0, proof=tmp_path)
        lines = read_lines(tmp_path / EDGES_PROOF)
        values, valid = values_and_validity(instance, problem)
        pairs, masks = all_graphs(instance.num_nodes).pairs, all_graphs(instance.num_nodes).masks
        for _ in range(min(count, 30)):
            count -= 1
            mutant = Mutant(Tiny(problem, instance), copy.deepcopy(lines))
            if draw.random() < 0.5:
                lift(mutant, draw)
            mutate(draw, mutant, draw.choice(list(KINDS)))
            write_lines(tmp_path / EDGES_PROOF, mutant.lines)
            try:
                model = examined(instance, problem, tmp_path)
            except checker("cases").Wrong:
                continue
            accepted += 1
            for below, fixed in model.settled.items():
                good = masks[valid & (values < below)]
                for column, value in fixed.items():
                    bit = pairs.index(divmod(column, instance.num_nodes))
                    assert (good >> bit & 1 == value).all(), (mutant.lines, below, column, value)
    assert accepted


def test_every_edge_of_forty_nodes_is_settled_and_the_checker_agrees(tmp_path: Path) -> None:
    instance = ob.WORKLOADS["uniform"].generate(nodes=40, topics=30, subscriptions=4, seed=1)
    found = shared_edges(instance, ob.PROBLEMS["min-tco"], most=20, proof=tmp_path)
    assert OPEN not in found.classes
    assert not found.complete
    assert len(found.overlays) == 20
    inside = found.shares
    assert (inside[found.classes == "every"] == 1).all()
    assert (inside[found.classes == "none"] == 0).all()
    assert examined(instance, "min-tco", tmp_path).shared().endswith(" 0 are open")


def test_without_time_or_for_other_problems_nothing_is_claimed() -> None:
    instance = ob.WORKLOADS["uniform"].generate(nodes=40, topics=30, subscriptions=4, seed=1)
    found = shared_edges(instance, ob.PROBLEMS["min-tco"], time_limit=1e-3)
    assert found.value is None
    assert not found.complete
    assert set(found.classes) == {OPEN}
    instance = ob.WORKLOADS["uniform"].generate(nodes=5, topics=3, subscriptions=2, seed=0)
    for problem, within in (("minmax-tco", 0), ("2d-star", 0), ("k-tco", 1)):
        with pytest.raises(ob.BadInput):
            shared_edges(instance, ob.PROBLEMS[problem], within=within)
