"""The examples in the docstrings."""

import doctest
import pkgutil
from functools import cache
from importlib import import_module

import pytest

from overlaybench import heuristics
from overlaybench.instances.contract.catalogue import methods_of
from overlaybench.instances.contract.method import Method

MODULES = [module.name for module in pkgutil.walk_packages(heuristics.__path__, "overlaybench.heuristics.")]


@cache
def results_of(module: str) -> doctest.TestResults:
    return doctest.testmod(import_module(module))


@pytest.mark.interpreted
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_hold(module: str) -> None:
    assert results_of(module).failed == 0


@pytest.mark.interpreted
def test_every_heuristic_for_topics_has_an_example() -> None:
    files = [name for name in MODULES if name.rpartition(".")[0] == "overlaybench.heuristics.topics"]
    methods = {file: sum(isinstance(value, Method) for value in vars(import_module(file)).values()) for file in files}
    assert sum(methods.values()) == len(methods_of("overlaybench.heuristics.topics"))
    for file, count in methods.items():
        assert results_of(file).attempted >= 2 * count, file
