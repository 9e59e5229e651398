"""A study done without Spark, by what its workers do."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from overlaybench.compare.studies.executors import Executors, LocalProcesses, Work, _Threads
from overlaybench.compare.studies.spark_session import PlugIns
from overlaybench.compare.studies.spark_study import Again, run_study
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.study import read_study


class InThisProcess(Executors):
    """Does each batch where it is called."""

    cores = 1

    def run(self, work: Work, batches: list[bytes]) -> list[bytes]:
        return [work(batch, 0) for batch in batches]

    def send(self, file: Path) -> None:
        """It is here."""

    path_of = staticmethod(LocalProcesses.path_of)

    def send_code(self, archive: Path, folder: str) -> None:
        """It is here."""


def _called(threads: Any, call: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(call())
    return future


@contextmanager
def in_this_process(plug_ins: PlugIns) -> Iterator[Executors]:
    """Batches are done in this thread, in which kernels are interpreted."""
    with patch.object(_Threads, "begin", _called):
        yield InThisProcess()


def study_done_in(folder: Path, spec: str, again: Again | None = None) -> Store:
    """The folder's results; what is stored there already is not repeated."""
    file = folder / "spec.toml"
    file.write_text(spec)
    store = Store(folder / "out")
    run_study(read_study(file), store, "none", quiet=True, again=again, start=in_this_process)
    return store
