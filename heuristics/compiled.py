"""Kernels: functions of numbers and plain arrays, compiled by numba when first called, with the machine code kept."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

_KEPT_SECONDS = 24 * 3600
_KERNELS: set[Callable[..., Any]] = set()


def kernel(function: Function) -> Function:
    """Compile a function of numbers and plain arrays when it is first called, and say so once on stderr."""
    return cast(Function, Kernel(function))


class Kernel:
    """A function that numba compiles at its first call, or at that of another kernel which calls it.

    numba itself is imported then, so that a module of kernels is imported in no time.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function."""
        import numba

        # numba notices a change in a kernel's own file only, not in the kernels it calls from other files:
        # a cache folder named after the sources of all of them never serves outdated code.
        _announce_compilation()
        _KERNELS.add(self.py_func)
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(_cache_folder())
        try:
            return numba.njit(cache=True)(self.py_func)
        finally:
            config.CACHE_DIR = before

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """How numba sees a kernel that another kernel calls."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        return self.py_func.__qualname__


@cache
def _announce_compilation() -> None:
    """From now on say on stderr, once a process, that a kernel is compiled, which takes a while."""
    from numba.core.event import Event, Listener, register

    said = False

    class Notice(Listener):
        def on_start(self, event: Event) -> None:
            nonlocal said
            if not said and event.data["dispatcher"].py_func in _KERNELS:
                said = True
                print("compiling kernels, once", file=sys.stderr, flush=True)

        def on_end(self, event: Event) -> None:
            pass

    register("numba:compile", Notice())  # type: ignore[no-untyped-call]


@cache
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
