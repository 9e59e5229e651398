"""The examples in the docstrings."""

import doctest
import pkgutil
from collections import Counter
from importlib import import_module

import pytest

from overlaybench import heuristics
from overlaybench.instances.contract.catalogue import home_of, methods_of


@pytest.mark.interpreted
def test_examples_hold_and_every_heuristic_for_topics_has_one() -> None:
    names = [module.name for module in pkgutil.walk_packages(heuristics.__path__, "overlaybench.heuristics.")]
    examples = {}
    for module in map(import_module, names):
        examples[module.__name__] = doctest.testmod(module)
        assert examples[module.__name__].failed == 0, module.__name__
    homes = Counter(home_of(method) for method in methods_of("overlaybench.heuristics.topics"))
    assert [home for home, methods in homes.items() if examples[home].attempted < 2 * methods] == []
