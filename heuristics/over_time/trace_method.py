"""Methods for traces from functions that build a log of links."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ...instances.over_time.link_log import LinkLog
from ...instances.over_time.trace import TopicTrace
from ...instances.runtime.run import Clock


def trace_method(
    name: str, build: Callable[..., Proposal[LinkLog]], *options: Option, **fields: Any
) -> Method[TopicTrace, LinkLog]:
    """The method of a function that takes a trace and, by name, `seed`, `clock` and the options; it proves nothing."""
    common: dict[str, Any] = {"compiled": True, "anytime": False} | fields
    return Method(name=name, problems=("dynamic-tco",), solve=partial(_logged, build), options=options, **common)


def _logged(
    build: Callable[..., Proposal[LinkLog]],
    trace: TopicTrace,
    problem: Problem[TopicTrace, LinkLog],
    *,
    seed: int,
    time_limit: float | None,
    **options: Any,
) -> Proposal[LinkLog]:
    return build(trace, seed=seed, clock=Clock(time_limit), **options)
