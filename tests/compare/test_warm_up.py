"""Compiling and importing are over when a method's clock starts: warm_up leaves nothing to a run."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS

NAMES = [name for name, method in METHODS.items() if method.warm_up is not None]


@cache
def late_work(scale: str, seconds: str) -> dict[str, Any]:
    """The kernels and libraries by method, from one process for all methods."""
    command = [sys.executable, "-m", "tests.compare.warm_up_probe", scale, seconds]
    printed = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_run_compiles_and_imports_nothing_that_warm_up_did_not(name: str) -> None:
    assert late_work("0.4", "0.2")[name] == [[], []]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", NAMES)
def test_a_larger_run_compiles_and_imports_nothing_that_warm_up_did_not(name: str) -> None:
    assert late_work("1", "1")[name] == [[], []]
