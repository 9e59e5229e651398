"""Plug-ins on Spark: their files are sent to the workers, and the objects of a notebook with each task."""

from __future__ import annotations

import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkContext, SparkFiles

from ...instances.contract.catalogue import PROBLEMS, WORKLOADS, Catalogue
from ...instances.contract.errors import BadInput
from ..catalogue import METHODS
from ..plug_in_code import plug_in_files

_FOLDER = "plug-ins"
_CATALOGUES: Mapping[str, Catalogue[Any]] = {"methods": METHODS, "problems": PROBLEMS, "workloads": WORKLOADS}


@dataclass(frozen=True)
class PlugIns:
    """The plug-ins that the tasks of a Spark job use; it is pickled with each task.

    Attributes
    ----------
    references : tuple of (str, str)
        Catalogue and ``module:NAME`` of those in modules.
    objects : tuple of (str, str, object)
        Catalogue, reference and object of those that are defined in ``__main__``.
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
