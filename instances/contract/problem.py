"""Problems: the objective, and the validation of answers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from .errors import BadInput

Instance = TypeVar("Instance")
Answer = TypeVar("Answer")
MOST_LISTED = 5


class Implication(NamedTuple):
    """Lower bounds of some problems (`premises`) that bound another one on the same instance.

    `proof` says in a line why it holds; `bound` takes |V| and a bound of each premise and returns the other problem's
    bound, by default the bound of the only premise.
    """

    premises: tuple[str, ...]
    proof: str
    bound: Callable[..., float] = lambda nodes, bound: bound


class Problem(ABC, Generic[Instance, Answer]):
    """A minimisation problem. A problem shares no code with any method, and validates every result.

    Attributes
    ----------
    name : str
        As on the command line.
    summary : str
        What is minimised, in one line.
    source : str
        Paper and section.
    kind : str
        The kind of its instances and answers (see :class:`.Kind`).
    integral : bool
        Whether every value is an integer (then a lower bound may be rounded up).
    default_method : str
        The exact method that answers it where none is named; "" if one must be named.
    stated : bool
        Whether its name states it; False for the family of problems with limits whose limits are left out.
    limits_by : str
        The family that its name with limits stands for; "" for its own.
    implications : tuple of Implication
        How bounds of other problems bound this one.
    objective : object
        What methods that are written for any problem of its kind need to know of it (for topics an
        :class:`.Objective`); None where there are none.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> problem, overlay = ob.PROBLEMS["min-tco"], ob.Overlay.from_edges(2, [])
    >>> problem.value(instance, overlay), problem.violations(instance, overlay)
    (0, ["topic 'news' has 2 components"])
    """

    name: str
    summary: str
    source: str
    kind: str
    integral: bool = True
    default_method: str = ""
    stated: bool = True
    limits_by: str = ""
    implications: tuple[Implication, ...] = ()
    objective: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}: {self.summary})"

    def variant(self, name: str) -> Problem[Instance, Answer]:
        """The problem of this family with the limits that a name states (see :func:`family_of`).

        Raises BadInput if there is none, as in every problem that has no variants.
        """
        raise BadInput(f"problem '{name}': '{self.name}' has no limits: leave them out")

    @abstractmethod
    def value(self, instance: Instance, answer: Answer) -> float:
        """The objective of an answer, valid or not."""

    @abstractmethod
    def violations(self, instance: Instance, answer: Answer) -> list[str]:
        """The reasons why the answer is invalid, a sentence each; none for a valid answer."""

    def measures(self, instance: Instance, answer: Answer) -> dict[str, float]:
        """Further figures of the answer beside its value."""
        return {}

    def unit(self, instance: Instance) -> int:
        """The units of the value in one unit of the user's file: 10 where costs in the file have one decimal."""
        return 1


def shortened(faults: list[str], noun: str) -> list[str]:
    """The first five faults, and how many more there are."""
    more = len(faults) - MOST_LISTED
    return [*faults[:MOST_LISTED], f"and {more} more {noun}"] if more > 0 else faults


def family_of(problem: str) -> str:
    """The name by which methods answer a problem: ``filtering`` for ``filtering@max-degree=4``.

    A problem with limits is named after its family: the text from the first ``@`` or ``=`` on states the limits.
    """
    return re.split("[@=]", problem, maxsplit=1)[0]


def stated_limits(name: str, parts: Sequence[str], most: Mapping[str, float], form: str) -> dict[str, float]:
    """The limits in parts ``max-degree=5`` of a problem's name, from 0 to `most`, integers where that is an int.

    Raises BadInput, which says the `form` of the name, for anything else.
    """
    try:
        given = {rule: float(text) for rule, _, text in (part.partition("=") for part in parts)}
    except ValueError:
        given = {}
    wrong = [rule for rule, limit in given.items() if not 0 <= limit <= most.get(rule, -1)]
    wrong += [rule for rule, limit in given.items() if isinstance(most.get(rule), int) and limit % 1]
    if wrong or len(given) < len(parts) or "=" in name.partition("@")[0]:
        raise BadInput(f"problem '{name}': write it as {form}")
    return given
