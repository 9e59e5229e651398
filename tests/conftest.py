"""Kernels are compiled at their first call, also on instances so tiny that a run would interpret them.

A trial run of every method, problem and options, to compile what it calls, would take a fifth of the models' tests.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Generator

import pytest

from overlaybench.instances.contract.compiled import Interpreter, interpreted

os.environ.setdefault("OVERLAYBENCH_INTERPRET", "never")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    """Interpret the kernels of quick tests marked `interpreted`: their slow tests compile the same ones."""
    if item.get_closest_marker("slow") or not item.get_closest_marker("interpreted"):
        return (yield)
    with interpreted(Interpreter(math.inf)):
        return (yield)


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among the tests: compiling kernels creates many objects that live on."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
