"""Methods of one name that answer problems of different kinds, as one method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .method import Method, Proposal
from .option import Value
from .problem import Problem


@dataclass(frozen=True)
class MethodFamily(Method[Any, Any]):
    """A method that hands each problem to the one member that answers it, with that member's options only.

    Attributes
    ----------
    members : tuple of Method
    """

    members: tuple[Method[Any, Any], ...] = ()

    def answering(self, problem: str) -> Method[Any, Any]:
        """See :class:`Method`."""
        return next((member for member in self.members if problem in member.problems), self)

    def complete(self, options: Mapping[str, object], problem: str) -> dict[str, Value]:
        """See :class:`Method`."""
        member = self.answering(problem)
        return super().complete(options, problem) if member is self else member.complete(options, problem)


def family(members: Sequence[Method[Any, Any]]) -> Method[Any, Any]:
    """Methods of one name, no two of which answer the same problem, as one; a single one as it is.

    Raises
    ------
    ValueError
        If the names differ, or two answer the same problem.
    """
    if len(members) == 1:
        return members[0]
    names, problems = {member.name for member in members}, [p for member in members for p in member.problems]
    if len(names) != 1 or len(set(problems)) != len(problems):
        raise ValueError(f"methods {sorted(names)} of problems {problems} are no family")

    def solve(instance: Any, problem: Problem[Any, Any], **given: Any) -> Proposal[Any]:
        return made.answering(problem.name).solve(instance, problem, **given)

    def warm_up() -> None:
        for member in members:
            member.prepare()

    made = MethodFamily(
        name=members[0].name,
        problems=tuple(problems),
        summary="; ".join(member.summary for member in members),
        source="; ".join(member.source for member in members),
        exact=all(member.exact for member in members),
        solve=solve,
        options=tuple(dict.fromkeys(option for member in members for option in member.options)),
        warm_up=warm_up,
        colour=members[0].colour,
        marker=members[0].marker,
        members=tuple(members),
    )
    return made
