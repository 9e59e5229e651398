"""``overlaybench report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...instances.contract.errors import BadInput
from ..studies.plot import MEASURES, Plot, plot_of
from .figure_options import figure_options
from .inputs import FILE, key_values

if TYPE_CHECKING:
    from ..figures.style import FigureOptions


@click.command("report")
@click.argument("folder", type=FILE)
@click.option("--x", metavar="PARAM", help="Plot against this parameter, option or size.  [default: what one varies]")
@click.option("--y", type=click.Choice(list(MEASURES)), help="Plot this measure.  [default: ratio]")
@click.option("--group", metavar="COLUMN", help="A curve for each value of it.  [default: variant]")
@click.option("--plot", "more", multiple=True, metavar="x=…,y=…", help="A further plot: x=nodes,y=time,group=family.")
@click.option("--all", "every", is_flag=True, help="Also runs that are no longer in the study.")
@figure_options
def command(
    folder: Path,
    x: str | None,
    y: str | None,
    group: str | None,
    more: tuple[str, ...],
    every: bool,
    figure_options: FigureOptions,
) -> None:
    """Write the report of the study in FOLDER: report.html, tables/ and figures/ there.

    The plots that the options choose take the place of those in the study's [report] table.
    """
    from ..report.of_study import report_study

    plots = _plots({"x": x, "y": y, "group": group}, more)
    click.echo(report_study(folder, all_runs=every, plots=plots, figure_options=figure_options))


def _plots(first: dict[str, str | None], more: tuple[str, ...]) -> tuple[Plot, ...]:
    chosen = {name: value for name, value in first.items() if value is not None}
    if chosen and "x" not in chosen:
        raise BadInput(f"--{min(chosen)}: give --x as well, the parameter to plot against")
    tables = [chosen] if chosen else []
    tables += [key_values(tuple(words.split(",")), "--plot") for words in more]
    return tuple(dict.fromkeys(plot_of(table) for table in tables))
