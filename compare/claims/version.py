"""The version of a claim's check: a judge of unchanged code is not repeated."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path

from ..catalogue import code_version
from ..plug_in_code import source_digest
from .claim import Claim

_HERE, _COMPARE = Path(__file__).parent, Path(__file__).parents[1]


def version_of_claim(claim: Claim) -> str:
    """A digest of the code that runs and judges a claim.

    It covers the layers below, the file that defines the claim and what this imports from ``compare/``, with the data
    (JSON) beside these files, and the text of a claim that is data. A claim of a plug-in has none (""), so that its
    judge is always repeated.
    """
    defining = [file for file in sorted(_HERE.glob("*.py")) if any(one is claim for one in _defined_in(file))]
    if claim.module:
        defining = [_HERE / "data.py", *_HERE.glob(f"{claim.module}.py")]
    return f"{code_version()}-{_digest(tuple(defining), claim.data)}" if defining else ""


@cache
def _defined_in(file: Path) -> tuple[Claim, ...]:
    values = vars(import_module(f"{__package__}.{file.stem}")).values()
    each = (one for value in values for one in (value if isinstance(value, tuple) else (value,)))
    return tuple(one for one in each if isinstance(one, Claim))


@cache
def _digest(defining: tuple[Path, ...], data: str = "") -> str:
    waiting, files = [*defining], dict[str, Path]()
    while waiting:
        file = waiting.pop()
        if (name := file.relative_to(_COMPARE).as_posix()) not in files:
            files[name] = file
            waiting += _imported_by(file)
    digest = hashlib.sha256(source_digest(dict(sorted(files.items()))).encode() + data.encode())
    for beside in sorted(file.with_suffix(".json") for file in files.values()):
        digest.update(beside.read_bytes() if beside.is_file() else b"")
    return digest.hexdigest()[:12]


@cache
def _imported_by(file: Path) -> tuple[Path, ...]:
    """The files of ``compare/`` that a file imports, wherever in it."""
    found = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            modules = [base.with_suffix(".py"), *(base / f"{alias.name}.py" for alias in node.names)]
            found += [module for module in modules if module.is_file() and module.is_relative_to(_COMPARE)]
    return tuple(found)
