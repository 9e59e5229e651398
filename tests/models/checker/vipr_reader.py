"""A reader of VIPR 1.0 certificates in exact rationals, by the format's specification alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

Terms = dict[int, Fraction]
_SENSES = {"G": 1, "E": 0, "L": -1}


class Refused(Exception):
    """The certificate does not prove what it says."""


@dataclass
class Constraint:
    """Σ terms (≥, =, ≤ by a sense of 1, 0, −1) rhs, under assumptions; `last` says which derivation may use it last."""

    sense: int
    rhs: Fraction
    terms: Terms
    assumed: frozenset[int] = frozenset()
    last: int = -1

    def dominates(self, other: Constraint) -> bool:
        """By the specification: an absurdity does always, others with equal terms and no weaker right-hand side."""
        if not self.terms and (self.rhs > 0 <= self.sense or (self.rhs < 0 and self.sense <= 0)):
            return True
        if self.terms != other.terms or self.sense not in (0, other.sense):
            return False
        return (self.rhs - other.rhs) * other.sense >= 0 if other.sense else self.rhs == other.rhs

    def holds(self, point: Terms) -> bool:
        gap = sum((factor * point.get(i, 0) for i, factor in self.terms.items()), Fraction(0)) - self.rhs
        return gap * self.sense >= 0 if self.sense else gap == 0


@dataclass
class Certificate:
    """What was read and accepted."""

    names: list[str] = field(default_factory=list)
    integer: set[int] = field(default_factory=set)
    objective: Terms = field(default_factory=dict)
    problem: list[Constraint] = field(default_factory=list)
    lower: float | Fraction = -math.inf
    upper: float | Fraction = math.inf
    derivations: int = 0


def read(text: str) -> Certificate:
    """Check a certificate of a minimum; raises Refused."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    words = iter(" ".join(lines).split())
    found = Certificate()
    try:
        _need(_take(words, "VER") == "1.0", "another version")
        found.names = [next(words) for _ in range(int(_take(words, "VAR")))]
        found.integer = {int(next(words)) for _ in range(int(_take(words, "INT")))}
        _need(_take(words, "OBJ") == "min", "no minimum")
        found.objective = _terms(words)
        number, bounds = int(_take(words, "CON")), int(next(words))
        found.problem = [_constraint(words, found.objective)[1] for _ in range(number)]
        _need(all(len(bound.terms) == 1 for bound in found.problem[:bounds]), "no bound")
        _need(_take(words, "RTP") == "range", "no range")
        found.lower, found.upper = (_number(next(words)) for _ in range(2))
        values = [_solution(words, found) for _ in range(int(_take(words, "SOL")))]
        _need(found.upper == math.inf or min(values) <= found.upper, "no solution has the upper bound")
        found.derivations = int(_take(words, "DER"))
        last = _derive(words, found)
    except (StopIteration, ValueError, IndexError) as error:
        raise Refused(f"{type(error).__name__}: {error}") from None
    _need(next(words, None) is None, "something follows the derivations")
    wanted = Constraint(1, Fraction(found.lower), found.objective)
    _need(not last.assumed and last.dominates(wanted), "the last derivation is not the lower bound")
    return found


def _derive(words: Iterator[str], found: Certificate) -> Constraint:
    known, names = list(found.problem), set()
    for place in range(len(known), len(known) + found.derivations):
        name, made = _constraint(words, found.objective)
        _need(name not in names, f"{name} repeats")
        names.add(name)
        _need(next(words) == "{", "no reason")
        reason = next(words)
        if reason == "asm":
            made.assumed = frozenset([place])
        elif reason in ("lin", "rnd"):
            used = _terms(words)
            derived = _combination(used, known, place)
            if reason == "rnd":
                _rounded(derived, found.integer)
            _need(derived.dominates(made), f"{name} does not follow")
            made.assumed = derived.assumed
        elif reason == "uns":
            one, its, other, others = (int(next(words)) for _ in range(4))
            for used_here in (one, its, other, others):
                _usable(used_here, known, place)
            _need(known[one].dominates(made) and known[other].dominates(made), f"{name} does not follow")
            _splits(known[its], known[others], found.integer)
            made.assumed = (known[one].assumed - {its}) | (known[other].assumed - {others})
        else:
            raise Refused(f"no such reason as {reason}")
        _need(next(words) == "}", "the reason does not end")
        made.last = int(next(words))
        known.append(made)
    return known[-1]


def _combination(used: Terms, known: list[Constraint], place: int) -> Constraint:
    total = Constraint(0, Fraction(0), {})
    for index, factor in used.items():
        one = _usable(index, known, place)
        sense = one.sense * (1 if factor > 0 else -1)
        _need(not sense or total.sense in (0, sense), "the senses differ")
        total.sense = total.sense or sense
        total.rhs += factor * one.rhs
        total.assumed |= one.assumed
        for i, value in one.terms.items():
            total.terms[i] = total.terms.get(i, Fraction(0)) + factor * value
    total.terms = {i: value for i, value in total.terms.items() if value}
    return total


def _rounded(derived: Constraint, integer: set[int]) -> None:
    _need(all(i in integer and value.denominator == 1 for i, value in derived.terms.items()), "no integers to round")
    _need(derived.sense != 0, "an equation is not rounded")
    derived.rhs = Fraction(math.ceil(derived.rhs) if derived.sense > 0 else math.floor(derived.rhs))


def _splits(one: Constraint, other: Constraint, integer: set[int]) -> None:
    """Stop unless every integer point satisfies one of two constraints."""
    less, more = (one, other) if one.sense < 0 else (other, one)
    _need((less.sense, more.sense) == (-1, 1) and less.terms == more.terms, "no split")
    _need(more.rhs == less.rhs + 1 and less.rhs.denominator == 1, "the split has a gap")
    _need(all(i in integer and value.denominator == 1 for i, value in less.terms.items()), "no integers to split")


def _usable(index: int, known: list[Constraint], place: int) -> Constraint:
    _need(0 <= index < place, f"constraint {index} is not known yet")
    _need(known[index].last == -1 or place <= known[index].last, f"constraint {index} was dropped")
    return known[index]


def _solution(words: Iterator[str], found: Certificate) -> Fraction:
    next(words)
    point = _terms(words)
    _need(all(value.denominator == 1 for i, value in point.items() if i in found.integer), "no integer")
    _need(all(each.holds(point) for each in found.problem), "the solution violates the problem")
    return sum((cost * point.get(i, 0) for i, cost in found.objective.items()), Fraction(0))


def _constraint(words: Iterator[str], objective: Terms) -> tuple[str, Constraint]:
    name, sense, rhs = next(words), _SENSES[next(words)], Fraction(next(words))
    first = next(words)
    return name, Constraint(sense, rhs, objective if first == "OBJ" else _terms(words, int(first)))


def _terms(words: Iterator[str], number: int | None = None) -> Terms:
    number = int(next(words)) if number is None else number
    pairs = [(int(next(words)), Fraction(next(words))) for _ in range(number)]
    _need(len({index for index, _ in pairs}) == number, "an index repeats")
    return {index: value for index, value in pairs if value}


def _take(words: Iterator[str], word: str) -> str:
    _need(next(words) == word, f"no {word}")
    return next(words)


def _number(word: str) -> float | Fraction:
    return float(word) if word.endswith("inf") else Fraction(word)


def _need(condition: bool, why: str) -> None:
    if not condition:
        raise Refused(why)
