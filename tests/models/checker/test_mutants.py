"""Mutated proofs and instances: none is accepted with a claim that enumeration refutes."""

import copy
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.models.checker.mutants import KINDS, Mutant, lift, mutate
from tests.models.checker.tiny import ALL_PROBLEMS, TRACES, Line, Tiny, check, draw_tiny, falsehood

_MUTANTS = 12_000


@cache
def proofs(problem: str, count: int, seed: str = "") -> list[tuple[Tiny, list[Line]]]:
    """Some proofs, half of them with trees if there are such."""
    draw = random.Random(seed + problem)
    found: list[tuple[Tiny, list[Line]]] = []
    with TemporaryDirectory() as folder:
        for attempt in range(4 * count):
            tiny = draw_tiny(draw, problem)
            result, lines = tiny.prove(Path(folder), time_limit=20)
            needed = attempt > 2 * count or len(found) < count // 2
            if lines and ((result.counters.get("nodes") or 0) > 0 or (needed and len(lines) > 4)):
                found.append((tiny, lines))
            if len(found) == count:
                break
    return found


def mutants(problem: str, count: int, seed: str, base_seed: str) -> Iterator[tuple[str, Mutant]]:
    """Mutants of one or more changes with the first change's kind; half of them with unlimited ends."""
    draw = random.Random(f"{count} {problem}{seed}")
    base = proofs(problem, 4 if count < 1000 else 40, base_seed)
    for number in range(count):
        tiny, lines = draw.choice(base)
        mutant = Mutant(tiny, copy.deepcopy(lines), [lines for _, lines in base])
        if draw.random() < 0.5:
            lift(mutant, draw)
        kind = list(KINDS)[number % len(KINDS)]
        mutate(draw, mutant, kind)
        while draw.random() < 0.3:
            mutate(draw, mutant, draw.choice(list(KINDS)))
        yield kind, mutant


def outcomes(problem: str, count: int, folder: Path, seed: str = "", base_seed: str = "") -> Counter[tuple[str, str]]:
    """How many mutants of each kind were named, or accepted as less than, or all of, what the proof claimed.

    The proofs follow from the second seed, their changes from both.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for kind, mutant in mutants(problem, count, seed, base_seed):
        outcome = check(mutant.tiny, mutant.lines, folder)
        if isinstance(outcome, str):
            seen[kind, "named"] += 1
            continue
        assert not (why := falsehood(mutant.tiny, outcome)), (kind, why, mutant)
        seen[kind, "optimal" if outcome[3] else "weaker"] += 1
    return seen


@pytest.mark.interpreted
@pytest.mark.parametrize("problem", [each for each in (*ALL_PROBLEMS, TRACES) if each != "2d-true"])
def test_no_mutant_proves_what_is_false(problem: str, tmp_path: Path) -> None:
    seen = outcomes(problem, len(KINDS), tmp_path)
    assert sum(seen.values()) == len(KINDS)
    assert any(result == "named" for _, result in seen)
    assert any(result != "named" for _, result in seen)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("problem", [*ALL_PROBLEMS, TRACES])
def test_no_mutant_of_many_proves_what_is_false(problem: str, tmp_path: Path) -> None:
    count = -(-_MUTANTS // len(ALL_PROBLEMS))
    assert sum(outcomes(problem, count, tmp_path).values()) == count
