"""Kernels: functions of numbers and plain arrays that numba compiles at their first call and caches on disk.

A compiled kernel is stored under a digest of its own syntax and of all that it calls, in a folder that every checkout
and every process of a user shares. So a kernel is compiled once a machine: a change elsewhere leaves it in the cache,
and a process that needs a kernel which another one is compiling waits for it.

On a tiny instance compiling takes a thousand times as long as the run, so there kernels are interpreted
(:class:`Interpreter`). The same interpreter lists what a method calls on a trial instance, and these kernels are then
compiled on all cores (:func:`compile_calls`).
"""

# mypy: disable-error-code="no-untyped-call"
# numba has no annotations.

from __future__ import annotations

import fcntl
import hashlib
import inspect
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from .code import syntax
from .run import PAUSES, die_with_parent, setting
from .signals import default_signals, forking
from .status_line import StatusLine

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

_FEW = 4
_KEPT_SECONDS = 30 * 24 * 3600
_PACKAGE = __name__.partition(".")[0]
_NUMBERED = b"numbers that no other process has\0"  # a kernel compiled otherwise is another one


def kernel(function: Function) -> Function:
    """Compile a function of numbers and arrays at its first call; the first compilation is announced on stderr."""
    return cast(Function, Kernel(function))


def wrapping_kernel(function: Function) -> Function:
    """A kernel whose integers may overflow, as those of hashes and random numbers do."""
    return cast(Function, Kernel(function, wraps=True))


def in_place_kernel(function: Function) -> Function:
    """A kernel that makes no array or list and returns numbers: it counts no references to its arguments.

    numba counts one to each array of a tuple at each call, which takes longer than a short kernel.
    """
    return cast(Function, Kernel(function, in_place=True))


class Kernel:
    """A function that numba compiles at its first call, or at the first call of a kernel that calls it.

    numba is imported at that time, so importing a module of kernels costs nothing.
    """

    def __init__(self, function: Callable[..., Any], *, wraps: bool = False, in_place: bool = False) -> None:
        self.py_func, self.wraps, self.in_place = function, wraps, in_place
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        PAUSES.begin()
        import numba

        number_apart()
        njit: Any = numba.njit  # whose annotations lack the last option
        dispatcher = njit(nogil=True, _nrt=not self.in_place)(self.py_func)
        dispatcher._cache = _shared_cache(self)
        resolve = dispatcher.get_call_template
        dispatcher.get_call_template = lambda types, named: resolve(tuple(map(_widest, types)), named)
        PAUSES.end()
        return dispatcher

    @cached_property
    def digest(self) -> str:
        """A digest of the syntax of this kernel, and of all kernels, constants and types that it uses.

        A digest of modules would be coarser, and a compilation takes longer than many runs.
        """
        sha = hashlib.sha256(_NUMBERED)
        for part in _parts_of(self.py_func, {}):
            sha.update(part.encode() + b"\0")
        return sha.hexdigest()[:24]

    def __call__(self, *arguments: Any) -> Any:
        interpreter = interpreting.get()
        return self.dispatcher(*arguments) if interpreter is None else interpreter.call(self, arguments)

    @property
    def _numba_type_(self) -> Any:
        """The type that numba gives to a kernel called by another kernel."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        return self.py_func.__qualname__


class TooSlow(BaseException):
    """Interpreting takes longer than it may: the run is to be repeated with compiled functions."""


def briefly(key: Sequence[str], run: Callable[[], Result]) -> Result | None:
    """The result by interpreted kernels, if these were never compiled on this machine and this takes a second at most.

    `key` says what the kernels depend on (:func:`compiled_before`). None otherwise, outside the main thread, and where
    the run raises: it is to be repeated with compiled kernels.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or never_interpreted()
        or compiled_before(key).exists()
    ):
        return None

    def end(_number: int, _frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, end)
    try:
        with suppress(Exception, TooSlow), interpreted(Interpreter(ends=True)):
            return run()
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return None


def interpreted_first(key: Sequence[str], run: Callable[[], Result]) -> Result:
    """The result of :func:`briefly`, or with compiled kernels, which are then used from the next time on."""
    if (result := briefly(key, run)) is None:
        result = run()
        mark_compiled(key)
    return result


def compiled_before(key: Sequence[str]) -> Path:
    """The file that says that kernels were compiled on this machine."""
    return cache_folder() / "compiled" / hashlib.sha256(repr(key).encode()).hexdigest()[:24]


def mark_compiled(key: Sequence[str]) -> None:
    """Say so for the next process."""
    with suppress(OSError):
        (mark := compiled_before(key)).parent.mkdir(exist_ok=True)
        mark.touch()


def never_interpreted() -> bool:
    """Whether the environment asks for compiled kernels everywhere."""
    return os.environ.get("OVERLAYBENCH_INTERPRET") == "never"


class Interpreter:
    """Interprets compiled functions where compiling them would take far longer than the run: on tiny instances.

    Results are those of the compiled functions: an integer that overflows raises FloatingPointError, unless the
    function is one whose integers may. After some `seconds` in all, functions are compiled; with `ends`, which takes
    the main thread, :class:`TooSlow` ends the run within one. With `record`, `calls` lists each function with the
    arguments of its first call of their types.
    """

    def __init__(self, seconds: float = 1.0, *, record: bool = False, ends: bool = False) -> None:
        self.calls: dict[Any, tuple[Any, tuple[Any, ...]]] = {}
        self._left, self._record, self._inside, self._ends = seconds, record, False, ends

    def call(self, callee: Kernel, arguments: tuple[Any, ...]) -> Any:
        """The result of a call; nested calls are interpreted with it."""
        if self._inside:
            if not callee.wraps:
                return callee.py_func(*arguments)
            with np.errstate(over="ignore"):
                return callee.py_func(*arguments)
        if self._record:
            self.calls.setdefault((callee, *map(_type_of, arguments)), (callee, arguments))
        if self._left <= 0:
            if self._ends:
                raise TooSlow
            with setting(interpreting, None):
                return callee(*arguments)
        start, self._inside = time.perf_counter(), True
        if self._ends:
            signal.setitimer(signal.ITIMER_VIRTUAL, self._left)
        try:
            with np.errstate(over="ignore" if callee.wraps else "raise"):
                return _plain(callee.py_func(*arguments))
        finally:
            if self._ends:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            self._inside = False
            self._left -= time.perf_counter() - start


def _type_of(value: Any) -> Any:
    """What a compiled function's types depend on."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.ndim, value.flags.c_contiguous, value.flags.f_contiguous, value.flags.writeable
    return (type(value), *map(_type_of, value)) if isinstance(value, tuple) else type(value)


def _plain(value: Any) -> Any:
    """A result with Python's numbers in place of NumPy's, as compiled functions return them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        each = map(_plain, value)
        return type(value)(*each) if hasattr(value, "_fields") else tuple(each)
    return value


interpreting: ContextVar[Interpreter | None] = ContextVar("interpreting", default=None)
"""The interpreter of this thread's compiled functions; None where they are compiled."""


def interpreted(interpreter: Interpreter) -> AbstractContextManager[Interpreter]:
    """Interpret compiled functions meanwhile."""
    return setting(interpreting, interpreter)


def _widest(numba_type: Any) -> Any:
    """The type that a kernel is compiled for when another one calls it: int64 for every signed integer and constant.

    Otherwise a kernel would be compiled anew for each width and each constant that it is called with.
    """
    from numba import types

    plain = types.unliteral(numba_type)
    return types.int64 if plain in types.signed_domain else plain


def compile_calls(calls: Sequence[tuple[Kernel, tuple[Any, ...]]]) -> None:
    """Compile kernels for the types of some arguments, on all cores, unless the cache has them.

    `calls`, sequence of (Kernel, tuple): as :class:`.Interpreter` records them.
    """
    from numba import typeof

    missing = []
    for called, arguments in calls:
        types = tuple(map(typeof, arguments))
        if not called.dispatcher._cache.has(types):
            missing.append((called, types))
    if len(missing) < _FEW:
        return  # the first call compiles them
    _announce_compilation()
    context, done, line = multiprocessing.get_context("fork"), 0, StatusLine(len(missing))
    queue = context.SimpleQueue()
    for number in (*range(len(missing)), *[-1] * (workers := min(os.cpu_count() or 1, len(missing)))):
        queue.put(number)
    finished = context.SimpleQueue()
    processes = [context.Process(target=_compile, args=(missing, queue, finished), daemon=True) for _ in range(workers)]
    with forking():
        for process in processes:
            process.start()
    while any(process.is_alive() for process in processes) or not finished.empty():
        while not finished.empty():
            done += finished.get()
            line.show(done, f"kernels: {done} of {len(missing)} compiled")
        time.sleep(0.05)
    line.clear()


def _compile(missing: list[tuple[Kernel, Any]], queue: Any, finished: Any) -> None:
    default_signals()
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the process group; the parent ends this one
    while (number := queue.get()) >= 0:
        called, types = missing[number]
        with suppress(Exception):  # the call itself raises it, where it is needed
            called.dispatcher.compile(types)
        finished.put(1)
    os._exit(0)


class _Numbers:
    """Numbers that no other process has, nor another fork of this one."""

    def __init__(self) -> None:
        self._process, self._last = 0, 0

    def __next__(self) -> int:
        if self._process != os.getpid():
            self._process, self._last = os.getpid(), int.from_bytes(os.urandom(7))
        self._last += 1
        return self._last


@cache
def number_apart() -> None:
    """Let kernels that different processes compiled be loaded by one.

    numba numbers functions from 1 on in each process, to tell those of one name apart: a sort, and a search for the
    order, differ in their closures alone. If two functions had one number, a kernel could call the other kernel's
    function.
    """
    from numba.core.bytecode import FunctionIdentity

    functions: Any = FunctionIdentity
    functions._unique_ids = _Numbers()


@cache
def _syntax_of(source: Any) -> str:
    """A digest of the syntax of a function, class or module, once for each: kernels share their types."""
    return syntax(inspect.getsource(source))


def _parts_of(function: Callable[..., Any], seen: dict[int, None]) -> list[str]:
    """The syntax of a function and of what it names, each once, in the order in which they are named."""
    if id(function) in seen:
        return []
    seen[id(function)] = None
    parts = [_syntax_of(function)]
    # A compiled kernel names the types of its arguments by their modules.
    types = re.findall(r"\w+", " ".join(map(str, function.__annotations__.values())))
    for name in (*names_in(function.__code__), *types):
        if name in function.__globals__:
            parts += [name, *_parts_of_value(function.__globals__[name], seen)]
    for cell in function.__closure__ or ():
        parts += _parts_of_value(cell.cell_contents, seen)
    return parts


def names_in(code: CodeType) -> list[str]:
    """The global names of a function's code, nested functions included."""
    nested = (each for constant in code.co_consts if isinstance(constant, CodeType) for each in names_in(constant))
    return [*code.co_names, *nested]


def _parts_of_value(value: Any, seen: dict[int, None]) -> list[str]:
    if isinstance(value, Kernel):
        return _parts_of(value.py_func, seen)
    if isinstance(value, FunctionType) and value.__module__.startswith(_PACKAGE):
        return _parts_of(value, seen)
    if isinstance(value, type):
        named = f"{value.__module__}.{value.__qualname__}"
        if not value.__module__.startswith(_PACKAGE) or id(value) in seen:
            return [named]
        seen[id(value)] = None
        fields = re.findall(r"\w+", " ".join(map(str, inspect.get_annotations(value).values())))
        known = vars(sys.modules[value.__module__])
        nested = [part for name in fields if name in known for part in _parts_of_value(known[name], seen)]
        return [named, _syntax_of(value), *nested]
    if isinstance(value, ModuleType):
        return [_syntax_of(value) if value.__name__.startswith(_PACKAGE) else value.__name__]
    return [repr(value)]


class _FolderLock:
    """A lock on a folder among processes."""

    _held: int | None = None

    def take(self, folder: Path) -> None:
        self.release()  # of a compilation that raised
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            self._held = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
            fcntl.flock(self._held, fcntl.LOCK_EX)

    def release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _shared_cache(kernel: Kernel) -> Any:
    """Numba's cache on disk for one kernel, in a folder named by the kernel's digest.

    numba's own cache takes a kernel's path and the time of its last change for its version, does not look at what it
    calls, and lets two processes write one file at a time. Here the digest is the version, and a lock is held from a
    miss until the compiled kernel is saved, so that other processes load it.
    """
    import pickle

    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

    folder = cache_folder() / kernel.digest[:2] / f"{kernel.py_func.__name__}-{kernel.digest}"

    class Locator(_CacheLocator):
        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls()

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return kernel.digest

        def get_disambiguator(self) -> str:
            return kernel.digest[:8]

    class Files(IndexDataCacheFile):
        def load(self, key: Any) -> Any:
            try:
                return super().load(key)
            except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
                return None  # a type of its arguments stood in another module: compile again

        def _load_index(self) -> Any:
            try:
                return super()._load_index()
            except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
                return {}

    class Implementation(CompileResultCacheImpl):
        _locator_classes: Any = (Locator,)

    class Shared(FunctionCache):
        _impl_class = Implementation

        def __init__(self, py_func: Any) -> None:
            super().__init__(py_func)
            self.lock = _FolderLock()
            own = self._cache_file
            own.__class__ = Files

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            PAUSES.begin()  # loading counts in no run either; a compilation ends in `save_overload`
            found = super().load_overload(sig, target_context)
            if found is None:
                self.lock.take(folder)
                found = super().load_overload(sig, target_context)
                if found is None:
                    _announce_compilation()
                    return None
                self.lock.release()
            else:
                os.utime(folder)
            PAUSES.end()
            return found

        def has(self, sig: Any) -> bool:
            """Whether the compiled kernel for these types of arguments is on the disk."""
            from numba.core.registry import cpu_target

            return self._index_key(sig, cpu_target.target_context.codegen()) in self._cache_file._load_index()

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                with suppress(OSError):  # the disk is full: this process has it
                    super().save_overload(sig, data)
            finally:
                self.lock.release()
                PAUSES.end()

    return Shared(kernel.py_func)


@cache
def _announce_compilation() -> None:
    """Report on stderr the first compilation of a kernel in this process."""
    cleared = "\r\x1b[K" if sys.stderr.isatty() else ""  # of a progress line
    print(f"{cleared}compiling kernels, once a machine (exact methods: a minute or two)", file=sys.stderr, flush=True)


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels: in the user's cache, or beside the code, or else one of this process."""
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "overlaybench"
    beside = Path(__file__).parent / "__pycache__"
    for base in (Path(os.environ["NUMBA_CACHE_DIR"]),) if "NUMBA_CACHE_DIR" in os.environ else (own, beside):
        folder = base / "kernels"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _prune(folder)
            return folder
    return Path(tempfile.mkdtemp(prefix="kernels-"))


def _prune(folder: Path) -> None:
    stamp, now = folder / "pruned", time.time()
    try:
        if stamp.exists() and stamp.stat().st_mtime > now - 24 * 3600:
            return
        stamp.touch()
        for kept in folder.glob("*/*-*"):
            if kept.stat().st_mtime < now - _KEPT_SECONDS:
                shutil.rmtree(kept, ignore_errors=True)
    except OSError:  # another process has removed it
        return
