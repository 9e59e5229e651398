"""The code that a cluster's workers need, in one file: the package and, if asked, the libraries it imports."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from ...instances.contract.errors import BadInput

PACKAGE = "overlaybench"
_FLOORS = ("instances", "heuristics", "models", "compare")
_EXCLUDED = ("__pycache__", "pyspark/jars", "pyspark/examples", "pyspark/data", "pyspark/sbin")


def write_archive(file: Path, *, libraries: bool = False) -> Path:
    """Write a zip that, unpacked on a Python path, has all that a study's workers import.

    Parameters
    ----------
    libraries : bool
        Include every library: the workers then need only the same version of Python, on the same kind of machine.
        The zip has a few hundred MB and takes about a minute.
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
    for floor in _FLOORS:
        for path in sorted((root / floor).rglob("*")):
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
        for line in distribution.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
