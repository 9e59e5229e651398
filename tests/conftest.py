"""Kernels are compiled at their first call, also on instances so tiny that a run would interpret them.

A trial run of every method, problem and options, to compile what it calls, would take a fifth of the models' tests.
Quick tests compile them with few optimisations, which saves an eighth of their time, into a cache of their own; slow
tests compile them as a run does.
"""

from __future__ import annotations

import fcntl
import gc
import math
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from overlaybench.instances.contract.compiled import Interpreter, cache_folder, interpreted

os.environ.setdefault("OVERLAYBENCH_INTERPRET", "never")


def pytest_configure(config: pytest.Config) -> None:
    """Choose numba's optimisation and the cache of kernels, before anything imports numba."""
    if config.option.markexpr == "not slow" and "NUMBA_OPT" not in os.environ:
        os.environ["NUMBA_OPT"], os.environ["NUMBA_CACHE_DIR"] = "1", str(cache_folder().parent / "quick-tests")
        cache_folder.cache_clear()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect in one process after the other: the first leaves the others bytecode, its assertions rewritten."""
    folder = os.open(Path(__file__).parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        return (yield)
    finally:
        os.close(folder)


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
