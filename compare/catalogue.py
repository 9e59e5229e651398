"""Everything that can be named on the command line or in a study file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from heuristics import HEURISTICS
from instances import PROBLEMS, WORKLOADS, Method, Overlay, TopicInstance, TopicProblem, Workload
from instances.errors import unknown
from models import MODELS

TopicMethod = Method[TopicInstance, Overlay]
METHODS: dict[str, TopicMethod] = {method.name: method for method in (*HEURISTICS, *MODELS)}
Named = TypeVar("Named")


def problem_named(name: str) -> TopicProblem:
    """The problem of that name; an unknown one is bad input that names the nearest."""
    return _named("problem", name, PROBLEMS)


def method_named(name: str) -> TopicMethod:
    """The method of that name; an unknown one is bad input that names the nearest."""
    return _named("method", name, METHODS)


def workload_named(name: str) -> Workload:
    """The workload of that name; an unknown one is bad input that names the nearest."""
    return _named("workload", name, WORKLOADS)


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


def _named(kind: str, name: str, known: Mapping[str, Named]) -> Named:
    if name not in known:
        raise unknown(kind, name, known)
    return known[name]
