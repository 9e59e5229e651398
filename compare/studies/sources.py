"""The instances of a study: what an ``[[instances]]`` table becomes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...instances.contract.errors import BadInput
from ..catalogue import kind_named, workload_named, workload_version
from .recipe import Recipe, freeze
from .task import derived_seed
from .toml_tables import as_list, check_keys, grid, typed

OF_ANY, OF_A_FILE = ("family", "seeds", "stand_in"), ("file", "kind", "sample")
"""The keys of any ``[[instances]]`` table, and those of one with files; a workload's has its parameters as well."""

_WILD = ("*", "?", "[")


@dataclass
class Sources:
    """Reads ``[[instances]]`` tables.

    Attributes
    ----------
    seed : int
        The study's.
    folder : Path
        The files that tables name are relative to it.
    notes : list of str
        Gets a remark for each file that was replaced by a stand-in.
    """

    seed: int
    folder: Path
    notes: list[str] = field(default_factory=list)

    def recipes(self, source: dict[str, Any]) -> Iterator[Recipe]:
        """The recipes of the instances of a table."""
        if ("file" in source) == ("workload" in source):
            raise BadInput("name either a file or a workload")
        yield from self._of_files(source) if "file" in source else self._of_workload(source)

    def _of_workload(self, source: dict[str, Any]) -> Iterator[Recipe]:
        workload = workload_named(typed(source, "workload", str, ""))
        family, code = typed(source, "family", str, workload.name), workload_version(workload.name)
        shape = {key: value for key, value in source.items() if key not in (*OF_ANY, "workload")}
        for values in grid(shape):
            parameters = freeze(workload.complete(values))
            for replicate in _replicates(source):
                parts = (str(self.seed), workload.name, repr(parameters))
                own = _seed(source, replicate, *parts)
                yield Recipe(family, own, workload=workload.name, parameters=parameters, code=code)

    def _of_files(self, source: dict[str, Any]) -> Iterator[Recipe]:
        kind = kind_named(typed(source, "kind", str, "topics"))
        renamed = [f"{column}_column" for column in kind.columns]
        check_keys(source, (*OF_ANY, *OF_A_FILE, *renamed))
        columns = {key.removesuffix("_column"): typed(source, key, str, "") for key in renamed if key in source}
        patterns = as_list(source["file"])
        if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
            raise BadInput(f"file must be a path or a list of paths, not {source['file']!r}")
        matching = {pattern: self._matching(pattern) for pattern in patterns}
        stems = Counter(file.stem for file in {file for files in matching.values() for file in files})
        for pattern, files in matching.items():
            for file in files:
                own = file.stem if stems[file.stem] == 1 else os.path.relpath(file, self.folder.resolve())
                family = typed(source, "family", str, own)
                yield from self._of_file(source, Recipe(family, 0, "", (), str(file), kind.name, freeze(columns)))
            if not files:
                yield from self._stand_in(source, pattern)

    def _matching(self, pattern: str) -> list[Path]:
        """The files of a path or a pattern, in the order of their names."""
        path = self.folder / pattern
        if path.is_file() or not any(sign in pattern for sign in _WILD):
            return [path.resolve()] if path.is_file() else []
        root, inside = (Path("/"), pattern.lstrip("/")) if pattern.startswith("/") else (self.folder, pattern)
        try:
            return sorted({file.resolve() for file in root.glob(inside) if file.is_file()})
        except (ValueError, NotImplementedError, OSError) as error:
            raise BadInput(f"file {pattern!r}: {error}: correct the pattern") from None

    def _of_file(self, source: Mapping[str, Any], whole: Recipe) -> Iterator[Recipe]:
        """The file itself, or the samples that the table asks for."""
        for sample in as_list(source.get("sample", 0)):
            if not isinstance(sample, int) or isinstance(sample, bool) or sample < 0:
                raise BadInput(f"sample must be a number of nodes, not {sample!r}")
            for replicate in _replicates(source):
                own = _seed(source, replicate, str(self.seed), whole.family, str(sample)) if sample else 0
                yield replace(whole, seed=own, sample=sample)

    def _stand_in(self, source: Mapping[str, Any], pattern: str) -> Iterator[Recipe]:
        if "stand_in" not in source:
            raise BadInput(f"{pattern} does not exist: correct the path or give a stand_in")
        stand_in = typed(source, "stand_in", dict, {})
        family = str(stand_in.get("family", source.get("family", "stand-in")))
        self.notes.append(f"{pattern} was absent: {family} instances stand in for it.")
        yield from self.recipes({"family": family, "seeds": source.get("seeds", 1), **stand_in})


def _seed(source: Mapping[str, Any], replicate: int, *parts: str) -> int:
    """The seed of a replicate: listed in the table, or derived from the parts and its number."""
    return replicate if isinstance(source.get("seeds"), list) else derived_seed(*parts, str(replicate))


def _replicates(source: Mapping[str, Any]) -> Sequence[int]:
    """The numbers of the instances of each combination, or the seeds that the table lists."""
    listed = source.get("seeds")
    if isinstance(listed, list):
        if not listed or not all(type(seed) is int and 0 <= seed < 2**63 for seed in listed):
            raise BadInput(f"seeds must be a number, or a list of seeds from 0 to 2^63 - 1, not {listed!r}")
        return listed
    seeds = typed(source, "seeds", int, 1)
    if seeds < 1:
        raise BadInput(f"seeds must be at least 1, not {seeds}")
    return range(seeds)
