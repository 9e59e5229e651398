"""Interpreted kernels: the results of compiled ones, and no time or limit that compiling takes from a run."""

import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import typeof
from numba.core.bytecode import FunctionIdentity

import overlaybench as ob
from overlaybench.compare.studies.isolation import Job, run_isolated
from overlaybench.instances.runtime import compiled
from overlaybench.instances.runtime.compiled import Interpreter, interpreted, kernel, wrapping_kernel
from overlaybench.instances.runtime.run import PAUSES
from tests.outcomes import known

TINY: dict[str, dict[str, Any]] = {
    "uniform": {"nodes": 8, "topics": 5, "subscriptions": 2},
    "zipf": {"nodes": 10, "topics": 6, "subscriptions": 3},
    "plane": {"nodes": 7, "topics": 4, "subscriptions": 2},
    "content": {"users": 4, "brokers": 3, "intervals": 2},
    "steiner-sparse": {"nodes": 12, "edges": 18, "terminals": 4},
    "brokers-dense": {"brokers": 7, "fanout": 4, "subscriptions": 30, "publications": 20},
}
INTERPRETED = [
    (method.name, workload, problem.name)
    for workload in TINY
    for problem in ob.problems(ob.WORKLOADS[workload].kind).values()
    for method in ob.methods(problem.name).values()
    if method.compiled and method.name not in ("best", "polish", "cp-sat", "ilp", "edge-exchange")
]
FIRST = {each[0]: each for each in reversed(INTERPRETED)}
QUICK = {"gm", "minmax-oda", "gm-m", "low-oda", "cd-oda", "2d-oda", "dcbr-m", "branch-and-cut"}  # others compile these
CASES = [
    pytest.param(
        *each, id="-".join(each), marks=[] if each[0] in QUICK and FIRST[each[0]] == each else pytest.mark.slow
    )
    for each in INTERPRETED
]


@kernel
def thousandth_power_sum(numbers: npt.NDArray[np.int32]) -> int:
    total = 0
    for number in numbers:
        total += number * np.int32(1000)
    return total


@wrapping_kernel
def mixed(number: int) -> int:
    return int((np.uint64(number) * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(1))


@pytest.mark.parametrize(("method", "workload", "problem"), CASES)
def test_an_interpreted_run_is_the_compiled_one(method: str, workload: str, problem: str) -> None:
    instance = ob.generate(workload, seed=3, **TINY[workload])
    chosen = ob.METHODS[method]
    compiled = chosen.run(instance, ob.PROBLEMS[problem], seed=5)
    try:
        with interpreted(Interpreter()):
            found = chosen.run(instance, ob.PROBLEMS[problem], seed=5)
    except (AttributeError, FloatingPointError):
        pytest.skip("this run cannot be interpreted: it is compiled")
    assert (found.status, found.value, found.lower_bound) == (compiled.status, compiled.value, compiled.lower_bound)
    kind = ob.KINDS[ob.PROBLEMS[problem].kind]
    assert (found.answer is None) == (compiled.answer is None)
    if found.answer is not None:
        assert kind.pack(found.answer).tolist() == kind.pack(compiled.answer).tolist()


def test_an_overflow_that_a_compiled_kernel_would_not_have_is_an_error() -> None:
    numbers = np.full(3, 2_000_000, np.int32)
    with interpreted(Interpreter(1.0)), pytest.raises(FloatingPointError):
        thousandth_power_sum(numbers)
    with interpreted(Interpreter(1.0)):
        assert mixed(12345) == ((12345 * 0xBF58476D1CE4E5B9 % 2**64) >> 1)


def test_kernels_are_compiled_once_the_interpreter_has_had_its_time() -> None:
    numbers = np.arange(4, dtype=np.int32)
    with interpreted(Interpreter(0.0, record=True)) as interpreter:
        assert thousandth_power_sum(numbers) == 6000
    assert thousandth_power_sum.dispatcher.signatures  # type: ignore[attr-defined]
    assert len(interpreter.calls) == 1


def test_what_a_run_will_call_is_compiled_before_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OVERLAYBENCH_INTERPRET", raising=False)
    monkeypatch.setattr("overlaybench.instances.contract.method._PREPARED", set())
    instance, problem, chosen = ob.generate("zipf", nodes=300), ob.PROBLEMS["min-tco"], ob.METHODS["gm"]
    options = chosen.complete({}, "min-tco")
    assert [chosen.prepare(instance, problem, options) for _ in range(2)] == [True, False]
    assert chosen.run(instance, problem).answer is not None
    calls = chosen.calls(instance.trial(), problem, options).values()
    assert len(calls) > 5
    assert all(called.dispatcher._cache.has(tuple(map(typeof, arguments))) for called, arguments in calls)
    assert not chosen.prepare(ob.generate("zipf", **TINY["zipf"]), problem, options)


def test_time_of_compiling_counts_in_no_run_and_in_no_limit() -> None:
    @ob.method("slow-to-compile", problems=["min-tco"])
    def slow_to_compile(instance: ob.TopicInstance, time_limit: float) -> list[tuple[int, int]]:
        PAUSES.begin()
        time.sleep(3.0)
        PAUSES.end()
        return [(0, 1)]

    instance = ob.read({"ann": ["news"], "bob": ["news"]})
    result = slow_to_compile.run(instance, ob.PROBLEMS["min-tco"], time_limit=0.5)
    assert (result.value, result.seconds < 1.0) == (1, True)
    job = Job(slow_to_compile, instance, ob.PROBLEMS["min-tco"], 0, {}, 0.5, None)
    assert run_isolated(job).result.value == 1


def test_no_fork_has_the_numbers_of_functions_that_another_process_has() -> None:
    compiled.number_apart()
    numbers = FunctionIdentity._unique_ids
    with get_context("fork").Pool(2) as pool:
        found = [next(numbers), *pool.map(next, [numbers] * 4, chunksize=1), next(numbers)]
    assert found[-1] == found[0] + 1
    assert all(abs(number - found[0]) > 2**20 for number in found[1:-1])


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a machine on which no kernel was compiled."""
    monkeypatch.delenv("OVERLAYBENCH_INTERPRET", raising=False)
    monkeypatch.setattr(compiled, "compiled_before", lambda key: tmp_path / "compiled" / "-".join(key))
    monkeypatch.setattr("overlaybench.instances.contract.method._PREPARED", set())


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("method", ["gm", "low-oda", "branch-and-cut", "auto"])
def test_the_first_run_on_a_small_instance_compiles_nothing_and_has_the_same_answer(method: str) -> None:
    instance, chosen = ob.generate("zipf", nodes=30, topics=15, subscriptions=4, seed=1), ob.METHODS[method]
    brief = known(chosen.run_briefly(instance, ob.PROBLEMS["min-tco"]))
    result = chosen.run(instance, ob.PROBLEMS["min-tco"])
    assert (brief.value, brief.status) == (result.value, result.status)
    assert brief.answer == result.answer
    assert chosen.prepare(instance, ob.PROBLEMS["min-tco"], chosen.complete({}, "min-tco"))
    assert chosen.run_briefly(instance, ob.PROBLEMS["min-tco"]) is None, "the kernels are compiled"


@pytest.mark.usefixtures("cold")
def test_a_run_that_interpreting_makes_long_or_worse_is_left_to_compiled_kernels() -> None:
    instance, problem = ob.generate("zipf", nodes=30, topics=15, subscriptions=4, seed=1), ob.PROBLEMS["min-tco"]
    for method, limit in (("polish", 0.5), ("branch-and-cut", 0.001)):
        assert ob.METHODS[method].run_briefly(instance, problem, time_limit=limit) is None, "anytime, or unproven"

    @kernel
    def spin(number: int) -> int:
        while number < 10**18:
            number += 1
        return number

    start = time.process_time()
    assert compiled.briefly(("spin",), lambda: spin(0)) is None
    assert time.process_time() - start < 10
    with interpreted(Interpreter()):
        assert spin(10**18) == 10**18, "no timer is left"
    assert compiled.interpreted_first(("value",), lambda: 3) == 3
    assert not compiled.compiled_before(("value",)).exists()


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("workload", TINY)
def test_an_instance_drawn_by_interpreted_kernels_is_the_same(workload: str) -> None:
    first = ob.generate(workload, seed=3, **TINY[workload])
    compiled.mark_compiled(("workload", workload))
    assert first.digest == ob.generate(workload, seed=3, **TINY[workload]).digest
