"""The atlas from Python: every instance up to a size, surveyed for a method or a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...instances.contract.errors import BadInput
from ...instances.topics.instance import TopicInstance
from ..python_api.solving import solve
from ..python_api.tables import ResultTable
from .cells import AtlasCell, Progress, gathering, sizes, surveyed
from .every_instance import instance_of, members_of
from .surveys import BEST, CLAIM, OWN, RANDOM, WORST, Survey

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_DRAWN = 5


def atlas(
    method: str = "",
    problem: str = "min-tco",
    *,
    nodes: int = 5,
    topics: int = 5,
    claim: str = "",
    where: str = "",
    folder: str | Path | None = None,
    master: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Atlas:
    """Survey every topic instance of at most so many nodes and topics, up to renaming nodes and topics.

    Parameters
    ----------
    method : str
        A heuristic, with its options in brackets: ``low-oda[k=8]``, ``mine:function``.
    problem : str
        One of ``min-tco``, ``minmax-tco``, ``low-tco``, ``2d-star``, ``2d-true``.
    nodes, topics : int
        At most 7 and 16. A topic has at least two subscribers; two topics may have the same ones.
    claim : str
        In place of a method: a comparison such as ``gm <= 1.5 * low-oda[k=3]``, of values of methods, ``optimum``, and
        quantities of the instance. A greedy method has its worst value over all ties, or that of ``[ties=best]``,
        ``lowest`` or ``highest``. The survey ends at the first size with a counterexample.
    where : str
        Only instances for which this comparison of quantities holds: ``max_degree <= 3 and topics > 2``.
    folder : path, optional
        Where parts of the survey are kept: a survey that was stopped goes on.
    master : str, optional
        A Spark master; by default this process up to 200,000 instances, beyond it all cores.
    progress : callable, optional
        Receives the numbers of instances surveyed, about, and of all.

    Returns
    -------
    Atlas
        A row for each size and rule for ties; `plot` draws the worst instance with the method's overlay and an optimum.
        ``random`` breaks each tie uniformly at random and independently; the rules ``lowest`` and ``highest`` are those
        of the numbers that the nodes happen to have, and ``worst`` and ``best`` hold whatever these are.

    Raises
    ------
    BadInput
        If a name, an option or a comparison is wrong, or the size is out of range.

    Examples
    --------
    >>> import overlaybench as ob
    >>> found = ob.atlas("gm", "min-tco", nodes=4, topics=4)
    >>> found.answer
    'gm on min-tco, ties worst: 5/4 on 4 nodes and 4 topics; none of all 154 instances is worse'
    >>> ob.atlas(claim="gm <= optimum", where="max_size <= 3", nodes=4, topics=3).answer
    'gm <= optimum, min-tco, where max_size <= 3: holds on all 45 instances'
    """
    if bool(method) == bool(claim):
        raise BadInput("atlas: name a method or a claim, and not both")
    survey, chosen = Survey(problem, method, claim, where), sizes(nodes, topics)
    cells: list[AtlasCell] = []
    given: dict[str, Any] = {"folder": None if folder is None else Path(folder).expanduser(), "progress": progress}
    with gathering(survey, chosen, master) as gather:
        for cell in surveyed(survey, chosen, gather=gather, **given):
            cells.append(cell)
            if claim and any(row.value == 0 for row in cell.of(CLAIM)):
                break
    return _shown(survey, cells)


@dataclass(frozen=True, repr=False, kw_only=True)
class Atlas(ResultTable):
    """A survey of every instance up to a size: a table that shows itself, and the instance that matters.

    Attributes
    ----------
    survey : Survey
    cells : sequence of AtlasCell
        Without those that the condition leaves empty.
    answer : str
        The worst case in a sentence, or whether the claim holds; below the table.
    instance : TopicInstance or None
        The smallest worst case, or counterexample, by topics and then by nodes.
    values : mapping
        The optimum and the values of the methods on it.

    Examples
    --------
    >>> import overlaybench as ob
    >>> found = ob.atlas("gm-m", "minmax-tco", nodes=4, topics=3)
    >>> found.histogram("worst"), found.histogram("best")
    ({'1': 54, '3/2': 5}, {'1': 59})
    """

    survey: Survey
    cells: Sequence[AtlasCell]
    instance: TopicInstance | None = None
    values: Mapping[str, int] | None = None

    @property
    def answer(self) -> str:
        return self.notes[0]

    def histogram(self, ties: str = "") -> dict[str, int]:
        """How many instances have each ratio, over all sizes."""
        counts: Counter[Fraction] = Counter()
        for one in self.cells:
            counts.update(one.histogram(ties or _rules(self.cells)[0]))
        return {str(ratio): counts[ratio] for ratio in sorted(counts)}

    def document(self) -> dict[str, Any]:
        """All of it as one JSON object."""
        named = {name: getattr(self.survey, name) for name in ("method", "problem", "claim", "where")}
        topics = None
        if self.instance is not None:
            members = (self.instance.subscribers(t).tolist() for t in range(self.instance.num_topics))
            topics = [[self.instance.node_label(v) for v in each] for each in members if len(each) > 1]
        rules = [] if self.survey.claim else _rules(self.cells)
        return {
            **named,
            "answer": self.answer,
            "instance": topics,
            "values": self.values,
            "sizes": self.rows.to_dict("records"),
            "histogram": {ties: self.histogram(ties) for ties in rules},
        }


def _shown(survey: Survey, cells: Sequence[AtlasCell]) -> Atlas:
    import pandas as pd

    cells = [one for one in cells if one.instances]
    rows = [_claim_row(one) if survey.claim else _row(one, ties) for one in cells for ties in one.rules]
    make = partial(Atlas, pd.DataFrame(rows), survey.label, survey=survey, cells=tuple(cells))
    every = f"{sum(one.instances for one in cells):,} instances"
    ties = {term.ties(survey.problem) for term in survey.terms.values()}
    numbered = "" if ties <= {WORST, BEST} else " as their nodes are numbered"
    if not cells:
        return make((f"{survey.label}: no instance of this size satisfies the condition",))
    last, rule = cells[-1], _rules(cells)[0]
    size, example = (last.nodes, last.topics), last.rows[0].example
    if survey.claim:
        broken = [row.example for row in last.of(CLAIM) if row.value == 0]
        if not broken:
            return make((f"{survey.label}: holds on all {every}{numbered}",))
        example, text = broken[0], f"{survey.label}: does not hold on"
    else:
        ratios = [(one.worst(rule).ratio, -one.topics, -one.nodes) for one in cells]
        one = cells[ratios.index(max(ratios))]
        size, worst = (one.nodes, one.topics), one.worst(rule)
        shown = "" if rule == OWN else f", ties {rule}"
        example, text = worst.example, f"{survey.label}{shown}: {worst.value}/{worst.optimum} on"
    text += f" {size[0]} nodes and {size[1]} topics"
    values = survey.values_on(size[0], example)
    if survey.claim:
        listed = ", ".join(f"{name} {value}" for name, value in values.items())
        text += f" ({listed}); holds on all {sum(one.instances for one in cells[:-1]):,} smaller ones"
    else:
        text += f"; none of all {every} is worse{numbered}"
    instance = instance_of(size[0], members_of(size[0], example))
    return make((text,), drawn=partial(_drawn, survey, instance), instance=instance, values=values)


def _drawn(survey: Survey, instance: TopicInstance) -> Figure:
    """The instance with the overlays of the methods under their rules for ties, and with an optimum."""
    from ..figures.draw import draw

    runs = [(term.method, term.options, term.ties(survey.problem)) for term in survey.terms.values()]
    answers = [
        solve(instance, survey.problem, method, **dict[str, Any](options) | ({} if ties == OWN else {"ties": ties}))
        for method, options, ties in runs
    ]
    return draw(instance, *answers[:_MOST_DRAWN], solve(instance, survey.problem))


def _rules(cells: Sequence[AtlasCell]) -> list[str]:
    """The rules for ties, ``worst`` first."""
    return sorted(cells[0].rules, key=lambda ties: ties != WORST) if cells else []


def _row(cell: AtlasCell, ties: str) -> dict[str, Any]:
    worst = cell.worst(ties)
    return {
        "nodes": cell.nodes,
        "topics": cell.topics,
        "ties": ties,
        "instances": cell.instances,
        "not_optimal": cell.not_optimal(ties),
        "share": cell.not_optimal(ties) / cell.instances,
        "worst": f"{worst.value}/{worst.optimum}",
        "worst_ratio": float(worst.ratio),
        "as_bad": worst.cases,
        "mean_ratio": cell.mean_ratio(ties),
        **({"random_mean_ratio": cell.mean_ratio(RANDOM)} if cell.of(RANDOM) else {}),
        "example": " ".join("".join(map(str, members)) for members in cell.example(worst)),
    }


def _claim_row(cell: AtlasCell) -> dict[str, Any]:
    violated = sum(row.cases for row in cell.of(CLAIM) if row.value == 0)
    return {"nodes": cell.nodes, "topics": cell.topics, "instances": cell.instances, "violated": violated}
