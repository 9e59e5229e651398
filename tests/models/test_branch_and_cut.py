"""Branch-and-cut against brute force, on every instance hypothesis thinks of."""

import pytest
from hypothesis import given, settings

from instances import PROBLEMS, Status, TopicInstance
from models.branch_and_cut import BRANCH_AND_CUT, PROBLEMS_ANSWERED
from tests.brute_force import optimum
from tests.strategies import topic_instances

BRANCH_AND_CUT.warm_up()


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", PROBLEMS_ANSWERED)
@settings(max_examples=40, deadline=None)
@given(instance=topic_instances(max_nodes=6, max_topics=5))
def test_proves_the_optimum_of_brute_force(name: str, sparse: bool, presolve: bool, instance: TopicInstance) -> None:
    result = BRANCH_AND_CUT.run(instance, PROBLEMS[name], sparse=sparse, presolve=presolve)
    assert result.status is Status.OPTIMAL, result.reason
    assert result.value == optimum(instance, name)
