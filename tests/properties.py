"""Tests of a property on random cases: a tenth of the cases in the quick tier, all of them in the slow tier."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

Test = Callable[..., None]


def property_test(cases: int, *strategies: Any, quick: int = 0, **named_strategies: Any) -> Callable[[Test], Test]:
    """Like hypothesis's ``given``, on `quick` cases (by default a tenth), and on all `cases` in a slow test beside it.

    It goes above ``pytest.mark.parametrize``, whose parameters both tests take.
    """

    def decorate(test: Test) -> Test:
        def on(count: int) -> Test:
            on_cases: Test = given(*strategies, **named_strategies)(test)  # type: ignore[no-untyped-call]
            return settings(max_examples=count)(on_cases)

        name = f"{test.__name__}_on_{cases}_cases"
        many = on(cases)
        many.__name__ = name
        test.__globals__[name] = pytest.mark.slow(many)
        return on(quick or cases // 10)

    return decorate
