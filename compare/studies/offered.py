"""What a run in a solver process offers before its end, and the result that remains of it when it is stopped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from ...instances.contract.method import Proposal, judged
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ...instances.contract.run import Trajectory


@dataclass(frozen=True)
class Offered:
    """The best answer, its value and the best bound that a run has offered, and whether its method is at work."""

    answer: Any = None
    value: float | None = None
    lower_bound: float | None = None
    stage: str = "starting"

    def updated(self, later: Offered) -> Offered:
        """Join a later message of the same run, whose answers improve and whose bounds are the best so far."""
        return replace(later, answer=self.answer) if later.answer is None else later

    def result(
        self,
        method: str,
        instance: Any,
        problem: Problem[Any, Any],
        reason: str,
        seconds: float,
        trajectory: Trajectory,
    ) -> Result[Any] | None:
        """The judged result of a stopped run; None if there is nothing to keep, or it is not valid."""
        if self.answer is None and self.lower_bound is None:
            return None
        proposal = Proposal(self.answer, self.lower_bound, Status.TIME_LIMIT, reason=reason)
        result = judged(method, instance, problem, proposal, seconds, trajectory)
        return None if result.status is Status.FAILED else result


class OfferSender:
    """In the solver process: sends what improves."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._best = connection, Offered()

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        """Send a better answer or bound."""
        self._best = replace(
            self._best,
            value=self._best.value if value is None else value,
            lower_bound=self._best.lower_bound if lower_bound is None else lower_bound,
        )
        self._connection.send(replace(self._best, answer=answer))

    def solving(self, begun: bool) -> None:
        """Send that the method begins or has ended."""
        self._best = replace(self._best, stage="solving" if begun else "solved")
        self._connection.send(self._best)
