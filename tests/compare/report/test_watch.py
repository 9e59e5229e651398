"""``overlaybench watch``: the page of a study that runs, on this machine only."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import HTTPServer
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET, create_connection
from threading import Thread

import pyarrow as pa
import pytest

from overlaybench.compare.commands.studies import watch as watch_command
from overlaybench.compare.report import watch
from overlaybench.compare.report.watch import page_server
from overlaybench.compare.studies.store import Plan, Store
from overlaybench.instances.contract.errors import BadInput
from tests.compare.studies.test_store import PATH, journalled, stored, task_of, written

PLOTS = '[report]\nplots = [{ x = "nodes" }]'


@contextmanager
def watched(store: Store) -> Iterator[int]:
    """The port of a server that writes the page at every request."""
    with page_server(store.folder, every=0.0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A study of three runs of which one is done."""
    monkeypatch.setattr(Store, "instance", lambda *given: PATH)
    store = stored(tmp_path)
    store.write_plan(Plan("watched", (), PLOTS), [pa.table({"key": [task_of(seed=seed).key for seed in (1, 2, 3)]})])
    written(store, 1)
    return store


def fetched(port: int, path: str = "/", host: str = "127.0.0.1") -> tuple[int, str, str]:
    """Status, version and text of an answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    return answer.status, answer.getheader("ETag") or "", answer.read().decode()


def test_the_page_has_rows_added_between_requests_and_writes_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_SHARE", 1e9)
    before = sorted(tmp_path.rglob("*"))
    with watched(store) as port:
        _, first, page = fetched(port)
        assert "2 of 3 runs are missing" in page
        assert "No figure ratio-against-nodes yet" in page
        assert sorted(tmp_path.rglob("*")) == before
        journalled(store, 2)
        _, second, page = fetched(port)
        assert "1 of 3 runs are missing" in page
        assert (first, second, fetched(port)[1]) == ("1", "2", "2")
        (store.folder / "plan.parquet").write_text("{")
        status, _, damaged = fetched(port)
        assert status == 503
        assert "plan.parquet" in damaged
        assert fetched(port, host="example.org")[0] == 403
        assert fetched(port, "/../out/study.toml")[0] == 404
        assert fetched(port, "/%00")[0] == 404
        assert fetched(port, "/figures/%00.svg")[0] == 404


def test_a_browser_that_sends_nothing_or_leaves_stops_no_other_and_leaves_no_trace(
    store: Store, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch._Handler, "timeout", 600)  # others are answered before the one that sends nothing
    with watched(store) as port, create_connection(("127.0.0.1", port)):
        with create_connection(("127.0.0.1", port)) as leaving:
            leaving.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            leaving.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))  # its end resets the connection
        assert fetched(port)[0] == 200
    assert capfd.readouterr().err == ""


def test_a_port_in_use_is_bad_input(store: Store) -> None:
    with (
        page_server(store.folder) as server,
        pytest.raises(BadInput, match="choose another one by --port"),
        page_server(store.folder, server.server_port),
    ):
        raise AssertionError


def test_a_signal_ends_the_server_without_a_word_about_runs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def signalled(server: HTTPServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(HTTPServer, "serve_forever", signalled)
    assert watch_command.callback
    with pytest.raises(KeyboardInterrupt, match="stopped; the page is no longer served"):
        watch_command.callback(folder=store.folder, port=0)
