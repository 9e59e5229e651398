"""The log of a search on stderr, one line a second, and its bounds for who listens."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from ...instances.contract.option import Option
from ...instances.contract.result import relative_gap

PROGRESS = Option(
    "progress", "auto", "log on stderr: if it is a terminal, always, or never", choices=("auto", "on", "off")
)
_HEADER = f"{'seconds':>8} {'nodes':>7} {'open':>6} {'cuts':>7} {'edges':>8} {'incumbent':>10} {'bound':>10} {'gap':>7}"


class SearchLog:
    """A table to which at most one line is added every `every` seconds.

    Parameters
    ----------
    mode : {"auto", "on", "off"}
        ``auto`` prints if stderr is a terminal.
    on_bound : callable, optional
        Is given the bound of each line, also of those that are not printed.
    """

    def __init__(
        self,
        mode: str = "auto",
        every: float = 1.0,
        on_bound: Callable[[float], object] | None = None,
    ) -> None:
        self._on_bound = on_bound
        self._shown = mode == "on" or (mode == "auto" and sys.stderr.isatty())
        self._start = time.monotonic()
        self._every, self._last, self._headed = every, -every, False

    def line(
        self,
        *,
        incumbent: float | None,
        bound: float | None,
        cuts: int = 0,
        edges: int = 0,
        nodes: int = 0,
        open_nodes: int = 0,
        force: bool = False,
    ) -> None:
        """Pass on the bound, and print the state unless a line was printed less than `every` seconds ago."""
        if self._on_bound is not None and bound is not None:
            self._on_bound(bound)
        now = time.monotonic() - self._start
        if not self._shown or (not force and now - self._last < self._every):
            return
        if not self._headed:
            print(_HEADER, file=sys.stderr)
        self._headed, self._last = True, now
        gap = relative_gap(incumbent, bound)
        print(
            f"{now:8.1f} {nodes:7d} {open_nodes:6d} {cuts:7d} {edges:8d} {_number(incumbent):>10} "
            f"{_number(bound):>10} {'-' if gap is None else f'{gap:.2%}':>7}",
            file=sys.stderr,
            flush=True,
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.10g}" if float(value).is_integer() else f"{value:.2f}"
