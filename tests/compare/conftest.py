"""The command line, called by tests in their own process."""

import signal
import sys
from collections.abc import Callable

import pytest

from overlaybench.compare.command_line import main
from overlaybench.instances.contract.signals import SIGNALS

Run = Callable[..., tuple[int, str, str]]


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
