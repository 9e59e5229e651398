"""Where batches of runs are done: Spark's executors, by a Spark context or Spark Connect, or processes of this machine.

A batch is one task of Spark, which schedules it, and repeats it where its worker died; its results come back as what
the task returns. So executors need no file system of the driver's. Jobs of a few batches run side by side: results
come as they end, and each once.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, suppress
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar

from ...instances.contract.errors import BadInput
from ...instances.runtime.stoppable import Fork

Item = TypeVar("Item")
Output = TypeVar("Output")

Work = Callable[[bytes, int], bytes]
"""A batch and the number of this attempt, from 0 on: what :func:`work_of` makes."""

DEATHS = 3
"""So often a worker may die of one item."""

FAILURES = DEATHS + 5  # attempts of a task of Spark: other tasks in a worker's process may end it
_JOBS, _FIRST = 64, 20
_POLL_SECONDS, _CORES_SECONDS = 0.25, 2.0


class BatchOutcome(NamedTuple):
    """What a task returns of a batch: how many of its items are done, from the first on, and their results.

    `died`: a worker died of this batch before, and nothing was done now. `error` is that of bad input.
    """

    done: int
    results: Any = None
    died: bool = False
    error: str = ""


class Executors(ABC):
    """What does batches."""

    @property
    @abstractmethod
    def cores(self) -> int:
        """How many tasks can run at a time now."""

    @abstractmethod
    def run(self, work: Work, batches: list[bytes]) -> list[bytes]:
        """What `work` returns of each batch, as one job; called by several threads."""

    @abstractmethod
    def send(self, file: Path) -> None:
        """Send a file to all workers, which find it by :meth:`path_of`."""

    @abstractmethod
    def send_code(self, archive: Path, folder: str) -> None:
        """Send a zip of Python modules: they can be imported, and are files in a folder of this name."""

    @staticmethod
    def path_of(file: str) -> str:
        """Where a worker finds a file that was sent; "" for none."""
        from pyspark import SparkFiles

        return SparkFiles.get(Path(file).name) if file else ""


class LocalProcesses(Executors, AbstractContextManager["LocalProcesses"]):
    """Warm processes of this machine for one kind of work, forked when first needed, and replaced where they die.

    One that takes more than `seconds_a_batch` is killed, and the batch is not tried again.
    """

    def __init__(self, processes: int, seconds_a_batch: float | None = None) -> None:
        self._processes, self._seconds = processes, seconds_a_batch
        self._idle: SimpleQueue[Fork | None] = SimpleQueue()
        for _ in range(processes):
            self._idle.put(None)

    def __exit__(self, *ended: object) -> None:
        with suppress(Empty):
            while True:
                if (process := self._idle.get_nowait()) is not None:
                    process.end()

    @property
    def cores(self) -> int:
        return self._processes

    def run(self, work: Work, batches: list[bytes]) -> list[bytes]:
        return [self._done(work, batch) for batch in batches]

    def send(self, file: Path) -> None:
        """Its processes see the files of this machine."""

    @staticmethod
    def path_of(file: str) -> str:
        return file

    def send_code(self, archive: Path, folder: str) -> None:
        """Its processes inherit all modules."""

    def _done(self, work: Work, batch: bytes) -> bytes:
        process, attempt = self._idle.get(), 0
        try:
            while True:
                process = process or Fork(partial(_serve, work))
                try:
                    process.pipe.send((batch, attempt))
                    outcome: bytes = process.receive(self._seconds)
                    return outcome
                except (RuntimeError, TimeoutError, OSError) as error:
                    attempt = DEATHS if isinstance(error, TimeoutError) else attempt + 1
                    process.end()
                    process = None
        finally:
            self._idle.put(process)


def _serve(work: Work, pipe: Any) -> None:
    with suppress(EOFError):
        while True:
            pipe.send(work(*pipe.recv()))


class ClassicSpark(Executors):
    """The executors of a Spark context."""

    def __init__(self, context: Any) -> None:
        self.context = context

    @property
    def cores(self) -> int:
        return max(1, int(self.context.defaultParallelism))

    def run(self, work: Work, batches: list[bytes]) -> list[bytes]:
        def of_partition(items: Iterable[bytes]) -> Iterator[bytes]:
            from pyspark import TaskContext

            context = TaskContext.get()
            return (work(item, context.attemptNumber() if context else 0) for item in items)

        found: list[bytes] = self.context.parallelize(batches, len(batches)).mapPartitions(of_partition).collect()
        return found

    def send(self, file: Path) -> None:
        self.context.addFile(str(file))

    def send_code(self, archive: Path, folder: str) -> None:
        path = sys.path.copy()
        self.context.addPyFile(str(archive))  # for what is imported while a task is unpickled
        sys.path[:] = path  # Spark puts it before all else on the driver's path too
        self.context.addArchive(f"{archive}#{folder}")  # for modules that read files beside them


class ConnectSpark(Executors):
    """The executors of a server of Spark Connect, which has no Spark context."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self._cores, self._asked = 1, float("-inf")

    @property
    def cores(self) -> int:
        if time.monotonic() > self._asked + _CORES_SECONDS * 10:
            from pyspark.sql.connect import functions as F  # the other ones look for a Spark context

            partitions = self.session.range(0, 2**20).select(F.spark_partition_id().alias("number")).distinct()
            self._cores, self._asked = max(1, partitions.count()), time.monotonic()
        return self._cores

    def run(self, work: Work, batches: list[bytes]) -> list[bytes]:
        import pyarrow as pa
        from pyspark import cloudpickle

        def of_partition(tables: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            context = TaskContext.get()
            for table in tables:
                for number, batch in zip(table["number"].to_pylist(), table["batch"].to_pylist(), strict=True):
                    outcome = work(batch, context.attemptNumber() if context else 0)
                    yield pa.RecordBatch.from_pydict({"number": pa.array([number], pa.int32()), "outcome": [outcome]})

        pickled: bytes = cloudpickle.dumps(of_partition)  # type: ignore[no-untyped-call]

        def with_code(tables: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            """Nothing of this package can be unpickled before its code, an artifact, is on the path."""
            import sys

            from pyspark import SparkFiles, cloudpickle

            if (code := SparkFiles.get("overlaybench")) not in sys.path:
                sys.path.insert(0, code)
            yield from cloudpickle.loads(pickled)(tables)

        numbers = pa.array(range(len(batches)), pa.int32())
        frame = self.session.createDataFrame(pa.table({"number": numbers, "batch": pa.array(batches, pa.binary())}))
        if len(batches) > 1:
            frame = frame.repartitionById(len(batches), "number")
        table = frame.mapInArrow(with_code, "number int, outcome binary").toArrow()
        found: list[bytes] = table.sort_by("number")["outcome"].to_pylist()
        return found

    def send(self, file: Path) -> None:
        self.session.addArtifacts(str(file), file=True)

    def send_code(self, archive: Path, folder: str) -> None:
        self.session.addArtifacts(str(archive), pyfile=True)
        self.session.addArtifacts(f"{archive}#{folder}", archive=True)


def one_by_one(do: Callable[[Any, bool], Output]) -> Callable[[list[Any], bool, float], Iterator[Output]]:
    """What does items one after the other until a time (monotonic), the first one always."""

    def done(items: list[Any], is_dead: bool, end: float) -> Iterator[Output]:
        for item in items:
            yield do(item, is_dead)
            if time.monotonic() > end:
                return

    return done


def work_of(
    do: Callable[[list[Any], bool, float], Iterable[Output]],
    *,
    begin: Callable[[], object],
    seconds: float,
    pack: Callable[[list[Output]], Any] = list,
) -> Work:
    """The work on a batch of items: `begin`, and then `do`, for about so many seconds.

    `do` gets the items and until when to begin one (monotonic), and gives the results of the first ones, one at least.
    A batch of several whose worker died comes back undone, so that its items are done one by one; `do` is told when an
    item has killed `DEATHS` workers. `pack` is applied to the results.
    """

    def work(batch: bytes, attempt: int) -> bytes:
        begun = time.monotonic()
        try:
            begin()  # first: the items may be of classes that are known only then
            items = pickle.loads(batch)
            if attempt and len(items) > 1:
                return pickle.dumps(BatchOutcome(0, died=True))
            results = list(do(items, attempt >= DEATHS, begun + seconds))
            return pickle.dumps(BatchOutcome(len(results), pack(results)))
        except BadInput as error:
            return pickle.dumps(BatchOutcome(0, error=str(error)))

    return work


def one_done(executors: Executors, work: Work, item: Any) -> Any:
    """The result of one item, done now; raises its bad input."""
    outcome: BatchOutcome = pickle.loads(executors.run(work, [pickle.dumps([item])])[0])
    if outcome.error:
        raise BadInput(outcome.error)
    return outcome.results[0]


class Batches(ABC, Generic[Item]):
    """The items that are still to be done, in batches."""

    def __init__(self) -> None:
        self.alone, self._returned = deque[Item](), deque[Item]()

    @abstractmethod
    def next(self, cores: int) -> list[Item]:
        """The next new items that are to be done together; none if there are no more."""

    def back(self, items: Sequence[Item]) -> None:
        """Take items back that were not begun."""
        self._returned.extendleft(reversed(items))

    def taken(self, cores: int) -> list[Item]:
        """The next batch: first each of those that were with an item that killed its worker, then what came back."""
        if self.alone:
            return [self.alone.popleft()]
        if self._returned:
            return [self._returned.popleft() for _ in range(max(1, len(self._returned) // (2 * cores)))]
        return self.next(cores)


class GrowingBatches(Batches[Item]):
    """So many items that take about equally long: each batch has twice as many as the last one, up to a number.

    From when an item comes back that was not begun, a batch has half as many. The last batches are smaller, so that all
    cores end together.
    """

    def __init__(self, items: Iterable[Item], left: int, most: int) -> None:
        super().__init__()
        self._items, self._left, self._most, self._together = iter(items), left, most, min(_FIRST, most)

    def next(self, cores: int) -> list[Item]:
        together = min(self._together, max(1, self._together // 4, self._left // (2 * cores)))
        self._together = min(self._most, 2 * self._together)
        batch = list(islice(self._items, together))
        self._left -= len(batch)
        return batch

    def back(self, items: Sequence[Item]) -> None:
        super().back(items)
        if items:
            self._together = max(1, self._together // 2)


def run_batches(
    executors: Executors,
    batches: Batches[Item],
    work: Work,
    receive: Callable[[Sequence[Item], Any], object],
    poll: Callable[[int], object],
) -> None:
    """Do all items; `receive` gets those of a batch that are done with their results, in this thread, as it ends.

    Two tasks a core are under way. `poll` gets how many of them can run, four times a second and as batches end.
    Raises the error of Spark, or that of bad input.
    """
    running: dict[Future[list[bytes]], list[list[Item]]] = {}
    asked, cores = float("-inf"), 1
    with _Threads() as threads:
        while True:
            if time.monotonic() > asked + _CORES_SECONDS:
                cores, asked = executors.cores, time.monotonic()
            wide = max(1, 2 * cores // _JOBS)
            while sum(map(len, running.values())) < 2 * cores:
                job = [batch for _ in range(wide) if (batch := batches.taken(cores))]
                if not job:
                    break
                pickled = [pickle.dumps(batch) for batch in job]
                running[threads.begin(lambda pickled=pickled: executors.run(work, pickled))] = job  # type: ignore[misc]
            if not running:
                return
            for future in wait(running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED).done:
                for batch, returned in zip(running.pop(future), future.result(), strict=True):
                    outcome: BatchOutcome = pickle.loads(returned)
                    if outcome.error:
                        raise BadInput(outcome.error)
                    if outcome.died:
                        batches.alone.extend(batch)
                        continue
                    if outcome.done:
                        receive(batch[: outcome.done], outcome.results)
                    batches.back(batch[outcome.done :])
            poll(min(cores, sum(map(len, running.values()))))


class _Threads(AbstractContextManager["_Threads"]):
    """Daemon threads, which do calls and do not keep a process from ending."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._futures: list[Future[Any]] = []
        self._threads = 0

    def begin(self, call: Callable[[], Output]) -> Future[Output]:
        future: Future[Output] = Future()
        self._futures = [each for each in self._futures if not each.done()] + [future]
        if len(self._futures) > self._threads:
            self._threads += 1
            Thread(target=self._serve, daemon=True).start()
        self._calls.put((future, call))
        return future

    def __exit__(self, *ended: object) -> None:
        for _ in range(self._threads):
            self._calls.put(None)

    def _serve(self) -> None:
        while (given := self._calls.get()) is not None:
            future, call = given
            try:
                future.set_result(call())
            except BaseException as error:  # raised where the result is asked for
                future.set_exception(error)


def fork_workers(tasks: str) -> None:
    """Be the daemon from which Spark forks its Python workers, with what the tasks of a module import."""
    # Spark puts archives of the package pyspark, without compiled code, before the package that they lie in.
    archives = {Path(path, "pyspark/python/lib") for path in sys.path}
    sys.path[:] = [path for path in sys.path if Path(path).parent not in archives]
    gc.disable()
    with suppress(ImportError):  # a task raises it, and its error reaches the user
        import pandas  # noqa: F401, by Arrow in each worker
        from numba.core.registry import cpu_target
        from pyspark import worker  # noqa: F401

        import_module(tasks)
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    gc.freeze()
    gc.enable()
    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    fork_workers(sys.argv[1])
