"""What a run in a solver process offers before its end, and the result that remains of it when it is stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from ...instances.method import Proposal, judged
from ...instances.problem import Problem
from ...instances.result import Result, Status

_SHARE, _FREE_SECONDS = 0.05, 0.05


@dataclass(frozen=True)
class Offered:
    """The best answer and bound that a run has offered, and whether its method is at work."""

    answer: Any = None
    lower_bound: float | None = None
    stage: str = "starting"

    def updated(self, later: Offered) -> Offered:
        """Join a later message of the same run, whose answers improve and whose bounds are the best so far."""
        return replace(later, answer=self.answer) if later.answer is None else later

    def result(
        self, method: str, instance: Any, problem: Problem[Any, Any], reason: str, seconds: float
    ) -> Result[Any] | None:
        """The judged result of a stopped run; None if there is nothing to keep, or it is not valid."""
        if self.answer is None and self.lower_bound is None:
            return None
        proposal = Proposal(self.answer, self.lower_bound, Status.TIME_LIMIT, reason=reason)
        result = judged(method, instance, problem, proposal, seconds)
        return None if result.status is Status.FAILED else result


class OfferSender:
    """In the solver process: sends what improves and is valid, in at most a twentieth of the run's time."""

    def __init__(self, instance: Any, problem: Problem[Any, Any], connection: Connection) -> None:
        self._instance, self._problem, self._connection = instance, problem, connection
        self._value, self._best = float("inf"), Offered()
        self._pending: Any = None
        self._start, self._spent = time.perf_counter(), 0.0

    def offered(self, answer: Any, lower_bound: float | None) -> None:
        """Send a better answer or bound; an answer waits for the next offer while sending has taken its share."""
        self._pending = self._pending if answer is None else answer
        bound = self._best.lower_bound
        raised = lower_bound is not None and (bound is None or lower_bound > bound)
        now = time.perf_counter()
        if self._spent > _FREE_SECONDS + _SHARE * (now - self._start):
            return
        chosen, self._pending = self._pending, None
        improved = chosen is not None and self._improves(chosen)
        if raised or improved:
            self._best = Offered(chosen if improved else None, lower_bound if raised else bound, self._best.stage)
            self._connection.send(self._best)
        self._spent += time.perf_counter() - now

    def solving(self, begun: bool) -> None:
        """Send that the method begins or has ended."""
        self._best = replace(self._best, stage="solving" if begun else "solved")
        self._connection.send(replace(self._best, answer=None))

    def _improves(self, answer: Any) -> bool:
        try:
            value = self._problem.value(self._instance, answer)
            if not value < self._value or self._problem.violations(self._instance, answer):
                return False
        except Exception:  # an answer to something else, which must not end the run
            return False
        self._value = value
        return True
