"""A method at work: its clock, the trajectory of its run, and the answers and bounds that the method offers."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple, Protocol, TypeVar

from .signals import RAISING

Value = TypeVar("Value")


class Judge(Protocol):
    """The operations that a run needs of its problem."""

    def value(self, instance: Any, answer: Any, /) -> float: ...

    def violations(self, instance: Any, answer: Any, /) -> list[str]: ...


on_trial: ContextVar[bool] = ContextVar("on_trial", default=False)
"""Whether a trial instance is solved, to see what a run calls: Ctrl-C then ends more than this run."""


@contextmanager
def setting(variable: ContextVar[Any], value: Value) -> Iterator[Value]:
    """A context in which a variable of this thread has a value."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


class _Pauses:
    """The time that this process has spent on compiling, which counts in no run and in no limit."""

    seconds = cpu_seconds = 0.0
    _depth, _start, _cpu_start = 0, 0.0, 0.0

    def begin(self) -> None:
        """A compilation begins, perhaps within another."""
        self._depth += 1
        if self._depth == 1:
            self._start, self._cpu_start = time.perf_counter(), time.process_time()
            _tell_paused(True)

    def end(self) -> None:
        """It ends; without one that has begun, nothing."""
        self._depth = max(0, self._depth - 1)
        if self._depth == 0 and self._start:
            self.seconds += time.perf_counter() - self._start
            self.cpu_seconds += time.process_time() - self._cpu_start
            self._start = 0.0
            _tell_paused(False)

    def end_all(self) -> None:
        """A run ends: a compilation that raised has not ended by itself."""
        self._depth = min(self._depth, 1)
        self.end()

    def now(self) -> float:
        """Seconds of this process's clock without pauses."""
        return (self._start or time.perf_counter()) - self.seconds


PAUSES = _Pauses()


def _tell_paused(begun: bool) -> None:
    if (watch := _watch.get()) is not None and watch[1] == os.getpid():
        watch[0].paused(begun)


class OutOfTime(Exception):
    """The time limit passed before there was an answer."""


class Clock:
    """The remaining time of a run: `time_limit` seconds from now, None for no limit.

    :meth:`interrupt` sets the interruption, which all clocks that :meth:`share` makes have in common.
    """

    def __init__(self, time_limit: float | None, interruption: threading.Event | None = None) -> None:
        self._end = math.inf if time_limit is None else PAUSES.now() + time_limit
        self._interruption = threading.Event() if interruption is None else interruption

    @property
    def left(self) -> float:
        """Remaining seconds: 0 after the limit or an interruption, infinite without a limit."""
        return 0.0 if self.interrupted else max(0.0, self._end - PAUSES.now())

    @property
    def passed(self) -> bool:
        return self.left <= 0.0

    @property
    def interrupted(self) -> bool:
        return self._interruption.is_set()

    @property
    def stopped_by(self) -> str:
        """The reason for a :class:`.Result`: ``interrupted`` or ""."""
        return "interrupted" if self.interrupted else ""

    def check(self, seconds: float = 0.0) -> None:
        """Raise OutOfTime unless more than so many seconds are left."""
        if self.left <= seconds:
            raise OutOfTime

    def interrupt(self) -> None:
        """End this clock and all that share its interruption."""
        self._interruption.set()

    def share(self, fraction: float, most: float = math.inf) -> Clock:
        """A clock for a part of the run: a fraction of the remaining time, at most `most` seconds."""
        left = min(fraction * self.left, most)
        return Clock(left if math.isfinite(left) else None, self._interruption)


@contextmanager
def interruptible(time_limit: float | Clock | None) -> Iterator[Clock]:
    """A clock that the first Ctrl-C ends, for a limit in seconds or a running clock. The second Ctrl-C raises
    KeyboardInterrupt as usual.

    An exception raised by a signal could occur inside a compiled kernel or the LP solver, which cannot pass it on.
    Outside the main thread, on a trial instance, or if SIGINT has another handler, signals are not handled here.
    """
    clock = time_limit if isinstance(time_limit, Clock) else Clock(time_limit)
    in_main_thread, before = threading.current_thread() is threading.main_thread(), signal.getsignal(signal.SIGINT)
    if not in_main_thread or on_trial.get() or before not in RAISING:
        yield clock
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        clock.interrupt()

    signal.signal(signal.SIGINT, stop)
    try:
        yield clock
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Let Ctrl-C end a search and nothing else; but on a trial instance it ends the command."""
    try:
        yield
    except KeyboardInterrupt:
        if on_trial.get():
            raise


_CELL = math.log(1.05)
_ROUNDING = 1e-6


class Point(NamedTuple):
    """The state of a run `seconds` after its start; None without an answer or a bound so far."""

    seconds: float
    value: float | None = None
    lower_bound: float | None = None


class Trajectory:
    """Records when the incumbent or the lower bound of a run improved.

    :meth:`.Method.run` keeps one, of the values of valid answers and the proven bounds that the method offers
    (:func:`.offer`). Of the changes within 5% of the elapsed time only the last is kept, so that a run has a few
    hundred points at most.
    """

    def __init__(self, points: Iterable[Point] = ()) -> None:
        self._start = PAUSES.now()
        self._points = list(points)

    @property
    def points(self) -> tuple[Point, ...]:
        return tuple(self._points)

    def report(
        self, value: float | None = None, lower_bound: float | None = None, seconds: float | None = None
    ) -> None:
        """Record a value or a bound if it improves on earlier ones; infinite numbers and NaN do not count.

        `seconds`: when it was found, after the start; now by default.
        """
        last = self._points[-1] if self._points else Point(0.0)
        best = min(_known(last.value, value), default=None), max(_known(last.lower_bound, lower_bound), default=None)
        if best == last[1:]:
            return
        now = max(PAUSES.now() - self._start if seconds is None else seconds, last.seconds, 1e-6)
        if self._points and _cell(now) == _cell(last.seconds):
            self._points.pop()
        self._points.append(Point(now, *best))

    def completed(
        self, seconds: float, value: float | None, lower_bound: float | None, *, integral: bool
    ) -> tuple[Point, ...]:
        """The points, and a last one for the validated outcome of the run.

        No point has a better value or bound than the outcome, and bounds of integral problems are rounded up.
        """
        points: list[Point] = []
        for point in (*self._points, Point(seconds, value, lower_bound)):
            bound = point.lower_bound
            if bound is not None and integral and math.isfinite(bound):
                bound = math.ceil(bound - _ROUNDING)
            state = (
                None if point.value is None or value is None else float(max(point.value, value)),
                None if bound is None or lower_bound is None else float(min(bound, lower_bound)),
            )
            if state != (None, None) and (not points or state != points[-1][1:]):
                points.append(Point(min(point.seconds, seconds), *state))
        return tuple(points)


def _known(*numbers: float | None) -> list[float]:
    return [float(number) for number in numbers if number is not None and math.isfinite(number)]


def _cell(seconds: float) -> int:
    return math.floor(math.log(seconds) / _CELL)


Report = Callable[[float | None, float | None], object]
"""A function of a value and a lower bound, None for what is not known."""

_SHARE, _FREE_SECONDS = 0.05, 0.05


class Watcher(Protocol):
    """Receives the progress of a run."""

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        """Take a valid answer with its value, or a proven bound, or both: each better than those before."""

    def solving(self, begun: bool) -> None:
        """The method itself begins, and has ended: its time limit counts in between."""

    def paused(self, begun: bool) -> None:
        """A compilation begins, and has ended: its time counts in no limit."""


class _Run:
    """A method at work: judges the answers that it offers, in at most a twentieth of its time."""

    def __init__(self, instance: Any, problem: Judge, trajectory: Trajectory, watcher: Watcher | None) -> None:
        self.process, self.is_nested = os.getpid(), _active() is not None
        self._instance, self._problem = instance, problem
        self._trajectory, self._watcher = trajectory, watcher
        self._value, self._bound = math.inf, -math.inf
        self._pending: Any = None
        self._best: Any = None
        self._start, self._spent = PAUSES.now(), 0.0

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        """Pass on what is better; an answer waits for the next offer while judging has taken its share of the time."""
        self._trajectory.report(value, lower_bound)
        self._pending = self._pending if answer is None else answer
        now, chosen = PAUSES.now(), None
        if not self._is_busy(now):
            chosen, self._pending = self._pending, None
        improved = chosen is not None and self._improves(chosen)
        raised = lower_bound is not None and self._bound < lower_bound < math.inf
        self._bound = lower_bound if raised and lower_bound is not None else self._bound
        if improved:
            self._trajectory.report(self._value)
        if self._watcher is not None and (improved or raised):
            self._watcher.offered(
                chosen if improved else None, self._value if improved else None, self._bound if raised else None
            )
        self._spent += PAUSES.now() - now

    def offered_if_free(self, make: Callable[[], Any]) -> None:
        """Pass on an answer that takes time to make, unless offers have taken their share of the time."""
        now = PAUSES.now()
        if not self._is_busy(now):
            answer = make()
            self._spent += PAUSES.now() - now
            self.offered(answer, None, None)

    def _is_busy(self, now: float) -> bool:
        return self._spent > _FREE_SECONDS + _SHARE * (now - self._start)

    def _improves(self, answer: Any) -> bool:
        try:
            value = float(self._problem.value(self._instance, answer))
            if not value < self._value or self._problem.violations(self._instance, answer):
                return False
        except Exception:  # an answer to something else, which must not end the run
            return False
        self._value, self._best = value, answer
        return True

    def best_offered(self) -> tuple[Any, float | None]:
        """The best answer and bound that were offered, None where there is none."""
        if self._pending is not None:
            self._improves(self._pending)
        return self._best, None if math.isinf(self._bound) else self._bound


_run: ContextVar[_Run | None] = ContextVar("_run", default=None)
_watch: ContextVar[tuple[Watcher, int] | None] = ContextVar("_watch", default=None)


def _active() -> _Run | None:
    """The innermost run of this thread; a forked process has none of its parent's."""
    run = _run.get()
    return run if run is not None and run.process == os.getpid() else None


def watched(watcher: Watcher) -> AbstractContextManager[object]:
    """Pass the progress of the runs of this process to a watcher; forked processes pass none."""
    return setting(_watch, (watcher, os.getpid()))


@contextmanager
def solving(instance: Any, problem: Judge, trajectory: Trajectory) -> Iterator[_Run]:
    """Around the work of a method, whose offers go to its trajectory and to the watcher of the process, if any.

    Offers of a nested method are about another instance: the watcher does not get them.
    """
    watch = _watch.get()
    is_heard = watch is not None and watch[1] == os.getpid() and _active() is None
    watcher = watch[0] if watch is not None and is_heard else None
    try:
        with setting(_run, _Run(instance, problem, trajectory, watcher)) as run:
            if watcher is not None:
                watcher.solving(True)
            yield run
            if watcher is not None:
                watcher.solving(False)
    finally:
        PAUSES.end_all()


def offer(answer: Any = None, lower_bound: float | None = None) -> None:
    """Offer an answer to the instance that is being solved, or a lower bound on the optimum of its problem.

    An anytime method calls it whenever it has something better. It becomes a point of the run's trajectory; and where a
    limit, Ctrl-C or a lack of memory ends the run in a step that cannot be interrupted, the best of what it offered is
    its result. Outside of :meth:`.Method.run` it does nothing.

    The answer is one of the instance as given, not of a reduced one, and is judged before it counts. A method that
    calls another one by :meth:`.Method.run` offers what that one returns, where it is worth it.
    """
    if (run := _active()) is not None:
        run.offered(answer, None, lower_bound)


def offer_value(value: float | None, lower_bound: float | None) -> None:
    """Offer the value of an answer that a solver has, but does not give away yet, and a proven bound.

    The value becomes a point of the trajectory only: what ends the run also takes the answer with it.
    """
    if (run := _active()) is not None:
        run.offered(None, value, lower_bound)


def offer_made(make: Callable[[], Any]) -> None:
    """Offer the answer that a function makes from a solver's solution; costly functions are called rarely."""
    if (run := _active()) is not None:
        run.offered_if_free(make)


def offer_bound(lower_bound: float) -> None:
    """Offer a lower bound alone, as :func:`offer` does."""
    offer(lower_bound=lower_bound)


_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Let the kernel kill this process when the thread that started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
