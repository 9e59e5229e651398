"""Tables that show themselves, are drawn, and become LaTeX or a data frame of any library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...instances.contract.errors import BadInput
from ..printable import cell

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ..figures.style import Chart
    from ..studies.pivot import Pivot

_MOST_ROWS = 20


def _no_figure() -> Any:
    raise BadInput("this table has no figure: see ob.ratio_plot, ob.paired and ob.profile")


@dataclass(frozen=True, repr=False)
class ResultTable:
    """Runs, or what is computed from them, as a table; docs/results.md explains the columns.

    Attributes
    ----------
    rows : pandas.DataFrame
    title : str
    notes : tuple of str
        Sentences below the table.
    columns : tuple of str
        Those that the table shows, as far as it has them; all if empty.
    drawn : callable
        Draws the figure of the table: a chart's specification (Vega-Lite) or a figure of matplotlib.
    names : mapping, optional
        What methods, problems and columns are called in LaTeX and in the figure.

    Examples
    --------
    >>> import overlaybench as ob
    >>> import pandas as pd
    >>> ob.ResultTable(pd.DataFrame({"problem": ["min-tco"], "value": [13.0]})).to_arrow().column_names
    ['problem', 'value']
    """

    rows: pd.DataFrame
    title: str = ""
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    drawn: Callable[..., Any] = _no_figure
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> pd.DataFrame:
        """The columns that the table shows."""
        return self.rows[[name for name in self.columns or self.rows.columns if name in self.rows]]

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

    def to_latex(self, label: str = "", names: Mapping[str, str] | None = None) -> str:
        """A table for LaTeX's booktabs, with the title as its caption; `names` add to those of the study's report."""
        from ..studies.latex import latex_table

        return latex_table(self.shown, self.title, label, names={**self.names, **(names or {})})

    def pivot(self, rows: str | Sequence[str], columns: str, cell: str = "ratio", form: str = "interval") -> PivotTable:
        """Runs as a paper prints them: a column across, one or more down, in each cell a mean over instances.

        Parameters
        ----------
        rows : str or sequence of str
            Columns of the runs, such as ``"nodes"``.
        columns : str
            The column whose values are the heads: ``"variant"``, ``"method"``.
        cell : {"ratio", "value", "time", "degree", "gap", "memory"}
        form : {"interval", "worst"}
            What follows the mean: ± half of its 95% interval by Student's t, or the worst run in parentheses.

        Raises
        ------
        BadInput
            If this table has no runs, or not these columns.

        Examples
        --------
        >>> import overlaybench as ob
        >>> runs = ob.StudyResults("results/mine").results(problem="min-tco")  # doctest: +SKIP
        >>> runs.pivot("nodes", "variant").save("ratios.tex")  # doctest: +SKIP
        """
        from ..studies.pivot import pivot, renamed

        found = renamed(pivot(self.rows, [rows] if isinstance(rows, str) else rows, columns, cell, form), self.names)
        return PivotTable(found.table, found.caption, best=found.best)

    def plot(self) -> Figure | Chart:
        """The figure of the table: it shows itself in a notebook, and `savefig` writes it (.svg, .pdf, .png).

        Raises
        ------
        BadInput
            If the table has no figure.
        """
        from ..figures.style import Chart, current_options, styled

        options = replace(current_options(), names=self.names)
        with styled(options):
            drawn = self.drawn()
            return Chart(drawn, options) if isinstance(drawn, dict) else drawn

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return "\n".join(filter(None, [self.title, self._texts().to_string(index=False), *self.notes]))

    def _repr_html_(self) -> str:
        parts = [escape(self.title), self._texts().to_html(index=False), *map(escape, self.notes)]
        return "".join(part if part.startswith("<table") else f"<p>{part}</p>" for part in parts if part)

    def _texts(self) -> pd.DataFrame:
        """The first and last rows that are shown, with dots between them, as texts; no column without a text."""
        import pandas as pd

        rows, most = self.shown, _MOST_ROWS // 2
        dots = ["…"] if len(rows) > _MOST_ROWS else []
        rows = pd.concat([rows.head(most), rows.tail(most)]) if dots else rows
        columns = {name: [cell(name, each) for each in rows[name].tolist()] for name in rows}
        texts = {
            name.replace("_", " "): [*own[:most], *dots, *own[most:]]
            for name, own in columns.items()
            if any(own) or not own
        }
        return pd.DataFrame(texts)


@dataclass(frozen=True, repr=False, kw_only=True)
class PivotTable(ResultTable):
    """The result of :meth:`ResultTable.pivot`; `best` is a mask of its cells."""

    best: pd.DataFrame

    def to_latex(self, label: str = "", names: Mapping[str, str] | None = None) -> str:
        """A table for LaTeX's booktabs, the best cells bold."""
        from ..studies.latex import latex_table

        return latex_table(self.rows, self.title, label, bold=self.best, names=names)

    def save(self, file: str | Path) -> None:
        """Write the table to a file by its ending: .csv, .html, .md, .tex or .xlsx."""
        from ..studies.pivot import write_pivot

        write_pivot(self._pivot, Path(file))

    def _repr_html_(self) -> str:
        from ..studies.pivot import html

        return html(self._pivot)

    @property
    def _pivot(self) -> Pivot:
        from ..studies.pivot import Pivot

        return Pivot(self.rows, self.best, self.title)
