"""The exports of the package: typed, complete, and imported at their first use."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import overlaybench as ob


def test_compare_is_a_folder_and_nothing_else() -> None:
    assert not callable(importlib.import_module("overlaybench.compare"))


@pytest.mark.interpreted
def test_every_name_has_an_example_and_all_examples_and_the_overview_run() -> None:
    assert doctest.testmod(ob).failed == 0
    for name in sorted(name for name in dir(ob) if not name.isupper()):
        (example,) = doctest.DocTestFinder(recurse=False).find(getattr(ob, name), name, globs={})
        assert example.examples, name
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0, name


SOLVERS = ("numba", "scipy", "networkx", "ortools", "pulp", "highspy")
TINY = "ob.TopicInstance.from_subscriptions({'a': ['x'], 'b': ['x']})"
CLI = "from overlaybench.compare.command_line import cli, main; from click.shell_completion import ShellComplete; "
DOMAINS = ("topics", "content", "brokers", "steiner")
IMPORTS = {
    "from overlaybench.instances.contract.catalogue import methods_of; "
    f"[methods_of('overlaybench.models.' + each) for each in {DOMAINS}]; "
    f"ob.PROBLEMS['min-tco'].violations({TINY}, ob.Overlay.from_edges(2, [(0, 1)]))": (
        *(*SOLVERS, "pyarrow", "pandas", "matplotlib", "pyspark"),
    ),
    f"{CLI}ShellComplete(cli, {{}}, 'overlaybench', '_X').get_completions([], 're'); sys.argv[1:] = ['-h']; main()": (
        *("numpy", "rich", "overlaybench.compare.catalogue"),
    ),
    f"{CLI}ob.write_topics({TINY}, 't.json'); sys.argv[1:] = 'solve t.json --method gm'.split(); main()": (
        *("pyspark", "py4j", "matplotlib"),
        *(rf"overlaybench.{layer}.{each}\.\w+" for layer in ("heuristics", "models") for each in DOMAINS[1:]),
        r"overlaybench.models.topics\.\w+",
    ),
}


@pytest.mark.parametrize("code", IMPORTS)
def test_what_is_not_needed_is_not_imported(code: str, tmp_path: Path) -> None:
    script = f"import sys, overlaybench as ob\ntry: {code}\nfinally: print('', *sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()
    assert "overlaybench" in modules
    assert [name for name in modules if any(re.match(rf"{each}(\.|$)", name) for each in IMPORTS[code])] == []
