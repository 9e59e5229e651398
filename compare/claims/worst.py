"""Instances on which a heuristic is far from the proven optimum: the search, and the file of the worst cases so far."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.method import Method
from ...instances.contract.problem import family_of
from ...instances.contract.result import Status
from ...instances.topics.instance import TopicInstance
from ..atlas.cells import sizes, surveyed
from ..atlas.every_instance import MOST_NODES, MOST_TOPICS, instance_of, number_of_instances
from ..atlas.record import AtlasEntry, entries_on_record, entry_of
from ..atlas.small_optima import PROBLEMS, smallest_value
from ..atlas.surveys import WORST, Survey, Term
from ..catalogue import method_named, problem_named

_SURVEYED = 200_000  # instances that are surveyed where they are not on record
_EXACT_SECONDS = 20.0
_EXACT = ("branch-and-cut", "filtering-cp-sat", "diameter-cp-sat")
_PATIENCE = 400
_EXTREME_NODES = 6  # of the search of ties in Python
HALL = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class WorstCase:
    """An instance with the value of a heuristic's answer, under a rule for `ties`, and the proven optimum.

    `method` has its options, as :class:`.Term` labels it. `topics` are the subscribers of each topic; nodes are
    0 … `nodes` − 1. `exhaustive` says that the atlas has no worse instance of at most this size.
    """

    method: str
    problem: str
    ties: str
    nodes: int
    topics: tuple[tuple[int, ...], ...]
    value: float
    optimum: float
    exhaustive: bool

    @property
    def ratio(self) -> float:
        return self.value / self.optimum

    def instance(self) -> TopicInstance:
        """The instance, with nodes n0, n1, … and topics t0, t1, …."""
        return instance_of(self.nodes, self.topics)


def worst_cases(file: Path = HALL) -> list[WorstCase]:
    """The cases in a file; none if it does not exist. A file that is no list of worst cases is bad input."""
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
    instance = case.instance()
    value = _run(case.method, case.problem, case.ties, instance)
    optimum = proven_optimum(instance, case.problem)
    if (value, optimum) == (case.value, case.optimum):
        return ""
    return f"{case.method} on {case.problem}: {value} ÷ {optimum} instead of {case.value} ÷ {case.optimum}"


def _key(case: WorstCase) -> tuple[Sequence[object], ...]:
    return ((case.method, case.problem), (case.nodes, len(case.topics)), (case.ties,))


def search_worst_case(
    method: str,
    problem: str,
    *,
    nodes: int,
    topics: int,
    time_limit: float,
    seed: int = 0,
    ties: str = "",
    known: Sequence[WorstCase] = (),
    progress: Callable[[int, float], object] | None = None,
) -> WorstCase:
    """The worst instance found of at most this size.

    Under ties ``worst`` the atlas answers where it has every instance of at most this size on record, or there are at
    most 200,000, which are surveyed within the time limit. Otherwise a local search flips subscriptions and accepts
    changes that do not lower the ratio, first from known cases and from the atlas, then from random starts. Every ratio
    is to a proven optimum.

    `method` may have options, as in ``low-oda[k=8]``. Known cases of at most this size are starts of the local search.
    The rule for ties is by default ``worst`` if the method offers that search and there are at most 6 nodes, or the
    atlas has the size on record; otherwise ``lowest``. `progress` is given the number of instances solved and the worst
    ratio so far. Bad input if the method does not answer the problem or is exact, or no instance was solved in time.
    """
    term, deadline = Term.parsed(method), time.monotonic() + time_limit
    chosen = method_named(term.method)
    if (kind := problem_named(problem).kind) != "topics":
        raise BadInput(f"problem '{problem}' is about {kind}: choose one about topics")
    if chosen.exact:
        raise BadInput(f"method '{method}' is exact: choose a heuristic")
    if nodes < 2 or topics < 1:
        raise BadInput(f"{nodes} nodes and {topics} topics: at least 2 nodes and 1 topic")
    term = term.normal(problem)
    method, has_ties = term.label, any(option.name == "ties" for option in chosen.options)
    listed = cases_on_record(method, problem, nodes, topics)
    worst_ties = searches_ties(chosen) and (nodes <= _EXTREME_NODES or any(case.exhaustive for case in listed))
    rule = ties or ("worst" if worst_ties else "lowest")
    chosen.complete({**dict(term.options), **({"ties": rule} if has_ties else {})}, problem)
    judge = _Judge(method, problem, rule if has_ties else "", progress)
    # A rule that compares node numbers distinguishes instances that differ by names only.
    if rule == WORST and has_ties and problem in PROBLEMS:
        if not any(case.exhaustive for case in listed):
            listed = [*listed, *_surveyed(method, problem, nodes, topics, deadline, judge)]
        if proven := [case for case in listed if case.exhaustive]:
            return proven[0]
        known = [*known, *listed]
    return _local_search(judge, nodes, topics, deadline, seed, known)


def searches_ties(method: Method[Any, Any]) -> bool:
    """Whether a method can search for the worst and the best way to break ties."""
    return any(option.name == "ties" and "worst" in option.allowed for option in method.options)


def proven_optimum(instance: TopicInstance, problem: str) -> float | None:
    """The optimum by enumeration on up to seven nodes, otherwise by an exact method; None if 20 s did not suffice."""
    if instance.num_nodes <= MOST_NODES and problem in PROBLEMS:
        return smallest_value(instance, problem)
    names = ("cp-sat",) if problem.startswith("2d-") else _EXACT
    exact = next(method_named(name) for name in names if family_of(problem) in method_named(name).problems)
    result = exact.run(instance, problem_named(problem), time_limit=_EXACT_SECONDS)
    return result.value if result.status is Status.OPTIMAL else None


class _Judge:
    """Evaluates an instance: a worst case, or None if the run failed or no optimum was proven."""

    def __init__(
        self, method: str, problem: str, ties: str, progress: Callable[[int, float], object] | None = None
    ) -> None:
        self.method, self.problem, self.ties = method, problem, ties
        self._progress, self._solved, self._worst = progress, 0, 1.0

    def __call__(self, nodes: int, topics: Sequence[Sequence[int]]) -> WorstCase | None:
        instance = instance_of(nodes, topics)
        value, optimum = _run(self.method, self.problem, self.ties, instance), proven_optimum(instance, self.problem)
        if value is None or not optimum:
            return None
        self.count(1, value / optimum)
        sets = tuple(sorted(tuple(sorted(members)) for members in topics))
        return WorstCase(self.method, self.problem, self.ties, nodes, sets, value, optimum, False)

    def count(self, solved: int, ratio: float) -> None:
        """Report so many more instances, of at most this ratio."""
        self._solved, self._worst = self._solved + solved, max(self._worst, ratio)
        if self._progress is not None:
            self._progress(self._solved, self._worst)


def _run(method: str, problem: str, ties: str, instance: TopicInstance) -> float | None:
    term, rule = Term.parsed(method), {"ties": ties} if ties else {}
    options: dict[str, Any] = {**dict(term.options), **rule}
    return method_named(term.method).run(instance, problem_named(problem), **options).value


def cases_on_record(method: str, problem: str, nodes: int, topics: int) -> list[WorstCase]:
    """The worst case of the cells on record of at most this size, exhaustive if all are."""
    return _worst_of(entries_on_record().get((method, problem), {}), nodes, topics)


def _surveyed(method: str, problem: str, nodes: int, topics: int, deadline: float, judge: _Judge) -> list[WorstCase]:
    """As :func:`_on_record` of a survey, as far as it comes in the time."""
    survey = Survey(problem, method)
    if nodes > MOST_NODES or topics > MOST_TOPICS or not survey.is_fast:
        return []
    entries: dict[tuple[int, int], AtlasEntry] = {}
    chosen = sizes(nodes, topics)
    if sum(number_of_instances(*size) for size in chosen) > _SURVEYED:
        return []
    for cell in surveyed(survey, chosen):
        entries[cell.nodes, cell.topics] = entry_of(method, problem, cell)
        judge.count(cell.instances, float(cell.worst(WORST).ratio))
        if time.monotonic() > deadline:
            break
    return _worst_of(entries, nodes, topics)


def _worst_of(entries: Mapping[tuple[int, int], AtlasEntry], nodes: int, topics: int) -> list[WorstCase]:
    cells = [one for (n, t), one in entries.items() if n <= nodes and t <= topics and WORST in one.found]
    best: WorstCase | None = None
    for one in cells:
        found = one.found[WORST]
        value = float(found.value), float(found.optimum)
        best = _worse(best, WorstCase(one.method, one.problem, WORST, one.nodes, found.topics, *value, False))
    return [] if best is None else [replace(best, exhaustive=len(cells) == (nodes - 1) * topics)]


def _worse(best: WorstCase | None, other: WorstCase | None) -> WorstCase | None:
    if best is None or other is None:
        return best or other
    return other if (other.ratio, -other.optimum) > (best.ratio, -best.optimum) else best


def _local_search(
    judge: _Judge, nodes: int, topics: int, deadline: float, seed: int, known: Sequence[WorstCase]
) -> WorstCase:
    rng = np.random.default_rng(seed)
    starts = [case for case in known if case.nodes <= nodes and len(case.topics) <= topics]
    best: WorstCase | None = None
    while best is None or time.monotonic() < deadline:
        interest = rng.random((topics, nodes)) < rng.uniform(0.25, 0.75)
        if starts:
            interest[:] = False
            for t, members in enumerate(starts.pop().topics):
                interest[t, list(members)] = True
        current, idle = judge(nodes, _members(interest)), 0
        best = _worse(best, current)
        while idle < _PATIENCE and time.monotonic() < deadline:
            tried = interest.copy()
            for _ in range(int(rng.integers(1, 4))):
                t, v = int(rng.integers(topics)), int(rng.integers(nodes))
                tried[t, v] = ~tried[t, v]
            found = judge(nodes, _members(tried))
            idle += 1
            if found is not None and (current is None or _score(found) >= _score(current)):
                idle = 0 if current is None or _score(found) > _score(current) else idle
                interest, current, best = tried, found, _worse(best, found)
        if best is None and time.monotonic() > deadline:
            raise BadInput("no instance of this size was solved in the time: allow more time or fewer nodes")
    return best


def _score(case: WorstCase) -> tuple[float, float]:
    return case.ratio, case.value - case.optimum


def _members(interest: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[tuple[int, ...]]:
    """The sets of two or more nodes; smaller ones need no edge."""
    return [tuple(np.flatnonzero(row).tolist()) for row in interest if row.sum() > 1]
