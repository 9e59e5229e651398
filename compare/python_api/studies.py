"""Studies from Python: run one, and take its results as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...instances.contract.catalogue import KINDS
from ...instances.contract.errors import BadInput
from .tables import ResultTable

if TYPE_CHECKING:
    import pandas as pd

    from ..studies.comparison import StudyComparison

_SHOWN = ("variant", "status", "value", "lower_bound", "ratio", "seconds")


def study(
    spec: str | Path, out: str | Path, *, master: str = "local[*]", quiet: bool = False, grow: bool = False
) -> StudyResults:
    """Run the study in a TOML file on Spark; runs that the folder holds already are not repeated.

    A study file with more methods, instances, seeds or limits runs only what is new.

    Parameters
    ----------
    spec, out : path
        The study file (docs/study.md explains its keys), and the folder of results, created if missing.
    master : str
        The Spark master.
    quiet : bool
        Show no progress.
    grow : bool
        Take the folder of an unrelated study, whose runs stay stored there; without it that is bad input.

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
    versions: tuple[str, str] | None = None,
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
    versions : (str, str), optional
        The code version of each side, or its first digits; by default the present ones.
    **where
        Keep the rows with these values: ``problem="min-tco"``.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.compare_studies("results/before", "results/after").is_worse  # doctest: +SKIP
    False
    """
    from ..studies.comparison import compared, results_of_version

    sides = [each if isinstance(each, StudyResults) else StudyResults(each) for each in (first, second)]
    if versions:
        rows = [results_of_version(one.path, of, texts_of(where)) for one, of in zip(sides, versions, strict=True)]
    else:
        rows = [one.results(**where).rows for one in sides]  # type: ignore[arg-type]
    if not any(map(len, rows)):
        raise BadInput("there are no such runs: see `overlaybench results`")
    return compared(*rows, ignore=ignore, noise=noise)


def texts_of(where: Mapping[str, object]) -> dict[str, str]:
    """Values as ``--where`` takes them."""
    return {column: f"{value:g}" if isinstance(value, float) else str(value) for column, value in where.items()}


@dataclass(frozen=True, repr=False)
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

    def results(self, *, all_runs: bool = False, **where: object) -> ResultTable:
        """Its finished runs, a row a run; keywords keep the rows with these values: ``problem="min-tco"``.

        With `all_runs` also the stored runs that are no longer in the study.
        """
        from ..studies.bounds import sizes_of, sorted_by
        from ..studies.results import results

        rows = results(self.path, texts_of(where), all_runs=all_runs)
        sizes = sizes_of(rows)
        rows = sorted_by(rows, "problem", "family", *sizes, "instance", "variant", "seed")
        title = f"{len(rows)} runs" if len(rows) != 1 else "1 run"
        columns = ("problem", "family", "instance", *sizes[:1], *_SHOWN)
        return ResultTable(rows, title, columns=columns, names=self.names)

    def instance(self, digest: str, kind: str = "topics") -> Any:
        """An instance of the study by its digest: the column ``instance`` of the results."""
        from ..studies.store import Store

        return Store.existing(self.path).instance(digest, KINDS.named(kind))

    def report(self) -> Path:
        """Write its report (report.html, tables/ and figures/ in the folder) and return the path of the page."""
        from ..report.writing import report_study

        return report_study(self.path)

    def judged(self, **where: object) -> pd.DataFrame:
        """The chosen runs with the bounds that all runs of the study prove; see :func:`.judged_runs`."""
        from ..report.tables import judged_runs
        from ..studies.results import results
        from ..studies.store import Store

        store = Store.existing(self.path)
        runs = judged_runs(store.rows(store.plan().keys))
        return runs[runs["key"].isin(set(results(self.path, texts_of(where))["key"]))] if where else runs

    @property
    def names(self) -> dict[str, str]:
        """What methods, problems and columns are called in tables for papers, by the study file."""
        from ..studies.plot import names_of
        from ..studies.store import Store

        store = Store(self.path)
        return names_of(store.plan().spec) if store.has_plan else {}

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder).expanduser()

    def __repr__(self) -> str:
        return f"{self.folder}: {self.results()!r}"

    def _repr_html_(self) -> str:
        return self.results()._repr_html_()
