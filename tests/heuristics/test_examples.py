"""The examples in the docstrings."""

import doctest
import pkgutil
from importlib import import_module

import pytest

from overlaybench import heuristics
from overlaybench.instances.contract.catalogue import methods_of
from overlaybench.instances.contract.method import Method


@pytest.mark.interpreted
def test_examples_hold_and_every_heuristic_for_topics_has_one() -> None:
    names = [module.name for module in pkgutil.walk_packages(heuristics.__path__, "overlaybench.heuristics.")]
    methods = 0
    for module in map(import_module, names):
        done = doctest.testmod(module)
        assert done.failed == 0, module.__name__
        if module.__name__.rpartition(".")[0] == "overlaybench.heuristics.topics":
            count = sum(isinstance(value, Method) for value in vars(module).values())
            assert done.attempted >= 2 * count, module.__name__
            methods += count
    assert methods == len(methods_of("overlaybench.heuristics.topics"))
