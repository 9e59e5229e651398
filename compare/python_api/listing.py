"""The problems, methods and workloads by name, as tables."""

from __future__ import annotations

from textwrap import shorten
from typing import Any, TypeVar

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.method import Method
from ...instances.contract.problem import Problem
from ...instances.contract.shown import table
from ...instances.contract.workload import Workload
from ..catalogue import METHODS

Item = TypeVar("Item")
_WIDTH = 79


class Listing(dict[str, Item]):
    """Items by name, which show themselves as a table of names and summaries."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        left = _WIDTH - width - 2
        summaries = (shorten(getattr(item, "summary", ""), left, placeholder=" …") for item in self.values())
        return "\n".join(f"{name.ljust(width)}  {summary}" for name, summary in zip(self, summaries, strict=True))

    def _repr_html_(self) -> str:
        rows = [(name, getattr(item, "summary", ""), getattr(item, "source", "")) for name, item in self.items()]
        return table("", ("name", "summary", "source"), rows, texts=3)


def methods(problem: str = "") -> Listing[Method[Any, Any]]:
    """The methods that answer a problem, or all methods, by name.

    Raises
    ------
    BadInput
        If the problem is unknown.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.methods("steiner")["branch-and-cut"].exact
    True
    """
    name = problem and PROBLEMS.named(problem).name
    if not name:
        return Listing(METHODS)
    return Listing({each.name: each.answering(name) for each in METHODS.values() if each.answers(name)})


def problems(kind: str = "") -> Listing[Problem[Any, Any]]:
    """The problems, or those of a kind (``topics``, ``content``, ``brokers``, ``steiner``), by name.

    Examples
    --------
    >>> import overlaybench as ob
    >>> list(ob.problems("topics"))[:3]
    ['min-tco', 'minmax-tco', 'low-tco']
    """
    name = kind and KINDS.named(kind).name
    return Listing({problem.name: problem for problem in PROBLEMS.values() if name in ("", problem.kind)})


def workloads(kind: str = "") -> Listing[Workload[Any]]:
    """The workloads and constructions, or those of a kind, by name.

    Examples
    --------
    >>> import overlaybench as ob
    >>> [option.name for option in ob.workloads()["zipf"].parameters]
    ['nodes', 'topics', 'subscriptions', 'alpha']
    """
    name = kind and KINDS.named(kind).name
    return Listing({workload.name: workload for workload in WORKLOADS.values() if name in ("", workload.kind)})
