"""The command line, called by tests in their own process."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from overlaybench.compare.command_line import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process: (exit status, stdout, stderr)."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["overlaybench", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfd.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return call
