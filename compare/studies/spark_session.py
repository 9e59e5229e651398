"""Starting Spark on one machine's cores, or on a cluster that gets the code as an archive."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from threading import Thread
from traceback import print_exc
from typing import Any, TextIO, TypeVar

import numpy as np
import psutil
import pyspark
from packaging.requirements import Requirement
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext, SparkFiles
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from ...instances.contract.catalogue import PROBLEMS, WORKLOADS, Catalogue
from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_file
from ...instances.contract.method import Method
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result
from ...instances.runtime.compiled import cache_folder
from ..catalogue import METHODS
from ..plug_in_code import plug_in_files
from .executors import FAILURES, ClassicSpark, ConnectSpark, Executors

Part = TypeVar("Part")
Output = TypeVar("Output")

_CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "1000",
    "spark.python.daemon.module": ClassicSpark.__module__,
    "spark.python.worker.module": f"{__package__}.spark_study",
    "spark.task.maxDirectResultSize": "64m",
    "spark.task.maxFailures": str(FAILURES),
    "spark.executor.maxNumFailures": str(FAILURES),
}
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java where Spark only carries batches: its optimising compiler would cost more than it saves."""

_FOLDER = "plug-ins"
_CATALOGUES: Mapping[str, Catalogue[Any]] = {"methods": METHODS, "problems": PROBLEMS, "workloads": WORKLOADS}
_SPARK_ERRORS = (Py4JError, PySparkException, ConnectionError)
_MOST_CHARACTERS = 300
_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.+)", re.MULTILINE)
_ERROR_LINE = re.compile(r"^ *(\w*(?:Error|Exception|Interrupt)\b(?! from python worker).*)", re.MULTILINE)


def local_cores(master: str) -> int:
    """The cores of this machine that a master ``local``, ``local[3]`` or ``local[*]`` has; 0 for a cluster."""
    local = re.fullmatch(r"local(?:\[([0-9]+|\*)\])?", master)
    if local is None:
        return 0
    return os.cpu_count() or 1 if local[1] == "*" else int(local[1] or 1)


_CONNECT_SECONDS = 10.0
_SPARK_HOME, _JAVA_HOME = "SPARK_HOME", "JAVA_HOME"
_LOCAL_DIRS, _SUBMIT_ARGS = "SPARK_LOCAL_DIRS", "PYSPARK_SUBMIT_ARGS"


VARIABLES = (_SPARK_HOME, _JAVA_HOME, _LOCAL_DIRS, _SUBMIT_ARGS)
"""The variables of the environment that Spark reads as it starts."""


def environment_faults() -> Iterator[tuple[str, str, str]]:
    """The variables of the environment with which Spark cannot start: name and value, what is wrong, and the fix."""
    home, java, folders, words = map(os.environ.get, VARIABLES)
    if home is not None:
        versions = {file.stem.rpartition("-")[2] for file in Path(home, "jars").glob("spark-core_*.jar")}
        installed, named = metadata.version("pyspark"), f"{_SPARK_HOME}={home}"
        fix = f"unset it, or name the folder of Spark {installed}"
        if not Path(home, "bin", "spark-submit").is_file() or not versions:
            yield named, "is no folder of Spark", fix
        elif installed not in versions:
            yield named, f"is Spark {min(versions)}, and pyspark is {installed}", fix
    if java is not None and not os.access(Path(java, "bin", "java"), os.X_OK):
        yield f"{_JAVA_HOME}={java}", "has no program bin/java", "set it to the folder of Java 17 or newer, or unset it"
    elif java is None and shutil.which("java") is None:
        yield _JAVA_HOME, "is not set, and java is not on the PATH", "install Java 17 or newer"
    for folder in folders.split(",") if folders is not None else ():
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            yield f"{_LOCAL_DIRS}={folders}", f"{folder} cannot be written ({error.strerror})", "name other folders"
    if words is not None and words.split()[-1:] != ["pyspark-shell"]:
        yield f"{_SUBMIT_ARGS}={words}", "does not end in pyspark-shell", "add that word at its end, or unset it"


def _check_environment(master: str) -> None:
    """Raise for a variable with which Spark cannot start, and for a master that cannot be reached."""
    for name, wrong, fix in environment_faults():
        raise BadInput(f"{name}: {wrong}: {fix}")
    if found := re.match(r"(?:spark|sc)://([^/;]+)", master):
        reasons = [_unreachable(address) for address in found[1].split(",")]
        if all(reasons):
            raise BadInput(f"--master {master}: cannot be reached ({reasons[0]}): start it, or correct its address")


def _unreachable(address: str) -> str:
    """Why no connection can be made to HOST:PORT; "" if it can."""
    host, _, port = address.rpartition(":") if re.search(r":\d+$", address) else (address, "", "15002")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS):
            return ""
    except (OSError, OverflowError, UnicodeError) as error:
        return str(getattr(error, "strerror", None) or error)


@contextmanager
def executors_on(master: str, log: Path, archive: Path | None, plug_ins: PlugIns | None = None) -> Iterator[Executors]:
    """The executors of a Spark master, or of a server of Spark Connect (``sc://host:port``); see :func:`spark`."""
    if not master.startswith("sc://"):
        with spark(master, log, archive, plug_ins, _SHORT_LIVED) as context:
            yield ClassicSpark(context)
        return
    _check_environment(master)
    try:
        from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise BadInput(
            f"--master {master}: {error.name or error} is missing: pip install 'overlaybench[connect]'"
        ) from None
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder, _reported(log):
        session = SparkSession.builder.remote(master).create()
        try:
            executors = ConnectSpark(session)
            code = Path(folder) / f"{PACKAGE}.zip"
            if archive is None:
                write_archive(code)
            else:
                code.symlink_to(archive.resolve())
            session.addArtifacts(f"{code}#{PACKAGE}", archive=True)
            if plug_ins is not None:
                plug_ins.send(executors, Path(folder))
            yield executors
        finally:
            with suppress(Exception):  # its server may be gone
                session.interruptAll()
                session.stop()


@contextmanager
def kept_log() -> Iterator[Path]:
    """A file for Spark's messages, which remains where an error names it."""
    handle, name = tempfile.mkstemp(prefix="overlaybench-spark-", suffix=".log")
    os.close(handle)
    yield Path(name)
    Path(name).unlink(missing_ok=True)


_said: TextIO | None = None


def remark(text: str) -> None:
    """Say something to the user while messages of Spark go to its log."""
    print(f"overlaybench: {text}", file=_said, flush=True)


@contextmanager
def _reported(log: Path) -> Iterator[None]:
    """Say an error of Spark in one line; its traceback and all that is printed meanwhile go to `log`."""
    global _said
    _said = sys.stderr
    with log.open("a", encoding="utf-8") as file, redirect_stderr(file):
        try:
            yield
        except BadInput:
            raise
        except Exception as error:
            if not _is_of_spark(error):
                raise
            print_exc()
            raise BadInput(f"Spark failed ({_error_line(error)}): see {log}, then run the command again") from None


@contextmanager
def spark(
    master: str, log: Path, archive: Path | None = None, plug_ins: PlugIns | None = None, java: str = ""
) -> Iterator[SparkContext]:
    """A Spark context on ``local[*]``, ``spark://host:port``, …, whose own messages go to a file.

    The workers of a cluster get `archive` (`overlaybench archive`), or this package, and then need the pinned libraries
    in their Python; and the files of the plug-ins. `java` has options of Java, for driver and executors.
    """
    if master.startswith("sc://"):
        raise BadInput(f"--master {master}: Spark Connect runs studies alone: give the address of a Spark master")
    _check_environment(master)
    cores = local_cores(master)
    conf = SparkConf().setAppName("overlaybench").setMaster(f"local[{cores},{FAILURES}]" if cores else master)
    conf.setAll([*_CONFIGURATION.items(), ("spark.executor.extraJavaOptions", java)])
    conf.set("spark.driver.extraJavaOptions", java and _with_classes(java))
    # Standard error is the log: tracebacks of other threads, finalisers, the accumulators' server and py4j.
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder, _reported(log):
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
        with _started(conf, log) as context:
            if plug_ins is not None:
                plug_ins.send(ClassicSpark(context), Path(folder))
            yield context


def _with_classes(java: str) -> str:
    """Options of Java with those by which it loads Spark's classes from an archive, in half the time.

    The first Java writes the archive as it ends. Java goes without one that does not fit it.
    """
    home = os.environ.get(_JAVA_HOME)
    program = Path(shutil.which("java", path=home and f"{home}/bin") or "java").resolve()
    spark = pyspark.__version__, os.environ.get(_SPARK_HOME, pyspark.__file__)
    with suppress(OSError):
        what = sha256(repr((java, program, program.stat().st_mtime, spark)).encode()).hexdigest()
        archive = cache_folder() / "java" / f"spark-{what[:16]}" / "classes.jsa"
        archive.parent.mkdir(parents=True, exist_ok=True)
        os.utime(archive.parent)  # those that are not used are removed
        is_whole = archive.is_file() and np.fromfile(archive, np.uint8, 4).any()  # which are written last
        option = "SharedArchiveFile" if is_whole else "ArchiveClassesAtExit"
        return f'{java} -Xlog:disable -XX:{option}="{archive}"'
    return java


def _is_of_spark(error: BaseException | None) -> bool:
    """Whether an error is Spark's, or came up while one of Spark's was handled, as where Java removed its files."""
    return error is not None and (isinstance(error, _SPARK_ERRORS) or _is_of_spark(error.__context__))


@contextmanager
def _started(conf: SparkConf, log: Path) -> Iterator[SparkContext]:
    processes = psutil.Process().children(recursive=True)
    try:
        with log.open("a", encoding="utf-8") as file:
            gateway = SparkContext._gateway or launch_gateway(conf, {"stderr": file})  # type: ignore[no-untyped-call]
    except BaseException as error:  # a Java that does not find the file to answer in never ends
        for process in psutil.Process().children(recursive=True):
            if process not in processes:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        names = (_SUBMIT_ARGS, _JAVA_HOME, "SPARK_CONF_DIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", _SPARK_HOME)
        given = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
        if isinstance(error, PySparkException) and given:
            raise BadInput(f"{given[0]}: Java does not start with it: correct or unset it (see {log})") from None
        raise
    context = SparkContext(conf=conf, gateway=gateway)
    # Its thread may still say that Java is dead when standard error is no longer the log.
    server = context._accumulatorServer
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    context._accumulatorServer = None  # type: ignore[assignment]
    try:
        context.setLogLevel("WARN")
        yield context
    finally:
        for end in (context.cancelAllJobs, context.stop):
            with suppress(*_SPARK_ERRORS):  # its process may be dead
                end()
        Thread(target=server.shutdown, daemon=True).start()  # it looks once a second whether it is to end


def _error_line(error: Exception) -> str:
    """The line of a trace through Java and Python that names the error."""
    try:
        trace = str(error)
    except Exception:  # Java, which has the text of its error, is dead
        return f"{type(error).__name__}: the Java process has ended"
    found = _ERROR_LINE.search(trace)
    causes = _CAUSE.findall(trace) or trace.strip().splitlines()
    return (found[1] if found else causes[-1])[:_MOST_CHARACTERS]


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

    def send(self, executors: Executors, folder: Path) -> None:
        """Send the files of the plug-ins to the workers, by a zip in an existing folder."""
        items = {reference: _CATALOGUES[group].plug_ins[reference] for group, reference in self.references}
        files = plug_in_files({**items, **{reference: item for _, reference, item in self.objects}})
        if not files:
            return
        archive = folder / f"{_FOLDER}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
            for name, file in files.items():
                opened.write(file, name)
        executors.send_code(archive, _FOLDER)

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
    with kept_log() as log, spark(master, log, plug_ins=PlugIns.among(methods=[method.name])) as context:

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
    with (
        atomic_file(file) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for path, name in {**dict(_code()), **(dict(_libraries()) if libraries else {})}.items():
            archive.write(path, name)
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
