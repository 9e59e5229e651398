"""What the papers state: claims, errata, distinct findings, sentences not run and own observations, from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...instances.contract.errors import BadInput

_FOLDER = Path(__file__).parent
KINDS = ("theorem", "step", "algorithm", "figure", "trend", "remark")


@dataclass(frozen=True)
class Statement:
    """A claim as the paper makes it, in our words.

    Attributes
    ----------
    id, place, kind
        Its number here, where it stands in the paper, and one of `KINDS` (a figure is a figure or a table).
    statement, reading : str
        What is claimed, and the principal reading, declared before running.
    number : str
        What the one number is, with its unit.
    published, published_text
        The published number, or a text where it is not one number.
    advice : str
        What a designer should do with it.
    finding : str
        The distinct finding that explains the verdict.
    """

    id: str
    place: str
    kind: str
    statement: str
    reading: str = ""
    number: str = ""
    published: float | None = None
    published_text: str = ""
    advice: str = ""
    finding: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.id}: kind '{self.kind}' is none of {', '.join(KINDS)}")

    @property
    def printed(self) -> str:
        """The published number as text; "" where there is none."""
        return self.published_text or ("" if self.published is None else f"{self.published:g}")


@dataclass(frozen=True)
class Erratum:
    """A misprint or slip with its correction; `shown_by` names the code that shows it."""

    id: str
    place: str
    printed: str
    correct: str
    shown_by: str = ""


@dataclass(frozen=True)
class Finding:
    """A reason that explains the verdicts of several claims, and what a designer should do."""

    id: str
    title: str
    text: str
    advice: str = ""


@dataclass(frozen=True)
class NotRun:
    """A sentence that states something checkable and that nothing here can check, with the reason."""

    id: str
    place: str
    statement: str
    reason: str


@dataclass(frozen=True)
class Observation:
    """Something that we measured and no paper claims."""

    id: str
    statement: str
    number: str = ""
    advice: str = ""
    place: str = ""


@dataclass(frozen=True)
class Paper:
    """The statements of a paper, by id, in its order; `name` is P1, …, or N and W for what is beyond the papers."""

    name: str
    title: str
    claims: Mapping[str, Statement]
    errata: tuple[Erratum, ...]
    findings: Mapping[str, Finding]
    not_run: tuple[NotRun, ...]
    observations: tuple[Observation, ...]


@cache
def papers() -> Mapping[str, Paper]:
    """All papers by name.

    Raises
    ------
    BadInput
        If a file of statements has an unknown key or kind.
    """
    return {file.stem.upper(): _paper(file) for file in sorted(_FOLDER.glob("*.toml")) if "_" not in file.stem}


@cache
def statements() -> Mapping[str, Statement]:
    """The statements of all claims by id."""
    return {id_: one for paper in papers().values() for id_, one in paper.claims.items()}


def _paper(file: Path) -> Paper:
    data = tomllib.loads(file.read_text(encoding="utf-8"))

    def each(key: str, kind: type[Any]) -> list[Any]:
        return [kind(**one) for one in data.get(key, ())]

    try:
        claims, findings = each("claim", Statement), each("finding", Finding)
        errata, left, seen = each("erratum", Erratum), each("not_run", NotRun), each("observation", Observation)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{file}: {error}: correct the table") from None
    return Paper(
        file.stem.upper(),
        data.get("title", ""),
        {one.id: one for one in claims},
        tuple(errata),
        {one.id: one for one in findings},
        tuple(left),
        tuple(seen),
    )
