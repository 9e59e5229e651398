"""Starting Spark on one machine's cores, or on a cluster that gets the code as an archive."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ...instances.contract.errors import BadInput
from .code_archive import PACKAGE, write_archive
from .plug_ins import PlugIns
from .quiet_threads import helpers_logged

_FAILURES = 8
_SPARK_ERRORS = (Py4JError, PySparkException, ConnectionError)
_MOST_CHARACTERS = 300
_ERROR_LINE = re.compile(r"^\w*(?:Error|Exception|Interrupt)\b.*", re.MULTILINE)


@contextmanager
def spark(
    master: str, log: Path, archive: Path | None = None, plug_ins: PlugIns | None = None
) -> Iterator[SparkContext]:
    """A Spark context whose own messages go to a file.

    Parameters
    ----------
    master : str
        ``local[*]``, ``spark://host:port``, …
    archive : Path, optional
        The code for the workers of a cluster (`overlaybench archive`); without one they get this package, and need
        the pinned libraries in their Python.
    plug_ins : PlugIns, optional
        What the workers get beside it.
    """
    local = re.fullmatch(r"local(?:\[([0-9]+|\*)\])?", master)
    builder = (
        SparkSession.builder.appName("overlaybench")
        .master(f"local[{local[1] or 1},{_FAILURES}]" if local else master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.ui.retainedJobs", "10")
        .config("spark.ui.retainedStages", "10")
        .config("spark.ui.retainedTasks", "1000")
        .config("spark.task.maxFailures", str(_FAILURES))
        .config("spark.executor.maxNumFailures", str(_FAILURES))
    )
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        if master.startswith("local"):
            os.environ["PYSPARK_PYTHON"] = sys.executable
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        else:
            code = archive or write_archive(Path(folder) / f"{PACKAGE}.zip")
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable if archive is None else "python3")
            builder = (
                builder.config("spark.archives", f"{code.resolve()}#{PACKAGE}")
                .config("spark.executorEnv.PYTHONPATH", PACKAGE)
                .config("spark.pyspark.driver.python", sys.executable)
            )
        try:
            with helpers_logged(log), _started(builder, log) as context:
                if plug_ins is not None:
                    plug_ins.send(context, Path(folder))
                yield context
        except _SPARK_ERRORS as error:
            raise BadInput(f"Spark failed ({_error_line(error)}): see {log}, then run the command again") from None


@contextmanager
def _started(builder: SparkSession.Builder, log: Path) -> Iterator[SparkContext]:
    with log.open("ab") as file:
        screen = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            session = builder.getOrCreate()
        finally:
            os.dup2(screen, 2)
            os.close(screen)
    try:
        session.sparkContext.setLogLevel("WARN")
        yield session.sparkContext
    finally:
        with suppress(*_SPARK_ERRORS):  # its process may be dead
            session.sparkContext.cancelAllJobs()
        with suppress(*_SPARK_ERRORS):
            session.stop()


def _error_line(error: Exception) -> str:
    """The line of a trace through Java and Python that names the error."""
    try:
        trace = str(error)
    except Exception:  # Java, which has the text of its error, is dead
        return f"{type(error).__name__}: the Java process has ended"
    found = _ERROR_LINE.search(trace)
    return (found[0] if found else trace.strip().splitlines()[-1])[:_MOST_CHARACTERS]
