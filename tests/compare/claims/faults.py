"""Faulty methods, functions, data and rows, under which a claim's verdict must change."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import pandas as pd
import pytest

import overlaybench as ob
from overlaybench.compare.claims.bench import Bench, Experiment, rows_here
from overlaybench.compare.claims.claim import Judgement, Verdict
from overlaybench.compare.claims.data import GRIDS
from overlaybench.compare.claims.register import CLAIMS
from tests.compare.conftest import slow

Methods = Mapping[str, ob.Method[Any, Any]]
Edges = set[tuple[int, int]]
Broken = Callable[[ob.TopicInstance, str, int], Edges]


@dataclass(frozen=True)
class Fault:
    """What changes a verdict: faulty methods, or objects of the claims' modules (``p5.Move``) replaced.

    `grid` gives the runs of the claim's grids, or `shape` the shapes of its instances where they differ.
    """

    methods: Methods = field(default_factory=lambda: ob.METHODS)
    sound: Verdict = Verdict.CONFIRMED
    broken: Verdict = Verdict.CONTRADICTED
    replaced: Mapping[str, Any] = field(default_factory=dict)
    grid: Callable[[], Experiment] | None = None
    shape: Mapping[str, Any] = field(default_factory=dict)

    def check(self, id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The verdict without and with the fault."""
        assert self._judged(id_, ob.METHODS).verdict is self.sound
        for name, value in self.replaced.items():
            monkeypatch.setattr(f"overlaybench.compare.claims.{name}", value)
        assert self._judged(id_, self.methods).verdict is self.broken

    def _judged(self, id_: str, methods: Methods) -> Judgement:
        if self.grid is None:
            return judged_on(id_, methods, self.shape)
        return CLAIMS[id_].judge(Bench(True, methods, {CLAIMS[id_].grids[0]: rows_here(self.grid(), methods)}))


def judged_on(claim: str, methods: Methods, shape: Mapping[str, Any]) -> Judgement:
    """The judgement of a claim's quick version, with other values of its grids' shapes."""
    tables = {}
    for name in CLAIMS[claim].grids:
        sheets = tuple(replace(sheet, quick={**sheet.quick, **shape}) for sheet in GRIDS[name].sheets)
        tables[name] = rows_here(replace(GRIDS[name], sheets=sheets).experiment(True), methods)
    return CLAIMS[claim].judge(Bench(True, methods, tables))


def judged_on_rows(claim: str, rows: pd.DataFrame) -> Judgement:
    """The judgement of a claim whose grid has these rows."""
    return CLAIMS[claim].judge(Bench(True, tables={CLAIMS[claim].grids[0]: rows}))


def tiered(slow_claims: Collection[str], claims: Collection[str]) -> pytest.MarkDecorator:
    """The claims by `id_`, some of them in slow tests: others show the same kind of verdict at less cost."""
    return pytest.mark.parametrize("id_", [slow(one) if one in slow_claims else one for one in claims])


def with_broken(**broken: Broken) -> Methods:
    """The catalogue with algorithms (``low_oda``) replaced by ones without the search of ties."""

    def solving(build: Broken) -> Callable[..., ob.Proposal[ob.Overlay]]:
        def solve(
            instance: ob.TopicInstance, problem: object, *, seed: int, ties: str = "lowest", **options: object
        ) -> ob.Proposal[ob.Overlay]:
            if ties in ("worst", "best"):
                return ob.Proposal(reason="not searched")
            return ob.Proposal(ob.Overlay.from_edges(instance.num_nodes, sorted(build(instance, ties, seed))))

        return solve

    named = {name.lstrip("_").replace("_", "-"): build for name, build in broken.items()}
    own = {  # what states no bound is no exact method
        name: replace(ob.METHODS[name], solve=solving(one), compiled=False, exact=False, members=())
        for name, one in named.items()
    }
    return {**ob.METHODS, **own}


def every_pair(instance: ob.TopicInstance, ties: str, seed: int) -> Edges:
    return set(combinations(range(instance.num_nodes), 2))


def no_edge(instance: ob.TopicInstance, ties: str, seed: int) -> Edges:
    return set()


def with_answers(name: str, change: Callable[[Any, Any], Any] | None = None, found: str = "") -> Methods:
    """The catalogue with a method whose answers, or those of the method `found`, are changed; it proves nothing."""
    method, other = ob.METHODS[name], ob.METHODS[found or name]

    def solve(instance: Any, problem: Any, **given: Any) -> ob.Proposal[Any]:
        if found:
            given = {"seed": given["seed"], "time_limit": None, **other.complete({}, problem.name)}
        proposal = other.solve(instance, problem, **given)
        answer = proposal.answer if change is None else change(instance, proposal.answer)
        return replace(proposal, answer=answer, lower_bound=None, status=None)

    return {**ob.METHODS, name: replace(method, solve=solve)}


def with_options(name: str, **fixed: Any) -> Methods:
    """The catalogue with a method some of whose options are fixed, whatever is asked."""
    method = ob.METHODS[name]

    def solve(instance: Any, problem: Any, **options: Any) -> Any:
        return method.solve(instance, problem, **{**options, **fixed})

    return {**ob.METHODS, name: replace(method, solve=solve)}
