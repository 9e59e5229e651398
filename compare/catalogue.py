"""What can be named on the command line or in a study file, and the version of the code that answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from ..instances.contract.catalogue import DOMAINS, KINDS, PROBLEMS, WORKLOADS, Catalogue, home_of, methods_of
from ..instances.contract.method import Method
from ..instances.runtime.code import OURS, ROOT, digest_of
from .plug_in_code import digest_of_main


def _own_methods(name: str) -> Iterator[Method[Any, Any]]:
    for domain in DOMAINS:
        for layer in ("heuristics", "models"):
            yield from methods_of(f"overlaybench.{layer}.{domain}", name)


METHODS: Catalogue[Method[Any, Any]] = Catalogue(
    "method", _own_methods, group="overlaybench.methods", kind=Method, join=Method.joined
)
kind_named, problem_named, workload_named, method_named = (KINDS.named, PROBLEMS.named, WORKLOADS.named, METHODS.named)


@cache
def code_version() -> str:
    """A digest (12 hexadecimal digits) of all code that decides answers: of all layers but ``compare/``."""
    layers = (file for layer in ("instances", "heuristics", "models") for file in (ROOT / layer).rglob("*.py"))
    return digest_of(f"{OURS}.{'.'.join(file.relative_to(ROOT).with_suffix('').parts)}" for file in layers)


def version_of(method: str, problem: str) -> str:
    """The version of the code of a run: of its method, its problem, and all that these import (:func:`.digest_of`).

    Where one of them is defined in ``__main__``, a ``+`` and a digest of what is there follow.
    """
    return _version(method_named(method).answering(problem), problem_named(problem))


def named_part(reference: str) -> Any:
    """What a kind names of this package as ``module:NAME`` (:class:`.Kind`)."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"{OURS}.{module}"), name)


def workload_version(workload: str) -> str:
    """The version of the code of a workload that is a plug-in; "" for any other."""
    item = WORKLOADS[workload]
    return _version(item) if item in WORKLOADS.plug_ins.values() else ""


def _version(*items: Any) -> str:
    every = {**METHODS.plug_ins, **PROBLEMS.plug_ins, **WORKLOADS.plug_ins}
    references = {id(item): reference for reference, item in every.items()}
    modules = {references.get(id(one), "").partition(":")[0] or home_of(one) or type(one).__module__ for one in items}
    here = {references[id(item)]: item for item in items if references.get(id(item), "").startswith("__main__:")}
    version = digest_of(modules)
    return f"{version}+{digest_of_main(here)}" if here else version


def own_part(version: str) -> str:
    """The part of a code version that is a version of files."""
    return version.partition("+")[0]
