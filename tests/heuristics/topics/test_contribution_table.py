"""The counters of the paper's own GM-M (P3, Algorithms 3–6) on instances where they can be counted by hand."""

from __future__ import annotations

import pytest

from overlaybench.heuristics.topics import gm_m as contribution_table
from overlaybench.heuristics.topics.divide_and_conquer import DCBR_M
from overlaybench.heuristics.topics.gm_m import GM_M, WORK, gm_m
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.topics.instance import TopicInstance


def counted(wants: dict[str, list[str]]) -> dict[str, float | str]:
    result = GM_M.run(TopicInstance.from_subscriptions(wants), PROBLEMS["minmax-tco"], data="table")
    assert result.counters["table_work"] == sum(int(result.counters[f"table_{name}"]) for name in WORK)
    return {name: result.counters[f"table_{name}"] for name in WORK}


def test_one_edge_is_counted_as_the_paper_says() -> None:
    # The pair (n0, n1) shares two topics: it is found at [2][0], where the search starts. Afterwards the search finds
    # nothing at [2][0] and [1][0], which leave the maximum degree at 1, nor at [2][1], then at [1][0] and [1][1].
    assert counted({"n0": ["a", "b"], "n1": ["a", "b"]}) == {
        "initial": 2,
        "pairs": 1,
        "entries": 1 + 2 + 1 + 2,
        "listed": 1,
        "contribution_updates": 0,
        "degree_looks": 0,
        "degree_updates": 0,
    }


def test_three_nodes_of_one_topic_are_counted_as_the_paper_says() -> None:
    # (n0, n1) first: no pair changes its contribution. Then n0 rises to degree 1 and moves (n0, n2), and n1 moves
    # (n1, n2). (n0, n2) second: it raises the maximum degree, (n1, n2) is the one pair whose contribution falls, to 0,
    # so nothing is left to look at.
    found = counted({"n0": ["a"], "n1": ["a"], "n2": ["a"]})
    assert (found["initial"], found["pairs"]) == (3, 3)
    assert found["contribution_updates"] == 1
    assert (found["degree_looks"], found["degree_updates"]) == (2, 2)
    assert found["listed"] == 3 + 2


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
def test_every_contribution_is_lowered_to_0_one_by_one(ties: str) -> None:
    # Lemma 7: all contributions together are pairs × shared topics at first and 0 at last. What the added edges
    # contribute is not updated.
    instance = WORKLOADS["uniform-varying"].generate(seed=0, nodes=80, topics=30, least=3, most=15)
    result = GM_M.run(instance, PROBLEMS["minmax-tco"], ties=ties, data="table")
    work = {name: int(result.counters[f"table_{name}"]) for name in WORK}
    assert work["contribution_updates"] == work["initial"] - int(result.counters["merges"])
    assert (
        work["degree_updates"] <= work["degree_looks"] <= 2 * (instance.num_nodes - 1) * int(result.counters["steps"])
    )
    assert result.counters["counted"] == 0


def test_the_work_of_the_parts_is_counted_by_itself() -> None:
    instance = WORKLOADS["uniform-varying"].generate(seed=0, nodes=80, topics=30, least=3, most=15)
    result = DCBR_M.run(instance, PROBLEMS["minmax-tco"], partitions=4, data="table")
    assert 0 < int(result.counters["inner_table_work"]) < int(result.counters["table_work"])


def test_more_nodes_than_the_table_holds_are_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contribution_table, "MOST_NODES", 2)
    with pytest.raises(BadInput, match="at most 2 nodes, not of 3: use data=rows"):
        gm_m(TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"]}), data="table")
