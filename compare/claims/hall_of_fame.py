"""The worst cases found so far: kept in a file, and judged anew whenever they are spoken of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ...instances.errors import BadInput
from ...instances.files import atomic_write, read_text
from ..catalogue import method_named, problem_named
from .worst import WorstCase, proven_optimum

HALL = Path(__file__).with_name("hall_of_fame.json")


def worst_cases(file: Path = HALL) -> list[WorstCase]:
    """The cases in a file; there are none if it is not there.

    Raises
    ------
    BadInput
        If it is no list of worst cases.
    """
    if not file.exists():
        return []
    try:
        told = json.loads(read_text(file))
        return [WorstCase(**{**one, "topics": tuple(map(tuple, one["topics"]))}) for one in told]
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"{file}: no list of worst cases ({error}): mend or remove it") from None


def add_case(case: WorstCase, file: Path) -> bool:
    """Keep a case if it is worse than those kept of its method, problem and size; say whether it is kept."""
    cases = worst_cases(file)
    same = [one for one in cases if _key(one) == _key(case)]
    if any((one.ratio, one.exhaustive) >= (case.ratio, case.exhaustive) for one in same):
        return False
    kept = sorted([one for one in cases if one not in same] + [case], key=_key)
    lines = ",\n".join(json.dumps(asdict(one)) for one in kept)
    atomic_write(file, lambda path: path.write_text(f"[\n{lines}\n]\n", encoding="utf-8"))
    return True


def wrong_with(case: WorstCase) -> str:
    """What is not as the case says when it is run again, or nothing."""
    instance, problem = case.instance(), problem_named(case.problem)
    options = {"ties": case.ties} if case.ties else {}
    value = method_named(case.method).run(instance, problem, seed=0, time_limit=None, **options).value
    optimum = proven_optimum(instance, case.problem)
    if (value, optimum) == (case.value, case.optimum):
        return ""
    return f"{case.method} on {case.problem}: {value} ÷ {optimum}, kept are {case.value} ÷ {case.optimum}"


def _key(case: WorstCase) -> tuple[Sequence[object], ...]:
    return ((case.method, case.problem), (case.nodes, len(case.topics)), (case.ties,))
