"""Tiny instances of all problems with proofs: their optima are enumerated, so every claim of a proof can be judged."""

import gzip
import importlib
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overlaybench
import overlaybench as ob
from overlaybench.instances.content.instance import ContentInstance, metric_closure
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.models.engine.proof import ProofFile, Proven
from overlaybench.models.topics.lp_bound import LowerBound
from overlaybench.models.topics.relaxation.cutting_planes import begin_proof, write_case
from overlaybench.models.topics.relaxation.presolve import presolved
from tests import content_brute_force, steiner_brute_force, topic_brute_force
from tests.models.topics.small_instances import priced

TOPIC_PROBLEMS = ("min-tco", "minmax-tco", "low-tco", "weighted-tco", "k-tco", "2d-star", "2d-true")
CONTENT_PROBLEMS = ("content-steiner", "content-mst", "content-shared-tree")
ALL_PROBLEMS = (*TOPIC_PROBLEMS, "steiner", *CONTENT_PROBLEMS)
TRACES = "dynamic-tco"
# A quick test of larger instances leaves out what a quick test of tiny ones covers.
ONE_OF_CONTENT = [
    pytest.param(each, marks=[pytest.mark.slow] * (each in CONTENT_PROBLEMS[1:])) for each in ALL_PROBLEMS
]
_ROUNDING = 1e-9  # of the enumeration of content problems, whose costs are floating-point numbers
_GAP = 1e-6

Line = list[Any]


@cache
def checker(name: str = "check_proof") -> Any:
    """A module of the checker, imported as its own process imports it."""
    folder = str(Path(overlaybench.__path__[0]) / "models" / "checker")
    if folder not in sys.path:
        sys.path[:0] = [folder, f"{folder}/vipr"]
    return importlib.import_module(name)


def case_of(model: Any, below: Any, rows: Sequence[Any]) -> Any:
    """A case of the checker whose rows, numbered in order, are given as coefficients and right-hand side."""
    kept = checker("rows").Rows(model)
    for row in rows:
        kept.lines.append(None)
        kept.keep(len(kept.lines) - 1, *row)
    return checker("cases").Case(model, below, kept)


@dataclass(frozen=True)
class Tiny:
    """A problem on an instance small enough for enumeration."""

    problem: str
    instance: Any

    @property
    def suffix(self) -> str:
        priced = ob.PROBLEMS[self.problem].kind == "topics" and self.instance.costs is not None
        if priced or getattr(self.instance, "has_nodes_without_topics", False):
            return ".json"
        return {"topics": ".csv", "content": ".json", "steiner": ".stp", "trace": ".jsonl"}[
            ob.PROBLEMS[self.problem].kind
        ]

    def write(self, path: Path) -> None:
        ob.KINDS[ob.PROBLEMS[self.problem].kind].write(self.instance, path)

    def head(self) -> dict[str, Any]:
        """What the first line of a proof says of this instance."""
        facts: dict[str, Any] = {"instance": self.instance.digest}
        if self.problem in (*TOPIC_PROBLEMS, TRACES):
            nodes, topics = self.instance.num_nodes, self.instance.num_topics
            facts["nodes"] = [self.instance.node_label(v) for v in range(nodes)]
            facts["topics"] = [self.instance.topic_label(t) for t in range(topics)]
        elif self.problem != "steiner":
            facts["users"] = [self.instance.user_label(u) for u in range(self.instance.num_users)]
            facts["brokers"] = [self.instance.broker_label(b) for b in range(self.instance.num_brokers)]
            facts["channels"] = [self.instance.channel_label(c) for c in range(self.instance.num_channels)]
        return facts

    def optimum(self) -> float:
        """By enumeration; infinite if there is no answer."""
        if self.problem in TOPIC_PROBLEMS:
            return topic_brute_force.optimum(self.instance, self.problem)
        if self.problem == TRACES:
            return sum(topic_brute_force.optimum(each, "min-tco") for each in self.instance.snapshots() if each)
        if self.problem == "steiner":
            cost = steiner_brute_force.least_cost(self.instance)
            return math.inf if cost is None else cost
        return content_brute_force.optimum(self.instance, self.problem.removeprefix("content-"))

    def prove(self, folder: Path, **options: Any) -> tuple[Any, list[Line]]:
        """The result of branch-and-cut, and the lines of its proof: none if it has no answer."""
        path = folder / "tiny.proof.gz"
        result = ob.METHODS["snapshot-optima" if self.problem == TRACES else "branch-and-cut"].run(
            self.instance, ob.PROBLEMS[self.problem], proof=path, **options
        )
        return result, read_lines(path)


def read_lines(path: Path) -> list[Line]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_lines(path: Path, lines: Sequence[Any]) -> None:
    """Write lines; a text is written as it is."""
    with gzip.open(path, "wt", compresslevel=0, encoding="utf-8") as file:
        file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


def check(tiny: Tiny, lines: Sequence[Any], folder: Path) -> tuple[str, Any, Any, bool] | str:
    """What the checker says is proven: problem, value, bound and whether the value is optimal; or what is wrong."""
    instance, proof = folder / f"instance{tiny.suffix}", folder / "lines.proof.gz"
    tiny.write(instance)
    write_lines(proof, lines)
    return verdict(instance, proof)


def verdict(instance: Path, proof: Path) -> tuple[str, Any, Any, bool] | str:
    module = checker()
    try:
        outcome: tuple[str, Any, Any, bool] = module.check(str(instance), str(proof))
    except module.Wrong as error:
        return str(error)
    return outcome


def falsehood(tiny: Tiny, outcome: tuple[str, Any, Any, bool]) -> str:
    """What an accepted proof says that enumeration refutes; empty if all of it is true."""
    problem, value, proven, is_optimal = outcome
    truth = replace(tiny, problem=problem).optimum()
    rounding = _ROUNDING if problem in CONTENT_PROBLEMS else 0
    if proven > truth * (1 + rounding):
        return f"{problem}: a bound of {proven}, but the optimum is {truth}"
    if value is not None and value < truth * (1 - rounding):
        return f"{problem}: an answer of {value}, but the optimum is {truth}"
    if is_optimal and value > truth * (1 + 2 * _GAP if rounding else 1):
        return f"{problem}: {value} is optimal, but the optimum is {truth}"
    return ""


def draw_topics(draw: random.Random, *, most_nodes: int = 6, most_topics: int = 6) -> ob.TopicInstance:
    """Any shape: one node, one topic, equal topics, topics of one subscriber, nothing shared."""
    nodes, topics = draw.randint(1, most_nodes), draw.randint(1, most_topics)
    shape = draw.choice(["any", "any", "any", "equal", "apart"])
    density = draw.choice([0.3, 0.5, 0.8])
    chosen: dict[str, list[str]] = {}
    for v in range(nodes):
        own = [t for t in range(topics) if draw.random() < density] or [draw.randrange(topics)]
        own = list(range(topics)) if shape == "equal" else [v] if shape == "apart" else own
        chosen[f"n{v}"] = [f"t{t}" for t in own]
    return ob.TopicInstance.from_subscriptions(chosen)


def draw_steiner(draw: random.Random, *, most_nodes: int = 8) -> ob.SteinerInstance:
    """Sparse or dense, not always connected, with ties and costs of 0."""
    if draw.random() < 0.3:  # cycles and equal costs, which reductions do not solve
        return steiner_brute_force.hypercube(dimension=draw.choice([2, 3]))
    return steiner_brute_force.small_graph(draw.randrange(2**32), most_nodes=most_nodes, dearest=4)


def draw_content(draw: random.Random, *, most_users: int = 4, most_brokers: int = 3) -> ContentInstance:
    """Integers, with capacities or without; users that publish or receive nothing."""
    users, brokers, channels = draw.randint(1, most_users), draw.randint(1, most_brokers), draw.randint(1, 3)

    def numbers(rows: int, columns: int, most: int) -> np.ndarray:
        return np.array([[draw.randint(0, most) for _ in range(columns)] for _ in range(rows)], dtype=float)

    upper = np.triu(numbers(brokers, brokers, 9), 1)
    access, rates, wanted = numbers(users, brokers, 9), numbers(users, channels, 4), numbers(users, channels, 1)
    free = ContentInstance(access, metric_closure(upper + upper.T), np.full(brokers, np.inf), rates, wanted)
    if draw.random() < 0.5:
        return free
    most = int(free.demands.sum())
    capacities = np.array([float(draw.randint(most // 2, most)) for _ in range(brokers)])
    return ContentInstance(access, free.core, capacities, rates, wanted)


def draw_trace(draw: random.Random) -> ob.TopicTrace:
    """Up to five nodes that come, go and change their interests, some of them at one time."""
    topics = ["t0", "t1", "t2"]
    held = {f"n{v}": set(draw.sample(topics, draw.randint(0, 3))) for v in range(draw.randint(1, 4))} | {"n0": {"t0"}}
    start, events, time, acted = {v: sorted(own) for v, own in held.items()}, list[ob.Event](), 1, set[str]()
    for _ in range(draw.randint(0, 8)):
        time, acted = (time, acted) if draw.random() < 0.4 else (time + 1, set())
        v, some = f"n{draw.randrange(5)}", draw.sample(topics, draw.randint(1, 2))
        if v in acted:
            continue
        acted.add(v)
        if v not in held:
            held[v] = set(some)
            events.append(ob.Event(time, "join", v, some))
        elif draw.random() < 0.4:
            del held[v]
            events.append(ob.Event(time, draw.choice(["leave", "crash"]), v))
        elif same := [t for t in some if (t in held[v]) == (some[0] in held[v])]:
            events.append(ob.Event(time, "unsubscribe" if same[0] in held[v] else "subscribe", v, same))
            held[v] ^= set(same)
    return ob.TopicTrace.from_events(start, events)


def draw_tiny(draw: random.Random, problem: str) -> Tiny:
    """A random instance of the problem."""
    kinds: list[tuple[Sequence[str], Callable[[random.Random], Any]]] = [
        (TOPIC_PROBLEMS, draw_topics),
        (("steiner",), draw_steiner),
        (CONTENT_PROBLEMS, draw_content),
        ((TRACES,), draw_trace),
    ]
    instance = next(make for problems, make in kinds if problem in problems)(draw)
    return Tiny(problem, priced(instance, draw.randrange(6)) if problem == "weighted-tco" else instance)


def proven_value(
    instance: ob.TopicInstance,
    problem: str,
    proven: Proven | None,
    bound: Fraction | float = 0,
    *,
    of_degree: bool = False,
) -> float:
    """The bound on the problem's value that a case of these multipliers proves, without presolve."""
    with tempfile.TemporaryDirectory() as folder:
        file, path = Path(folder) / "instance.json", Path(folder) / "proof.gz"
        ob.KINDS["topics"].write(instance, file)
        with ProofFile(path) as proof:
            begin_proof(proof, instance, PROBLEMS[problem], presolved(instance, implied=False))
            if proven is not None:
                write_case(proof, proven, Fraction(bound), of_degree=of_degree)
            proof.claim(None, None, None)
        value: float = checker().check(str(file), str(path))[2]
    return value


def proven_by(instance: ob.TopicInstance, problem: str, bound: LowerBound) -> float:
    """The bound on the problem's value that the proof of a lower bound proves."""
    return proven_value(instance, problem, bound.proven, bound.value, of_degree=bound.proves_degree)
