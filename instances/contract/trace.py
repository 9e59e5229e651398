"""The choices of a greedy method in order: a table that shows itself in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import pandas as pd

_WIDTH, _WIDEST_CHOICE = 80, 24


@dataclass(frozen=True)
class Step:
    """One choice.

    Attributes
    ----------
    nodes : tuple of int
        The ends of the edge chosen, or the centre of the star.
    edges : tuple of (int, int)
        The edges added, each u < v: one, or those of the star that are new.
    gain : float
        What the method maximises, named by :attr:`Trace.measure`: for an edge its contribution.
    ties : int
        The number of equally good choices, this one included.
    degrees : tuple of int
        Of `nodes`, after the choice.
    topics : tuple of int
        The topics of which the edge unites two components, or whose star is complete now.
    """

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    gain: float
    ties: int
    degrees: tuple[int, ...]
    topics: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Trace(Sequence[Step]):
    """The steps of one run of a greedy method.

    Attributes
    ----------
    measure : str
        What the method maximises: ``contribution``, ``neighbours``, ``connection density`` and so on.
    steps : tuple of Step
    node_labels, topic_labels : tuple of str
        Of the instance.
    """

    measure: str
    steps: tuple[Step, ...]
    node_labels: tuple[str, ...]
    topic_labels: tuple[str, ...]

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def choice(self, step: Step) -> str:
        """The edge ``n0–n3``, or the centre ``n0``."""
        return "–".join(self.node_labels[v] for v in step.nodes)

    def records(self) -> list[dict[str, object]]:
        """The steps in labels of the instance, as printed in JSON; they count from 1."""
        return [
            {
                "step": number,
                "nodes": [self.node_labels[v] for v in step.nodes],
                "edges": [[self.node_labels[u], self.node_labels[v]] for u, v in step.edges],
                self.measure: step.gain,
                "ties": step.ties,
                "degrees": list(step.degrees),
                "topics": [self.topic_labels[t] for t in step.topics],
            }
            for number, step in enumerate(self.steps, 1)
        ]

    def to_pandas(self) -> pd.DataFrame:
        """A row a step: step, choice, the measure, ties, edges added, degrees and topics; lists as text."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "step": number,
                    "choice": self.choice(step),
                    self.measure: step.gain,
                    "ties": step.ties,
                    "edges": len(step.edges),
                    "degrees": ", ".join(map(str, step.degrees)),
                    "topics": " ".join(self.topic_labels[t] for t in step.topics),
                }
                for number, step in enumerate(self.steps, 1)
            ],
            columns=["step", "choice", self.measure, "ties", "edges", "degrees", "topics"],
        )

    def __repr__(self) -> str:
        """A table of at most 80 columns; long labels and lists of topics are cut."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        table = self.to_pandas()
        choice = min(max([6, *table["choice"].str.len()]), _WIDEST_CHOICE)
        gain = max(len(self.measure), 6)
        head = f"{'step':>4}  {'choice':<{choice}}  {self.measure:>{gain}}  {'ties':>5}  {'degrees':>9}  "
        yield f"{head}topics"
        for row, step in zip(table.itertuples(index=False), self.steps, strict=True):
            start = f"{row.step:>4}  {_cut(row.choice, choice):<{choice}}  {step.gain:>{gain}.6g}  {row.ties:>5}"
            start += f"  {row.degrees:>9}  "
            yield (start + _listed(row.topics.split(" "), _WIDTH - len(start))).rstrip()

    def _repr_html_(self) -> str:
        html: str = self.to_pandas().to_html(index=False, max_rows=60)
        return html


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _listed(words: Sequence[str], width: int) -> str:
    """As many words as fit, and how many there are where some do not."""
    if len(text := " ".join(words)) <= width:
        return text
    ending = f" … ({len(words)})"
    kept = ""
    for word in words:
        if len(kept) + 1 + len(word) + len(ending) > width:
            break
        kept = f"{kept} {word}".strip()
    return kept + ending if kept else f"{len(words)} topics"
