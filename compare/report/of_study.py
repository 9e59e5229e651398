"""The report of a study's folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ...instances.topics.files import TOPICS
from ..figures.style import DEFAULT_OPTIONS, FigureOptions
from ..studies.plot import Plot, plots_of
from ..studies.store import Store
from .writing import write_report


def report_study(
    folder: Path,
    *,
    all_runs: bool = False,
    plots: Sequence[Plot] = (),
    figure_options: FigureOptions = DEFAULT_OPTIONS,
) -> Path:
    """Write the report of a study into its folder, and return the path of the page.

    Parameters
    ----------
    all_runs : bool
        Also the stored runs that are no longer in the study.
    plots : sequence of Plot
        By default those of the study's [report] table.
    figure_options : FigureOptions
        Of the files of figures.

    Raises
    ------
    BadInput
        If the folder holds no results, and as :func:`write_report`.
    """
    store = Store.existing(folder)
    plan = store.plan()
    rows = store.rows(None if all_runs else plan.keys)
    notes = list(plan.notes)
    if missing := len(set(plan.keys) - set(rows["key"])):
        notes.append(f"{missing} of {len(plan.keys)} runs are missing: the same study command resumes.")
    return write_report(
        folder,
        rows,
        partial(store.instance, kind=TOPICS),
        title=plan.name,
        spec=plan.spec,
        notes=notes,
        plots=plots or plots_of(plan.spec),
        figure_options=figure_options,
    )
