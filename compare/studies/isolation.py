"""Solver runs in a process apart, warm and killable, with limits that hold whatever the solver does."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any

from ...instances.catalogue import PROBLEMS
from ...instances.method import Method
from ...instances.problem import Problem
from ...instances.result import Result, Status
from ..catalogue import METHODS, method_named, problem_named
from .processes import has_children, private_memory, session_of, virtual_memory

MIB = 2**20
_LOOK_EVERY, _LOOK_AT_CHILDREN_EVERY = 0.05, 0.25
_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS, _GRACE_SHARE = 5.0, 0.25
_KEPT_OUTPUT = 300
_RUNS_A_PROCESS = 200
_KILLED_AT_MOST = 3


@dataclass(frozen=True)
class Outcome:
    """A result, and what its processes took.

    Attributes
    ----------
    peak : float
        The largest private memory (bytes) they were seen to hold beyond what they started with.
    cpu_seconds : float
        Of all threads and ended children; nan where the process was killed.
    killed : bool
        Whether somebody else killed the process: the system when memory was short, or an administrator.
    """

    result: Result[Any]
    peak: float
    cpu_seconds: float = float("nan")
    killed: bool = False


@dataclass(frozen=True)
class Job:
    """A run to be done: see :func:`run_isolated`."""

    method: Method[Any, Any]
    instance: Any
    problem: Problem[Any, Any]
    seed: int
    options: Mapping[str, object]
    time_limit: float | None
    memory_limit: int | None


def run_isolated(
    method: Method[Any, Any],
    instance: Any,
    problem: Problem[Any, Any],
    *,
    seed: int,
    options: Mapping[str, object],
    time_limit: float | None,
    memory_limit: int | None,
) -> Outcome:
    """Run a method in a forked process; whatever becomes of it, a result comes back.

    A method has `time_limit` seconds and then a grace of 5 s or a quarter, whichever is more, to hand in its
    answer; at Ctrl-C it has 5 s. `memory_limit` MiB bounds the solver process's address space, and the resident memory
    of it and its children, both above what it starts with. A run that is killed, crashes or raises is ``failed``, with
    its reason.

    Raises
    ------
    BadInput
        If the method does not answer the problem, or an option is unknown or out of range.
    """
    with Solver(attended=True) as solver:
        job = Job(method, instance, problem, seed, options, time_limit, memory_limit)
        try:
            return solver.run(job)
        except KeyboardInterrupt:
            if (outcome := solver.interrupted(job)) is not None:
                return outcome
            raise KeyboardInterrupt(f"stopped; {method.name} had no answer yet") from None


class Solver:
    """A process that does one run after another, and is replaced whenever one of them leaves it in doubt.

    It is forked when first needed, with the imports and compiled kernels of its parent. It is ended, and the next
    run gets a new one, after a run that failed or left a child process behind, when a method needs kernels that were
    compiled since, and after 200 runs. Limits are set anew for every run, above what the process holds then.
    Where it is `attended`, a run goes on after Ctrl-C, for :meth:`interrupted` or :meth:`stop`.
    """

    def __init__(self, attended: bool = False) -> None:
        self._attended = attended
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._output = self._end = -1
        self._runs = 0
        self._held = ""
        self._at_start = 0.0
        self._warm: set[tuple[str, str]] = set()

    def __enter__(self) -> Solver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def run(self, job: Job) -> Outcome:
        """Do a run; see :func:`run_isolated`. One whose process somebody else kills is begun again, twice."""
        job.method.complete(job.options, job.problem.name)
        member = job.method.answering(job.problem.name)
        if member.warm_up is not None and (job.method.name, job.problem.name) not in self._warm:
            self.stop()
            member.warm_up()
            self._warm.add((job.method.name, job.problem.name))
        start = time.monotonic()
        for _ in range(_KILLED_AT_MOST):
            try:
                self._hand_over(job)
                outcome = self._watched(job)
            except BaseException as error:
                if not (self._attended and isinstance(error, KeyboardInterrupt)):
                    self.stop()
                raise
            self._runs += 1
            if outcome.result.status is Status.FAILED or self._runs >= _RUNS_A_PROCESS:
                self.stop()
            if not outcome.killed:
                break
        if outcome.result.status is Status.FAILED and not outcome.result.seconds:
            outcome = replace(outcome, result=replace(outcome.result, seconds=time.monotonic() - start))
        return outcome

    def interrupted(self, job: Job) -> Outcome | None:
        """What the method has in hand after Ctrl-C has ended its run here, if it is one that can have something."""
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            if self._process and self._process.pid and self._connection and job.method.anytime:
                os.kill(self._process.pid, signal.SIGINT)
                if self._connection.poll(_GRACE_SECONDS):
                    result, cpu_seconds, _ = self._connection.recv()
                    return Outcome(result, private_memory(self._process.pid) - self._at_start, cpu_seconds)
        return None

    def stop(self) -> None:
        """Kill the process and every process it started; a new one is forked when needed."""
        if self._process is not None:
            _kill(self._process)
        if self._connection is not None:
            self._connection.close()
        for handle in (self._output, self._end):
            if handle >= 0:
                os.close(handle)
        self._process, self._connection, self._output, self._end = None, None, -1, -1
        self._runs, self._held = 0, ""

    def _hand_over(self, job: Job) -> None:
        """Send a job to the process if it can be sent by name; otherwise a new process inherits it.

        Memory is counted from here on: a moment later the solver may hold some already.
        """
        known = METHODS.get(job.method.name) is job.method and PROBLEMS.get(job.problem.name) is job.problem
        if self._connection is not None and known:
            self._at_start = private_memory(self._process.pid or 0) if self._process else 0.0
            instance = None if self._held == job.instance.digest else job.instance
            self._held = job.instance.digest
            asked = (job.method.name, job.problem.name, job.seed, dict(job.options), job.time_limit, job.memory_limit)
            try:
                self._connection.send((instance, asked))
                return
            except OSError:  # it died of itself between two runs
                pass
        self.stop()
        context = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe()
        self._output = os.memfd_create("solver output")
        self._at_start = private_memory(os.getpid())
        self._process = context.Process(target=_serve, args=(job, theirs, self._output), daemon=False)
        self._process.start()
        theirs.close()
        # Not its sentinel, a pipe that the solver closes with all else it inherited.
        self._end = os.pidfd_open(self._process.pid or 0)
        self._held = getattr(job.instance, "digest", "")

    def _watched(self, job: Job) -> Outcome:
        assert self._process is not None
        assert self._process.pid is not None
        assert self._connection is not None
        pid, peak, children = self._process.pid, 0.0, 0.0
        start, grace = time.monotonic(), 0.0
        looked = start
        if job.time_limit is not None:
            grace = max(_GRACE_SECONDS, _GRACE_SHARE * job.time_limit)

        def failed(reason: str) -> Outcome:
            return Outcome(_failed(job, reason), peak)

        while not wait([self._connection, self._end], timeout=_LOOK_EVERY):
            if (now := time.monotonic()) > looked + _LOOK_AT_CHILDREN_EVERY:
                children, looked = sum(private_memory(member) for member in session_of(pid) if member != pid), now
            held = private_memory(pid) + children - self._at_start
            peak = max(peak, held)
            if job.memory_limit is not None and held > job.memory_limit * MIB:
                return failed(f"memory: {held / MIB:.0f} MiB held, {job.memory_limit} MiB allowed")
            if job.time_limit is not None and now > start + job.time_limit + grace:
                why = f": half an answer is none, so {job.method.name} hands in none" if not job.method.anytime else ""
                return failed(f"time: killed after its limit and grace had passed{why}")
        peak = max(peak, private_memory(pid) - self._at_start)
        try:
            result, cpu_seconds, is_alone = self._connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            self._process.join()
            killed = self._process.exitcode == -signal.SIGKILL
            return replace(failed(_how_it_died(self._process.exitcode, self._output)), killed=killed)
        if not is_alone:
            self.stop()
        return Outcome(result, peak, cpu_seconds)


def _serve(job: Job, connection: Connection, output: int) -> None:
    """Do the inherited job, then those that are sent, until the parent is gone."""
    _become_solver(connection.fileno(), output)
    instance = job.instance
    while True:
        done = _done(job)
        _give_back_memory()
        connection.send(done)
        os.ftruncate(output, 0)
        try:
            sent, asked = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        instance = instance if sent is None else sent
        method, problem, seed, options, time_limit, memory_limit = asked
        job = Job(method_named(method), instance, problem_named(problem), seed, options, time_limit, memory_limit)


def _done(job: Job) -> tuple[Result[Any], float, bool]:
    unlimited = resource.getrlimit(resource.RLIMIT_AS)
    if job.memory_limit is not None:
        resource.setrlimit(resource.RLIMIT_AS, (virtual_memory(os.getpid()) + job.memory_limit * MIB, unlimited[1]))
    before = _cpu_seconds()
    try:
        result = job.method.answering(job.problem.name).run(
            job.instance, job.problem, seed=job.seed, time_limit=job.time_limit, **dict(job.options)
        )
    except MemoryError:
        result = _failed(job, f"memory: more than {job.memory_limit} MiB asked for")
    except Exception as error:
        result = _failed(job, f"{type(error).__name__}: {error}".splitlines()[0])
    resource.setrlimit(resource.RLIMIT_AS, unlimited)
    return result, _cpu_seconds() - before, not has_children()


def _give_back_memory() -> None:
    """Hand freed memory to the system: what the heap keeps, the next run would use without being seen to take it."""
    with contextlib.suppress(AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def _cpu_seconds() -> float:
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def _become_solver(connection: int, output: int) -> None:
    """Lead a process group that dies with its parent, is silent, and holds none of its parent's files."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.stdout = sys.stderr = os.fdopen(output, "w", closefd=False)
    faulthandler.disable()
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (0, 1, 2, connection, output):
            with contextlib.suppress(OSError):
                os.close(int(name))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _how_it_died(exitcode: int | None, output: int) -> str:
    size = os.lseek(output, 0, os.SEEK_END)
    tail = os.pread(output, _KEPT_OUTPUT, max(0, size - _KEPT_OUTPUT)).decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(tail) if line.strip()), "")
    if exitcode is not None and exitcode < 0:
        how = f"crash: killed by {signal.Signals(-exitcode).name}"
    else:
        how = f"crash: exit status {exitcode}"
    return f"{how} ({said})" if said else how


def _kill(process: BaseProcess) -> None:
    """Kill the solver and every process it started."""
    if process.pid is None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.join()


def _failed(job: Job, reason: str) -> Result[Any]:
    return Result(problem=job.problem.name, method=job.method.name, status=Status.FAILED, reason=reason)
