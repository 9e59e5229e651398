"""Instances and answers made ready for a drawing: positions, names, values and validity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.contract.catalogue import PROBLEMS, kind_of
from ...instances.contract.errors import BadInput
from ...instances.contract.kind import Kind
from ...instances.contract.result import Result
from .broker_tree import BrokerTrees
from .content_overlay import ContentOverlays
from .steiner_tree import SteinerTrees
from .style import DrawOptions
from .subscriptions import SubscriptionMatrix
from .topic_overlay import TopicOverlays

MOST_NODES, MOST_ANSWERS = 1000, 6
_MEASURES = 2


class Panels(Protocol):
    """The drawings of several answers to one instance, with the same positions of the nodes."""

    @property
    def parts(self) -> Sequence[tuple[int, str]]:
        """What each panel of an answer shows: a number and a label, or -1 and "" for all of it."""

    @property
    def shape(self) -> float:
        """The height of a panel divided by its width."""

    def paint(self, axes: Axes, number: int, part: int) -> None:
        """Draw a part of the answer of this number; without answers, the instance."""

    def legend(self) -> list[Line2D]:
        """The entries that explain colours and marks."""


_PANELS: Mapping[str, Any] = {
    "topics": TopicOverlays,
    "content": ContentOverlays,
    "brokers": BrokerTrees,
    "steiner": SteinerTrees,
}


class Cell(NamedTuple):
    """A panel: which part of which answer it shows, its title, and facts in two lines or none."""

    number: int
    part: int
    title: str
    facts: str


@dataclass(frozen=True)
class PanelGrid:
    """The panels of a drawing with their titles, in rows of `columns`."""

    panels: Panels
    cells: tuple[Cell, ...]
    columns: int


def prepare(instance: Any, answers: Sequence[Any], options: DrawOptions) -> PanelGrid:
    """The panels of a drawing; see :func:`.draw` for parameters and errors."""
    kind = kind_of(instance)
    if (count := kind.size(instance)[kind.sizes[0]]) > MOST_NODES:
        raise BadInput(f"a drawing of {count} {kind.sizes[0]}: at most {MOST_NODES}: draw a sample")
    if len(answers) > MOST_ANSWERS:
        raise BadInput(f"{len(answers)} answers in one drawing: at most {MOST_ANSWERS}: leave some out")
    named = [_named(answer, number, options) for number, answer in enumerate(answers)]
    facts = [_facts(kind, instance, each) for each in named]
    build = _PANELS[kind.name] if named or kind.name != "topics" else SubscriptionMatrix
    panels: Panels = build(instance, [each.answer for each in named], options)
    if not named:
        return PanelGrid(panels, (Cell(0, -1, options.title or _size(kind, instance), ""),), 1)
    parts = panels.parts
    cells = [
        Cell(number, part, f"{each.name}, {label}" if label else each.name, facts[number] if len(parts) == 1 else "")
        for number, each in enumerate(named)
        for part, label in parts
    ]
    return PanelGrid(panels, tuple(cells), len(parts) if len(parts) > 1 else len(cells))


class _Named(NamedTuple):
    """An answer with its name, and the problem that it is said to answer, or ""."""

    name: str
    answer: Any
    problem: str


def _named(answer: Any, number: int, options: DrawOptions) -> _Named:
    name = options.names[number] if number < len(options.names) else ""
    if not isinstance(answer, Result):
        return _Named(name or f"answer {number + 1}", answer, options.problem)
    if answer.answer is None:
        raise BadInput(f"the result of {answer.method} has no answer ({answer.status}): leave it out")
    return _Named(name or f"{answer.method} ({answer.status})", answer.answer, options.problem or answer.problem)


def _facts(kind: Kind[Any, Any], instance: Any, named: _Named) -> str:
    """Value, measures and validity: two lines or more."""
    _check_fits(kind, instance, named)
    problems = [problem for problem in PROBLEMS.values() if problem.kind == kind.name]
    violations = {problem.name: problem.violations(instance, named.answer) for problem in problems}
    valid = [name for name, found in violations.items() if not found]
    preferred = kind.default_problem in valid or not valid
    problem = PROBLEMS.named(named.problem or (kind.default_problem if preferred else valid[0]))
    if problem.name not in violations:
        raise BadInput(f"{named.name}: problem '{problem.name}' is not about {kind.name}: take {', '.join(violations)}")
    value = problem.value(instance, named.answer)
    measures = problem.measures(instance, named.answer).items()
    others = [f"{key.replace('_', ' ')} {_number(each)}" for key, each in measures if each != value]
    verdict = f"valid for {', '.join(valid)}" if valid else "valid for no problem"
    if found := violations[problem.name]:
        verdict = f"invalid for {problem.name}: {found[0]}"
    return ", ".join([f"{problem.name} {_number(value)}", *others[:_MEASURES]]) + "\n" + verdict


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"


def _size(kind: Kind[Any, Any], instance: Any) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in kind.size(instance).items())


def _check_fits(kind: Kind[Any, Any], instance: Any, named: _Named) -> None:
    """Raise BadInput if an answer is not of this kind, or of an instance of another size."""
    try:
        kind.labelled(named.answer, instance)
        fits = getattr(named.answer, "num_nodes", None) in (None, getattr(instance, "num_nodes", None))
        fits = fits and (kind.name != "content" or len(named.answer.brokers) == instance.num_users)
    except (AttributeError, IndexError, TypeError):
        fits = False
    if not fits:
        raise BadInput(f"{named.name} is no answer to this instance of {kind.name}: give one that is")
