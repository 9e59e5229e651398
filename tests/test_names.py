"""The exports of the package: typed, complete, and imported at their first use."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

import overlaybench as ob


def test_every_name_is_imported_from_its_file_at_its_first_use() -> None:
    for name in dir(ob):
        assert getattr(ob, name) is not None


def test_compare_is_a_folder_and_nothing_else() -> None:
    code = "import overlaybench as ob, overlaybench.compare as compare; assert not callable(compare); ob.METHODS['gm']"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr == ""


@pytest.mark.interpreted
@pytest.mark.parametrize("name", sorted(name for name in dir(ob) if not name.isupper()))
def test_every_name_has_an_example_that_runs(name: str) -> None:
    value = getattr(ob, name)
    examples = doctest.DocTestFinder(recurse=False).find(value, name, globs={})
    assert sum(len(example.examples) for example in examples) > 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert [runner.run(example).failed for example in examples] == [0]


def test_the_overview_in_the_help_runs() -> None:
    assert doctest.testmod(ob).failed == 0


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        ob.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_an_import_and_a_small_instance_need_no_heavy_library() -> None:
    heavy = {"numba", "scipy", "networkx", "pyarrow", "pandas", "matplotlib", "ortools", "pulp", "highspy", "pyspark"}
    code = (
        "import sys, overlaybench as ob; assert 'numpy' not in sys.modules; "
        "instance = ob.TopicInstance.from_subscriptions({'a': ['x'], 'b': ['x']}); "
        "answer = ob.Overlay.from_edges(2, [(0, 1)]); "
        "assert ob.PROBLEMS['min-tco'].violations(instance, answer) == []; "
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
