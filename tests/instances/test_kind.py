"""Instances and answers of a kind are read as they were written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlaybench.instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.kind import Kind
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.workload import Workload
from overlaybench.instances.topics.files import TOPICS
from overlaybench.instances.topics.instance import TopicInstance
from tests.properties import property_test
from tests.topic_strategies import instances_with_overlays


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
