"""Files as Spark names them: on a local disk, a shared one, or in a store such as S3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from ...instances.contract.errors import BadInput


def as_uri(path: Path | str) -> str:
    """A path as Spark takes it; ``s3:/bucket``, which a Path makes of ``s3://bucket``, is a URI again."""
    text = re.sub(r"^([a-z][a-z0-9+.-]+):/(?=[^/])", r"\1://", str(path))
    return text if "://" in text else str(Path(text).absolute())


@contextmanager
def new_folder(session: SparkSession, output: str) -> Iterator[str]:
    """A folder beside `output`, which is removed at the end.

    Raises
    ------
    BadInput
        If `output` exists, or the folder cannot be made.
    """
    files = _Files(session)
    if files.exists(output):
        raise BadInput(f"{output}: exists: remove it or choose another path")
    parent, _, name = output.rpartition("/")
    folder = f"{parent}/.{name}.{uuid4().hex[:12]}"
    try:
        made = files.make(folder)
    except Exception:
        made = False
    if not made:
        raise BadInput(f"{output}: its folder cannot be written: choose another path")
    try:
        yield folder
    finally:
        files.remove(folder)


def move(session: SparkSession, source: str, target: str) -> None:
    """Rename a folder; an error leaves no half of it."""
    if not _Files(session).rename(source, target):
        raise BadInput(f"{target}: cannot be written: choose another path")


class _Files:
    """Hadoop's file systems, which Spark itself reads and writes by."""

    def __init__(self, session: SparkSession) -> None:
        self._jvm: Any = session.sparkContext._jvm
        self._conf: Any = session.sparkContext._jsc.hadoopConfiguration()

    def _at(self, path: str) -> tuple[Any, Any]:
        at = self._jvm.org.apache.hadoop.fs.Path(path)
        return at.getFileSystem(self._conf), at

    def exists(self, path: str) -> bool:
        system, at = self._at(path)
        return bool(system.exists(at))

    def make(self, path: str) -> bool:
        system, at = self._at(path)
        return bool(system.exists(at.getParent()) and system.mkdirs(at))

    def remove(self, path: str) -> None:
        system, at = self._at(path)
        system.delete(at, True)

    def rename(self, path: str, target: str) -> bool:
        system, at = self._at(path)
        return bool(system.rename(at, self._jvm.org.apache.hadoop.fs.Path(target)))
