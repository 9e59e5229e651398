"""Everything that can be named on the command line or in a study file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from heuristics import BROKER_HEURISTICS, CONTENT_HEURISTICS, HEURISTICS, IMPROVERS, STEINER_HEURISTICS
from instances import KINDS, PROBLEMS, WORKLOADS, Kind, Method, Problem, Workload
from instances.errors import unknown
from instances.method_family import family
from models import BROKER_MODELS, CONTENT_MODELS, MODELS, STEINER_MODELS

_METHODS: tuple[Method[Any, Any], ...] = (
    *HEURISTICS,
    *IMPROVERS,
    *MODELS,
    *BROKER_HEURISTICS,
    *BROKER_MODELS,
    *CONTENT_HEURISTICS,
    *STEINER_HEURISTICS,
    *STEINER_MODELS,
    *CONTENT_MODELS,
)
METHODS: dict[str, Method[Any, Any]] = {
    name: family([method for method in _METHODS if method.name == name])
    for name in dict.fromkeys(method.name for method in _METHODS)
}
Named = TypeVar("Named")


def kind_named(name: str) -> Kind[Any, Any]:
    """The kind of instance of that name; an unknown one is bad input that names the nearest."""
    return _named("kind", name, KINDS)


def problem_named(name: str) -> Problem[Any, Any]:
    """The problem of that name; an unknown one is bad input that names the nearest."""
    return _named("problem", name, PROBLEMS)


def method_named(name: str) -> Method[Any, Any]:
    """The method of that name; an unknown one is bad input that names the nearest."""
    return _named("method", name, METHODS)


def workload_named(name: str) -> Workload[Any]:
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
