"""What runs compile and import after their methods' warm-up: ``python -m tests.compare.warm_up_probe SCALE SECONDS``.

Prints a JSON object: for each method with a warm-up the kernels that its runs compiled, and the libraries that they
imported. Each method is run in a fork of one process that has compiled no kernel and imported no solver.
"""

from __future__ import annotations

import json
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import numba  # noqa: F401  forks share it

from overlaybench import heuristics, models
from overlaybench.compare.catalogue import METHODS
from overlaybench.heuristics.compiled import Kernel
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS

LIBRARIES = {"ortools", "pulp", "highspy", "pyscipopt", "scipy.optimize"}
SHAPES: list[tuple[str, dict[str, float | str]]] = [
    ("uniform", {"nodes": 24, "topics": 12, "subscriptions": 4}),
    ("exponential", {"nodes": 48, "topics": 20, "subscriptions": 4}),
    ("zipf", {"nodes": 9, "topics": 30, "subscriptions": 4}),
    ("brokers-sparse", {"brokers": 24, "publications": 60, "uplink": 2}),
    ("steiner-sparse", {"nodes": 40, "edges": 90, "terminals": 12}),
    ("content", {"users": 7, "brokers": 4, "intervals": 3}),
    ("brokers-dense", {"brokers": 9, "publications": 20, "tree": "star"}),
]
SCALED = ("nodes", "edges", "terminals", "publications", "topics")


def compiled() -> dict[str, set[str]]:
    """The signatures that are compiled, by kernel."""
    signatures = {}
    for package in (heuristics, models):
        for _, name, _ in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            for kernel in vars(import_module(name)).values():
                if isinstance(kernel, Kernel):
                    label = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
                    signatures[label] = set(map(str, kernel.dispatcher.signatures))
    return signatures


def generated(scale: float) -> list[tuple[str, Any]]:
    """Instances with their kinds."""
    instances = []
    for workload, shape in SHAPES:
        given = {key: max(7, int(scale * float(size))) if key in SCALED else size for key, size in shape.items()}
        instances.append((WORKLOADS[workload].kind, WORKLOADS[workload].generate(seed=5, **given)))
    return instances


def probe(name: str, instances: list[tuple[str, Any]], seconds: float) -> tuple[list[str], list[str]]:
    """The kernels that a method's runs compile and the libraries that they import."""
    method = METHODS[name]
    method.prepare()
    before, loaded = compiled(), LIBRARIES & set(sys.modules)
    for kind, instance in instances:
        for problem in method.problems:
            if PROBLEMS[problem].kind == kind:
                method.run(instance, PROBLEMS[problem], seed=3, time_limit=seconds)
    late = sorted(label for label, signatures in compiled().items() if signatures - before.get(label, set()))
    return late, sorted(LIBRARIES & set(sys.modules) - loaded)


def forked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a fork of this process."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(function(*arguments)))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def main() -> None:
    scale, seconds = map(float, sys.argv[1:3])
    compiled()
    instances = forked(generated, scale)  # workloads may import libraries
    names = [name for name, method in METHODS.items() if method.warm_up is not None]
    print(json.dumps({name: forked(probe, name, instances, seconds) for name in names}))


if __name__ == "__main__":
    main()
