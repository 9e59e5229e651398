"""With this folder on PYTHONPATH every Python knows one more method, `trial`, that misbehaves as its option asks."""

import ctypes
import time

import heuristics
from instances import Found, Method, Option


def _trial(instance, problem, *, seed, time_limit, how, seconds):
    time.sleep(seconds)
    held = []
    while how == "spin":
        pass
    while how == "eat":
        held.append(bytearray(2**24))
        time.sleep(0.005)
    if how == "crash":
        ctypes.string_at(0)
    return Found(heuristics.RING_PER_TOPIC.run(instance, problem).answer)


TRIAL = Method(
    "trial",
    ("min-tco",),
    "misbehaves",
    "tests",
    False,
    _trial,
    (Option("how", "well", "", ("well", "spin", "eat", "crash")), Option("seconds", 0.1, "", least=0, most=60)),
)
heuristics.HEURISTICS = (*heuristics.HEURISTICS, TRIAL)
