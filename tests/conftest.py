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
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from overlaybench.instances.runtime.compiled import (
    Interpreter,
    Kernel,
    _announce_compilation,
    cache_folder,
    interpreted,
)

if TYPE_CHECKING:  # quick tests do without the second that its import takes
    from playwright.sync_api import Browser

os.environ.setdefault("OVERLAYBENCH_INTERPRET", "never")
settings.register_profile("without a deadline", deadline=None)
settings.load_profile("without a deadline")
RARELY_CALLED = {
    *("cost_splitting._rows_of_trees", "covering.predicates_evaluated", "dual_fitting._connecting_edges"),
    *("excess_links.count_excess_links", "gm2._find_blocks", "gm2._join_leaves", "kernels._faults"),
    *("linked_overlay._common_topics", "linked_overlay._drop_in_order", "linked_overlay._link_all"),
    *("linked_overlay.mark_all_bridges", "lp_guided._connect", "lp_guided._drop_redundant"),
    *("minmax_oda._add_in_order", "mst_per_topic.spanning_trees", "neighbour_rows.least_cover"),
    *("overlay_search._nearest", "polish._drop_slots", "presolve._leaves", "price_join._above"),
    *("price_join.price_trees", "price_join.prices_of", "row_weighting._begin", "ruin_and_recreate.drop_redundant"),
    *("ruin_and_recreate.reset", "separation._separate_diameters", "star_search._place_all"),
}


def pytest_configure(config: pytest.Config) -> None:
    """Choose numba's optimisation and the cache of kernels, before anything imports numba; keep bytecode.

    Without bytecode each process that a test starts would compile the package, which takes it half of its time.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
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


class OfQuickTests(Interpreter):
    """Interprets the kernels that take longer to compile than to interpret in all quick tests, and compiles others."""

    def call(self, callee: Kernel, arguments: tuple[Any, ...]) -> Any:
        """The result of a call."""
        if self._inside or f"{callee.py_func.__module__.rpartition('.')[2]}.{callee.py_func.__name__}" in RARELY_CALLED:
            return super().call(callee, arguments)
        return callee.dispatcher(*arguments)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    """Interpret kernels in quick tests, all of them where a test is marked `interpreted`: slow tests compile them."""
    if item.get_closest_marker("slow"):
        return (yield)
    with interpreted((Interpreter if item.get_closest_marker("interpreted") else OfQuickTests)(math.inf)):
        return (yield)


def pytest_collection_finish() -> None:
    """Announce compilation now, not in a test that reads what is printed, and look for garbage less often.

    None is among the tests: compiling kernels creates many objects that live on.
    """
    _announce_compilation()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    if (chromium := shutil.which("chromium")) is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"] * (os.geteuid() == 0))
        yield started
        started.close()
