"""Instances on which a heuristic is far from the proven optimum: the search, and the file of the worst cases so far."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, combinations_with_replacement, permutations
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.method import Method
from ...instances.contract.problem import family_of
from ...instances.contract.result import Status
from ...instances.topics.instance import TopicInstance
from ...models.topics.enumeration import ENUMERATED, MOST_NODES, smallest_value
from ..catalogue import method_named, problem_named

_ENUMERABLE = 60_000
_EXACT_SECONDS = 20.0
_EXACT = ("branch-and-cut", "filtering-cp-sat", "diameter-cp-sat")
_PATIENCE = 400
_EXTREME_NODES = 6
HALL = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class WorstCase:
    """An instance with the value of a heuristic's answer, under a rule for `ties`, and the proven optimum.

    `topics` are the subscribers of each topic; nodes are 0 … `nodes` − 1. `exhaustive` says that enumeration showed
    that no instance of at most this size is worse.
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
    instance, problem = case.instance(), problem_named(case.problem)
    options = {"ties": case.ties} if case.ties else {}
    value = method_named(case.method).run(instance, problem, seed=0, time_limit=None, **options).value
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

    If there are at most 60,000 instances up to renaming of nodes and topics, all are enumerated within the time limit.
    Otherwise a local search flips subscriptions and accepts changes that do not lower the ratio, first from known cases
    and then from random starts. Every ratio is to a proven optimum.

    Known cases of at most this size are starts of the local search. The rule for ties is by default ``worst`` if the
    method offers that search and there are at most 6 nodes, otherwise ``lowest``. `progress` is given the number of
    instances solved and the worst ratio so far. Bad input if the method does not answer the problem or is exact, or no
    instance was solved in the time.
    """
    chosen, deadline = method_named(method), time.monotonic() + time_limit
    if (kind := problem_named(problem).kind) != "topics":
        raise BadInput(f"problem '{problem}' is about {kind}: choose one about topics")
    if chosen.exact:
        raise BadInput(f"method '{method}' is exact: choose a heuristic")
    if nodes < 2 or topics < 1:
        raise BadInput(f"{nodes} nodes and {topics} topics: at least 2 nodes and 1 topic")
    has_ties = any(option.name == "ties" for option in chosen.options)
    rule = ties or ("worst" if searches_ties(chosen) and nodes <= _EXTREME_NODES else "lowest")
    chosen.complete({"ties": rule} if has_ties else {}, problem)
    judge = _Judge(method, problem, rule if has_ties else "", progress)
    # A rule that compares node numbers distinguishes instances that differ by names only.
    if judge.ignores_names and _count(nodes, topics) <= _ENUMERABLE:
        best, complete = None, True
        for sets in _up_to_names(nodes, topics):
            if time.monotonic() > deadline:
                complete = False
                break
            best = _worse(best, judge(nodes, sets))
        if best is not None and complete:
            return replace(best, exhaustive=True)
    return _local_search(judge, nodes, topics, deadline, seed, known)


def searches_ties(method: Method[Any, Any]) -> bool:
    """Whether a method can search for the worst and the best way to break ties."""
    return any(option.name == "ties" and "worst" in option.allowed for option in method.options)


def instance_of(nodes: int, topics: Sequence[Sequence[int]]) -> TopicInstance:
    """The instance with these subscribers; a node without topics gets one of its own."""
    interest: dict[str, list[str]] = {f"n{v}": [] for v in range(nodes)}
    for number, members in enumerate(topics):
        for v in members:
            interest[f"n{v}"].append(f"t{number}")
    return TopicInstance.from_subscriptions(
        {v: topics_of_node or [f"own-{v}"] for v, topics_of_node in interest.items()}
    )


def proven_optimum(instance: TopicInstance, problem: str) -> float | None:
    """The optimum by enumeration on up to six nodes, otherwise by an exact method; None if 20 s did not suffice."""
    if instance.num_nodes <= MOST_NODES and problem in ENUMERATED:
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
        self.ignores_names = ties == "worst"
        self._run = method_named(method)

    def __call__(self, nodes: int, topics: Sequence[Sequence[int]]) -> WorstCase | None:
        instance = instance_of(nodes, topics)
        options: dict[str, Any] = {"ties": self.ties} if self.ties else {}
        result = self._run.run(instance, problem_named(self.problem), **options)
        optimum = proven_optimum(instance, self.problem)
        if result.value is None or not optimum:
            return None
        self._solved, self._worst = self._solved + 1, max(self._worst, result.value / optimum)
        if self._progress is not None:
            self._progress(self._solved, self._worst)
        sets = tuple(sorted(tuple(sorted(members)) for members in topics))
        return WorstCase(self.method, self.problem, self.ties, nodes, sets, result.value, optimum, False)


def _worse(best: WorstCase | None, other: WorstCase | None) -> WorstCase | None:
    if best is None or other is None:
        return best or other
    return other if (other.ratio, -other.optimum) > (best.ratio, -best.optimum) else best


def _count(nodes: int, topics: int) -> int:
    """The number of multisets of at most this many sets of two or more nodes."""
    return math.comb(2**nodes - nodes - 1 + topics, topics) - 1


def _up_to_names(nodes: int, topics: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every instance once: topics as a multiset, nodes up to permutation, no topic with a single node."""
    sets = [members for size in range(2, nodes + 1) for members in combinations(range(nodes), size)]
    index = {members: number for number, members in enumerate(sets)}
    renamings = [
        [index[tuple(sorted(order[v] for v in members))] for members in sets] for order in permutations(range(nodes))
    ]
    for size in range(1, topics + 1):
        for chosen in combinations_with_replacement(range(len(sets)), size):
            if all(sorted(renaming[number] for number in chosen) >= list(chosen) for renaming in renamings):
                yield tuple(sets[number] for number in chosen)


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
