"""Runs in a separate, warm solver process that enforces their limits and can be killed."""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import gc
import io
import mmap
import multiprocessing
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from traceback import walk_tb
from typing import Any

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
_RUNS_PER_PROCESS = 1000  # a fork and the copies of pages that it touches cost some 100 ms
_MOST_ATTEMPTS = 3
_NOTES, _NOTES_START = 2**16, 8  # bytes; the first ones hold where the notes end


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
    when out of memory; `output` is the last 64 KiB of what they printed.
    """

    result: Result[Any]
    peak: float
    cpu_seconds: float = float("nan")
    killed: bool = False
    output: str = ""


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


class Solver:
    """A process that does one run after another, and is replaced whenever its state is in doubt.

    It is forked when first needed, with the imports and compiled kernels of its parent. It is ended, and the next
    run gets a new one, after a run that failed or left a child process behind, when a method needs kernels that were
    compiled since, and after 1,000 runs. Limits are set anew for every run, above what the process holds then.
    Where it is `attended`, a signal that :func:`.keeping` keeps ends the run, which returns its answer, and what the
    run prints is passed on to stderr while it runs; for the run stderr is a terminal if it is one here.
    """

    def __init__(self, attended: bool = False) -> None:
        self._attended = attended
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._output = self._pidfd = -1
        self._passed_on = 0  # bytes of the output
        self._line: StatusLine | None = None  # of an attended run that has no log of its own
        self._events = select.poll()
        self._pid = self._runs = 0
        self._digest = ""
        self._memory_at_start = 0.0
        self._notes = mmap.mmap(-1, _NOTES)
        self._heard = _Heard(self._notes)

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *ended: object) -> None:
        self.stop()

    def run(self, job: Job) -> IsolatedRun:
        """Do a run; see :func:`run_isolated`. One whose process is killed from outside is repeated, at most twice."""
        options = job.method.complete(job.options, job.problem)
        # What the run will call is compiled, and its libraries imported, before the process is forked that inherits it.
        with keeping(False):
            prepared = job.method.answering(job.problem).prepare(job.instance, job.problem, options)
        if prepared:
            self.stop()  # forked before, it would compile within the run's limit
            gc.freeze()  # Spark collects garbage after every task; frozen objects are left out
        start = time.monotonic()
        for _ in range(_MOST_ATTEMPTS):
            try:
                self._send(job)
                run = self._await(job)
            except BaseException:
                self.stop()
                raise
            self._runs += 1
            if run.result.status is Status.FAILED or self._runs >= _RUNS_PER_PROCESS:
                self.stop()
            if not run.killed:
                break
        if run.result.status is Status.FAILED and not run.result.seconds:
            run = replace(run, result=replace(run.result, seconds=time.monotonic() - start))
        return run

    def stop(self) -> None:
        """Kill the process and every process it started; a new one is forked when needed."""
        if self._process is not None:
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        for handle in (self._output, self._pidfd):
            if handle >= 0:
                os.close(handle)
        self._process, self._connection, self._output, self._pidfd = None, None, -1, -1
        self._pid, self._runs, self._digest = 0, 0, ""

    def _send(self, job: Job) -> None:
        """Send a job to the process if its method and problem have names; otherwise fork one that inherits it.

        What the process holds is measured before the job is sent: afterwards, the run may already have allocated.
        """
        _end_notes(self._notes, _NOTES_START)
        named = METHODS.get(job.method.name) is job.method and PROBLEMS.get(job.problem.name) is job.problem
        if self._connection is not None and named:
            self._memory_at_start = private_memory(self._pid)
            instance = None if self._digest == job.instance.digest else job.instance
            self._digest = job.instance.digest
            limits = job.seed, dict(job.options), job.time_limit, job.memory_limit
            try:
                self._connection.send((job.method.name, instance, job.problem.name, limits))
                return
            except OSError:  # it died between two runs
                pass
        self.stop()
        context = multiprocessing.get_context("fork")
        self._connection, solver_end = context.Pipe()
        self._output, self._passed_on = os.memfd_create("solver output"), 0
        fcntl.fcntl(self._output, fcntl.F_SETFL, os.O_APPEND)
        _trim_heap()
        arguments = job, solver_end, self._output, self._notes, self._attended and sys.stderr.isatty()
        self._process = context.Process(target=_serve, args=arguments, daemon=False)
        with forking():
            self._process.start()
        solver_end.close()
        self._pid = self._process.pid or 0
        # The process's own sentinel is a pipe, which the solver closes with all else that it inherited.
        self._pidfd = os.pidfd_open(self._pid)
        self._events = select.poll()  # `wait` would make one for each message
        for handle in (self._connection.fileno(), self._pidfd):
            self._events.register(handle, select.POLLIN)
        with suppress(EOFError, OSError):  # it has died: seen by who waits for its result
            # By itself, as a library may keep its memory from forks (a JavaScript engine that draws charts does).
            self._memory_at_start = self._connection.recv()
        self._digest = getattr(job.instance, "digest", "")

    def _await(self, job: Job) -> IsolatedRun:
        """Wait for the result; kill the process where it exceeds a limit."""
        assert self._process is not None
        assert self._connection is not None
        peak = children = 0.0
        polled = children_polled = time.monotonic()
        heard = self._heard = _Heard(self._notes)
        ended = None
        shown = polled
        if self._attended and sys.stderr.isatty():
            options = job.method.answering(job.problem).options
            self._line = None if any(option.name == "progress" for option in options) else StatusLine()
        while ended is None:
            if self._events.poll(1000 * _POLL_SECONDS):
                try:
                    ended = heard.hear(self._connection.recv())
                except (EOFError, OSError, pickle.UnpicklingError):
                    if not wait([self._pidfd], timeout=_END_SECONDS):
                        return self._stopped(job, "crash: the solver closed its files and went on", peak)
                    self._process.join()
                    output, killed = self._printed(), -(self._process.exitcode or 0) in (signal.SIGKILL, *SIGNALS)
                    reason = _cause_of_death(self._process.exitcode, output)
                    return IsolatedRun(job.failed(reason), peak, killed=killed, output=output)
                if ended is not None:
                    break
            if self._attended and stopped():
                return self._interrupted(job, peak)
            now = time.monotonic()
            if now > polled + _POLL_SECONDS:
                polled = now
                self._pass_on()
                if self._line is not None and now > shown + _SHOW_SECONDS:
                    self._line.show(0, f"{job.method.name}: {heard.state}")
                    shown = now
                if os.fstat(self._output).st_size > _MOST_OUTPUT:
                    os.ftruncate(self._output, 0)  # it lies in memory
                    self._passed_on = 0
                if now > children_polled + _POLL_CHILDREN_SECONDS:
                    children, children_polled = sum(map(private_memory, session_members(self._pid))), now
                held = private_memory(self._pid) + children - self._memory_at_start
                peak = max(peak, held)
                if job.memory_limit is not None and held > job.memory_limit * MIB:
                    reason = f"memory: {held / MIB:.0f} MiB held, {job.memory_limit} MiB allowed"
                    return self._stopped(job, reason, peak)
            if reason := heard.exceeded(job):
                return self._stopped(job, reason, peak)
        peak = max(peak, private_memory(self._pid) - self._memory_at_start)
        result, cpu_seconds, is_alone = ended
        if result.status is Status.FAILED and result.reason.startswith("memory:"):
            return self._stopped(job, result.reason, peak)
        output = self._printed()
        if not is_alone:
            self.stop()
        return IsolatedRun(result, peak, cpu_seconds, output=output)

    def _interrupted(self, job: Job, peak: float) -> IsolatedRun:
        """The run that a signal ends: an anytime method may return its answer, others have what they offered."""
        assert self._connection is not None
        end = time.monotonic() + (_INTERRUPT_SECONDS if job.method.anytime else 0.0)
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            os.kill(self._pid, signal.SIGINT)
            while self._connection.poll(max(0.0, end - time.monotonic())):
                if (ended := self._heard.hear(self._connection.recv())) is not None:
                    result, seconds, _ = ended
                    if result.status is Status.FEASIBLE and not result.reason:
                        result = replace(result, reason=_INTERRUPTED)
                    return IsolatedRun(result, peak, seconds, output=self._printed())
        return self._stopped(job, _INTERRUPTED, peak)

    def _stopped(self, job: Job, reason: str, peak: float) -> IsolatedRun:
        """The run with the best that it offered, or failed; the process is killed first."""
        self._heard.read_notes()
        seconds, output = time.monotonic() - self._heard.begun, self._printed()
        self.stop()
        return IsolatedRun(self._heard.result(job, reason, seconds), peak, output=output)

    def _printed(self) -> str:
        """What the solver printed in this run; the file is emptied when the next one starts, or is too large."""
        self._pass_on(ended=True)
        size = os.fstat(self._output).st_size
        return os.pread(self._output, _KEPT_OUTPUT, max(0, size - _KEPT_OUTPUT)).decode(errors="replace")

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


class _Sender:
    """In the solver process: notes what a run offers, and that a compilation or the method begins or ends.

    The parent reads the notes, in memory that both share, at its polls: a message would wake it, and most runs end
    before the next poll. Once a run's notes are full, it sends messages.
    """

    def __init__(self, connection: Connection, notes: mmap.mmap) -> None:
        self._connection, self._notes, self._end = connection, notes, _NOTES_START

    def _tell(self, *message: Any) -> None:
        note = pickle.dumps((time.monotonic(), *message))
        start, self._end = self._end, self._end + len(note)
        if self._end <= _NOTES:
            self._notes[start : self._end] = note
            _end_notes(self._notes, self._end)
        else:
            self._end = _NOTES
            self._connection.send_bytes(note)

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        self._tell("offered", answer, value, lower_bound)

    def paused(self, begun: bool) -> None:
        self._tell("paused", begun)

    def solving(self, begun: bool) -> None:
        self._tell("solving", begun)


def _end_notes(notes: mmap.mmap, end: int) -> None:
    notes[:_NOTES_START] = end.to_bytes(_NOTES_START, "little")


class _Heard:
    """What was heard of a run: the best answer and bound that it offered, its stage, and since when.

    The time of a compilation counts in no limit.
    """

    def __init__(self, notes: mmap.mmap) -> None:
        self.start = self.begun = time.monotonic()
        self._notes, self._read = notes, _NOTES_START
        self._stage, self._paused = "starting", 0.0
        self._answer, self._lower_bound, self._trajectory = None, None, Trajectory()

    def read_notes(self) -> None:
        """Take the notes that a `_Sender` has made since the last reading."""
        start, self._read = self._read, int.from_bytes(self._notes[:_NOTES_START], "little")
        stream = io.BytesIO(self._notes[start : self._read])
        while stream.tell() < self._read - start:
            self._take(*pickle.Unpickler(stream).load())

    def hear(self, message: tuple[Any, ...]) -> tuple[Result[Any], float, bool] | None:
        """Take a message of a `_Sender`, or return the outcome that :func:`_run` has sent."""
        if isinstance(message[0], Result):
            result, cpu_seconds, is_alone = message
            return result, cpu_seconds, is_alone
        self.read_notes()
        self._take(*message)
        return None

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

    def exceeded(self, job: Job) -> str:
        """How the run exceeds its time limit now, or ""."""
        self.read_notes()
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

    def result(self, job: Job, reason: str, seconds: float) -> Result[Any]:
        """The judged result of a stopped run: the best that it offered; failed if that is nothing or not valid."""
        status = Status.MEMORY_LIMIT if reason.startswith("memory:") else Status.TIME_LIMIT
        if self._answer is None and self._lower_bound is None and status is Status.TIME_LIMIT:
            return job.failed(reason)
        proposal = Proposal[Any](self._answer, self._lower_bound, status, reason=reason)
        result = judged(job.method.name, job.instance, job.problem, proposal, seconds, self._trajectory)
        return job.failed(reason) if result.status is Status.FAILED else result


class _Terminal(io.TextIOWrapper):
    """A stream that the parent passes on to its terminal."""

    def isatty(self) -> bool:
        return True


def _serve(job: Job, connection: Connection, output: int, notes: mmap.mmap, terminal: bool) -> None:
    """In the solver process: do the inherited job, then those that are sent, until the parent ends."""
    with suppress(KeyboardInterrupt):  # of an attended run, whose parent has what was offered
        _become_solver(connection.fileno(), output)
        if terminal:
            sys.stdout = sys.stderr = _Terminal(os.fdopen(output, "wb", closefd=False), line_buffering=True)
        instance = job.instance
        held = private_memory(os.getpid())
        connection.send(held)
        while True:
            outcome = _run(job, _Sender(connection, notes))
            if (now := private_memory(os.getpid())) > held + _KEPT_HEAP:
                _trim_heap()
                now = held = private_memory(os.getpid())
            held = min(held, now)
            sys.stdout.flush()
            connection.send(outcome)
            try:
                method, sent, problem, limits = connection.recv()
            except (EOFError, OSError):
                os._exit(0)
            os.ftruncate(output, 0)
            instance = instance if sent is None else sent
            job = Job(method_named(method), instance, problem_named(problem), *limits)
    os._exit(128 + signal.SIGINT)


def _trim_heap() -> None:
    """Give the heap's free memory back: it would not be seen when the next run uses it."""
    with suppress(AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def _run(job: Job, sender: _Sender) -> tuple[Result[Any], float, bool]:
    """The result, its processor seconds, and whether no child process is left."""
    before, paused = _cpu_seconds(), PAUSES.cpu_seconds
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
    return result, _cpu_seconds() - before - (PAUSES.cpu_seconds - paused), not has_children()


def _location(error: Exception) -> str:
    """File, line and function of the user's own code that an error came from; nothing in our code or a library's."""
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module == "__main__" or is_local(module):
            file = Path(frame.f_code.co_filename)
            return f" ({f'{file.name}, ' if file.exists() else ''}line {line}, in {frame.f_code.co_name})"
    return ""


def _cpu_seconds() -> float:
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def _become_solver(connection: int, output: int) -> None:
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
        if int(name) not in (0, 1, 2, connection, output, nothing):
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
