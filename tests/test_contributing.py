"""CONTRIBUTING.md and README.md as written: their examples run, and are found where they say."""

import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.compare.claims.bench import Bench
from overlaybench.compare.claims.claim import Claim, Verdict
from overlaybench.compare.studies.proofs import checked_proof
from overlaybench.instances.contract.catalogue import PROBLEMS
from tests.topic_brute_force import optimum


def examples(page: str) -> list[str]:
    text = (Path(__file__).parents[1] / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


PLUG_IN, METHOD, EXACT, WORKLOAD, PROBLEM, RULES, CLAIM = examples("CONTRIBUTING.md")


def defined(code: str) -> Mapping[str, Any]:
    names: dict[str, Any] = {"__file__": "hops.py"}
    exec(code, names)
    return names


def test_the_method_answers_the_workload_and_the_problem_judges_it() -> None:
    method, workload = defined(METHOD)["ALL_PAIRS"], defined(WORKLOAD)["TOPIC_RING"]
    problem = defined(PROBLEM)["HopTCO"]
    instance = workload.generate(seed=2, nodes=12)
    for most in (1, 10):
        result = method.run(instance, PROBLEMS["2d-star"], most=most)
        assert result.status is ob.Status.FEASIBLE
        assert not problem(2).violations(instance, result.answer)
        assert bool(problem(1).violations(instance, result.answer)) == (most == 1)
    assert problem().violations(instance, type(result.answer).from_edges(12, []))


def test_the_problem_is_found_by_name_and_solved_with_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hops.py").write_text(PROBLEM)
    (tmp_path / "hops_rules.py").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for known in ("_plug_ins", "_others", "_variants"):  # other tests list all problems
        monkeypatch.setattr(PROBLEMS, known, dict(getattr(PROBLEMS, known)))
    assert PROBLEMS.named("hops:HOP_TCO").name == "hop-tco"
    instance = ob.generate("uniform", nodes=6, topics=4, subscriptions=2, seed=3)
    results = {hops: ob.solve(instance, f"hop-tco@hops={hops}", time_limit=30) for hops in (1, 2, 3, 5)}
    assert all(result.status is ob.Status.OPTIMAL for result in results.values())
    fewest = {hops: float(result.value or 0) for hops, result in results.items()}
    cliques = {pair for t in range(4) for pair in combinations(instance.subscribers(t).tolist(), 2)}
    expected = len(cliques), optimum(instance, "2d-true"), optimum(instance, "min-tco")
    assert (fewest[1], fewest[2], fewest[5]) == expected
    assert fewest[2] >= fewest[3] >= fewest[5]
    for hops in (2, 3):
        proof = tmp_path / f"{hops}.proof.gz"
        ob.solve(instance, f"hop-tco@hops={hops}", proof=proof, time_limit=30)
        sentence = checked_proof(instance, PROBLEMS.named(f"hop-tco@hops={hops}"), proof, 1).sentence
        assert sentence == f"proven: hop-tco@hops={hops} {fewest[hops]:g} is optimal"
    for name in ("best", "lp-bound"):
        result = ob.solve(instance, "hop-tco@hops=3", name, time_limit=5)
        assert (result.value or 0) >= fewest[3] >= (result.lower_bound or 0)
    with pytest.raises(ob.BadInput, match="hop-tco@hops=3"):
        PROBLEMS.named("hop-tco@hops=many")


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
    assert capsys.readouterr().out.count("best proven lower bound 3, by branch-and-cut") == 1
    names = defined("\n".join(examples("docs/python.md")))
    assert names["from_mapping"].num_subscriptions == 4
    assert "array" not in capsys.readouterr().out
