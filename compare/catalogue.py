"""What can be named on the command line or in a study file, and the version of the code that answers."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ..instances.catalogue import KINDS, PROBLEMS, ROOMS, WORKLOADS, Catalogue, methods_of
from ..instances.method import Method

EQUAL_VERSIONS = ("8f3327e5d563",)
"""Earlier code versions that give the answers of the present one: a stored run of theirs is not repeated.

Empty this with the first change of the code that changes an answer. The version listed is that of commit 483e18f, when
versions were digests of the files' bytes.
"""

_ROOT = Path(__file__).resolve().parent.parent


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
def code_version(root: Path = _ROOT) -> str:
    """A digest (12 hexadecimal digits) of the code that decides answers: floors 1 to 3 without comments and docstrings.

    Cost: half a second, once a process. It may differ between versions of Python.
    """
    sha = hashlib.sha256()
    for file in _sources(root):
        tree = ast.parse(file.read_bytes())
        for node in ast.walk(tree):
            if isinstance(body := getattr(node, "body", None), list):
                node.body = [statement for statement in body if not _is_text(statement)]  # type: ignore[attr-defined]
        sha.update(f"{file.relative_to(root).as_posix()}\n{ast.unparse(tree)}\n".encode())
    return sha.hexdigest()[:12]


@cache
def source_digest() -> str:
    """A digest of the bytes of the same files, in milliseconds: where it is equal, so is the code version."""
    sha = hashlib.sha256()
    for file in _sources(_ROOT):
        sha.update(f"{file.relative_to(_ROOT).as_posix()}\n".encode() + file.read_bytes())
    return sha.hexdigest()


def _sources(root: Path) -> list[Path]:
    return [file for floor in ("instances", "heuristics", "models") for file in sorted((root / floor).rglob("*.py"))]


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
