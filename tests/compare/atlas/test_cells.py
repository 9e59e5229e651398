"""Surveys of all instances of a size: against a plain loop, resumed, and in pieces that run elsewhere."""

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from threading import Timer

import psutil
import pytest

import overlaybench as ob
from overlaybench.compare.atlas.cells import AtlasCell, Piece, gather_here, gathering, sizes, surveyed
from overlaybench.compare.atlas.every_instance import instance_of, instances, members_of, number_of_instances
from overlaybench.compare.atlas.record import entries_on_record, entry_of, keep
from overlaybench.compare.atlas.surveys import CLAIM, RANDOM, Survey, SurveyRow
from overlaybench.instances.contract.errors import BadInput
from tests import topic_brute_force
from tests.compare.loopback_cluster import loopback_cluster


@ob.method("first-star", problems=["min-tco"])
def first_star(instance: ob.TopicInstance) -> list[tuple[int, int]]:
    """Connect all subscribers of a topic to the first."""
    topics = (instance.subscribers(t).tolist() for t in range(instance.num_topics))
    return [(min(each), v) for each in topics for v in each if v != min(each)]


def cell(survey: Survey, nodes: int, topics: int) -> AtlasCell:
    (found,) = surveyed(survey, [(nodes, topics)])
    return found


def digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def test_a_cell_is_what_a_run_on_every_instance_gives() -> None:
    gm = ob.METHODS["gm"]
    for problem in ("min-tco", "low-tco"):
        ratios = []
        for rows in instances(4, 4):
            for row in rows:
                made = instance_of(4, members_of(4, row))
                value = gm.run(made, ob.PROBLEMS[problem], ties="worst").value
                assert value is not None
                ratios.append((Fraction(int(value), topic_brute_force.optimum(made, problem)), tuple(row.tolist())))
        found = cell(Survey(problem, "gm"), 4, 4)
        most = max(ratio for ratio, _ in ratios)
        assert found.instances == len(ratios) == number_of_instances(4, 4)
        assert found.not_optimal("worst") == sum(ratio > 1 for ratio, _ in ratios)
        worst = found.worst("worst")
        assert (worst.ratio, worst.cases) == (most, sum(ratio == most for ratio, _ in ratios))
        assert worst.example == min(row for ratio, row in ratios if ratio == most)
        assert found.mean_ratio("worst") == pytest.approx(float(sum(ratio for ratio, _ in ratios) / len(ratios)))
        assert sum(found.histogram("worst").values()) == len(ratios)
        assert found.mean_ratio("best") <= found.mean_ratio(RANDOM) <= found.mean_ratio("worst")


@pytest.mark.parametrize(
    ("nodes", "method", "problem", "published"),
    [
        (4, "gm", "min-tco", [(0, 1, 1)] * 3 + [(1, 5, 4), (4, 5, 4), (16, 5, 4)]),
        (5, "gm", "min-tco", [(0, 1, 1)] * 3 + [(4, 5, 4), (58, 7, 5), (543, 7, 5)]),
        (5, "gm-m", "minmax-tco", [(0, 1, 1), (3, 3, 2), (28, 3, 2), (175, 4, 2), (882, 4, 2), (3859, 4, 2)]),
    ],
)
def test_the_atlas_has_the_numbers_of_an_independent_program(
    nodes: int, method: str, problem: str, published: list[tuple[int, int, int]]
) -> None:
    cells = surveyed(Survey(problem, method), [(nodes, t) for t in range(1, len(published) + 1)])
    found = [(one.not_optimal("worst"), one.worst("worst").value, one.worst("worst").optimum) for one in cells]
    assert found == published


def test_a_stopped_survey_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    survey, done = Survey("min-tco", "gm"), list[Piece]()

    def stopping(survey: Survey, pieces: Sequence[Piece]) -> list[SurveyRow]:
        if len(done) > 3:
            raise KeyboardInterrupt
        done.extend(pieces)
        return gather_here(survey, pieces)

    def shuffled(survey: Survey, pieces: Sequence[Piece]) -> list[SurveyRow]:
        done.extend(pieces)
        return gather_here(survey, pieces[::-1])

    whole = list(surveyed(survey, sizes(4, 5), folder=tmp_path / "whole"))
    with pytest.raises(KeyboardInterrupt):
        list(surveyed(survey, sizes(4, 5), folder=tmp_path / "stopped", gather=stopping))
    assert 0 < len(digests(tmp_path / "stopped")) < len(digests(tmp_path / "whole"))
    assert list(surveyed(survey, sizes(4, 5), folder=tmp_path / "stopped", gather=shuffled)) == whole
    assert digests(tmp_path / "stopped") == digests(tmp_path / "whole")
    assert len(done) == len(set(done))
    assert list(surveyed(survey, sizes(4, 5), folder=tmp_path / "stopped", gather=stopping)) == whole


def test_a_part_of_another_survey_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    list(surveyed(Survey("min-tco", "gm"), [(3, 2)], folder=tmp_path))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(BadInput, match="is no part of this survey"):
        list(surveyed(Survey("min-tco", "gm"), [(3, 2)], folder=tmp_path))


def test_a_lost_piece_is_noticed() -> None:
    with pytest.raises(RuntimeError, match="of 1991 instances"):
        list(surveyed(Survey("min-tco", "gm"), [(5, 5)], gather=lambda survey, pieces: gather_here(survey, [])[:0] or [
            SurveyRow("worst", 4, 4, 1990, 7960, (0,)),
        ]))  # fmt: skip


def test_a_claim_has_its_smallest_counterexample_or_holds_on_all() -> None:
    survey = Survey("min-tco", claim="gm <= optimum")
    broken = [
        (one.topics, one.nodes, one.of(CLAIM)[0]) for one in surveyed(survey, sizes(4, 4)) if len(one.of(CLAIM)) > 1
    ]
    assert [(topics, nodes, row.cases) for topics, nodes, row in broken] == [(4, 4, 1)]
    assert members_of(4, broken[0][2].example) == ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
    held = cell(Survey("min-tco", claim="gm <= optimum", where="max_size <= 2"), 4, 4)
    assert [row.value for row in held.of(CLAIM)] == [1]
    assert 0 < held.instances < number_of_instances(4, 4)


@pytest.mark.usefixtures("own_plug_ins")
def test_a_plain_function_is_surveyed_by_its_own_choices() -> None:
    ob.METHODS.register("first-star", first_star)
    found = cell(Survey("min-tco", "first-star"), 4, 3)
    assert found.rules == ["own"]
    assert found.worst("own").ratio > 1
    rows = cell(Survey("min-tco", claim="first-star <= 2 * gm[ties=best]"), 4, 2).of(CLAIM)
    assert sum(row.cases for row in rows) == 10


def test_the_record_keeps_what_was_found(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    entries = [entry_of("gm", "min-tco", each) for each in surveyed(Survey("min-tco", "gm"), sizes(3, 2))]
    keep(entries[:1], file)
    keep(entries, file)
    assert entries_on_record(file)["gm", "min-tco"] == {(one.nodes, one.topics): one for one in entries}


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes_when_an_executor_is_killed_in_the_middle(tmp_path: Path) -> None:
    survey, size, killed = Survey("min-tco", "low-oda[k=2]"), [(6, 6)], list[int]()

    def kill() -> None:
        children = psutil.Process(cluster.workers[0].pid).children(recursive=True)
        for each in (one for one in children if one.name() == "java"):
            killed.append(each.pid)
            each.kill()

    def during_the_next_part(done: int, total: int) -> None:
        if not killed and done < total:
            Timer(0.2, kill).start()

    with loopback_cluster(workers=2) as cluster, gathering(survey, size, cluster.master) as gather:
        there = list(surveyed(survey, size, folder=tmp_path / "there", gather=gather, progress=during_the_next_part))
    assert killed
    assert list(surveyed(survey, size, folder=tmp_path / "here")) == there
    assert len(digests(tmp_path / "here")) > 1
    assert digests(tmp_path / "there") == digests(tmp_path / "here")
