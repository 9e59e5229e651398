"""What the papers state: claims, errata, distinct findings, sentences not run and own observations, from TOML."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ...instances.contract.files import read_text
from ..studies.toml_tables import checked, located, parsed

_FOLDER = Path(__file__).parent


class Statement(Struct, frozen=True, forbid_unknown_fields=True):
    """A claim as the paper makes it, in our words; a table is of the kind ``figure``.

    `reading` is the principal one, declared before running; `number` says what the one number is, with its unit;
    `published_text` stands where the paper has not one number. `advice` is what a designer should do with it, `finding`
    the distinct finding that explains the verdict.
    """

    id: str
    place: str
    kind: Literal["theorem", "step", "algorithm", "figure", "trend", "remark"]
    statement: str
    reading: str = ""
    number: str = ""
    published: float | None = None
    published_text: str = ""
    advice: str = ""
    finding: str = ""

    @property
    def printed(self) -> str:
        """The published number as text; "" where there is none."""
        return self.published_text or ("" if self.published is None else f"{self.published:g}")


class Erratum(Struct, frozen=True, forbid_unknown_fields=True):
    """A misprint or slip with its correction; `shown_by` names the code that shows it."""

    id: str
    place: str
    printed: str
    correct: str
    shown_by: str = ""


class Finding(Struct, frozen=True, forbid_unknown_fields=True):
    """A reason that explains the verdicts of several claims, and what a designer should do."""

    id: str
    title: str
    text: str
    advice: str = ""


class NotRun(Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence that states something checkable and that nothing here can check, with the reason."""

    id: str
    place: str
    statement: str
    reason: str


class Observation(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that we measured and no paper claims."""

    id: str
    statement: str
    number: str = ""
    advice: str = ""
    place: str = ""


class Paper(Struct, frozen=True, forbid_unknown_fields=True):
    """The statements of a paper in its order; `name` is P1, …, or N and W for what is beyond the papers."""

    name: str
    title: str = ""
    claim: tuple[Statement, ...] = ()
    erratum: tuple[Erratum, ...] = ()
    finding: tuple[Finding, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    observation: tuple[Observation, ...] = ()

    @property
    def claims(self) -> dict[str, Statement]:
        return {one.id: one for one in self.claim}


@cache
def papers() -> Mapping[str, Paper]:
    """All papers by name; bad input if a file of statements has an unknown key or kind."""
    return {file.stem.upper(): _paper(file) for file in sorted(_FOLDER.glob("*.toml")) if "_" not in file.stem}


@cache
def statements() -> Mapping[str, Statement]:
    """The statements of all claims by id."""
    return {id_: one for paper in papers().values() for id_, one in paper.claims.items()}


def _paper(file: Path) -> Paper:
    with located(str(file)):
        return checked({"name": file.stem.upper(), **parsed(read_text(file))}, Paper)
