"""The command line, called by tests in their own process, and reports without the cost of their figures."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from matplotlib.figure import Figure

import overlaybench as ob
from overlaybench.compare.command_line import main
from overlaybench.compare.report import writing
from overlaybench.instances.contract.catalogue import WORKLOADS, Catalogue
from overlaybench.instances.runtime.signals import SIGNALS
from tests.outcomes import known

if TYPE_CHECKING:  # quick tests do without the second that its import takes
    from playwright.sync_api import Browser, Page

slow = partial(pytest.param, marks=pytest.mark.slow)
PROGRAM = (sys.executable, "-m", "overlaybench.compare")
Run = Callable[..., tuple[int, str, str]]
Theme = Literal["light", "dark"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process: (exit status, stdout, stderr)."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlaybench", *map(str, words)])
        handlers = {number: signal.getsignal(number) for number in SIGNALS}
        with pytest.raises(SystemExit) as stop:
            main()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        out, err = capfd.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return call


def run_apart(*words: object, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command of the program in another process, whose Spark binds to the loopback interface."""
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | variables
    command = [*PROGRAM, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture
def own_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is registered in this test is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    for catalogue in (ob.METHODS, ob.PROBLEMS, WORKLOADS):
        assert isinstance(catalogue, Catalogue)
        assert catalogue.errors == ()  # what packages register is loaded now
        for name in ("_plug_ins", "_others"):
            monkeypatch.setattr(catalogue, name, dict(getattr(catalogue, name)))


@pytest.fixture(params=["PDF files without content", slow("all files")])
def figure_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write PDF files without content in the quick tests, and real ones in the slow tests."""
    if request.param == "PDF files without content":
        leave_out_pdf(monkeypatch)


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no charts of topics, others without marks and as empty PDF files, in tests of what stands beside them."""
    leave_out_pdf(monkeypatch)
    blank = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt" viewBox="0 0 9 9"></svg>'
    monkeypatch.setattr("overlaybench.compare.figures.style.vega_svg", lambda spec: blank)
    monkeypatch.setattr(writing, "TOPIC_CHARTS", ())
    monkeypatch.setattr(writing, "default_plots", lambda runs: [])
    for name in ("overview_chart", "anytime_chart", "overlay_drawing"):
        monkeypatch.setattr(writing, name, lambda *given: None)


def leave_out_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write PDF files without content."""
    save = Figure.savefig

    def without_pdf(figure: Figure, file: Any, *, format: str, **options: Any) -> None:
        if format == "pdf":
            file.write(b"%PDF")
        else:
            save(figure, file, format=format, **options)

    monkeypatch.setattr(Figure, "savefig", without_pdf)


def shrink_machine(patch: pytest.MonkeyPatch, memory: int) -> None:
    """Let the machine have so many bytes of memory."""
    asked = os.sysconf
    pages = {"SC_PHYS_PAGES": memory // asked("SC_PAGE_SIZE")}
    patch.setattr(os, "sysconf", lambda name: pages.get(name) or asked(name))


class Terminal(io.StringIO):
    """A terminal that gives each text that is written to it to a function."""

    def __init__(self, seen: Callable[[str], object]) -> None:
        super().__init__()
        self._seen = seen

    def write(self, text: str) -> int:
        self._seen(text)
        return super().write(text)

    def isatty(self) -> bool:
        return True


def embedded(html: str, name: str) -> Any:
    """The data that the scripts of a page read."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', html, re.DOTALL)
    return json.loads(known(found)[1])


@contextmanager
def watched_page(browser: Browser, address: str, width: int = 1280, scheme: Theme = "light") -> Iterator[Page]:
    """A page without a network, which must ask for nothing, pop nothing up, and throw and warn of nothing."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True)
    page, faults = context.new_page(), list[str]()
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: None if request.url in (address, "data:,") else faults.append(request.url))
    page.goto(address)
    yield page
    assert faults == []
    context.close()


@pytest.fixture
def mounts() -> None:
    """Skip where this system forbids mounts."""
    if subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("mounts are not allowed here")
