"""Compiling kernels with numba, and keeping what was compiled."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.event import Event, Listener, register

Function = TypeVar("Function", bound=Callable[..., Any])

_KEPT_SECONDS = 24 * 3600


def kernel(function: Function) -> Function:
    """Compile a function of numbers and plain arrays when first called, and say so; machine code is kept on disk."""
    # numba notices a change in a kernel's own file only, not in the kernels it calls from other files:
    # a cache folder named after the sources of all of them never serves outdated code.
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(_CACHE)
    try:
        _KERNELS.add(function)
        return cast(Function, numba.njit(cache=True)(function))
    finally:
        config.CACHE_DIR = before


class _Notice(Listener):
    """Tells the user on stderr, once a process, that a kernel is compiled, which takes a while."""

    def on_start(self, event: Event) -> None:
        global _said
        if not _said and event.data["dispatcher"].py_func in _KERNELS:
            _said = True
            print("compiling kernels, once", file=sys.stderr, flush=True)

    def on_end(self, event: Event) -> None:
        pass


def _cache_folder() -> Path:
    sources = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        sources.update(file.read_bytes())
    name = f"kernels-{sources.hexdigest()[:16]}"
    beside = Path(__file__).parent / "__pycache__"
    own = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "overlaybench"
    for base in (Path(os.environ["NUMBA_CACHE_DIR"]),) if "NUMBA_CACHE_DIR" in os.environ else (beside, own):
        try:
            (base / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(base / name, os.W_OK):
            _prune(base, keep=base / name)
            return base / name
    return Path(tempfile.mkdtemp(prefix=name))


def _prune(base: Path, keep: Path) -> None:
    """Remove what earlier versions compiled, unless some process began to use it within a day."""
    os.utime(keep)
    for folder in base.glob("kernels-*"):
        try:
            if folder != keep and folder.stat().st_mtime < time.time() - _KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # another process was first
            continue


_CACHE = _cache_folder()
_KERNELS: set[Callable[..., Any]] = set()
_said = False
register("numba:compile", _Notice())  # type: ignore[no-untyped-call]
