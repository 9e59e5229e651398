"""Runs in a separate, warm solver process that enforces their limits and can be killed."""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import gc
import io
import math
import mmap
import multiprocessing
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple

import psutil

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method, Proposal, judged
from ...instances.contract.numbers import plain
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ...instances.runtime.code import is_local
from ...instances.runtime.run import PAUSES, Trajectory, die_with_parent, watched
from ...instances.runtime.signals import SIGNALS, default_signals, forking, keeping, stopped
from ...instances.runtime.status_line import StatusLine
from ..catalogue import METHODS, method_named, problem_named

MIB = 2**20
_PAGE = resource.getpagesize()
_POLL_SECONDS, _POLL_CHILDREN_SECONDS, _SHOW_SECONDS = 0.05, 0.25, 1.0
_GRACE_SECONDS, _GRACE_SHARE, _GRACE_ROW = 0.7, 0.05, 1e-6
_AROUND_SECONDS, _AROUND_SHARE = 5.0, 0.25  # for preparing before a method, and for judging its answer
_AROUND_ROW = 1e-5  # the same for each subscription, on a machine with other work
_INTERRUPT_SECONDS, _INTERRUPTED = 1.2, "interrupted"
_END_SECONDS = 5.0  # for a solver that has closed its connection
_KEPT_OUTPUT, _MOST_OUTPUT, _LONGEST_LINE = 2**16, 2**24, 300
_KEPT_HEAP = MIB  # giving it back takes 0.5 ms, and the next run the time of taking it again
_RUNS_PER_PROCESS, _SECONDS_PER_PROCESS = 1000, 10.0  # a fork and the copies of pages that it touches take 0.1 s
_MOST_ATTEMPTS = 3
_NOTES, _NOTES_START = 2**16, 16  # bytes; the first ones are the head


@dataclass(frozen=True)
class Job:
    """A run to be done: seconds and MiB limit it, None means no limit."""

    method: Method[Any, Any]
    instance: Any
    problem: Problem[Any, Any]
    seed: int
    options: Mapping[str, object]
    time_limit: float | None
    memory_limit: int | None

    def failed(self, reason: str) -> Result[Any]:
        """The result of a run that failed."""
        return Result(problem=self.problem.name, method=self.method.name, status=Status.FAILED, reason=reason)


@dataclass(frozen=True)
class IsolatedRun:
    """A result and the resources that its processes used.

    `peak` is the largest private memory (bytes) seen beyond what they started with; `cpu_seconds` are of all threads
    and ended children, nan where the process was killed; `killed` says that another process did, such as the system
    when out of memory; `output` is the last 64 KiB of what they printed; `started` is the time since the epoch.
    """

    result: Result[Any]
    peak: float
    cpu_seconds: float = math.nan
    killed: bool = False
    output: str = ""
    started: float = 0.0


def run_isolated(job: Job) -> IsolatedRun:
    """Run a method in a forked process and return its result, or a failed one with the reason.

    A method has `time_limit` seconds and then a grace of 0.7 s, a twentieth, and 1 µs a subscription to return its
    answer; after Ctrl-C it has 1.2 s. `memory_limit` bounds the solver process's address space, and the resident memory
    of it and its children, both above what it starts with. A run that is stopped by a limit or Ctrl-C has the best
    answer and bound that it offered (:func:`.offer`); without any it is ``failed``, as is one that crashes or raises.
    Bad input if the method does not answer the problem, or an option is unknown or out of range.
    """
    with Solver(attended=True) as solver, keeping():
        run = solver.run(job)
        if run.result.status is Status.FAILED and run.result.reason == _INTERRUPTED:
            raise KeyboardInterrupt(f"stopped; {job.method.name} had no answer yet")
        return run


class Solver(AbstractContextManager["Solver"]):
    """A process that does one run after another, and is replaced whenever its state is in doubt.

    It is forked when first needed, with the imports and compiled kernels of its parent. It is ended, and the next
    run gets a new one, after a run that failed or left a child process behind, when a method needs kernels that were
    compiled since, and after 1,000 runs and 10 s. Limits are set anew for every run, above what the process holds then.
    Where it is `attended`, a signal that :func:`.keeping` keeps ends the run, which returns its answer, and what the
    run prints is passed on to stderr while it runs; for the run stderr is a terminal if it is one here.
    """

    def __init__(self, attended: bool = False) -> None:
        self._attended = attended
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._output = self._outcomes = self._pidfd = -1
        self._passed_on = 0  # bytes of the output
        self._line: StatusLine | None = None  # of an attended run that has no log of its own
        self._events = select.poll()
        self._pid = self._runs = 0
        self._forked = 0.0
        self._digest = ""
        self._notes = mmap.mmap(-1, _NOTES)
        self._heard = _Heard(self._notes, (), 0)

    def __exit__(self, *ended: object) -> None:
        self.stop()

    def run(self, job: Job) -> IsolatedRun:
        """Do a run; see :func:`run_isolated`. One whose process is killed from outside is repeated, at most twice."""
        return self.run_all([job])[0]

    def run_all(self, jobs: Sequence[Job], seconds: float = math.inf) -> list[IsolatedRun]:
        """Do runs one after the other, as :meth:`run` does, until so many seconds have passed; the first one always.

        The process gets them together, and this one hears of those that it has done when it ends with the last one, or
        one of them ends the process: so a run of a millisecond costs no change between processes.
        """
        end, done, attempts = time.monotonic() + seconds, list[IsolatedRun](), 0
        self._prepare(jobs)
        while len(done) < len(jobs) and (not done or time.monotonic() < end):
            try:
                self._send(jobs[len(done) :], end)
                runs = self._await()
            except BaseException:
                self.stop()
                raise
            self._runs += len(runs)
            if runs:
                self._digest = getattr(jobs[len(done) + len(runs) - 1].instance, "digest", "")
            is_old = self._runs >= _RUNS_PER_PROCESS and time.monotonic() > self._forked + _SECONDS_PER_PROCESS
            if runs and (is_old or runs[-1].result.status is Status.FAILED):
                self.stop()
            attempts = (attempts if len(runs) == 1 else 0) + 1 if runs and runs[-1].killed else 0
            done += runs[:-1] if 0 < attempts < _MOST_ATTEMPTS else runs
        return done

    def _prepare(self, jobs: Iterable[Job]) -> None:
        """Compile what runs will call, and import its libraries, before the process is forked that inherits it."""
        prepared, seen = False, set[tuple[object, ...]]()
        for job in jobs:
            same = job.method.name, job.problem.name, id(job.options), getattr(job.instance, "is_tiny", False)
            if same not in seen:
                seen.add(same)
                options = job.method.complete(job.options, job.problem)
                with keeping(False):
                    prepared |= job.method.answering(job.problem).prepare(job.instance, job.problem, options)
        if prepared:
            self.stop()  # forked before, it would compile within the run's limit
            gc.freeze()  # Spark collects garbage after every task; frozen objects are left out

    def stop(self) -> None:
        """Kill the process and every process it started; a new one is forked when needed."""
        self._kill()
        if self._connection is not None:
            self._connection.close()
        for handle in (self._output, self._outcomes, self._pidfd):
            if handle >= 0:
                os.close(handle)
        self._process, self._connection, self._output, self._outcomes, self._pidfd = None, None, -1, -1, -1
        self._pid, self._runs, self._digest = 0, 0, ""

    def _kill(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()
            self._process.join()

    def _send(self, jobs: Sequence[Job], end: float) -> None:
        """Send jobs to the process if methods and problems have names; otherwise fork one that inherits them."""
        self._heard, self._passed_on = _Heard(self._notes, jobs, self._runs), 0
        named = all(METHODS.get(j.method.name) is j.method and PROBLEMS.get(j.problem.name) is j.problem for j in jobs)
        if self._connection is not None and named:
            for file in (self._output, self._outcomes):
                os.ftruncate(file, 0)
            try:
                self._connection.send(([self._message(job) for job in jobs], end))
                return
            except OSError:  # it died between two runs
                pass
        self.stop()
        self._heard = _Heard(self._notes, jobs, 0)
        context = multiprocessing.get_context("fork")
        self._connection, solver_end = context.Pipe()
        self._output, self._outcomes = os.memfd_create("solver output"), os.memfd_create("outcomes")
        for file in (self._output, self._outcomes):
            fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        trim_heap()
        terminal = self._attended and sys.stderr.isatty()
        arguments = jobs, end, solver_end, self._output, self._outcomes, self._notes, terminal
        self._process = context.Process(target=_serve, args=arguments, daemon=False)
        with forking():
            self._process.start()
        solver_end.close()
        self._pid, self._forked = self._process.pid or 0, time.monotonic()
        # The process's own sentinel is a pipe, which the solver closes with all else that it inherited.
        self._pidfd = os.pidfd_open(self._pid)
        self._events = select.poll()  # `wait` would make one for each message
        for handle in (self._connection.fileno(), self._pidfd):
            self._events.register(handle, select.POLLIN)

    def _message(self, job: Job) -> tuple[Any, ...]:
        """A job without what the process has already, its instance as bytes, of which it makes one at a time."""
        before, self._digest = self._digest, job.instance.digest
        instance = None if before == self._digest else pickle.dumps(job.instance)
        limits = job.seed, dict(job.options), job.time_limit, job.memory_limit
        return job.method.name, instance, job.problem.name, limits

    def _await(self) -> list[IsolatedRun]:
        """Wait until the process has done its jobs, or ended; kill it where a run exceeds a limit."""
        assert self._process is not None
        assert self._connection is not None
        heard, children = self._heard, 0.0
        polled = children_polled = shown = time.monotonic()
        if self._attended and sys.stderr.isatty():
            options = heard.job.method.answering(heard.job.problem).options
            self._line = None if any(option.name == "progress" for option in options) else StatusLine()
        while True:
            if self._events.poll(1000 * _POLL_SECONDS):
                try:
                    message = self._connection.recv()
                except (EOFError, OSError, pickle.UnpicklingError):
                    return self._died()
                if message is None:
                    return self._done()
                heard.hear(*message)
            if self._attended and stopped():
                return self._interrupted()
            now = time.monotonic()
            if now > polled + _POLL_SECONDS:
                polled = now
                self._pass_on()
                heard.read_notes()
                if self._line is not None and now > shown + _SHOW_SECONDS:
                    self._line.show(0, f"{heard.job.method.name}: {heard.state}")
                    shown = now
                if os.fstat(self._output).st_size > _MOST_OUTPUT:
                    os.ftruncate(self._output, 0)  # it lies in memory
                    self._passed_on = 0
                if now > children_polled + _POLL_CHILDREN_SECONDS:
                    children, children_polled = sum(map(private_memory, session_members(self._pid))), now
                held, most = heard.held(private_memory(self._pid) + children), heard.job.memory_limit
                if most is not None and held > most * MIB:
                    return self._stopped(f"memory: {held / MIB:.0f} MiB held, {most} MiB allowed")
            if reason := heard.exceeded():
                return self._stopped(reason)

    def _done(self) -> list[IsolatedRun]:
        """The runs whose outcomes the process has written."""
        self._pass_on(ended=True)
        heard, runs, is_alone = self._heard, list[IsolatedRun](), True
        written = io.BytesIO(os.pread(self._outcomes, os.fstat(self._outcomes).st_size, 0))
        with suppress(EOFError, pickle.UnpicklingError):  # killed while it wrote the last one
            while True:
                run, is_alone = pickle.load(written)
                runs.append(replace(run, peak=max(run.peak, heard.peaks[len(runs)])))
        if runs and runs[-1].result.reason.startswith("memory:") and runs[-1].result.status is Status.FAILED:
            heard.read_notes()
            seconds = runs[-1].result.seconds
            runs[-1] = replace(runs[-1], result=heard.result(runs[-1].result.reason, seconds), cpu_seconds=math.nan)
            is_alone = False
        if not is_alone:
            self.stop()
        return runs

    def _died(self) -> list[IsolatedRun]:
        """The runs that were done, and the failed one in which the process ended."""
        assert self._process is not None
        if not wait([self._pidfd], timeout=_END_SECONDS):
            return self._stopped("crash: the solver closed its files and went on")
        self._process.join()
        killed = -(self._process.exitcode or 0) in (signal.SIGKILL, *SIGNALS)
        return self._ended(_cause_of_death(self._process.exitcode, self._printed()), killed)

    def _stopped(self, reason: str) -> list[IsolatedRun]:
        """Kill the process; the runs that were done, and the present one with the best that it offered, or failed."""
        self._kill()
        return self._ended(reason)

    def _ended(self, reason: str, killed: bool | None = None) -> list[IsolatedRun]:
        """The runs of a process that has ended by itself, `killed` or not, or was ended for a reason of ours."""
        heard, output = self._heard, self._printed()
        heard.read_notes()
        seconds, runs = time.monotonic() - heard.begun, self._done()
        if len(runs) <= heard.position:  # else it was done meanwhile
            result = heard.result(reason, seconds) if killed is None else heard.failed(reason, seconds)
            peak = heard.peaks[heard.position]
            runs.append(IsolatedRun(result, peak, killed=bool(killed), output=output, started=heard.started))
        self.stop()
        return runs

    def _interrupted(self) -> list[IsolatedRun]:
        """The run that a signal ends: an anytime method may return its answer, others have what they offered."""
        assert self._connection is not None
        end = time.monotonic() + (_INTERRUPT_SECONDS if self._heard.job.method.anytime else 0.0)
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            os.kill(self._pid, signal.SIGINT)
            while self._connection.poll(max(0.0, end - time.monotonic())):
                if (message := self._connection.recv()) is None:
                    (run,) = self._done()
                    if run.result.status is Status.FEASIBLE and not run.result.reason:
                        run = replace(run, result=replace(run.result, reason=_INTERRUPTED))
                    return [run]
                self._heard.hear(*message)
        return self._stopped(_INTERRUPTED)

    def _printed(self) -> str:
        """What the solver printed in this run; the file is emptied when the next one starts, or is too large."""
        self._pass_on(ended=True)
        return _end_of(self._output)

    def _pass_on(self, *, ended: bool = False) -> None:
        """Write to stderr the lines that an attended run has printed since the last call; all where it has ended."""
        if not self._attended:
            return
        size = max(0, os.fstat(self._output).st_size - self._passed_on)
        new = os.pread(self._output, size, self._passed_on)
        new = new if ended else new[: new.rfind(b"\n") + 1]
        self._passed_on += len(new)
        if self._line is not None and (new or ended):
            self._line.clear()
        if new:
            sys.stderr.write(new.decode(errors="replace"))
            sys.stderr.flush()


class _Head(NamedTuple):
    """The head of notes: the number of a run · 2^32 + the end of its notes, and the bytes that were held as it began.

    Each is one number of the machine, which no process sees half written; ``struct`` writes zeros first.
    """

    state: memoryview[int]
    held: memoryview[float]

    @classmethod
    def of(cls, notes: mmap.mmap) -> _Head:
        view = memoryview(notes)
        return cls(view[:8].cast("Q"), view[8:16].cast("d"))


class _Sender:
    """In the solver process: notes what a run offers, and that a compilation or the method begins or ends.

    The parent reads the notes, in memory that both share, at its polls: a message would wake it, and most runs end
    before the next poll. Once a run's notes are full, it sends messages.
    """

    def __init__(self, connection: Connection, notes: mmap.mmap) -> None:
        self._connection, self._notes, self._head = connection, notes, _Head.of(notes)
        self._number, self._end = -1, _NOTES_START

    def begin(self, held: float) -> None:
        """A run begins; the process holds so many bytes."""
        self._number, self._end = self._number + 1, _NOTES_START
        self._head.held[0], self._head.state[0] = held, self._number << 32 | self._end

    def _tell(self, *message: Any) -> None:
        note = pickle.dumps((time.monotonic(), *message))
        start, self._end = self._end, self._end + len(note)
        if self._end <= _NOTES:
            self._notes[start : self._end] = note
            self._head.state[0] = self._number << 32 | self._end
        else:
            self._end = _NOTES
            self._connection.send((self._number, time.monotonic(), *message))

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        self._tell("offered", answer, value, lower_bound)

    def paused(self, begun: bool) -> None:
        self._tell("paused", begun)

    def solving(self, begun: bool) -> None:
        self._tell("solving", begun)


class _Heard:
    """What was heard of some runs: which one is at work, what it offered, its stage, and since when.

    The time of a compilation counts in no limit. `peaks` are the largest memory (bytes) seen of each.
    """

    def __init__(self, notes: mmap.mmap, jobs: Sequence[Job], first: int) -> None:
        self.jobs, self.peaks = jobs, defaultdict[int, float](float)
        self._notes, self._head, self._first = notes, _Head.of(notes), first
        self._head.held[0], self._head.state[0] = math.inf, first << 32 | _NOTES_START
        self._begin(first)

    def _begin(self, number: int) -> None:
        self._number, self._read = number, _NOTES_START
        self.start = self.begun = time.monotonic()
        self.started = time.time()
        self._stage, self._paused = "starting", 0.0
        self._answer, self._lower_bound, self._trajectory = None, None, Trajectory()

    @property
    def position(self) -> int:
        """The position of the run at work among the jobs."""
        return self._number - self._first

    @property
    def job(self) -> Job:
        """The job of the run at work."""
        return self.jobs[self.position]

    def read_notes(self) -> None:
        """Take the notes that a `_Sender` has made since the last reading."""
        number = -1
        while number != self._number:  # another run may begin meanwhile
            number, end = divmod(self._head.state[0], 2**32)
            if number != self._number:
                self._begin(number)
            stream = io.BytesIO(self._notes[self._read : end])
            number = self._head.state[0] >> 32
        self._read = end
        while stream.tell() < len(stream.getbuffer()):
            self._take(*pickle.load(stream))

    def hear(self, number: int, *note: Any) -> None:
        """Take a message of a `_Sender`."""
        self.read_notes()
        if number == self._number:
            self._take(*note)

    def held(self, now: float) -> float:
        """The bytes that the run holds where its processes hold so many now; at most 0 before it has begun."""
        held = now - float(self._head.held[0])
        self.peaks[self.position] = max(self.peaks[self.position], held)
        return held

    def _take(self, now: float, what: str, *given: Any) -> None:
        match what, *given:
            case "offered", answer, value, lower_bound:
                self._answer = self._answer if answer is None else answer
                self._lower_bound = self._lower_bound if lower_bound is None else lower_bound
                self._trajectory.report(value, lower_bound, now - self.begun)
            case "paused", begun:
                lasted = now - self._paused if self._paused else 0.0
                self.start, self.begun = self.start + lasted, self.begun + lasted
                self._paused = now if begun else 0.0
            case "solving", begun:
                self.start, self._stage = now, "solving" if begun else "solved"
                if begun:
                    self.begun, self._trajectory = now, Trajectory()

    @property
    def state(self) -> str:
        """The seconds so far, and the best value and bound that are known."""
        points = self._trajectory.points
        last = {"value": points[-1].value, "bound": points[-1].lower_bound} if points else {}
        known = [f"{name} {plain(number)}" for name, number in last.items() if number is not None]
        return ", ".join([f"{time.monotonic() - self.begun:.0f} s", *known])

    def exceeded(self) -> str:
        """How the run exceeds its time limit now, or ""."""
        self.read_notes()
        job = self.job
        if job.time_limit is None or self._paused:
            return ""
        rows = getattr(job.instance, "num_subscriptions", 0)
        grace = _GRACE_SECONDS + _GRACE_SHARE * job.time_limit + _GRACE_ROW * rows
        if self._stage != "solving":
            grace = max(_AROUND_SECONDS, _AROUND_SHARE * job.time_limit, _AROUND_ROW * rows)
        passed = time.monotonic() - self.start
        if passed <= job.time_limit + grace:
            return ""
        if self._stage == "solved":
            return f"time: its answer was not judged within {passed:.0f} s"
        why = "" if job.method.anytime else f" ({job.method.name} has no answer before its end)"
        return f"time: killed after its limit and grace{why}"

    def result(self, reason: str, seconds: float) -> Result[Any]:
        """The judged result of a stopped run: the best that it offered; failed if that is nothing or not valid."""
        job, status = self.job, Status.MEMORY_LIMIT if reason.startswith("memory:") else Status.TIME_LIMIT
        if self._answer is None and self._lower_bound is None and status is Status.TIME_LIMIT:
            return self.failed(reason, seconds)
        proposal = Proposal[Any](self._answer, self._lower_bound, status, reason=reason)
        result = judged(job.method.name, job.instance, job.problem, proposal, seconds, self._trajectory)
        return self.failed(reason, seconds) if result.status is Status.FAILED else result

    def failed(self, reason: str, seconds: float) -> Result[Any]:
        """The result of a failed run."""
        return replace(self.job.failed(reason), seconds=seconds)


class _Terminal(io.TextIOWrapper):
    """A stream that the parent passes on to its terminal."""

    def isatty(self) -> bool:
        return True


def _serve(
    jobs: Iterable[Job],
    end: float,
    connection: Connection,
    output: int,
    outcomes: int,
    notes: mmap.mmap,
    terminal: bool,
) -> None:
    """In the solver process: do the inherited jobs, then those that are sent, until the parent ends.

    After a run that failed or left a child process, and after `end` (monotonic), the next ones are not begun.
    """
    with suppress(KeyboardInterrupt):  # of an attended run, whose parent has what was offered
        _become_solver(output, connection.fileno(), outcomes)
        if terminal:
            sys.stdout = sys.stderr = _Terminal(os.fdopen(output, "wb", closefd=False), line_buffering=True)
        sender, instance, printed = _Sender(connection, notes), None, ""
        file, pid = os.fdopen(outcomes, "ab", closefd=False), os.getpid()
        least = held = private_memory(pid)
        while True:
            for job in jobs:
                if printed:
                    os.ftruncate(output, 0)
                sender.begin(held)
                instance, (run, is_alone) = job.instance, _run(job, sender)
                sys.stdout.flush()
                now = private_memory(pid)
                printed = _end_of(output)
                pickle.dump((replace(run, peak=now - held, output=printed), is_alone), file)
                file.flush()
                if now > least + _KEPT_HEAP:
                    trim_heap()
                    now = least = private_memory(pid)
                least, held = min(least, now), now
                if run.result.status is Status.FAILED or not is_alone or time.monotonic() > end:
                    break
            connection.send(None)
            try:
                sent, end = connection.recv()
            except (EOFError, OSError):
                os._exit(0)
            jobs = _jobs_of(sent, instance)
    os._exit(128 + signal.SIGINT)


def _jobs_of(sent: Iterable[tuple[Any, ...]], instance: Any) -> Iterator[Job]:
    """The jobs that a parent has sent after one with this instance; each makes its own when it begins."""
    for method, data, problem, limits in sent:
        instance = instance if data is None else pickle.loads(data)
        yield Job(method_named(method), instance, problem_named(problem), *limits)


def _end_of(output: int) -> str:
    size = os.fstat(output).st_size
    return os.pread(output, _KEPT_OUTPUT, max(0, size - _KEPT_OUTPUT)).decode(errors="replace") if size else ""


def trim_heap() -> None:
    """Give the heap's free memory back: it would not be seen when the next run uses it."""
    with suppress(AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def _run(job: Job, sender: _Sender) -> tuple[IsolatedRun, bool]:
    """A run, without its memory and output, and whether no child process is left."""
    before, paused, start, started = _cpu_seconds(), PAUSES.cpu_seconds, time.monotonic(), time.time()
    bound = nullcontext() if job.memory_limit is None else address_space_bounded(job.memory_limit * MIB)
    with bound, watched(sender):
        try:
            result = job.method.answering(job.problem).run(
                job.instance, job.problem, seed=job.seed, time_limit=job.time_limit, **dict(job.options)
            )
        except MemoryError:
            result = job.failed(f"memory: more than {job.memory_limit} MiB asked for")
        except Exception as error:
            result = job.failed(f"{type(error).__name__}: {error}".splitlines()[0] + _location(error))
    if result.status is Status.FAILED and not result.seconds:
        result = replace(result, seconds=time.monotonic() - start)
    used = _cpu_seconds() - before - (PAUSES.cpu_seconds - paused)
    return IsolatedRun(result, 0.0, used, started=started), not has_children()


def _location(error: Exception) -> str:
    """File, line and function of the user's own code that an error came from; nothing in our code or a library's."""
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module == "__main__" or is_local(module):
            file = Path(frame.f_code.co_filename)
            return f" ({f'{file.name}, ' if file.exists() else ''}line {line}, in {frame.f_code.co_name})"
    return ""


def _cpu_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def _become_solver(output: int, *others: int) -> None:
    """Lead a session that dies with its parent, prints nothing, and holds none of its parent's files."""
    gc.freeze()  # garbage of the parent, freed here, would hide as much memory of the run
    os.setsid()
    die_with_parent()
    default_signals()
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.stdout = sys.stderr = os.fdopen(output, "w", buffering=1, closefd=False)
    faulthandler.disable()
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (0, 1, 2, output, nothing, *others):
            with suppress(OSError):
                os.fstat(int(name))
                os.dup2(nothing, int(name))  # not closed: Arrow aborts a later fork where its own pipe is
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _cause_of_death(exitcode: int | None, output: str) -> str:
    """The signal or exit status, with the last line of output."""
    last_line = next((line.strip() for line in reversed(output.split("\n")) if line.strip()), "")[-_LONGEST_LINE:]
    if exitcode is not None and exitcode < 0:
        names = {each.value: each.name for each in signal.Signals}  # not of every real-time signal
        cause = f"crash: killed by {names.get(-exitcode, f'signal {-exitcode}')}"
    else:
        cause = f"crash: exit status {exitcode}"
    return f"{cause} ({last_line})" if last_line else cause


def private_memory(pid: int) -> float:
    """Bytes of private memory resident in a process; 0 once it has ended."""
    try:
        _, resident, shared = _pages(pid)
    except OSError:
        return 0.0
    return float((resident - shared) * _PAGE)


def _pages(pid: int) -> tuple[int, int, int]:
    """The pages that a process has mapped, that are resident, and of these the shared ones."""
    with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:  # psutil takes ten times as long
        mapped, resident, shared, *_ = file.read().split()
    return int(mapped), int(resident), int(shared)


@contextmanager
def address_space_bounded(more: float) -> Iterator[None]:
    """Let this process map `more` bytes beyond what it has mapped now."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    asked, hard = _pages(os.getpid())[0] * _PAGE + int(more), limits[1]
    most = sys.maxsize if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_AS, (min(asked, most), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@contextmanager
def memory_bounded(what: str) -> Iterator[None]:
    """Bound the memory that an input takes by half of the machine's; beyond that it is bad input."""
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    try:
        with address_space_bounded(half):
            yield
    except MemoryError:
        raise BadInput(f"{what} takes more than half of the machine's memory: make it smaller") from None


def session_members(leader: int) -> list[int]:
    """The processes of a session, without its leader. Cost: one system call for every process of the machine."""
    members = []
    for pid in psutil.pids():
        with suppress(OSError):  # it has ended
            if os.getsid(pid) == leader != pid:
                members.append(pid)
    return members


def has_children() -> bool:
    """Whether this process has started others that have not been waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
