"""The file of the worst cases found so far."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ..catalogue import method_named, problem_named
from .worst import WorstCase, proven_optimum

HALL = Path(__file__).with_name("hall_of_fame.json")


def worst_cases(file: Path = HALL) -> list[WorstCase]:
    """The cases in a file; none if it does not exist.

    Raises
    ------
    BadInput
        If the file is no list of worst cases.
    """
    if not file.exists():
        return []
    try:
        data = json.loads(read_text(file))
        return [WorstCase(**{**one, "topics": tuple(map(tuple, one["topics"]))}) for one in data]
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"{file}: no list of worst cases ({error}): correct or remove the file") from None


def add_case(case: WorstCase, file: Path) -> bool:
    """Add a case if it is worse than those of its method, problem and size; return whether it was added."""
    cases = worst_cases(file)
    same = [one for one in cases if _key(one) == _key(case)]
    if any((one.ratio, one.exhaustive) >= (case.ratio, case.exhaustive) for one in same):
        return False
    kept = sorted([one for one in cases if one not in same] + [case], key=_key)
    lines = ",\n".join(json.dumps(asdict(one)) for one in kept)
    atomic_write(file, f"[\n{lines}\n]\n")
    return True


def wrong_with(case: WorstCase) -> str:
    """The difference between a case and a repeated run of it; "" if there is none."""
    instance, problem = case.instance(), problem_named(case.problem)
    options = {"ties": case.ties} if case.ties else {}
    value = method_named(case.method).run(instance, problem, seed=0, time_limit=None, **options).value
    optimum = proven_optimum(instance, case.problem)
    if (value, optimum) == (case.value, case.optimum):
        return ""
    return f"{case.method} on {case.problem}: {value} ÷ {optimum} instead of {case.value} ÷ {case.optimum}"


def _key(case: WorstCase) -> tuple[Sequence[object], ...]:
    return ((case.method, case.problem), (case.nodes, len(case.topics)), (case.ties,))
