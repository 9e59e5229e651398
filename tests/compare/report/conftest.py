"""Reports without the cost of their PDF files, where a test does not read them."""

from typing import Any

import pytest
from matplotlib.figure import Figure


@pytest.fixture(params=["PDF files without content", pytest.param("all files", marks=pytest.mark.slow)])
def figure_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write PDF files without content in the quick tests, and real ones in the slow tests."""
    if request.param == "PDF files without content":
        leave_out_pdf(monkeypatch)


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write PDF files without content and charts without marks, in tests of what stands beside them."""
    leave_out_pdf(monkeypatch)
    blank = '<svg width="9pt" height="9pt" viewBox="0 0 9 9"></svg>'
    monkeypatch.setattr("overlaybench.compare.figures.style.vega_svg", lambda spec: blank)


def leave_out_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write PDF files without content."""
    save = Figure.savefig

    def without_pdf(figure: Figure, file: Any, *, format: str, **options: Any) -> None:
        if format == "pdf":
            file.write(b"%PDF")
        else:
            save(figure, file, format=format, **options)

    monkeypatch.setattr(Figure, "savefig", without_pdf)
