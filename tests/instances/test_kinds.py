"""The kind of a file or an instance is found, and each kind has a problem and an exact method by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, kind_of, kind_of_file
from overlaybench.instances.contract.errors import BadInput


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
