"""Kernels: functions of numbers and plain arrays that numba compiles at their first call and caches on disk."""

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
    """Compile a function of numbers and arrays at its first call; the first compilation is announced on stderr."""
    return cast(Function, Kernel(function))


class Kernel:
    """A function that numba compiles at its first call, or at the first call of a kernel that calls it.

    numba is imported at that time, so importing a module of kernels costs nothing.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba's dispatcher."""
        import numba

        # numba checks the source file of a kernel, not those of the kernels it calls: a cache folder named after
        # all sources never serves outdated code.
        _announce_compilation()
        _KERNELS.add(self.py_func)
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
        try:
            return numba.njit(cache=True, nogil=True)(self.py_func)
        finally:
            config.CACHE_DIR = before

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """The type that numba gives to a kernel called by another kernel."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        return self.py_func.__qualname__


@cache
def _announce_compilation() -> None:
    """Report on stderr the first compilation of a kernel in this process."""
    from numba.core.event import Event, Listener, register

    announced = False

    class Notice(Listener):
        def on_start(self, event: Event) -> None:
            nonlocal announced
            if not announced and event.data["dispatcher"].py_func in _KERNELS:
                announced = True
                print("compiling kernels, once", file=sys.stderr, flush=True)

        def on_end(self, event: Event) -> None:
            pass

    register("numba:compile", Notice())  # type: ignore[no-untyped-call]


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels: beside the code, in the user's cache, or else a temporary one of this process."""
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
    """Remove the caches of other versions that no process has opened for a day."""
    os.utime(keep)
    for folder in base.glob("kernels-*"):
        try:
            if folder != keep and folder.stat().st_mtime < time.time() - _KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # another process has removed it
            continue
