"""Everything that can be named on the command line or in a study file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ..instances.catalogue import KINDS, PROBLEMS, ROOMS, WORKLOADS, Catalogue, methods_of
from ..instances.method import Method


def _own_methods() -> Iterator[Method[Any, Any]]:
    for room in ROOMS:
        for floor in ("heuristics", "models"):
            yield from methods_of(f"overlaybench.{floor}.{room}")


METHODS: Catalogue[Method[Any, Any]] = Catalogue(
    "method", _own_methods, group="overlaybench.methods", kind=Method, join=Method.joined
)
kind_named, problem_named, workload_named, method_named = (
    KINDS.named,
    PROBLEMS.named,
    WORKLOADS.named,
    METHODS.named,
)


@cache
def code_version() -> str:
    """A digest (12 hexadecimal digits) of the code that decides answers: floors 1 to 3."""
    sha = hashlib.sha256()
    root = Path(__file__).resolve().parent.parent
    for floor in ("instances", "heuristics", "models"):
        for file in sorted((root / floor).rglob("*.py")):
            sha.update(f"{file.relative_to(root).as_posix()}\n".encode())
            sha.update(file.read_bytes())
    return sha.hexdigest()[:12]
