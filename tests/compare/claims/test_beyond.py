"""Claims next door (N) and observations of our own (W), sound and with faulty algorithms or data."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.compare.claims import next_door, search
from overlaybench.compare.claims.bench import Bench
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.register import CLAIMS
from overlaybench.compare.claims.search import searched_problems
from overlaybench.compare.claims.worst import worst_cases
from tests.compare.claims.faults import Fault, Methods, every_pair, no_edge, tiered, with_broken

CONFIRMED, ORDER, CONTRADICTED = Verdict.CONFIRMED, Verdict.ORDER, Verdict.CONTRADICTED
EDGE_RULES = ("gm", "gm-m", "minmax-oda", "low-oda")
STAR_RULES = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")


def without_ties(name: str) -> Methods:
    """An algorithm whose answer is that of the lowest ties whatever is asked for."""

    def solve(instance: object, problem: Any, *, seed: int, ties: str, **options: Any) -> ob.Proposal[Any]:
        return ob.Proposal(ob.METHODS[name].run(instance, problem, ties="lowest", **options).answer)

    return {**ob.METHODS, name: replace(ob.METHODS[name], solve=solve, compiled=False)}


FAULTS: Mapping[str, Fault] = {
    "N.WTCO.1": Fault(with_broken(weighted_gm=every_pair)),
    "N.WTCO.2": Fault(with_broken(weighted_gm=every_pair)),
    "N.KTCO.1": Fault(with_broken(gm2=no_edge)),
    "N.KTCO.2": Fault(with_broken(gm2=every_pair), ORDER),
    "N.KTCO.3": Fault(with_broken(gm=every_pair), ORDER),
    "N.PTCO.1": Fault(with_broken(gm=every_pair), CONTRADICTED, CONFIRMED),
    "N.SOC.1": Fault(with_broken(filtering_cp_sat=every_pair), broken=Verdict.NOT_DECIDED),
    "N.SOC.2": Fault(with_broken(filtering_cp_sat=every_pair)),
    "W.TIES": Fault(without_ties("cd-oda"), CONTRADICTED, CONFIRMED),
    "W.HALL": Fault(
        sound=CONTRADICTED,
        broken=Verdict.NOT_DECIDED,
        replaced={"search.worst_cases": lambda: [replace(worst_cases()[0], value=worst_cases()[0].value + 1)]},
    ),
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four instances of at most 40 nodes; one method for ties."""
    usual = next_door.instances

    def fewer(law: str, nodes: int, count: int, **more: object) -> list[ob.TopicInstance]:
        return usual(law, min(nodes, 40), min(count, 4), **{"topics": 20, "subscriptions": 4, **more})

    monkeypatch.setattr(next_door, "instances", fewer)
    monkeypatch.setattr(search, "searched_problems", lambda: [("cd-oda", "2d-star")])


SLOW = {"N.SOC.1", "N.WTCO.1", "W.HALL"}


@pytest.mark.usefixtures("few")
@tiered(SLOW, FAULTS)
def test_a_faulty_algorithm_or_case_changes_the_verdict(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[id_].check(id_, monkeypatch)


def test_every_method_that_searches_ties_is_compared_on_its_problems() -> None:
    assert set(searched_problems()) >= {
        *((method, problem) for method in EDGE_RULES for problem in ("min-tco", "minmax-tco")),
        *((method, "2d-star") for method in STAR_RULES),
    }


@pytest.mark.slow
def test_a_construction_is_the_worst_of_its_size_only_where_no_ratio_can_exceed_it() -> None:
    lines = {line.varied.partition(":")[0]: line.verdict for line in CLAIMS["W.HALL"].judge(Bench(True)).sensitivity}
    assert lines["P1 Lemma 6.6"] is CONTRADICTED
    assert lines["P2 Lemma 5"] is CONFIRMED
    assert lines["P2 Lemma 1"] is CONTRADICTED
