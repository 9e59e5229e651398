"""The answer and value of a result, the output of a command, and the pages of LaTeX, which must have them."""

import shutil
import subprocess
from pathlib import Path
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner

from overlaybench.compare.command_line import cli
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.result import Result
from overlaybench.models.engine.relaxation import Bound

Answer = TypeVar("Answer")
PACKAGES = ("booktabs.sty", "longtable.sty")


def _lacks(*files: str) -> bool:
    return any(subprocess.run(["kpsewhich", file], capture_output=True, check=False).returncode for file in files)


LATEX = all(map(shutil.which, ("pdflatex", "kpsewhich"))) and not _lacks(*PACKAGES)
CLASSES = [
    pytest.param(of, marks=pytest.mark.skipif(not LATEX or _lacks(f"{name}.cls", *needed), reason=f"no {name}"))
    for of, name, *needed in (
        ("[twocolumn]{article}", "article"),
        ("{IEEEtran}", "IEEEtran"),
        ("[sigconf]{acmart}", "acmart", "xstring.sty", "hyperxmp.sty", "totpages.sty"),
    )
]
"""Classes of papers in two columns."""
needs_latex = pytest.mark.skipif(not LATEX, reason="LaTeX or one of the packages that it needs is not installed")


def output_of(*words: object) -> str:
    """The output of a command that must succeed."""
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def refusal_of(*words: object) -> str:
    """The message of a command that must refuse its input."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert isinstance(done.exception, BadInput), done.output
    return str(done.exception)


def assert_latex_compiles(
    folder: Path, body: str, packages: str = "booktabs", of: str = "{article}", *, overfull: bool = True
) -> None:
    """A document of this class with the body is compiled in the folder; its boxes may be overfull if allowed."""
    page = rf"\documentclass{of}\usepackage{{{packages}}}\begin{{document}}{body}\end{{document}}"
    (folder / "page.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    printed = done.stdout.decode(errors="replace")
    assert done.returncode == 0, printed[-2000:]
    assert overfull or "Overfull" not in printed, printed[printed.index("Overfull") - 200 :][:900]


class BoundLog(list[int]):
    """The units of the bounds of a relaxation, as `at_round`, which never ends it."""

    def __call__(self, bound: Bound) -> bool:
        """Keep the bound of a round."""
        self.append(bound.units)
        return False


def value_of(result: Result[Any]) -> float:
    """The value of a result with an answer."""
    assert result.value is not None, result.reason
    return result.value


def bound_of(result: Result[Any]) -> float:
    """The lower bound of a result."""
    assert result.lower_bound is not None, result.reason
    return result.lower_bound


def known(thing: Answer | None) -> Answer:
    """The thing, which must not be None."""
    assert thing is not None
    return thing


def answer_of(result: Result[Answer]) -> Answer:
    """The answer of a result."""
    assert result.answer is not None, result.reason
    return result.answer
