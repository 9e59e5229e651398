"""Compiling and importing are over when a method's clock starts: warm_up leaves nothing to a run."""

import subprocess
import sys

import pytest

from overlaybench.compare.catalogue import METHODS

CODE = """
import pkgutil, sys
from importlib import import_module
from overlaybench.heuristics.compiled import Kernel
from overlaybench import heuristics, models
from overlaybench.compare.catalogue import METHODS
from overlaybench.instances.catalogue import PROBLEMS, WORKLOADS

def compiled():
    found = {}
    for package in (heuristics, models):
        for _, name, _ in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            for kernel in vars(import_module(name)).values():
                if isinstance(kernel, Kernel):
                    named = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
                    found[named] = set(map(str, kernel.dispatcher.signatures))
    return found

LIBRARIES = {"ortools", "pulp", "highspy", "pyscipopt", "scipy.optimize"}
method = METHODS[sys.argv[1]]
compiled()
method.warm_up and method.warm_up()
before, loaded = compiled(), LIBRARIES & set(sys.modules)
GIVEN = [
    ("uniform", {"nodes": 24, "topics": 12, "subscriptions": 4}),
    ("exponential", {"nodes": 48, "topics": 20, "subscriptions": 4}),
    ("zipf", {"nodes": 9, "topics": 30, "subscriptions": 4}),
    ("brokers-sparse", {"brokers": 24, "publications": 60, "uplink": 2}),
    ("steiner-sparse", {"nodes": 40, "edges": 90, "terminals": 12}),
    ("content", {"users": 7, "brokers": 4, "intervals": 3}),
    ("brokers-dense", {"brokers": 9, "publications": 20, "tree": "star"}),
]
for workload, given in GIVEN:
    for problem in method.problems:
        if PROBLEMS[problem].kind == WORKLOADS[workload].kind:
            method.run(WORKLOADS[workload].generate(seed=5, **given), PROBLEMS[problem], seed=3, time_limit=1)
print(sorted(name for name, kinds in compiled().items() if kinds - before.get(name, set())))
print(sorted(LIBRARIES & set(sys.modules) - loaded))
"""


@pytest.mark.parametrize("name", METHODS)
def test_a_run_compiles_and_imports_nothing_that_warm_up_did_not(name):
    if METHODS[name].warm_up is None:
        pytest.skip("a method without kernels or libraries")
    said = subprocess.run([sys.executable, "-c", CODE, name], capture_output=True, text=True, check=True, timeout=280)
    assert said.stdout.splitlines()[-2:] == ["[]", "[]"]
