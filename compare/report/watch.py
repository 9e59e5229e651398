"""The page of a study while it runs, served to the browsers of this machine, without Spark."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from ...instances.contract.errors import BadInput
from ..figures.style import FigureOptions
from ..studies.store import Store
from .writing import report_study

_SHARE = 0.2  # of the time, at most, for writing the page
_RELOAD = """<script>
setInterval(async () => {
  const now = await fetch("/", { method: "HEAD" }).then((answer) => answer.headers.get("ETag"), () => null);
  if (now && now !== "%s") location.reload();
}, %d);
</script>
"""


class LivePage:
    """The report of a study in `folder`, written into another folder again when rows were added."""

    def __init__(self, folder: Path, into: Path, every: float) -> None:
        self.store, self.into, self.every = Store.existing(folder), into, every
        self.version, self._seen, self._due = 0, [("", 0)], 0.0
        self._writing = threading.Lock()

    def refresh(self) -> None:
        """Write the page if it is older than `every` seconds and there are other rows than at its time."""
        with self._writing:
            if (start := time.monotonic()) < self._due:
                return
            files = [self.store.folder / "plan.parquet", self.store.journal, *self.store.parts()]
            seen = [(file.name, file.stat().st_size) for file in files if file.exists()]
            if seen != self._seen:
                page = report_study(self.store.folder, into=self.into, figure_options=FigureOptions(formats=("svg",)))
                self.version, self._seen = self.version + 1, seen
                with page.open("a", encoding="utf-8") as file:
                    file.write(_RELOAD % (self.version, 1000 * self.every))
            now = time.monotonic()
            self._due = now + max(self.every, (now - start) / _SHARE)


class _Handler(SimpleHTTPRequestHandler):
    """Answers requests for the page, and for its figures and tables, which `directory` holds."""

    timeout = 5  # a browser may connect in advance and send nothing

    def __init__(self, *given: Any, page: LivePage) -> None:
        self.page = page
        super().__init__(*given, directory=str(page.into))

    def handle(self) -> None:
        """Answer; a browser may leave before it has the page."""
        with suppress(ConnectionError):
            super().handle()

    def send_head(self) -> Any:
        """Refuse names of other hosts, which a foreign page may have pointed to this machine."""
        if self.headers.get("Host", "").partition(":")[0] not in ("127.0.0.1", "localhost"):
            return self.send_error(403)
        if "\0" in unquote(self.path):  # which no name of a file has
            return self.send_error(404)
        if self.path == "/":
            try:
                self.page.refresh()
            except BadInput as error:  # a file that is damaged, say
                return self.send_error(503, explain=str(error))
            self.path = "/report.html"
        return super().send_head()

    def end_headers(self) -> None:
        self.send_header("ETag", str(self.page.version))
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""


@contextmanager
def page_server(folder: Path, port: int = 0, every: float = 10.0) -> Iterator[ThreadingHTTPServer]:
    """The server of a study's page on 127.0.0.1, of any free port if it is 0; it serves by ``serve_forever``.

    Bad input if the folder holds no results, or the port is taken.
    """
    with TemporaryDirectory(prefix="overlaybench-") as into:
        page = LivePage(folder, Path(into), every)
        try:
            server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, page=page))
        except OSError as error:
            raise BadInput(f"port {port}: {error.strerror}: choose another one by --port") from None
        with server:
            yield server
