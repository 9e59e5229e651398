"""The optima of all small instances against the enumeration of all graphs, and against branch-and-cut."""

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.compare.atlas.every_instance import instance_of, instances, members_of
from overlaybench.compare.atlas.small_optima import PROBLEMS, optima_of, smallest_value
from overlaybench.instances.topics.constructions import case_seven
from tests import topic_brute_force


@pytest.mark.parametrize("problem", PROBLEMS)
def test_optima_are_those_of_all_graphs(problem: str) -> None:
    for nodes, topics, every in ((2, 2, 1), (3, 3, 1), (4, 3, 1), (5, 4, 9), (6, 4, 60)):
        rows = np.concatenate(list(instances(nodes, topics)))
        found = optima_of(nodes, rows, problem)[::every]
        for row, optimum in zip(rows[::every], found, strict=True):
            made = instance_of(nodes, members_of(nodes, row))
            assert optimum == topic_brute_force.optimum(made, problem) == smallest_value(made, problem)


def test_the_optimum_of_an_instance_with_a_lone_subscriber_is_that_of_its_other_topics() -> None:
    assert smallest_value(case_seven(n=6), "2d-true") == 6
    assert smallest_value(ob.read({"ann": ["news"], "bob": ["chess"]}), "minmax-tco") == 0


@pytest.mark.slow
def test_optima_on_seven_nodes_are_those_of_branch_and_cut() -> None:
    rows = np.concatenate(list(instances(7, 4)))[::200]
    for problem in ("min-tco", "minmax-tco"):
        for row, optimum in zip(rows, optima_of(7, rows, problem), strict=True):
            result = ob.solve(instance_of(7, members_of(7, row)), problem, "branch-and-cut", progress="off")
            assert result.status == "optimal"
            assert result.value == optimum
