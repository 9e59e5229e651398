"""Studies from Python: run one, and take its results as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...instances.contract.catalogue import KINDS

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from ..studies.comparison import StudyComparison

_SHOWN = ("problem", "variant", "family", "status", "value", "lower_bound", "ratio", "seconds")
_MOST_ROWS = 20


def study(
    spec: str | Path, out: str | Path, *, master: str = "local[*]", quiet: bool = False, grow: bool = False
) -> StudyResults:
    """Run the study in a TOML file on Spark; runs that the folder holds already are not repeated.

    A study file with more methods, instances, seeds or limits runs only what is new.

    Parameters
    ----------
    spec : path
        The study file; docs/study.md explains its keys.
    out : path
        The folder of results, created if missing.
    master : str
        The Spark master.
    quiet : bool
        Show no progress.
    grow : bool
        Take the folder of an unrelated study, whose runs stay stored there.

    Returns
    -------
    StudyResults

    Raises
    ------
    BadInput
        If the file is no study, or the folder holds an unrelated one.

    Examples
    --------
    >>> import overlaybench as ob
    >>> finished = ob.study("study.toml", out="results/mine")  # doctest: +SKIP
    >>> finished.results(problem="min-tco").to_pandas()  # doctest: +SKIP
    """
    from ..studies.spark_study import run_study
    from ..studies.store import Store
    from ..studies.study import read_study

    folder = Path(out).expanduser()
    run_study(read_study(Path(spec).expanduser()), Store(folder), master, quiet=quiet, grow=grow)
    return StudyResults(folder)


def compare_studies(
    first: str | Path | StudyResults,
    second: str | Path | StudyResults,
    *,
    ignore: Sequence[str] = (),
    noise: float = 0.1,
    **where: object,
) -> StudyComparison:
    """Compare two studies run by run: what got better, what got worse, and what took longer.

    Runs are matched by what they are (instance, problem, method, options, limits) and not by their seeds.

    Parameters
    ----------
    first, second : path or StudyResults
        Folders of results.
    ignore : sequence of {"options", "time_limit", "memory_limit"}
        Match runs that differ in these.
    noise : float
        Seconds below which times are not compared.
    **where
        Keep the rows with these values: ``problem="min-tco"``.

    Returns
    -------
    StudyComparison

    Raises
    ------
    BadInput
        If a folder holds no results, or a column is unknown.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.compare_studies("results/before", "results/after").is_worse  # doctest: +SKIP
    False
    """
    from ..studies.comparison import compared

    sides = [each if isinstance(each, StudyResults) else StudyResults(each) for each in (first, second)]
    before, after = (each.results(**where).rows for each in sides)  # type: ignore[arg-type]
    return compared(before, after, ignore=ignore, noise=noise)


@dataclass(frozen=True)
class StudyResults:
    """The folder of a study's results, also where ``overlaybench study`` ran it.

    Parameters
    ----------
    folder : path

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.StudyResults("results/mine").results(problem="min-tco").to_polars()  # doctest: +SKIP
    """

    folder: str | Path

    def results(self, *, all_runs: bool = False, **where: object) -> StudyTable:
        """Its finished runs, a row a run; keywords keep the rows with these values: ``problem="min-tco"``.

        Parameters
        ----------
        all_runs : bool
            Also the stored runs that are no longer in the study.

        Raises
        ------
        BadInput
            If the folder holds no results, or a column is unknown.
        """
        from ..studies.results import results

        texts = {column: f"{value:g}" if isinstance(value, float) else str(value) for column, value in where.items()}
        return StudyTable(results(self._path, texts, all_runs=all_runs))

    def instance(self, digest: str, kind: str = "topics") -> Any:
        """An instance of the study by its digest: the column ``instance`` of the results.

        Raises
        ------
        BadInput
            If it is not in the folder.
        """
        from ..studies.store import Store

        return Store.existing(self._path).instance(digest, KINDS.named(kind))

    def report(self) -> Path:
        """Write its report (report.html, tables/ and figures/ in the folder) and return the path of the page."""
        from ..report.writing import report_study

        return report_study(self._path)

    @property
    def _path(self) -> Path:
        return Path(self.folder).expanduser()

    def _repr_html_(self) -> str:
        return self.results()._repr_html_()


@dataclass(frozen=True, repr=False)
class StudyTable:
    """Runs as a table, for the data frame library of one's choice; docs/results.md explains the columns.

    Attributes
    ----------
    rows : pandas.DataFrame
        A row a run.

    Examples
    --------
    >>> import overlaybench as ob
    >>> import pandas as pd
    >>> ob.StudyTable(pd.DataFrame({"problem": ["min-tco"], "value": [13.0]})).to_arrow().column_names
    ['problem', 'value']
    """

    rows: pd.DataFrame

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame."""
        return self.rows.copy()

    def to_arrow(self) -> pa.Table:
        """A pyarrow Table."""
        import pyarrow as pa

        return pa.Table.from_pandas(self.rows, preserve_index=False)

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame."""
        import polars as pl

        return pl.DataFrame(self.to_arrow())

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"{len(self)} runs\n{self._shown().to_string(index=False, max_rows=_MOST_ROWS, na_rep='–')}"

    def _repr_html_(self) -> str:
        shown: Any = self._shown().to_html(index=False, max_rows=_MOST_ROWS, na_rep="–", float_format="{:.4g}".format)
        return f"<p>{len(self)} runs</p>{shown}"

    def _shown(self) -> pd.DataFrame:
        return self.rows[[column for column in _SHOWN if column in self.rows.columns]]
