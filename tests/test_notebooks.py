"""The notebooks of the documentation run, show what they promise, and are stored without outputs."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

nbformat: Any = import_module("nbformat")
FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_three_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["lemma", "own_heuristic", "ratio_study"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs_in_short_cells(path: Path) -> None:
    for cell in read(path).cells:
        assert len(cell.source.splitlines()) <= 25
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_no_array(path: Path, tmp_path: Path) -> None:
    from nbclient import NotebookClient

    notebook = read(path)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output for output in outputs if output.output_type in ("execute_result", "display_data")]
    assert any("image/svg+xml" in output.data or "image/png" in output.data for output in shown)
    for output in outputs:
        texts = [
            output.get("text", ""),
            *(output.get("data", {}).get(kind, "") for kind in ("text/plain", "text/html")),
        ]
        for text in texts:
            assert not re.search(r"\barray\(|object at 0x", text), text
            assert "Warning" not in text, text


@pytest.mark.slow
def test_a_notebook_shows_progress_and_then_takes_it_away(tmp_path: Path) -> None:
    from nbclient import NotebookClient

    code = (
        "import overlaybench as ob\nfrom overlaybench.compare.python_api.solving import tracked\n"
        "for item in tracked([1, 2], ['gm', 'low-oda']):\n    if item == 2: raise KeyboardInterrupt"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    seen: list[str] = []

    class Watching(NotebookClient):
        def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
            seen.append(str(msg["content"].get("data", {}).get("text/html", "")))
            return super().process_message(msg, cell, cell_index)

    Watching(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    bars = [html for html in seen if "<progress" in html]
    assert ["gm, 1 of 2" in bars[0], "low-oda, 2 of 2" in bars[1]] == [True, True]
    assert notebook.cells[0].outputs[0].data["text/html"] == ""
