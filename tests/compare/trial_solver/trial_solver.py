"""An installed package, once this folder is on PYTHONPATH: its method `trial` misbehaves as its option asks."""

import ctypes
import os
import signal
import subprocess
import time
from typing import Any

import overlaybench as ob
from overlaybench.heuristics.topics.ring_per_topic import ring_per_topic


def _trial(
    instance: ob.TopicInstance, problem: ob.Problem[Any, Any], *, how: str, seconds: float, **_: Any
) -> ob.Proposal[ob.Overlay]:
    time.sleep(seconds)
    held = []
    while how == "spin":
        pass
    while how == "eat":
        held.append(bytearray(2**24))
        time.sleep(0.005)
    if how == "crash":
        ctypes.string_at(0)
    if how == "exit":
        os._exit(7)
    if how == "raise":
        raise RuntimeError("no more")
    if how == "wrong":
        return ob.Proposal(ob.Overlay.from_edges(instance.num_nodes, []))
    if how == "boast":
        return ob.Proposal(ring_per_topic(instance), lower_bound=1e6)
    if how == "deaf":
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)
    while how == "flood":
        os.write(1, b"flood " * 2**12)
    if how == "child":
        subprocess.Popen(["sleep", "3600"])
        os._exit(7)
    if how == "closed":
        os.closerange(3, 256)
        time.sleep(600)
    return ob.Proposal(ring_per_topic(instance))


TRIAL = ob.Method(
    name="trial",
    problems=("min-tco",),
    summary="misbehaves",
    source="tests",
    solve=_trial,
    options=(
        ob.Option(
            "how",
            "well",
            "",
            ("well", "spin", "eat", "crash", "exit", "raise", "wrong", "boast", "deaf", "flood", "child", "closed"),
        ),
        ob.Option("seconds", 0.1, "", least=0, most=60),
    ),
)
