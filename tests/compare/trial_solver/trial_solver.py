"""An installed package, once this folder is on PYTHONPATH: its method `trial` misbehaves as its option asks."""

import ctypes
import time
from typing import Any

from overlaybench.heuristics.topics.ring_per_topic import ring_per_topic
from overlaybench.instances.method import Method, Proposal
from overlaybench.instances.option import Option
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.problem import Problem
from overlaybench.instances.topics.instance import TopicInstance


def _trial(
    instance: TopicInstance, problem: Problem[Any, Any], *, how: str, seconds: float, **_: Any
) -> Proposal[Overlay]:
    time.sleep(seconds)
    held = []
    while how == "spin":
        pass
    while how == "eat":
        held.append(bytearray(2**24))
        time.sleep(0.005)
    if how == "crash":
        ctypes.string_at(0)
    return Proposal(ring_per_topic(instance))


TRIAL = Method(
    name="trial",
    problems=("min-tco",),
    summary="misbehaves",
    source="tests",
    solve=_trial,
    options=(
        Option("how", "well", "", ("well", "spin", "eat", "crash")),
        Option("seconds", 0.1, "", least=0, most=60),
    ),
)
