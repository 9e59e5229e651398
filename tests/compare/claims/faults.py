"""Faulty methods and functions, under which a claim's verdict must change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.bench import Bench, Experiment, rows_here
from overlaybench.compare.claims.claim import Judgement, Verdict
from overlaybench.compare.claims.register import CLAIMS
from overlaybench.instances.contract.method import Method, Proposal

Methods = Mapping[str, Method[Any, Any]]


@dataclass(frozen=True)
class Fault:
    """A verdict, and what changes it: faulty methods, or functions of a module replaced by others.

    `grid` gives the runs of the claim's grid on small instances.
    """

    sound: Verdict
    broken: Verdict
    methods: Methods = field(default_factory=lambda: METHODS)
    module: Any = None
    replaced: Mapping[str, Any] = field(default_factory=dict)
    grid: Callable[[], Experiment] | None = None

    def check(self, id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The verdict without and with the fault."""
        assert self._judged(id_, METHODS).verdict is self.sound
        for name, value in self.replaced.items():
            monkeypatch.setattr(self.module, name, value)
        assert self._judged(id_, self.methods).verdict is self.broken

    def _judged(self, id_: str, methods: Methods) -> Judgement:
        claim = CLAIMS[id_]
        tables = {name: rows_here(self.grid(), methods) for name in claim.grids} if self.grid else {}
        return claim.judge(Bench(True, methods, tables))


def with_answers(name: str, change: Callable[[Any, Any], Any] | None = None, found: str = "") -> Methods:
    """The catalogue with a method whose answers, or those of the method `found`, are changed; it proves nothing."""
    method, other = METHODS[name], METHODS[found or name]

    def solve(instance: Any, problem: Any, **given: Any) -> Proposal[Any]:
        if found:
            given = {"seed": given["seed"], "time_limit": None, **other.complete({}, problem.name)}
        proposal = other.solve(instance, problem, **given)
        answer = proposal.answer if change is None else change(instance, proposal.answer)
        return replace(proposal, answer=answer, lower_bound=None, status=None)

    return {**METHODS, name: replace(method, solve=solve)}


def with_options(name: str, **fixed: Any) -> Methods:
    """The catalogue with a method some of whose options are fixed, whatever is asked."""
    method = METHODS[name]

    def solve(instance: Any, problem: Any, **options: Any) -> Any:
        return method.solve(instance, problem, **{**options, **fixed})

    return {**METHODS, name: replace(method, solve=solve)}
