"""The exports of the package: typed, complete, and imported at their first use."""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import overlaybench as ob


def typed_imports() -> dict[str, str]:
    tree = ast.parse(Path(ob.__file__ or "").read_text(encoding="utf-8"))
    return {
        alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }


def test_every_export_has_the_type_and_the_object_of_the_same_module() -> None:
    typed = typed_imports()
    assert sorted(typed) == sorted(ob.__all__)
    assert [name for name in dir(ob) if not name.startswith("__")] == sorted(ob.__all__)
    for name, module in typed.items():
        __import__(f"overlaybench.{module}")
        if name != "compare":
            assert getattr(ob, name) is getattr(sys.modules[f"overlaybench.{module}"], name)


@pytest.mark.parametrize(
    "first", ["import overlaybench.compare.catalogue", "ob.compare", "from overlaybench import compare"]
)
def test_compare_is_the_package_and_the_function_in_every_order_of_imports(first: str) -> None:
    code = (
        f"import overlaybench as ob; {first}; import overlaybench.compare.catalogue, copy, inspect, pickle; "
        "from overlaybench import compare; assert compare is ob.compare is overlaybench.compare; "
        "assert compare.catalogue.METHODS is ob.METHODS; assert pickle.loads(pickle.dumps(compare)) is compare; "
        "from overlaybench.compare.python_api.comparing import compare as function; "
        "assert inspect.signature(ob.compare) == inspect.signature(function)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(name for name in ob.__all__ if not name.isupper()))
def test_every_name_has_an_example_that_runs(name: str) -> None:
    value = getattr(importlib.import_module(f"overlaybench.{typed_imports()[name]}"), name)
    examples = doctest.DocTestFinder(recurse=False).find(value, name, globs={})
    assert sum(len(example.examples) for example in examples) > 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert [runner.run(example).failed for example in examples] == [0]


def test_the_overview_in_the_help_runs() -> None:
    assert doctest.testmod(ob).failed == 0


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'overlaybench' has no attribute 'nonsense'"):
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
