"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

from overlaybench import heuristics

MODULES = [module.name for module in pkgutil.walk_packages(heuristics.__path__, "overlaybench.heuristics.")]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_hold(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0


def test_every_heuristic_has_an_example() -> None:
    assert sum(doctest.testmod(import_module(module)).attempted for module in MODULES) >= 2 * len(heuristics.HEURISTICS)
