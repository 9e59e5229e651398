"""A solver run in a process of its own, with limits that hold whatever the solver does."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import psutil

from instances import Method, Problem, Result, Status

MIB = 2**20
_LOOK_EVERY = 0.05
_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS, _GRACE_SHARE = 5.0, 0.25
_KEPT_OUTPUT = 300


@dataclass(frozen=True)
class Outcome:
    """A result, and the largest memory (bytes) its processes were seen to hold beyond what they started with."""

    result: Result[Any]
    peak: float


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
    answer. `memory_limit` MiB bounds the solver process's address space, and the resident memory of it and its
    children, both above what it starts with. A run that is killed, crashes or raises is ``failed``, with its reason.

    Raises
    ------
    BadInput
        If the method does not answer the problem, or an option is unknown or out of range.
    """
    method.complete(options, problem.name)
    method = method.answering(problem.name)
    if method.warm_up is not None:
        method.warm_up()
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    output = os.memfd_create("solver output")

    def solve() -> None:
        _become_solver(output, memory_limit)
        try:
            result = method.run(instance, problem, seed=seed, time_limit=time_limit, **options)
        except MemoryError:
            result = _failed(method, problem, f"memory: more than {memory_limit} MiB asked for")
        except Exception as error:
            result = _failed(method, problem, f"{type(error).__name__}: {error}".splitlines()[0])
        send.send(result)
        os._exit(0)

    start = time.monotonic()
    process = context.Process(target=solve, daemon=False)
    try:
        process.start()
        send.close()
        deadline = None if time_limit is None else start + time_limit + max(_GRACE_SECONDS, _GRACE_SHARE * time_limit)
        outcome = _watched(process, receive, deadline, memory_limit, method, problem, output)
    finally:
        _kill(process)
        receive.close()
        os.close(output)
    if outcome.result.status is Status.FAILED and not outcome.result.seconds:
        outcome = replace(outcome, result=replace(outcome.result, seconds=time.monotonic() - start))
    return outcome


def _become_solver(output: int, memory_limit: int | None) -> None:
    """Lead a process group that dies with its parent, is silent, and is bounded."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.stdout = sys.stderr = os.fdopen(output, "w", closefd=False)
    faulthandler.disable()
    if memory_limit is not None:
        used = psutil.Process().memory_info().vms
        limit = used + memory_limit * MIB
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _watched(
    process: BaseProcess,
    receive: Connection,
    deadline: float | None,
    memory_limit: int | None,
    method: Method[Any, Any],
    problem: Problem[Any, Any],
    output: int,
) -> Outcome:
    at_start, peak = _private(psutil.Process().memory_info()), 0.0

    def failed(reason: str) -> Outcome:
        return Outcome(_failed(method, problem, reason), peak)

    while not wait([receive, process.sentinel], timeout=_LOOK_EVERY):
        held = _resident(process.pid) - at_start
        peak = max(peak, held)
        if memory_limit is not None and held > memory_limit * MIB:
            return failed(f"memory: {held / MIB:.0f} MiB held, {memory_limit} MiB allowed")
        if deadline is not None and time.monotonic() > deadline:
            return failed("time: killed after its limit and grace had passed")
    peak = max(peak, _resident(process.pid) - at_start)
    try:
        return Outcome(receive.recv(), peak)
    except EOFError:
        process.join()
        return failed(_how_it_died(process.exitcode, output))


def _resident(pid: int | None) -> float:
    """Bytes of private memory resident in a process and its children."""
    total = 0.0
    try:
        leader = psutil.Process(pid)
        for member in (leader, *leader.children(recursive=True)):
            total += _private(member.memory_info())
    except psutil.NoSuchProcess:
        pass
    return total


def _private(memory: Any) -> float:
    return float(memory.rss - memory.shared)


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


def _failed(method: Method[Any, Any], problem: Problem[Any, Any], reason: str) -> Result[Any]:
    return Result(problem.name, method.name, Status.FAILED, reason=reason)
