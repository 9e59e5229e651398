"""Kernels are compiled in all tests, also on instances so tiny that a run would interpret them, at their first call.

A trial run of every method, problem and options, to compile what it calls, would take a fifth of the models' tests.
"""

from __future__ import annotations

import gc
import os

os.environ.setdefault("OVERLAYBENCH_INTERPRET", "never")


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among the tests: compiling kernels creates many objects that live on."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
