"""CONTRIBUTING.md and README.md as written: their examples run, and are found where they say."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.compare.claims.bench import Bench
from overlaybench.compare.claims.claim import Claim, Verdict
from overlaybench.instances.contract.catalogue import PROBLEMS
from tests.topic_brute_force import optimum


def examples(page: str) -> list[str]:
    text = (Path(__file__).parents[1] / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


PLUG_IN, METHOD, EXACT, WORKLOAD, PROBLEM, CLAIM = examples("CONTRIBUTING.md")


def defined(code: str) -> Mapping[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def test_the_method_answers_the_workload_and_the_problem_judges_it() -> None:
    method, workload, problem = (
        defined(METHOD)["ALL_PAIRS"],
        defined(WORKLOAD)["TOPIC_RING"],
        defined(PROBLEM)["LeafyTCO"],
    )
    instance = workload.generate(seed=2, nodes=12)
    for most in (1, 10):
        result = method.run(instance, PROBLEMS["2d-star"], most=most)
        assert result.status is ob.Status.FEASIBLE
        assert not problem().violations(instance, result.answer)
        assert problem().value(instance, result.answer) == (result.answer.degrees != 1).sum()
    assert problem().violations(instance, type(result.answer).from_edges(12, []))


def test_the_exact_method_and_the_plug_in_are_methods() -> None:
    for seed in range(3):
        instance = defined(WORKLOAD)["TOPIC_RING"].generate(seed=seed, nodes=6, topics=3)
        result = defined(EXACT)["STARS"].run(instance, PROBLEMS["2d-star"], time_limit=20)
        assert (result.status, result.value) == (ob.Status.OPTIMAL, optimum(instance, "2d-star"))
    instance = defined(WORKLOAD)["TOPIC_RING"].generate(seed=2, nodes=7)
    result = defined(PLUG_IN)["hub_per_topic"].run(instance, PROBLEMS["min-tco"], rank=1)
    assert (result.method, result.status) == ("hub-per-topic", ob.Status.FEASIBLE)


def test_the_claim_holds_and_a_broken_algorithm_refutes_it() -> None:
    claim: Claim = defined(CLAIM)["EXAMPLE"]
    assert claim.judge(Bench(True)).verdict is Verdict.CONFIRMED
    broken = Bench(True, {**ob.METHODS, "gm": ob.METHODS["ring-per-topic"]})
    assert claim.judge(broken).verdict is Verdict.CONTRADICTED


def test_the_examples_of_the_pages_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    defined("\n".join(examples("README.md")))
    assert capsys.readouterr().out.count("best proven lower bound 3, by branch-and-cut") == 2
    names = defined("\n".join(examples("docs/python.md")))
    assert names["from_mapping"].num_subscriptions == 4
    assert "array" not in capsys.readouterr().out
