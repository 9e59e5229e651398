"""The kind of a file or an instance is found, and each kind has a problem and an exact method by default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, kind_of, kind_of_file
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.kind import Kind
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.workload import Workload
from overlaybench.instances.topics.files import TOPICS
from overlaybench.instances.topics.instance import TopicInstance
from tests.properties import property_test
from tests.topic_strategies import instances_with_overlays


def test_every_problem_has_an_exact_method_by_default_and_every_kind_a_problem() -> None:
    for problem in PROBLEMS.values():
        method = METHODS[problem.default_method].answering(problem.name)
        assert method.exact
        assert problem.name in method.problems
    for kind in KINDS.values():
        assert PROBLEMS[kind.default_problem].kind == kind.name


@pytest.mark.parametrize(
    ("workload", "ending"),
    [
        ("uniform", ".json"),
        ("uniform", ".csv"),
        ("relay-star", ".json"),
        ("relay-star", ".npz"),
        ("brokers-sparse", ".json"),
        ("steiner-sparse", ".stp"),
    ],
)
def test_the_kind_of_a_written_instance_is_found_again(workload: str, ending: str, tmp_path: Path) -> None:
    chosen, file = WORKLOADS[workload], tmp_path / f"one{ending}"
    instance = chosen.generate(seed=1)
    KINDS[chosen.kind].write(instance, file)
    assert kind_of_file(file) is KINDS[chosen.kind]
    assert kind_of(instance) is KINDS[chosen.kind]


def test_a_file_of_no_known_kind_is_bad_input_that_names_the_formats(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('{"format": "overlay/1", "edges": []}')
    with pytest.raises(BadInput, match=r"one.json: 'overlay/1' is no format of instances: give one of topics/1"):
        kind_of_file(file)
    with pytest.raises(BadInput, match=r"unknown ending '.txt2': use .json, .csv"):
        kind_of_file(tmp_path / "one.txt2")
    with pytest.raises(BadInput, match=r"cannot be read"):
        kind_of_file(tmp_path / "absent.json")
    with pytest.raises(BadInput, match="type dict is no instance"):
        kind_of({})


def test_problems_and_workloads_name_kinds_that_exist() -> None:
    assert {problem.kind for problem in PROBLEMS.values()} | {load.kind for load in WORKLOADS.values()} <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_the_workloads_of_a_kind_come_back_from_its_files(kind: Kind[Any, Any], tmp_path: Path) -> None:
    for workload in [load for load in WORKLOADS.values() if load.kind == kind.name][:2]:
        instance = workload.generate(seed=5, **_small(workload))
        kind.write(instance, tmp_path / f"one{kind.ending}")
        again = kind.read(tmp_path / f"one{kind.ending}", {}).instance
        assert again.digest == instance.digest
        assert kind.size(again) == kind.size(instance)
        assert tuple(kind.size(again)) == kind.sizes


def _small(workload: Workload[Any]) -> dict[str, object]:
    wanted = {"nodes": 7, "topics": 90, "users": 7, "brokers": 60, "publications": 7, "terminals": 4, "edges": 9}
    return {option.name: wanted[option.name] for option in workload.parameters if option.name in wanted}


@property_test(100, instances_with_overlays())
def test_an_overlay_comes_back_from_its_packed_form(both: tuple[TopicInstance, Overlay]) -> None:
    instance, overlay = both
    packed = TOPICS.pack(overlay)
    assert packed.dtype == np.int32
    assert TOPICS.unpack(packed, instance) == overlay
    edges = TOPICS.labelled(overlay, instance)["edges"]
    assert isinstance(edges, list)
    assert len(edges) == overlay.num_edges


def test_only_kinds_with_a_sample_can_be_sampled() -> None:
    assert TOPICS.sample(WORKLOADS["uniform"].generate(nodes=9), 4, 1).num_nodes == 4
    with pytest.raises(BadInput, match="cannot be sampled"):
        KINDS["steiner"].sample(WORKLOADS["steiner-skutella"].generate(), 4, 1)
