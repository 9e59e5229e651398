"""What is asked of every instance of a size: the values of a method under each way to break ties, or a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.method import Method
from ...instances.contract.option import Value
from ..catalogue import method_named, problem_named, version_of
from .every_instance import Rows, instance_of, members_of
from .every_tie import TIES, TieValues, values_under_ties
from .expressions import QUANTITIES, Expression, Numbers, parsed, quantities_of
from .small_optima import PROBLEMS, optima_of

RANDOM, OWN, EXCLUDED, CLAIM = "random", "own", "excluded", "claim"
"""Besides the rules for ties: the mean over random ties, a method that the search of ties does not know, the instances
that a condition excludes, and a claim, whose value is 1 where it holds."""
WORST, BEST = "worst", "best"
OPTIMUM = "optimum"
UNIT = 1 << 32
_TERM = re.compile(r"([^\[\]]+)(?:\[([^\[\]]*)\])?")
_RADIX = 1 << 12


class SurveyRow(NamedTuple):
    """The instances of one optimum and one value under a rule for ties."""

    ties: str
    optimum: int
    value: int  # −1 of means
    cases: int
    total: int  # the sum of the values; of means in units of 2^-32, rounded
    example: tuple[int, ...]  # the first of the instances

    @property
    def ratio(self) -> Fraction:
        """Value ÷ optimum."""
        return Fraction(self.value, self.optimum)


def merged(one: SurveyRow, other: SurveyRow) -> SurveyRow:
    """The instances of both: in whatever order rows are merged, the result is the same."""
    return one._replace(
        cases=one.cases + other.cases, total=one.total + other.total, example=min(one.example, other.example)
    )


@dataclass(frozen=True)
class Term:
    """A method with its options, as in ``low-oda[k=3]`` or ``gm[ties=best]``."""

    method: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parsed(cls, text: str) -> Term:
        """The term in a text."""
        match = _TERM.fullmatch(text.strip())
        options = [word.partition("=") for word in (match[2] or "").split(",")] if match else []
        given = [(name.strip(), value.strip()) for name, equals, value in options if equals]
        if match is None or (match[2] is not None and len(given) < len(options)):
            raise BadInput(f"{text!r}: is no method: write it as low-oda or low-oda[k=3,ties=best]")
        return cls(match[1].strip(), tuple(sorted(given)))

    @property
    def label(self) -> str:
        options = ",".join(f"{name}={value}" for name, value in self.options)
        return f"{self.method}[{options}]" if options else self.method

    def normal(self, problem: str) -> Term:
        """The term with the options alone that are not at their defaults, each as its type is written."""
        values = self.found(problem).complete(dict(self.options), problem)
        defaults = {option.name: option.default for option in self.found(problem).options}
        given = {name: value for name, value in values.items() if value != defaults[name]}
        texts = ((name, str(value).removesuffix(".0")) for name, value in given.items())
        return Term(method_named(self.method).name, tuple(sorted(texts)))

    def found(self, problem: str) -> Method[Any, Any]:
        return method_named(self.method).answering(problem)

    def given(self, problem: str) -> dict[str, Value]:
        """All options but ``ties``; BadInput for a method or an option that the problem has not."""
        method = method_named(self.method)
        options = {name: value for name, value in self.options if name != "ties" or not self.searches_ties(problem)}
        complete = method.complete(options, problem)
        return {name: value for name, value in complete.items() if name != "ties" or not self.searches_ties(problem)}

    def searches_ties(self, problem: str) -> bool:
        return self.found(problem).rule is not None

    def ties(self, problem: str) -> str:
        """The rule for ties under which a claim takes its value: ``worst`` unless it names one."""
        if not self.searches_ties(problem):
            return OWN
        rule = dict(self.options).get("ties", WORST)
        if rule not in TIES:
            raise unknown("rule for ties of a claim", rule, TIES)
        return rule

    def values(self, problem: str, nodes: int, rows: Rows) -> dict[str, npt.NDArray[Any]]:
        """The values on each instance, by the rule for ties."""
        rule, given = self.found(problem).rule, self.given(problem)
        if rule is None:
            return {OWN: np.array([self._value(problem, nodes, row, given) for row in rows])}
        measure = PROBLEMS[problem][1]
        found: TieValues = values_under_ties(nodes, rows, rule(**given))
        by_rule = {ties: found.values[:, number, measure] for number, ties in enumerate(TIES)}
        return by_rule | {RANDOM: found.means[:, measure]}

    def _value(self, problem: str, nodes: int, row: Rows, given: Mapping[str, Value]) -> int:
        topics = members_of(nodes, row)
        options: dict[str, Any] = dict(given)
        result = method_named(self.method).run(instance_of(nodes, topics), problem_named(problem), **options)
        if result.value is None:
            raise BadInput(f"method '{self.method}' gives no answer to {topics}: {result.reason}")
        return int(result.value)


@dataclass(frozen=True)
class Survey:
    """A method's values beside the optimum, or a claim about methods, on the instances for which a condition holds.

    BadInput if the problem has no listed optima, or a name or an option is unknown.
    """

    problem: str
    method: str = ""
    claim: str = ""
    where: str = ""

    def __post_init__(self) -> None:
        if self.problem not in PROBLEMS:
            raise unknown("problem of the atlas", self.problem, PROBLEMS)
        for term in self.terms.values():
            term.given(self.problem)
            if self.claim:
                term.ties(self.problem)
        if self.method and self.term.searches_ties(self.problem) and "ties" in dict(self.term.options):
            raise BadInput("the atlas has all rules for ties: leave out option 'ties'")
        for name in () if self._condition is None else self._condition.names:
            if name not in (*QUANTITIES, OPTIMUM):
                raise unknown("quantity of an instance", name, (*QUANTITIES, OPTIMUM))

    @cached_property
    def term(self) -> Term:
        return Term.parsed(self.method)

    @cached_property
    def terms(self) -> dict[str, Term]:
        """The methods, as they are written."""
        if self.method:
            return {self.method: self.term}
        names = self._claimed.names if self._claimed is not None else ()
        return {name: Term.parsed(name) for name in names if name not in (*QUANTITIES, OPTIMUM)}

    @cached_property
    def _claimed(self) -> Expression | None:
        return parsed(self.claim, "--claim") if self.claim else None

    @cached_property
    def _condition(self) -> Expression | None:
        return parsed(self.where, "--where") if self.where else None

    @property
    def label(self) -> str:
        subject = (
            f"{self.term.normal(self.problem).label} on {self.problem}"
            if self.method
            else f"{self.claim}, {self.problem}"
        )
        return subject + (f", where {self.where}" if self.where else "")

    @cached_property
    def key(self) -> str:
        """The label with the versions of the code that answers."""
        versions = {term.method: version_of(term.method, self.problem) for term in self.terms.values()}
        return f"{self.label} {sorted(versions.items())}"

    @cached_property
    def is_fast(self) -> bool:
        """Whether kernels know all ties of all its methods."""
        return all(term.searches_ties(self.problem) for term in self.terms.values())

    def rows_of(self, nodes: int, rows: Rows) -> Iterator[SurveyRow]:
        """The rows of some instances, which are in order."""
        optimum, size = optima_of(nodes, rows, self.problem).astype(np.int64), len(rows)
        columns: dict[str, Numbers] = {OPTIMUM: optimum, **(quantities_of(nodes, rows) if self._quantified else {})}
        if self._condition is not None:
            chosen = self._condition.holds(columns, size)
            yield from _grouped(EXCLUDED, np.zeros_like(optimum[~chosen]), optimum[~chosen] * 0, rows[~chosen])
            rows, optimum = rows[chosen], optimum[chosen]
            columns = {name: column[chosen] for name, column in columns.items()}
        if not len(rows):
            return
        if self._claimed is None:
            for ties, values in self.term.values(self.problem, nodes, rows).items():
                yield from (_means if ties == RANDOM else _grouped)(ties, optimum, values, rows)
            return
        for name, term in self.terms.items():
            columns[name] = term.values(self.problem, nodes, rows)[term.ties(self.problem)]
        holds = self._claimed.holds(columns, len(rows)).astype(np.int64)
        yield from _grouped(CLAIM, np.zeros_like(holds), holds, rows)

    def values_on(self, nodes: int, row: tuple[int, ...]) -> dict[str, int]:
        """The optimum of an instance, and the values of the methods under their rules for ties, `worst` by default."""
        rows = np.array([row], np.uint8)
        by_term = {
            name: int(term.values(self.problem, nodes, rows)[term.ties(self.problem)][0])
            for name, term in self.terms.items()
        }
        return {**by_term, OPTIMUM: int(optima_of(nodes, rows, self.problem)[0])}

    @cached_property
    def _quantified(self) -> bool:
        used = [name for each in (self._claimed, self._condition) if each is not None for name in each.names]
        return any(name in QUANTITIES for name in used)


def _grouped(ties: str, optimum: npt.NDArray[Any], values: npt.NDArray[Any], rows: Rows) -> Iterator[SurveyRow]:
    keys, first, counts = np.unique(optimum.astype(np.int64) * _RADIX + values, return_index=True, return_counts=True)
    for key, index, count in zip(keys.tolist(), first.tolist(), counts.tolist(), strict=True):
        least, value = divmod(key, _RADIX)
        yield SurveyRow(ties, least, value, count, count * value, tuple(rows[index].tolist()))


def _means(ties: str, optimum: npt.NDArray[Any], means: npt.NDArray[Any], rows: Rows) -> Iterator[SurveyRow]:
    units = np.rint(means * UNIT).astype(np.int64)
    for least in np.unique(optimum).tolist():
        chosen = np.flatnonzero(optimum == least)
        yield SurveyRow(ties, least, -1, len(chosen), int(units[chosen].sum()), tuple(rows[chosen[0]].tolist()))
