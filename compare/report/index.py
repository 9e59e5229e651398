"""The index of several reports: one page with a line a study and a line for each problem of each study."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from ...instances.contract.files import atomic_write
from ..printable import printable
from .cells import linked, table
from .page_data import page_scripts
from .writing import summary_columns, template

_TOTALS = ("study", "problems", "methods", "instances", "runs", "failed", "seconds")


def write_index(pages: Mapping[Path, str]) -> Path:
    """Write ``reports.html`` into the folder that the folders of all pages have in common, and return its path.

    `pages` are those of :func:`.report_study` with the names of their studies; the numbers are those of the tables
    beside them. The page links the reports by relative addresses and loads nothing. Bad input if it cannot be written.
    """
    into = Path(os.path.commonpath([page.parent.absolute() for page in pages]))
    totals, summaries = [], []
    for page, name in pages.items():
        methods, inputs, summary = (_table(page, of) for of in ("methods", "inputs", "summary"))
        address = quote(Path(os.path.relpath(page.absolute(), into)).as_posix())
        study = {"study": linked(printable(name), page=address)}
        counts = {"problems": len(summary), "methods": len(methods), "instances": int(inputs["instances"].sum())}
        totals.append({**study, **counts, **methods[["runs", "failed", "seconds"]].sum().to_dict()})
        summaries.append(summary.assign(**study))
    studies, problems = pd.DataFrame(totals), pd.concat(summaries, ignore_index=True)
    heads = {"failed": "failed runs", "seconds": "total time"}
    html = template("index.html").render(
        title="Reports of studies",
        studies=table(studies, _TOTALS, heads=heads),
        problems=table(problems, ("study", *summary_columns(problems)), heads=heads),
        scripts=page_scripts("page.js", "tables.js"),
    )
    atomic_write(into / "reports.html", html)
    return into / "reports.html"


def _table(page: Path, name: str) -> pd.DataFrame:
    rows = pd.read_csv(page.parent / "tables" / f"{name}.csv")
    return rows.fillna(dict.fromkeys(rows.select_dtypes("object"), ""))
