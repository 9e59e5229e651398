"""The checker's judge of answers and the package's problems agree on every answer, valid or not."""

from __future__ import annotations

import json
import math
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.compare.catalogue import kind_named, problem_named
from overlaybench.instances.brokers.problems import Dissemination
from overlaybench.instances.contract.files import natural_order
from tests.models.checker.tiny import TOPIC_PROBLEMS, checker, draw_content, draw_steiner, draw_topics, draw_trace
from tests.models.topics.small_instances import priced

OTHERS = (
    *("capped-tco@max-degree=3", "capped-tco@average-degree=2.5"),
    *("capped-tco@degree-per-topic=1.2", "partial-tco@max-degree=2", "partial-tco@subscribers@max-degree=2"),
    *("partial-tco@components@average-degree=1.5", "filtering", "filtering@max-degree=3", "filtering=1@edges"),
    *("filtering@edges", "topic-diameter", "topic-diameter=1@average-degree", "average-topic-diameter=1.5@edges"),
)


def agree(folder: Path, problem: str, instance: Any, answer: Any) -> bool:
    """Whether the answer is valid; both judges must say the same, and give it the same value."""
    judge = problem_named(problem)
    kind = kind_named(judge.kind)
    file, given = folder / f"i{(kind.proof_endings or ('.json',))[-1]}", folder / "a.json"
    kind.write(instance, file)
    kind.write_answer(answer, instance, given)
    valid = not judge.violations(instance, answer)
    try:
        value = checker("answers").value_of(str(file), kind.name, problem, instance.digest, given)
    except checker("cases").Wrong:
        assert not valid
        return False
    assert valid
    assert value == pytest.approx(judge.value(instance, answer), rel=1e-9)
    return True


@pytest.mark.parametrize("problem", [*TOPIC_PROBLEMS, *OTHERS])
def test_overlays_are_judged_alike(problem: str, tmp_path: Path) -> None:
    draw, verdicts = random.Random(problem), []
    for _ in range(25):
        instance = draw_topics(draw)
        if problem == "weighted-tco":
            instance = priced(instance, draw.randrange(99))
        pairs = [(u, v) for v in range(instance.num_nodes) for u in range(v)]
        chosen = draw.sample(pairs, draw.randint(len(pairs) // 2, len(pairs)) if pairs else 0)
        verdicts.append(agree(tmp_path, problem, instance, ob.Overlay.from_edges(instance.num_nodes, chosen)))
    assert set(verdicts) == {True, False}


def test_trees_are_judged_alike(tmp_path: Path) -> None:
    draw, verdicts = random.Random(1), []
    for _ in range(25):
        instance = draw_steiner(draw)
        kept = [edge for edge in instance.edges.tolist() if draw.random() < 0.8]
        verdicts.append(agree(tmp_path, "steiner", instance, ob.Overlay.from_edges(instance.num_nodes, kept)))
    assert set(verdicts) == {True, False}


@pytest.mark.interpreted
@pytest.mark.parametrize("problem", ["content-steiner", "content-mst", "content-shared-tree"])
def test_content_overlays_are_judged_alike(problem: str, tmp_path: Path) -> None:
    draw, verdicts = random.Random(2), []
    for seed in range(12):
        instance = draw_content(draw)
        result = ob.solve(instance, problem, "branch-and-cut", seed=seed)
        if result.answer is not None:
            verdicts.append(agree(tmp_path, problem, instance, result.answer))
            moved = np.roll(result.answer.brokers, 1)
            verdicts.append(agree(tmp_path, problem, instance, type(result.answer)(moved, result.answer.trees)))
    assert True in verdicts


def test_disseminations_are_judged_alike(tmp_path: Path) -> None:
    draw, verdicts = random.Random(3), []
    network = ob.generate("brokers-sparse", brokers=12, subscriptions=40, publications=12, seed=1)
    best: Any = ob.solve(network, "soft-links", "cp-sat").answer
    for damage in range(60):
        links, messages = best.soft_links.tolist(), best.messages.tolist()
        if damage:
            rows, size = (messages, 3) if damage % 2 or not links else (links, 2)
            at = draw.randrange(len(rows))
            rows[at][draw.randrange(1, 3) if size == 3 else draw.randrange(2)] = draw.randrange(12)
            if draw.random() < 0.3:
                rows.pop(at)
        verdicts.append(agree(tmp_path, "soft-links", network, Dissemination.of(links, messages)))
    assert verdicts[0]
    assert verdicts.count(False) > 30


@pytest.mark.interpreted
def test_logs_of_links_are_judged_alike(tmp_path: Path) -> None:
    draw, verdicts = random.Random(4), []
    for damage in range(80):
        trace = draw_trace(draw)
        log: Any = ob.solve(trace, "dynamic-tco", "gm-incremental").answer
        rows = zip(log.times.tolist(), log.links.tolist(), log.added.tolist(), strict=True)
        changes: list[Any] = [[time, *link, added] for time, link, added in rows]
        if damage % 4 and changes:
            place = draw.choice([0, 0, 1, 2, 3])
            others = [trace.step_times.tolist(), range(5), range(5), [0, 1]]
            draw.choice(changes)[place] = draw.choice(others[place])
            changes += [[draw.choice([0, 10**6, 1_500_000, 9 * 10**6]), *changes[0][1:]]] * draw.randrange(2)
        with suppress(ob.BadInput):  # no log: a link changes twice at one time, or joins a node to itself
            log = ob.LinkLog.of(trace.num_nodes, changes)
            verdicts.append(agree(tmp_path, f"dynamic-tco{draw.choice(['', '@change-cost=3'])}", trace, log))
    assert min(verdicts.count(True), verdicts.count(False)) > 15


def test_an_instance_with_another_digest_and_a_problem_without_a_judge_are_refused(tmp_path: Path) -> None:
    instance = ob.TopicInstance.from_subscriptions({"n2": ["t"], "n10": ["t"]})
    kind_named("topics").write(instance, tmp_path / "i.json")
    (tmp_path / "a.json").write_text(json.dumps({"format": "overlay/1", "edges": [["n10", "n2"]]}))
    given = str(tmp_path / "i.json"), "topics", "min-tco"
    value_of, cases = checker("answers").value_of, checker("cases")
    assert value_of(*given, instance.digest, tmp_path / "a.json") == 1
    with pytest.raises(cases.Wrong, match="digest"):
        value_of(*given, "0" * 64, tmp_path / "a.json")
    with pytest.raises(checker("answers").Unknown):
        value_of(*given[:2], "longest", instance.digest, tmp_path / "a.json")
    with pytest.raises(checker("answers").Unknown):
        value_of(given[0], "trace", "churn", instance.digest, tmp_path / "a.json")


def test_labels_are_numbered_as_the_package_numbers_them() -> None:
    draw = random.Random(5)
    for _ in range(300):
        labels = {"".join(draw.choices("019ab-é\0 n", k=draw.randint(1, 5))) for _ in range(8)}
        assert checker("answers").natural(labels) == natural_order(sorted(labels))[0]
    assert math.isinf(checker("answers").fewest_relays([0, 1], {0: set(), 1: set()}))
