"""Tables of a run on Spark: files that the driver and all workers see, or what Spark keeps and the driver sends."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pf
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark import SparkFiles, StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from ...instances.contract.errors import BadInput
from ...instances.contract.tables import arrow_errors, check_columns, label_texts, parquet_table
from ..studies.spark_session import remark

_UNCOUNTED_SECONDS = 5.0
_MOST_SENT = 2**30
_LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"


@dataclass(frozen=True)
class SparkTables:
    """Where the tables of a run are.

    With a `folder`, which the driver and all workers see, they are Parquet files in it. Without one Spark keeps them on
    the disks of executors, on two where it has two, and the driver sends and fetches files, one at a time, by `own`, a
    folder of its own.
    """

    session: SparkSession
    folder: str
    own: str = ""

    def stored(self, table: DataFrame, name: str) -> DataFrame:
        """A table as it is stored now; bad input unless it has all rows that the workers wrote."""
        if self.own:
            return table.localCheckpoint(True, StorageLevel.DISK_ONLY_2)
        path = f"{self.folder}/{name}"
        written: Any = Observation()
        table.observe(written, F.count("*").alias("rows")).write.parquet(path)
        end = time.monotonic() + _UNCOUNTED_SECONDS
        while not (counted := written._jo.future().isCompleted()) and time.monotonic() < end:
            time.sleep(0.01)
        rows = int(written.get["rows"]) if counted else 0  # Spark may find that it is empty, and counts nothing then
        try:
            kept = self.session.read.parquet(path)
            found = kept.count()
        except PySparkException:
            found = -1
        if found != rows:
            raise BadInput(
                f"{self.folder}: {rows:,} rows were written, and are not there: give --scratch an address that "
                "the driver and all workers reach (s3a://…, hdfs://…), or a shared mount"
            )
        return kept

    def files(self, kept: DataFrame, name: str) -> TableFiles:
        """The files of a stored table for tasks that read them without Spark."""
        if not self.own:
            return TableFiles(f"{self.folder}/{name}")
        paths = _fetch(kept, pf.LocalFileSystem(), f"{self.own}/{uuid4().hex}-")
        for path in paths:
            self.session.sparkContext.addFile(path)
        return TableFiles([Path(path).name for path in paths])

    def move(self, kept: DataFrame, name: str, target: str) -> None:
        """Move a stored table to a path, which becomes a folder of Parquet files; an error leaves no half of it."""
        if not self.own:
            _move(self.session, f"{self.folder}/{name}", target)
            return
        system, path = _system(target)
        parent, _, last = path.rpartition("/")
        half = f"{parent}/.{last}.{uuid4().hex[:12]}" if isinstance(system, pf.LocalFileSystem) else path
        try:
            if half != path:
                system.create_dir(half)
            _fetch(kept, system, f"{half}/part-")
            if half != path:
                system.move(half, path)
        except BaseException as error:
            with suppress(OSError):
                system.delete_dir(half)
            if isinstance(error, OSError):
                raise BadInput(f"{target}: cannot be written ({_line(error)}): choose another path") from None
            raise


@dataclass(frozen=True)
class TableFiles:
    """A path that all workers see, or the names of files that were sent to them."""

    where: str | Sequence[str]

    def here(self) -> str | list[str]:
        """The paths in this task."""
        return self.where if isinstance(self.where, str) else [SparkFiles.get(name) for name in self.where]


def _fetch(kept: DataFrame, system: Any, prefix: str) -> list[str]:
    """Write a stored table as files on the driver, one for each partition that has rows; returns their paths."""
    paths = list[str]()
    for row in kept.mapInArrow(_as_file, "file binary").toLocalIterator():
        paths.append(f"{prefix}{len(paths):05}.parquet")
        with system.open_output_stream(paths[-1]) as out:
            out.write(row["file"])
    if not paths:
        paths.append(f"{prefix}00000.parquet")
        pq.write_table(kept.limit(0).toArrow(), paths[-1], filesystem=system)
    return paths


def _as_file(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a partition as the bytes of a Parquet file."""
    some = [batch for batch in batches if batch.num_rows]
    if some:
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_batches(some), sink, compression="zstd")
        yield pa.RecordBatch.from_pydict({"file": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def as_uri(path: Path | str) -> str:
    """A path as Spark takes it; ``s3:/bucket``, which a Path makes of ``s3://bucket``, is a URI again."""
    text = re.sub(r"^([a-z][a-z0-9+.-]+):/(?=[^/])", r"\1://", str(path))
    return text if "://" in text else str(Path(text).absolute())


@contextmanager
def new_tables(session: SparkSession, output: str, scratch: str = "") -> Iterator[SparkTables]:
    """Tables in a folder in `scratch` or beside `output`, removed at the end; or in Spark, where workers do not see it.

    Bad input if `output` exists, a folder cannot be made, or a worker does not see `scratch`.
    """
    if not scratch and not _is_seen(session, parent := output.rpartition("/")[0]):
        _check_new(output)
        remark(f"{parent}: workers do not see it: Spark keeps the tables, and the driver sends and fetches files")
        try:
            with TemporaryDirectory(prefix="overlaybench-") as own:
                yield SparkTables(session, "", own)
        except (PySparkException, Py4JJavaError) as error:
            if _LOST not in str(error):
                raise
            why = "a table was lost with the executors that kept it"
            raise BadInput(f"{output}: {why}: run it again, with a --scratch that all workers reach") from None
        return
    system, at = _at(session, output)
    if system.exists(at):
        raise _exists(output)
    parent, _, name = output.rpartition("/")
    folder = f"{scratch.rstrip('/') or parent}/.{name}.{uuid4().hex[:12]}"
    try:
        system, at = _at(session, folder)
        made = system.exists(at.getParent()) and system.mkdirs(at)
    except Exception:
        made = False
    if not made:
        where = f"--scratch {scratch}: cannot" if scratch else f"{output}: its folder cannot"
        raise BadInput(f"{where} be written: choose another path")
    try:
        if scratch and not _is_seen(session, folder):
            raise BadInput(
                f"{scratch}: a worker does not see this folder of the driver: leave out --scratch, or give it an "
                "address that all reach (s3a://…, hdfs://…), or a shared mount"
            )
        yield SparkTables(session, folder)
    finally:
        system.delete(at, True)


def _check_new(output: str) -> None:
    """Raise unless the driver can write files at an address where there are none."""
    try:
        system, path = _system(output)
    except BadInput as error:
        raise BadInput(f"{output}: {error}") from None
    try:
        if system.get_file_info(path).type != pf.FileType.NotFound:
            raise _exists(output)
        system.create_dir(path)
        system.delete_dir(path)
    except OSError as error:
        raise BadInput(f"{output}: cannot be written ({_line(error)}): choose another path") from None


def _exists(output: str) -> BadInput:
    return BadInput(f"{output}: exists: remove it or choose another path")


def _system(path: str) -> tuple[Any, str]:
    """Arrow's file system of a path or address, and the path there."""
    try:
        found: tuple[Any, str] = pf.FileSystem.from_uri(re.sub("^s3[an]:", "s3:", path))
        return found
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"neither Spark nor pyarrow can reach it ({_line(error)}): check the address") from None


def _line(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error).partition("\n")[0]


def _local(path: str) -> str:
    """A path or pattern of this machine without ``file:``; "" for another address."""
    place = re.fullmatch(r"(?:file:/*)?(/.*)", path)
    return "" if place is None else place[1]


def _is_seen(session: SparkSession, path: str) -> bool:
    """Whether all workers see a file or folder of this machine, or Spark has a file system for another address."""
    context, local = session.sparkContext, _local(path)
    if not local:
        try:
            return bool(_at(session, path))
        except Exception:  # of Java
            return False
    place = Path(re.split(r"/[^/]*[*?\[{]", local)[0])  # of a pattern, the folder that it begins with
    if str(context.master).startswith("local") or not place.exists():
        return True
    sought = place / f".overlaybench-{uuid4().hex}" if place.is_dir() else place
    try:
        if place.is_dir():
            sought.touch()
    except OSError:  # it cannot be written, which is said where it has to be
        return True
    tasks = 2 * context.defaultParallelism
    try:
        return all(context.parallelize(range(tasks), tasks).map(lambda _: sought.exists()).collect())
    finally:
        if place.is_dir():
            sought.unlink()


def sent_labels(session: SparkSession, path: str, columns: Sequence[str]) -> DataFrame | None:
    """The labels in columns of Parquet files that workers do not see, as texts that the driver reads and sends.

    None where workers see the files. Bad input if they have more than 1 GiB of labels.
    """
    if _is_seen(session, path):
        return None
    with arrow_errors():
        if local := _local(path):
            files = sorted(glob(local)) if has_magic(local) else [local]
            tables = [parquet_table(Path(file), columns)[0] for file in files]
        else:
            system, at = _system(path)
            if system.get_file_info(at).type == pf.FileType.NotFound:
                raise BadInput("is not there: check the address")
            tables = [pq.read_table(at, filesystem=system, partitioning=None)]
            check_columns(columns, tables[0].column_names)
    texts = pa.concat_tables(pa.table([label_texts(table[one], one) for one in columns], columns) for table in tables)
    if texts.nbytes > _MOST_SENT:
        raise BadInput(
            f"holds more than {_MOST_SENT >> 30} GiB of labels, and workers do not see it: give an address that all "
            "reach (s3a://…, hdfs://…), or a shared mount"
        )
    return session.createDataFrame(texts)


def _move(session: SparkSession, source: str, target: str) -> None:
    """Move a folder, which the driver copies if it is on another file system; an error leaves no half of it."""
    system, at = _at(session, source)
    there, to = _at(session, target)
    if at.getParent().getParent() != to.getParent():
        context: Any = session.sparkContext
        half = to.suffix(f".{uuid4().hex[:12]}")
        hidden = _at(session, f"{target.rpartition('/')[0]}/.{half.getName()}")[1]
        copied = context._jvm.org.apache.hadoop.fs.FileUtil.copy(
            system, at, there, hidden, False, context._jsc.hadoopConfiguration()
        )
        lengths = [on.getContentSummary(where).getLength() for on, where in ((system, at), (there, hidden))]
        if not copied or lengths[0] != lengths[1]:
            there.delete(hidden, True)
            raise BadInput(f"{target}: cannot be written: choose another path")
        at = hidden
    if not there.rename(at, to):
        raise BadInput(f"{target}: cannot be written: choose another path")


def _at(session: SparkSession, path: str) -> tuple[Any, Any]:
    """Hadoop's file system of a path, which Spark itself reads and writes by, and the path there."""
    context: Any = session.sparkContext
    at = context._jvm.org.apache.hadoop.fs.Path(path)
    return at.getFileSystem(context._jsc.hadoopConfiguration()), at
