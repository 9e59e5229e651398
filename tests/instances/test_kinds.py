"""The kind of a file or an instance is found, and each kind has a problem and an exact method by default."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, kind_of, kind_of_file
from overlaybench.instances.topics.files import SEPARATED, TOPICS


def test_every_problem_has_a_method_that_proves_bounds_by_default_and_every_kind_a_problem() -> None:
    for problem in PROBLEMS.values():
        method = ob.METHODS[problem.default_method].answering(problem)
        assert method.exact or method.bounds
        assert method.answers(problem)
    for kind in KINDS.values():
        assert PROBLEMS[kind.default_problem].kind == kind.name


def test_a_file_of_no_known_kind_is_bad_input_that_names_the_formats(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('{"format": "overlay/1", "edges": []}')
    with pytest.raises(ob.BadInput, match=r"one.json: 'overlay/1' is no format of instances: give one of topics/1"):
        kind_of_file(file)
    with pytest.raises(ob.BadInput, match=r"unknown ending '.txt2': use .json, .csv"):
        kind_of_file(tmp_path / "one.txt2")
    with pytest.raises(ob.BadInput, match=r"cannot be read"):
        kind_of_file(tmp_path / "absent.json")
    with pytest.raises(ob.BadInput, match="type dict is no instance"):
        kind_of({})


@pytest.mark.parametrize("workload", [one for one in WORKLOADS.values() if not one.needs], ids=lambda one: one.name)
def test_an_instance_of_a_workload_comes_back_from_every_file(workload: ob.Workload[Any], tmp_path: Path) -> None:
    kind = KINDS[workload.kind]
    small = {"nodes": 7, "topics": 90, "subscriptions": 5, "users": 7, "brokers": 60, "publications": 7, "terminals": 4}
    options = {option.name for option in workload.parameters}
    given: dict[str, Any] = {name: size for name, size in {**small, "edges": 9}.items() if name in options}
    instance = workload.generate(seed=5, **given)
    assert instance == workload.generate(seed=5, **given)
    if kind.name.endswith("trace"):
        assert instance.digest != workload.generate(seed=6, **given).digest
        assert instance.num_events > 0
    assert pickle.loads(pickle.dumps(instance)) == instance
    assert kind_of(instance) is kind
    assert tuple(kind.size(instance)) == kind.sizes
    for ending in {kind.ending, *kind.endings, *((".json",) if kind.format else ())}:
        # Rows of subscriptions (.trace.csv) do not tell a crash from a leave: they are only read.
        lossy: tuple[str, ...] = (".trace.csv", ".trace.tsv")
        if getattr(instance, "costs", None) is not None:
            lossy = (*lossy, *SEPARATED, ".sets", ".oligomers", ".hif.json")
        if ending not in lossy:
            file = tmp_path / f"one{ending}"
            kind.write(instance, file)
            assert kind_of_file(file) is kind
            again = kind.read(file, {}).instance
            assert (again, kind.size(again)) == (instance, kind.size(instance))


def test_only_kinds_with_a_sample_can_be_sampled() -> None:
    assert TOPICS.sample(WORKLOADS["uniform"].generate(nodes=9), 4, 1).num_nodes == 4
    with pytest.raises(ob.BadInput, match="cannot be sampled"):
        KINDS["steiner"].sample(WORKLOADS["steiner-skutella"].generate(), 4, 1)
