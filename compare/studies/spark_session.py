"""Starting Spark on one machine's cores, or on a cluster that gets the code as an archive."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from threading import Thread
from typing import Any, TextIO, TypeVar

import psutil
from packaging.requirements import Requirement
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext, SparkFiles
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from ...instances.contract.catalogue import PROBLEMS, WORKLOADS, Catalogue
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result
from ..catalogue import METHODS
from ..plug_in_code import plug_in_files

Part = TypeVar("Part")
Output = TypeVar("Output")

_FAILURES = 8
_POLL_SECONDS = 0.25
_CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "1000",
    "spark.task.maxFailures": str(_FAILURES),
    "spark.executor.maxNumFailures": str(_FAILURES),
}
_FOLDER = "plug-ins"
_CATALOGUES: Mapping[str, Catalogue[Any]] = {"methods": METHODS, "problems": PROBLEMS, "workloads": WORKLOADS}
_SPARK_ERRORS = (Py4JError, PySparkException, ConnectionError)
_MOST_CHARACTERS = 300
_ERROR_LINE = re.compile(r"^\w*(?:Error|Exception|Interrupt)\b.*", re.MULTILINE)


def local_cores(master: str) -> int:
    """The cores of this machine that a master ``local``, ``local[3]`` or ``local[*]`` has; 0 for a cluster."""
    local = re.fullmatch(r"local(?:\[([0-9]+|\*)\])?", master)
    if local is None:
        return 0
    return os.cpu_count() or 1 if local[1] == "*" else int(local[1] or 1)


@contextmanager
def spark(
    master: str, log: Path, archive: Path | None = None, plug_ins: PlugIns | None = None
) -> Iterator[SparkContext]:
    """A Spark context on ``local[*]``, ``spark://host:port``, …, whose own messages go to a file.

    The workers of a cluster get `archive` (`overlaybench archive`), or this package, and then need the pinned libraries
    in their Python; and the files of the plug-ins.
    """
    cores = local_cores(master)
    conf = SparkConf().setAppName("overlaybench").setMaster(f"local[{cores},{_FAILURES}]" if cores else master)
    conf.setAll([*_CONFIGURATION.items()])
    with (
        tempfile.TemporaryDirectory(prefix="overlaybench-") as folder,
        log.open("a", encoding="utf-8") as file,
        redirect_stderr(file),  # tracebacks of other threads, finalisers, the accumulators' server and py4j
    ):
        if master.startswith("local"):
            os.environ["PYSPARK_PYTHON"] = sys.executable
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            conf.set("spark.archives", "")  # Java keeps the archive of a cluster that this process used before
        else:
            code = archive or write_archive(Path(folder) / f"{PACKAGE}.zip")
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable if archive is None else "python3")
            conf.set("spark.archives", f"{code.resolve()}#{PACKAGE}")
            conf.set("spark.executorEnv.PYTHONPATH", PACKAGE)
            conf.set("spark.pyspark.driver.python", sys.executable)
        try:
            with _started(conf, file) as context:
                if plug_ins is not None:
                    plug_ins.send(context, Path(folder))
                yield context
        except BadInput:
            raise
        except Exception as error:
            if not _is_of_spark(error):
                raise
            raise BadInput(f"Spark failed ({_error_line(error)}): see {log}, then run the command again") from None


def _is_of_spark(error: BaseException | None) -> bool:
    """Whether an error is Spark's, or came up while one of Spark's was handled, as where Java removed its files."""
    return error is not None and (isinstance(error, _SPARK_ERRORS) or _is_of_spark(error.__context__))


@contextmanager
def _started(conf: SparkConf, log: TextIO) -> Iterator[SparkContext]:
    processes = psutil.Process().children(recursive=True)
    try:
        gateway = SparkContext._gateway or launch_gateway(conf, {"stderr": log})  # type: ignore[no-untyped-call]
    except BaseException:  # a Java that does not find the file to answer in never ends
        for process in psutil.Process().children(recursive=True):
            if process not in processes:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        raise
    context = SparkContext(conf=conf, gateway=gateway)
    # Its thread may still say that Java is dead when standard error is no longer the log.
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    try:
        context.setLogLevel("WARN")
        yield context
    finally:
        for end in (context.cancelAllJobs, context.stop):
            with suppress(*_SPARK_ERRORS):  # its process may be dead
                end()


def awaited(action: Callable[[], Output], poll: Callable[[], object]) -> Output:
    """What an action returns, which another thread does; `poll` is called four times a second and at its end."""
    future: Future[Output] = Future()

    def act() -> None:
        try:
            future.set_result(action())
        except Exception as error:  # raised below
            future.set_exception(error)

    Thread(target=act, daemon=True).start()
    ended = False
    while not ended:
        ended = bool(wait([future], timeout=_POLL_SECONDS).done)
        poll()
    return future.result()


def _error_line(error: Exception) -> str:
    """The line of a trace through Java and Python that names the error."""
    try:
        trace = str(error)
    except Exception:  # Java, which has the text of its error, is dead
        return f"{type(error).__name__}: the Java process has ended"
    found = _ERROR_LINE.search(trace)
    return (found[0] if found else trace.strip().splitlines()[-1])[:_MOST_CHARACTERS]


@dataclass(frozen=True)
class PlugIns:
    """The plug-ins that the tasks of a Spark job use; it is pickled with each task.

    `references` are catalogue and ``module:NAME`` of those in modules, `objects` catalogue, reference and object of
    those that are defined in ``__main__``.
    """

    references: tuple[tuple[str, str], ...] = ()
    objects: tuple[tuple[str, str, Any], ...] = ()

    @classmethod
    def among(
        cls, *, methods: Iterable[str] = (), problems: Iterable[str] = (), workloads: Iterable[str] = ()
    ) -> PlugIns:
        """The plug-ins among items of these names; unknown names are left out."""
        names = {"methods": set(methods), "problems": set(problems), "workloads": set(workloads)}
        used = [
            (group, reference, item)
            for group, catalogue in _CATALOGUES.items()
            for reference, item in catalogue.plug_ins.items()
            if item.name in names[group]
        ]
        here, elsewhere = ([each for each in used if each[1].startswith("__main__:") is main] for main in (True, False))
        return cls(tuple((group, reference) for group, reference, _ in elsewhere), tuple(here))

    def send(self, context: SparkContext, folder: Path) -> None:
        """Send the files of the plug-ins to the context's workers, by a zip in an existing folder."""
        items = {reference: _CATALOGUES[group].plug_ins[reference] for group, reference in self.references}
        files = plug_in_files({**items, **{reference: item for _, reference, item in self.objects}})
        if not files:
            return
        archive = folder / f"{_FOLDER}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
            for name, file in files.items():
                opened.write(file, name)
        path = sys.path.copy()
        context.addPyFile(str(archive))  # for what is imported while a task is unpickled
        sys.path[:] = path  # Spark puts it before all else on the driver's path too
        context.addArchive(f"{archive}#{_FOLDER}")  # for modules that read files beside them

    def register(self) -> None:
        """In a worker: put the files on Python's path, and know the plug-ins by their names."""
        if self.references and (files := SparkFiles.get(_FOLDER)) not in sys.path:
            sys.path.insert(0, files)  # before an installed version, which may be another one
        for group, reference in self.references:
            _CATALOGUES[group].named(reference)
        for group, reference, item in self.objects:
            _CATALOGUES[group].register(reference, item)


def find_plug_ins(spec: str) -> list[BadInput]:
    """Know the plug-ins that the text of a study names, as far as they are found; return the other ones' errors."""
    errors = []
    for group, name in _named_in(tomllib.loads(spec)):
        if ":" in name:
            try:
                _CATALOGUES[group].named(name)
            except BadInput as error:
                errors.append(error)
    return errors


def _named_in(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Catalogue and name of each workload, problem and method in a study."""
    for source in data.get("instances", ()):
        yield "workloads", source.get("workload", "")
    for runs in data.get("runs", ()):
        yield from (("problems", name) for name in runs.get("problems", ()))
        for method in runs.get("methods", ()):
            yield "methods", method["method"] if isinstance(method, dict) else method


def run_on_spark(
    master: str, method: Method[Any, Any], instance: Any, problem: Problem[Any, Any], **given: Any
) -> Result[Any]:
    """Run a method that takes a ``mapper``, each part as one Spark task; the answer is the same as on one machine.

    All but the parts runs in this process. The seconds include sending the parts, but not the start of Spark.
    """
    with (
        tempfile.TemporaryDirectory(prefix="overlaybench-") as folder,
        spark(master, Path(folder) / "spark.log", plug_ins=PlugIns.among(methods=[method.name])) as context,
    ):

        def mapper(function: Callable[[Part], Output], parts: Iterable[Part]) -> list[Output]:
            listed = list(parts)
            return context.parallelize(listed, max(1, len(listed))).map(function).collect()

        return method.run(instance, problem, mapper=mapper, **given)


PACKAGE = "overlaybench"
_LAYERS = ("instances", "heuristics", "models", "compare")
_EXCLUDED = ("__pycache__", "pyspark/jars", "pyspark/examples", "pyspark/data", "pyspark/sbin")


def write_archive(file: Path, *, libraries: bool = False) -> Path:
    """Write a zip that, unpacked on a Python path, has all that a study's workers import.

    With `libraries` they need only the same version of Python, on the same kind of machine; the zip has a few hundred
    MB then and takes about a minute.
    """
    if file.suffix != ".zip":
        raise BadInput(f"{file}: an archive is a .zip: choose such a name")
    temporary = file.with_name(f".{file.name}")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path, name in {**dict(_code()), **(dict(_libraries()) if libraries else {})}.items():
                archive.write(path, name)
        temporary.replace(file)
    except OSError as error:
        raise BadInput(f"{file}: cannot be written ({error.strerror}): choose another path") from None
    finally:
        temporary.unlink(missing_ok=True)
    return file


def _code() -> Iterator[tuple[Path, str]]:
    root = Path(__file__).resolve().parents[2]
    yield from ((path, f"{PACKAGE}/{path.name}") for path in root.glob("__init__.py*"))
    for layer in _LAYERS:
        for path in sorted((root / layer).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path, f"{PACKAGE}/{path.relative_to(root).as_posix()}"


def _libraries() -> Iterator[tuple[Path, str]]:
    for distribution in _needed():
        for entry in distribution.files or ():
            name, path = entry.as_posix(), Path(str(distribution.locate_file(entry)))
            if not name.startswith("..") and not any(part in name for part in _EXCLUDED) and path.is_file():
                yield path, name


def _needed() -> Iterator[metadata.Distribution]:
    seen: set[str] = set()
    waiting = [PACKAGE]
    while waiting:
        name = waiting.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise BadInput(f"the library {name} is not installed: install overlaybench first") from None
        found = distribution.metadata["Name"].lower()
        if found in seen:
            continue
        seen.add(found)
        if found != PACKAGE:
            yield distribution
        extras = ("", "studies", "figures", "solvers") if found == PACKAGE else ("",)
        for line in distribution.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": each}) for each in extras):
                waiting.append(requirement.name)
