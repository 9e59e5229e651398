"""A study file: instances × problems × methods × options × limits, in TOML; and the JSON schema of such files."""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, modules_beside
from ...instances.contract.errors import BadInput, storable, unknown
from ...instances.contract.files import parts_of, read_text
from ...instances.contract.option import Option, Value
from ...instances.contract.problem import Problem
from ...instances.runtime.compiled import Interpreter, interpreted
from ...instances.topics.workloads import RandomTopics
from ..catalogue import METHODS, kind_named, method_named, problem_named, workload_named, workload_version
from .isolation import memory_bounded
from .library_entries import Entry, library_entry
from .plot import MEASURES, Plot, Report
from .task import FileKey, Recipe, Recipes, RecipeSeeds, derived_seed, freeze, limits_in, without_limit, writes_proofs
from .toml_tables import as_list, checked, grid, located, parsed

Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0, le=1e9, description="seconds a run (60)")]
Megabytes = Annotated[int, Meta(ge=16, le=2**31, description="MiB a run (4096)")]  # less holds no kernel
Names = Annotated[list[str], Meta(min_length=1)]
Sample = Annotated[int, Meta(ge=0)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Seeds = (
    Annotated[int, Meta(ge=1, description="instances of each combination of parameters (1)")]
    | Annotated[list[Seed], Meta(min_length=1, description="the seeds of these instances")]
)

_MOST_BYTES, _MOST_RUNS = 2**22, 10_000_000
_WILD = ("*", "?", "[")
_OPTIONS = 'options stand with the name of their method: methods = ["gm", {method = "low-oda", k = [4, 8]}]'
_GROUPS = ("variant", "label", "method", "family", "problem", "kind", "status", "exact", "code_version")


class OfAny(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The keys of any ``[[instances]]`` table: what the report groups by, and what stands in for absent files."""

    family: str | UnsetType = UNSET
    seeds: Seeds = 1
    stand_in: dict[str, Any] | UnsetType = UNSET


class Files(OfAny, kw_only=True, frozen=True):
    """An ``[[instances]]`` table with files; the names of columns are keys as well (``node_column``).

    `file` has paths and patterns, relative to the study's folder, and `sample` the nodes (users, …) to sample, 0 for
    all.
    """

    file: str | Names
    kind: str = "topics"
    sample: Sample | Annotated[list[Sample], Meta(min_length=1)] = 0
    separator: Annotated[str, Meta(description="of lists, in a file of sets or in cells (found, or none)")] = ""
    copies: Annotated[bool, Meta(description="members such as A(2) are copies of one (false)")] = False
    as_is: Annotated[bool, Meta(description="topics of one subscriber each are meant (false)")] = False


class FromWorkload(OfAny, kw_only=True, frozen=True):
    """An ``[[instances]]`` table with a workload, whose parameters are keys as well."""

    workload: str


class Runs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ``[[runs]]`` table: every method on every problem that it answers, on the instances it admits.

    Limits that the table does not have are those of the study. Once checked, `methods` are names with sorted options.
    """

    problems: Annotated[tuple[str, ...], Meta(min_length=1)]
    methods: Annotated[tuple[Any, ...], Meta(min_length=1)]
    families: Annotated[tuple[str, ...], Meta(description="only instances of these (all)")] = ()
    nodes_at_most: Annotated[Positive, Meta(description="only instances of at most so many nodes, users, …")] = 2**31
    time_limit: Seconds = 60.0
    memory_limit: Megabytes = 4096
    repeats: Annotated[Positive, Meta(description="runs of each method, with seeds of their own (1)")] = 1
    proof: Annotated[bool, Meta(description="keep and check proofs, of methods that write them (false)")] = False

    def pairs(self) -> Iterator[tuple[str, str, tuple[tuple[str, Value], ...]]]:
        """Each problem with each method, and its options, that answers it."""
        for problem, (method, options) in itertools.product(self.problems, self.methods):
            if method_named(method).answers(problem):
                yield problem, method, options

    def skipped(self) -> Iterator[str]:
        """A line for each problem that some of the methods do not answer."""
        for problem in self.problems:
            names = dict.fromkeys(method for method, _ in self.methods if not method_named(method).answers(problem))
            if names:
                yield f"Methods that do not answer {problem} are skipped on it: {', '.join(names)}."


class StudyTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A study file."""

    instances: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    runs: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    name: Annotated[str, Meta(description="the title of the report (the file's name)")] | UnsetType = UNSET
    seed: Annotated[int, Meta(description="the seeds of instances and methods derive from it (0)")] = 0
    time_limit: Seconds = 60.0
    memory_limit: Megabytes = 4096
    report: Report = Report()


@dataclass(frozen=True)
class Study:
    """A study, read and checked: its instances, the runs on them, and its text (`spec`).

    Instance and method seeds derive from `seed` and from their instance or run, not from an order. `notes` are remarks
    for readers of the results (a file that was replaced by a stand-in, methods that are skipped on a problem).
    """

    name: str
    seed: int
    recipes: Recipes
    runs: tuple[Runs, ...]
    notes: tuple[str, ...]
    spec: str

    def files(self, recipes: Iterable[Recipe]) -> Iterator[tuple[FileKey, Any, list[str]]]:
        """Each file that some recipes name, with its instance and lines on what is suspicious in it.

        A bad file or too large a sample is bad input.
        """
        largest: dict[FileKey, Recipe] = {}
        for recipe in recipes:
            if recipe.file and recipe.sample >= largest.get(recipe.file_key, recipe).sample:
                largest[recipe.file_key] = recipe
        for key, recipe in largest.items():
            with located(recipe.family), memory_bounded(recipe.file):
                loaded = key.read()
                if recipe.sample:
                    kind_named(recipe.file_kind).sample(loaded.instance, recipe.sample, recipe.seed)
            yield key, loaded.instance, [f"{recipe.file}: {remark}" for remark in loaded.remarks]


def read_study(path: Path) -> Study:
    """Read a study file; bad input names the file, the table and the fix."""
    return study_of(read_text(path, _MOST_BYTES), path, storable(path.stem))


def study_of(spec: str, path: Path, name: str = "") -> Study:
    """The study of a text, and its name where the text has none.

    `path` names the text in errors, and files are relative to its folder.
    """
    with located(str(path)), modules_beside(path.parent):
        given = parsed(spec)
        for key in ("instances", "runs"):
            if isinstance(given.get(key), dict):
                raise BadInput(f"[{key}] is one table, and there may be several: write [[{key}]]")
        table = checked(given, StudyTable)
        sources = Sources(table.seed, path.parent)
        found: list[tuple[Recipe, RecipeSeeds]] = []
        runs: list[Runs] = []
        for number, source in enumerate(table.instances, start=1):
            with located(f"instances[{number}]"):
                for recipe in sources.recipes(source):
                    found.append(recipe)
                    if sum(len(seeds) for _, seeds in found) > _MOST_RUNS:
                        raise BadInput(f"more than {_MOST_RUNS:,} instances: divide the study")
        recipes = Recipes(found)
        limits = {"time_limit": table.time_limit, "memory_limit": table.memory_limit}
        for number, one in enumerate(table.runs, start=1):
            with located(f"runs[{number}]"):
                for key in one.keys() - set(Runs.__struct_fields__):
                    if not get_close_matches(key, Runs.__struct_fields__, cutoff=0.8):
                        raise BadInput(f"{key}: {_OPTIONS}")
                runs.append(_resolved(checked({**limits, **one}, Runs), recipes.forms))
        if len(recipes) * sum(len(each.problems) * len(each.methods) * each.repeats for each in runs) > _MOST_RUNS:
            raise BadInput(f"more than {_MOST_RUNS:,} runs are possible: divide the study")
        plots = tuple(dict.fromkeys(table.report.plots))
        for number, plot in enumerate(plots, start=1):
            with located(f"report.plots[{number}]"):
                _check_plot(plot, recipes.forms, runs)
        named = name if table.name is UNSET else table.name
        notes = dict.fromkeys([*sources.notes, *(line for each in runs for line in each.skipped())])
        return Study(named, table.seed, recipes, tuple(runs), tuple(notes), spec)


def _resolved(runs: Runs, recipes: Sequence[Recipe]) -> Runs:
    """A table with its names checked, and a method for each combination of options."""
    problems = tuple(problem_named(problem).name for problem in runs.problems)
    for problem in problems:
        if (kind := problem_named(problem).kind) not in {recipe.kind for recipe in recipes}:
            raise BadInput(f"problem '{problem}' needs instances of the kind '{kind}', and the study has none")
    methods = tuple(itertools.islice((each for method in runs.methods for each in _variants(method)), _MOST_RUNS + 1))
    resolved = msgspec.structs.replace(runs, problems=problems, methods=methods)
    used = {name for problem, method, _ in resolved.pairs() for name in (problem, method)}
    for problem, (method, options) in itertools.product(problems, methods):
        if not {problem, method} <= used:
            method_named(method).complete(dict(options), problem)  # of these it answers none
    for problem, method, options in resolved.pairs():
        method_named(method).complete(dict(options), problem)
    families = {recipe.family for recipe in recipes}
    for family in runs.families:
        if family not in families:
            raise unknown("family", family, families)
    if runs.proof and not any(writes_proofs(method, problem) for problem, method, _ in resolved.pairs()):
        raise BadInput("proof: none of these methods writes proofs of these problems: leave it out, or add another")
    return resolved


def _check_plot(plot: Plot, recipes: Iterable[Recipe], runs: Iterable[Runs]) -> None:
    """Raise for an x or a group that no run of the study can have, and for an x that cannot vary."""
    recipes, runs = list(recipes), list(runs)
    sizes = [size for kind in {recipe.kind for recipe in recipes} for size in kind_named(kind).sizes]
    varied = {name for recipe in recipes for name, _ in recipe.parameters}
    varied |= {*sizes, *(f"total_{size}" for size in sizes)}
    varied |= {option.name for one in runs for method, _ in one.methods for option in method_named(method).options}
    varied |= {limit for one in runs for problem in one.problems for limit in limits_in(problem)}
    if plot.x not in varied:
        raise unknown("x", plot.x, varied)
    if plot.group not in varied and plot.group not in _GROUPS:
        raise unknown("group", plot.group, {*varied, *_GROUPS})
    if not _varies(plot.x, recipes, runs):
        raise BadInput(f"{plot.x} does not vary in this study: give it several values, or choose another x")


def _varies(x: str, recipes: Iterable[Recipe], runs: Iterable[Runs]) -> bool:
    """Whether x can have several values in one problem or, as an option, in one method's runs of a problem.

    A size that a recipe does not state may be another one in each instance.
    """
    values: dict[tuple[str, ...], set[object]] = defaultdict(set)
    for one, name in ((table, name) for table in runs for name in table.problems):
        kind, alike = problem_named(name).kind, without_limit(name)
        size = x.removeprefix("total_") in kind_named(kind).sizes
        for recipe in recipes:
            if recipe.kind == kind and (not one.families or recipe.family in one.families):
                given = dict(recipe.parameters)
                values[alike,] |= {given.get(x, recipe)} if size or x in given else set()
        values[alike,] |= {value for limit, value in limits_in(name).items() if limit == x}
        for problem, method, options in one.pairs():
            if problem == name:
                values[name, method].add(method_named(method).complete(dict(options), name).get(x))
    return any(len(each) > 1 for each in values.values())


def _variants(method: object) -> Iterator[tuple[str, tuple[tuple[str, Value], ...]]]:
    """``"gm"``, or ``{method = "low-oda", k = [2, 3]}`` with every combination of the options' values."""
    table = {"method": method} if isinstance(method, str) else method
    if not isinstance(table, dict) or not isinstance(table.get("method"), str) or "options" in table:
        raise BadInput(f"{_OPTIONS}, not {method!r}")
    name = method_named(table["method"]).name
    for values in grid({key: value for key, value in table.items() if key != "method"}):
        yield name, freeze(values)


@dataclass
class Sources:
    """Reads ``[[instances]]`` tables of a study with this seed, whose files are relative to the folder.

    `notes` gets a remark for each file that was replaced by a stand-in.
    """

    seed: int
    folder: Path
    notes: list[str] = field(default_factory=list)

    def recipes(self, source: dict[str, Any]) -> Iterator[tuple[Recipe, RecipeSeeds]]:
        """The recipes of a table, one for all that differ in their seeds alone."""
        if ("file" in source) == ("workload" in source):
            raise BadInput("name either a file or a workload")
        if "file" in source:
            yield from self._of_files(source)
            return
        keys = FromWorkload.__struct_fields__
        table = checked({key: source[key] for key in source if key in keys}, FromWorkload)
        workload = workload_named(table.workload)
        code = workload_version(workload.name)
        for values in grid({key: value for key, value in source.items() if key not in keys}):
            parameters = freeze(workload.complete(values))
            if isinstance(workload.build, RandomTopics):
                _check_draw(workload.build, tuple(pair for pair in parameters if pair[0] != "nodes"))
            family = workload.name if table.family is UNSET else table.family
            seeds = _seeds_of(table, str(self.seed), workload.name, repr(parameters))
            yield Recipe(family, 0, workload=workload.name, parameters=parameters, code=code), seeds

    def _of_files(self, source: dict[str, Any]) -> Iterator[tuple[Recipe, RecipeSeeds]]:
        columns = {f"{column}_column": column for column in kind_named(str(source.get("kind", "topics"))).columns}
        table = checked({key: value for key, value in source.items() if key not in columns}, Files)
        renamed: dict[str, Any] = {columns[key]: _column(source[key], key) for key in columns if key in source}
        renamed |= {name: getattr(table, name) for name in _READING if getattr(table, name)}
        given = table.stand_in
        if given is not UNSET and ("file" not in given or "workload" in given):  # also where the file is there
            with located("stand_in"):
                for _ in self.recipes(given):
                    pass
        matching = {}
        for pattern in as_list(table.file):
            entry = None if _is_readable(self.folder / pattern) else library_entry(pattern)
            if entry is None:
                matching[pattern] = self._matching(pattern)
            elif renamed or table.sample:
                raise BadInput(f"{pattern} has no columns and no samples: leave them out")
            else:
                yield from self._of_library(table, entry, pattern)
        stems = Counter(file.stem for file in {file for files in matching.values() for file in files})
        for pattern, files in matching.items():
            for file in files:
                own = file.stem if stems[file.stem] == 1 else os.path.relpath(file, self.folder.resolve())
                own = storable(own)
                whole = Recipe(table.family or own, 0, "", (), str(file), table.kind, freeze(renamed))
                for sample in as_list(table.sample):  # 0 is the file itself
                    seeds = _seeds_of(table, str(self.seed), whole.family, str(sample)) if sample else (0,)
                    yield replace(whole, sample=sample), seeds
            if not files:
                yield from self._stand_in(table, pattern)

    def _of_library(self, table: Files, entry: Entry, name: str) -> Iterator[tuple[Recipe, RecipeSeeds]]:
        """The recipe of an instance of the library; made at once if it needs data, which may be absent."""
        try:
            if entry.needs:
                entry.make()
        except BadInput:
            if table.stand_in is UNSET:
                raise
            yield from self._stand_in(table, name)
        else:
            yield replace(entry.recipe, family=table.family or entry.name), (entry.seed,)

    def _matching(self, pattern: str) -> list[Path]:
        """The files of a path or a pattern, in the order of their names."""
        path = self.folder / pattern
        if _is_readable(path) or not any(sign in pattern for sign in _WILD):
            return [path.resolve()] if _is_readable(path) else []
        root, inside = (Path("/"), pattern.lstrip("/")) if pattern.startswith("/") else (self.folder, pattern)
        try:
            return sorted({file.resolve() for file in root.glob(inside) if _is_readable(file)})
        except (ValueError, NotImplementedError, OSError) as error:
            raise BadInput(f"file {pattern!r}: {error}: correct the pattern") from None

    def _stand_in(self, table: Files, pattern: str) -> Iterator[tuple[Recipe, RecipeSeeds]]:
        if table.stand_in is UNSET:
            raise BadInput(f"{pattern} does not exist: correct the path or give a stand_in")
        family = str(table.stand_in.get("family", table.family or "stand-in"))
        self.notes.append(f"{pattern} was absent: {family} instances stand in for it.")
        yield from self.recipes({"family": family, "seeds": table.seeds, **table.stand_in})


_READING = ("separator", "copies", "as_is")


def _column(given: object, key: str) -> str | list[str]:
    """The name of a column, or of several."""
    names = as_list(given)
    if not names or not all(isinstance(name, str | int) for name in names):
        raise BadInput(f"{key}: {given!r} names no column: give a text, or a list of texts")
    return [str(name) for name in names] if isinstance(given, list) else str(given)


def _seeds_of(table: OfAny, *parts: str) -> RecipeSeeds:
    """The seeds that the table lists, or as many as it asks for, derived from the parts and their number."""
    if isinstance(table.seeds, list):
        return table.seeds
    if table.seeds > _MOST_RUNS:
        raise BadInput(f"more than {_MOST_RUNS:,} instances: divide the study")
    return np.fromiter((derived_seed(*parts, str(number)) for number in range(table.seeds)), np.int64, table.seeds)


@lru_cache(maxsize=2**10)
def _check_draw(build: RandomTopics, parameters: tuple[tuple[str, Any], ...]) -> None:
    """Raise for parameters that do not go together, which drawing the topics of no node finds."""
    with interpreted(Interpreter()):
        build.draw(0, 0, seed=0, **dict(parameters))


def _is_readable(path: Path) -> bool:
    """Whether a path is that of a file, or of a folder with parts of one."""
    return any(file.is_file() for file in parts_of(path))


Schema = dict[str, Any]

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_PLUG_IN: Schema = {"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", "description": "module:NAME"}


def study_schema() -> Schema:
    """The schema (2020-12) of study files, with the methods, workloads and problems that are installed.

    It refuses an unknown name, key or option, a value of another type or out of range. A number in quotes, which a
    study file may have, is refused as well. Cost: every method and workload is imported.
    """
    tables = (StudyTable, Runs, Files, FromWorkload)
    _, named = msgspec.json.schema_components(tables, ref_template="#/$defs/{name}")
    for given in (given for table in named.values() for given in table["properties"].values()):
        given.pop("default", None)
    study, runs, files, of_any = (named.pop(table.__name__) for table in tables)
    study["properties"]["instances"] |= {"items": {"$ref": "#/$defs/Instances"}}
    study["properties"]["runs"] |= {"items": runs}
    runs["properties"]["problems"] |= {"items": {"anyOf": [{"enum": _own(PROBLEMS)}, _with_limits(), _PLUG_IN]}}
    runs["properties"]["methods"] |= {"items": {"$ref": "#/$defs/Method"}}
    columns = dict.fromkeys(column for kind in KINDS.values() for column in kind.columns)
    names: Schema = {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]}
    files["properties"] |= {f"{column}_column": names for column in columns}
    files["properties"]["kind"] = {"enum": list(KINDS)}
    named["Plot"]["properties"]["y"] = {"enum": list(MEASURES)}
    shared = {}
    for key in sorted(of_any["properties"].keys() - {"workload"}):
        named[key], shared[key] = of_any["properties"][key], {"$ref": f"#/$defs/{key}"}
    files["properties"] |= shared
    workloads = [_table("workload", name, WORKLOADS[name].parameters, shared) for name in _own(WORKLOADS)]
    methods = [_table("method", name, METHODS[name].options, {}) for name in _own(METHODS) if METHODS[name].options]
    named["Instances"] = {"anyOf": [files, *workloads, _of_plug_in("workload")]}
    named["Method"] = {"anyOf": [{"enum": _own(METHODS)}, *methods, _PLUG_IN, _of_plug_in("method")]}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**head, **study, "title": "A study of Overlaybench", "$defs": named}


def _table(key: str, name: str, options: Iterable[Option], shared: Schema) -> Schema:
    """The table of a workload or method, with a key an option, which takes a value or a list of them."""
    summary = (WORKLOADS if key == "workload" else METHODS)[name].summary
    properties = {key: {"const": name, "description": summary}, **{option.name: _of(option) for option in options}}
    return {
        "title": name,
        "type": "object",
        "properties": {**properties, **shared},
        "required": [key],
        "additionalProperties": False,
    }


def _of(option: Option) -> Schema:
    default = str(option.default).lower() if isinstance(option.default, bool) else option.default
    value: Schema = {"type": _TYPES[type(option.default)]}
    if allowed := option.allowed:
        value["enum"] = list(allowed)
    if not isinstance(option.default, (bool, str)):
        limits = {"minimum": option.least, "maximum": option.most}
        value |= {key: limit for key, limit in limits.items() if math.isfinite(limit)}
    values = {"type": "array", "minItems": 1, "items": value}
    return {"anyOf": [value, values], "description": f"{option.summary} ({default})"}


def _of_plug_in(key: str) -> Schema:
    """A table of a plug-in, whose options are not known here."""
    return {"type": "object", "properties": {key: _PLUG_IN}, "required": [key], "title": "a plug-in"}


def _with_limits() -> Schema:
    """The problems whose names state limits, such as ``filtering@max-degree=4``."""
    families = (name for name, problem in PROBLEMS.items() if type(problem).variant is not Problem.variant)
    pattern = f"^({'|'.join(families)})(=[^@=]+)?@[^@=]+(=[^@=]+)?$"
    return {"type": "string", "pattern": pattern, "description": "FUNCTION=LIMIT@FUNCTION or FUNCTION@FUNCTION=LIMIT"}


def _own(names: Iterable[str]) -> list[str]:
    return [name for name in names if ":" not in name]
