"""What can be named on the command line or in a study file, and the version of the code that answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ..instances.contract.catalogue import DOMAINS, KINDS, PROBLEMS, WORKLOADS, Catalogue, methods_of
from ..instances.contract.method import Method
from .plug_in_code import plug_in_digest, source_digest

_ROOT = Path(__file__).resolve().parent.parent


def _own_methods(name: str) -> Iterator[Method[Any, Any]]:
    for domain in DOMAINS:
        for layer in ("heuristics", "models"):
            yield from methods_of(f"overlaybench.{layer}.{domain}", name)


METHODS: Catalogue[Method[Any, Any]] = Catalogue(
    "method", _own_methods, group="overlaybench.methods", kind=Method, join=Method.joined
)
kind_named, problem_named, workload_named, method_named = (KINDS.named, PROBLEMS.named, WORKLOADS.named, METHODS.named)


@cache
def code_version(root: Path = _ROOT) -> str:
    """A digest (12 hexadecimal digits) of the source of the layers that decide answers: all but ``compare/``."""
    files = [file for layer in ("instances", "heuristics", "models") for file in sorted((root / layer).rglob("*.py"))]
    return source_digest({file.relative_to(root).as_posix(): file for file in files})


def version_of(method: str, problem: str) -> str:
    """The code version of runs: :func:`code_version`, and where they use plug-ins, a ``+`` and a digest of those."""
    version = _plug_in_version(method_named(method).answering(problem), problem_named(problem))
    return f"{code_version()}+{version}" if version else code_version()


def workload_version(workload: str) -> str:
    """A digest of the code of a workload that is a plug-in; "" for any other."""
    return _plug_in_version(WORKLOADS[workload])


def _plug_in_version(*items: Any) -> str:
    every = {**METHODS.plug_ins, **PROBLEMS.plug_ins, **WORKLOADS.plug_ins}
    plug_ins = {reference: item for reference, item in every.items() if any(item is each for each in items)}
    return plug_in_digest(plug_ins) if plug_ins else ""


def own_part(version: str) -> str:
    """The part of a code version that is a version of this project's code."""
    return version.partition("+")[0]
