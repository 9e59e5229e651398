"""The cells of the atlas: all instances of so many nodes and topics, surveyed in pieces, in this process or on Spark.

A piece is a fixed share of the canonical prefixes. What pieces return is merged where they run, and the parts of a cell
are kept as Parquet files: a survey that was stopped goes on after the last part, and the bytes of a part depend on
nothing but the survey, the code and the size.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, reduce
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, make_folder
from .every_instance import Rows, check_size, instances, members_of, number_of_instances
from .surveys import EXCLUDED, RANDOM, UNIT, Survey, SurveyRow, merged

_MOST_PIECES, _PIECES_A_PART, _PREFIXES_A_PIECE = 512, 32, 8
_MOST_ROWS = 1 << 16  # surveyed at a time
_FAST, _SLOW = 2048, 64  # instances a piece, about
_HERE, _HERE_SLOW = 200_000, 2000  # instances up to which a survey needs no Spark, by kernels or by runs


class Piece(NamedTuple):
    """A share of the prefixes of a cell."""

    nodes: int
    topics: int
    prefix: int  # the topics of a prefix
    number: int
    of: int


Gather = Callable[[Survey, Sequence[Piece]], list[SurveyRow]]
"""Surveys some pieces and merges their rows."""
Progress = Callable[[int, int], object]
"""Receives how many instances are surveyed, about, of how many."""


@dataclass(frozen=True)
class AtlasCell:
    """All instances of a size: the rows of a survey, in order."""

    nodes: int
    topics: int
    rows: tuple[SurveyRow, ...]

    @cached_property
    def instances(self) -> int:
        """How many the condition leaves."""
        return number_of_instances(self.nodes, self.topics) - sum(row.cases for row in self.of(EXCLUDED))

    def of(self, ties: str) -> list[SurveyRow]:
        return [row for row in self.rows if row.ties == ties]

    @property
    def rules(self) -> list[str]:
        """The rules for ties that it has, without the mean."""
        return [ties for ties in dict.fromkeys(row.ties for row in self.rows) if ties not in (EXCLUDED, RANDOM)]

    def not_optimal(self, ties: str) -> int:
        return sum(row.cases for row in self.of(ties) if row.value > row.optimum)

    def worst(self, ties: str) -> SurveyRow:
        """The instances of the worst ratio; of several pairs of value and optimum that of the first instance."""
        rows = self.of(ties)
        most = max(row.ratio for row in rows)
        return reduce(merged, sorted((row for row in rows if row.ratio == most), key=lambda row: row.example))

    def mean_ratio(self, ties: str) -> float:
        """The mean ratio over all instances: exact, of means to 2^-32 an instance."""
        unit = UNIT if ties == RANDOM else 1
        return float(sum(Fraction(row.total, row.optimum * unit) for row in self.of(ties)) / self.instances)

    def histogram(self, ties: str) -> dict[Fraction, int]:
        """How many instances have each ratio."""
        counts: Counter[Fraction] = Counter()
        for row in self.of(ties):
            counts[row.ratio] += row.cases
        return dict(sorted(counts.items()))

    def example(self, row: SurveyRow) -> tuple[tuple[int, ...], ...]:
        """The subscribers of each topic of the first instance of a row."""
        return members_of(self.nodes, row.example)


def sizes(nodes: int, topics: int) -> list[tuple[int, int]]:
    """The cells of at most so many nodes and topics, by topics and then by nodes; BadInput if they are not listed."""
    check_size(nodes, topics)
    return [(n, t) for t in range(1, topics + 1) for n in range(2, nodes + 1)]


def surveyed(
    survey: Survey,
    chosen: Iterable[tuple[int, int]],
    *,
    folder: Path | None = None,
    gather: Gather | None = None,
    progress: Progress = lambda done, total: None,
) -> Iterator[AtlasCell]:
    """The cells of these sizes, one after the other; those in the folder are not surveyed again.

    Raises RuntimeError if a cell has not as many instances as Burnside's lemma counts.
    """
    chosen = list(chosen)
    total, done = sum(number_of_instances(*size) for size in chosen), 0
    for nodes, topics in chosen:
        count = number_of_instances(nodes, topics)
        pieces = _pieces(nodes, topics, _FAST if survey.is_fast else _SLOW)
        parts = [pieces[i : i + _PIECES_A_PART] for i in range(0, len(pieces), _PIECES_A_PART)]
        rows: list[SurveyRow] = []
        for number, part in enumerate(parts):
            file = folder / f"{_stem(survey)}-{nodes}-{topics}-{number:02}.parquet" if folder is not None else None
            rows += _kept(survey, file) or _keep((gather or gather_here)(survey, part), survey, file)
            progress(done + count * (number + 1) // len(parts), total)
        done += count
        cell = AtlasCell(nodes, topics, tuple(_merge(rows)))
        for ties in (*cell.rules, RANDOM):
            if (got := sum(row.cases for row in cell.of(ties))) not in (cell.instances, 0):
                raise RuntimeError(f"{survey.label}: {got} of {cell.instances} instances: please report this")
        yield cell


def gather_here(survey: Survey, pieces: Sequence[Piece]) -> list[SurveyRow]:
    """Survey pieces in this process."""
    return _merge(row for piece in pieces for row in survey_piece(survey, piece))


@contextmanager
def gathering(survey: Survey, chosen: Iterable[tuple[int, int]], master: str | None) -> Iterator[Gather]:
    """How pieces are surveyed: on a Spark master; without one in this process if they are few, else on all cores."""
    few = _HERE if survey.is_fast else _HERE_SLOW
    if master is None and sum(number_of_instances(*size) for size in chosen) <= few:
        yield gather_here
        return
    from ..studies.spark_session import PlugIns, spark

    plug_ins = PlugIns.among(methods=[term.found(survey.problem).name for term in survey.terms.values()])
    with (
        tempfile.TemporaryDirectory(prefix="overlaybench-") as temporary,
        spark(master or "local[*]", Path(temporary) / "spark.log", plug_ins=plug_ins) as context,
    ):

        def gather(survey: Survey, pieces: Sequence[Piece]) -> list[SurveyRow]:
            def rows_of(piece: Piece) -> list[tuple[tuple[str, int, int], SurveyRow]]:
                plug_ins.register()
                return [(row[:3], row) for row in survey_piece(survey, piece)]

            tasks = context.parallelize(pieces, len(pieces))
            return _merge(tasks.flatMap(rows_of).reduceByKey(merged).values().collect())

        yield gather


def survey_piece(survey: Survey, piece: Piece) -> list[SurveyRow]:
    """The rows of a piece."""
    prefixes = _prefixes(piece.nodes, piece.prefix)[piece.number :: piece.of]
    every = (rows for prefix in prefixes for rows in instances(piece.nodes, piece.topics, prefix, most=_MOST_ROWS))
    found, waiting, size = list[SurveyRow](), list[Rows](), 0
    for rows in chain(every, (None,)):
        if waiting and (rows is None or size + len(rows) > _MOST_ROWS):
            found = _merge([*found, *survey.rows_of(piece.nodes, np.concatenate(waiting))])
            waiting, size = [], 0
        if rows is not None:
            waiting.append(rows)
            size += len(rows)
    return found


def _merge(rows: Iterable[SurveyRow]) -> list[SurveyRow]:
    together: dict[tuple[str, int, int], SurveyRow] = {}
    for row in rows:
        before = together.get(row[:3])
        together[row[:3]] = row if before is None else merged(before, row)
    return sorted(together.values())


@cache
def _prefixes(nodes: int, length: int) -> list[tuple[int, ...]]:
    return [tuple(row) for rows in instances(nodes, length) for row in rows.tolist()] if length else [()]


def _pieces(nodes: int, topics: int, size: int) -> list[Piece]:
    """Pieces of about so many instances, with several prefixes each, because prefixes differ in their extensions."""
    of = max(1, min(_MOST_PIECES, number_of_instances(nodes, topics) // size))
    prefixes = [number_of_instances(nodes, t) if t else 1 for t in range(topics)]
    length = next((t for t, count in enumerate(prefixes) if of == 1 or count >= of * _PREFIXES_A_PIECE), topics - 1)
    of = min(of, prefixes[length])
    return [Piece(nodes, topics, length, number, of) for number in range(of)]


def _stem(survey: Survey) -> str:
    return hashlib.sha256(survey.key.encode()).hexdigest()[:16]


def _keep(rows: list[SurveyRow], survey: Survey, file: Path | None) -> list[SurveyRow]:
    if file is None:
        return rows
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {name: [row[i] for row in rows] for i, name in enumerate(SurveyRow._fields)}
    columns["example"] = [bytes(row.example) for row in rows]
    table = pa.table(columns).replace_schema_metadata({"survey": survey.key})
    make_folder(file.parent)
    atomic_write(file, lambda path: pq.write_table(table, path))
    return rows


def _kept(survey: Survey, file: Path | None) -> list[SurveyRow]:
    """The rows in a part; none if there is no such file."""
    if file is None or not file.is_file():
        return []
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file)
        if (table.schema.metadata or {}).get(b"survey") != survey.key.encode():
            raise ValueError("it is of another survey")
        return [SurveyRow(**{**row, "example": tuple(row["example"])}) for row in table.to_pylist()]
    except (pa.ArrowInvalid, OSError, ValueError, TypeError) as error:
        raise BadInput(f"{file}: is no part of this survey ({str(error).splitlines()[0]}): remove it") from None
