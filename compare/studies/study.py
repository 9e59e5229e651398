"""A study file: instances × problems × methods × options × limits, in TOML."""

from __future__ import annotations

import itertools
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ...instances.contract.catalogue import modules_beside
from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.files import read_text
from ...instances.contract.option import Value
from ..catalogue import method_named, problem_named, version_of
from .plot import Plot, read_plots
from .recipe import Recipe, freeze
from .sources import Sources
from .store import StoredInstance
from .task import Task, derived_seed, options_json, writes_proofs
from .toml_tables import as_list, check_keys, grid, located, positive, tables, typed

KEYS = ("name", "seed", "time_limit", "memory_limit", "instances", "runs", "report")
RUN_KEYS = ("problems", "methods", "families", "nodes_at_most", "time_limit", "memory_limit", "repeats", "proof")
_TIME_LIMIT, _MEMORY_LIMIT = 60.0, 4096
_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){64}""")
_MOST_BYTES, _MOST_INSTANCES, _MOST_RUNS = 2**22, 100_000, 1_000_000


@dataclass(frozen=True)
class Runs:
    """One ``[[runs]]`` table: every method on every problem, on the instances it admits."""

    problems: tuple[str, ...]
    methods: tuple[tuple[str, tuple[tuple[str, Value], ...]], ...]
    families: tuple[str, ...]
    nodes_at_most: int
    time_limit: float
    memory_limit: int
    repeats: int
    proof: bool = False

    def admits(self, recipe: Recipe, instance: StoredInstance) -> bool:
        """Whether to do these runs on an instance; `nodes_at_most` bounds the first size of its kind."""
        return instance.size <= self.nodes_at_most and (not self.families or recipe.family in self.families)


@dataclass(frozen=True)
class Study:
    """A study, read and checked.

    Attributes
    ----------
    name, seed
        Instance and method seeds derive from `seed` and from their instance or run, not from an order.
    recipes : tuple of Recipe
        The instances.
    runs : tuple of Runs
        The runs on them.
    notes : tuple of str
        Remarks for readers of the results (a file that was replaced by a stand-in).
    spec : str
        The file's text.
    plots : tuple of Plot
        Those that its ``[report]`` table chooses.
    """

    name: str
    seed: int
    recipes: tuple[Recipe, ...]
    runs: tuple[Runs, ...]
    notes: tuple[str, ...]
    spec: str
    plots: tuple[Plot, ...] = ()

    def tasks(self, index: Mapping[str, StoredInstance]) -> list[Task]:
        """Every run on the stored instances (by recipe, as JSON), each once.

        Those expected to be the longest come first: exact methods by their limit, then the largest instances; runs
        on the same instance are consecutive.
        """
        by_key: dict[str, Task] = {}
        versions = cache(version_of)
        sizes = {instance.digest: instance.size for instance in index.values()}
        for recipe, runs in itertools.product(self.recipes, self.runs):
            instance = index.get(recipe.to_json())
            if instance is not None and runs.admits(recipe, instance):
                for task in self._tasks(recipe, instance.digest, runs, versions):
                    by_key.setdefault(task.key, task)
        for task in [task for task in by_key.values() if task.proof]:
            by_key.pop(replace(task, proof=False).key, None)

        def order(task: Task) -> tuple[float, int, str, str]:
            return -expected_seconds(task.exact, task.time_limit), -sizes[task.instance], task.instance, task.key

        return sorted(by_key.values(), key=order)

    def _tasks(self, recipe: Recipe, digest: str, runs: Runs, versions: Callable[[str, str], str]) -> Iterator[Task]:
        problems, text = [name for name in runs.problems if problem_named(name).kind == recipe.kind], recipe.to_json()
        for problem, (method, options), repeat in itertools.product(problems, runs.methods, range(runs.repeats)):
            # Ten thousand tasks share a few texts.
            complete = sys.intern(options_json(method_named(method).stated(dict(options), problem)))
            yield Task(
                instance=digest,
                recipe=text,
                family=recipe.family,
                problem=problem,
                method=method,
                options=complete,
                seed=derived_seed(str(self.seed), digest, problem, method, complete, str(repeat)),
                time_limit=runs.time_limit,
                memory_limit=runs.memory_limit,
                code_version=versions(method, problem),
                proof=runs.proof and writes_proofs(method, problem),
            )


def expected_seconds(exact: bool, time_limit: float) -> float:
    """An estimate for scheduling: an exact method may take its limit, a heuristic seldom does."""
    return time_limit if exact else 0.1


def read_study(path: Path) -> Study:
    """Read a study file; names in it are checked, and files it names are relative to its folder.

    Raises
    ------
    BadInput
        Names the file, the table and the fix.
    """
    return study_of(read_text(path, _MOST_BYTES), path)


def study_of(spec: str, path: Path) -> Study:
    """The study of a text; `path` names it in errors, and files are relative to its folder.

    Raises
    ------
    BadInput
        As :func:`read_study`.
    """
    with located(str(path)), modules_beside(path.parent):
        if _DEEP_KEY.search(spec):  # for a key of n parts tomllib takes n² of time and memory
            raise BadInput("has a name with more than 64 dots: see the README for what a study looks like")
        try:
            data = tomllib.loads(spec)
        except tomllib.TOMLDecodeError as error:
            raise BadInput(str(error)) from None
        except RecursionError:
            raise BadInput("is nested too deeply: see the README for what a study looks like") from None
        return _study(data, spec, path)


def _study(data: dict[str, Any], spec: str, path: Path) -> Study:
    check_keys(data, KEYS)
    name = typed(data, "name", str, path.stem)
    seed = typed(data, "seed", int, 0)
    sources = Sources(seed, path.parent)
    recipes: list[Recipe] = []
    runs: list[Runs] = []
    for number, source in enumerate(tables(data, "instances"), start=1):
        with located(f"instances[{number}]"):
            recipes.extend(itertools.islice(sources.recipes(source), _MOST_INSTANCES + 1))
            if len(recipes) > _MOST_INSTANCES:
                raise BadInput(f"more than {_MOST_INSTANCES:,} instances: divide the study")
    for number, table in enumerate(tables(data, "runs"), start=1):
        with located(f"runs[{number}]"):
            runs.append(_runs(table, data, recipes))
    if len(recipes) * sum(len(each.problems) * len(each.methods) * each.repeats for each in runs) > _MOST_RUNS:
        raise BadInput(f"more than {_MOST_RUNS:,} runs are possible: divide the study")
    return Study(name, seed, tuple(dict.fromkeys(recipes)), tuple(runs), tuple(sources.notes), spec, read_plots(data))


def _runs(table: dict[str, Any], data: dict[str, Any], recipes: list[Recipe]) -> Runs:
    check_keys(table, RUN_KEYS)
    problems, methods, wanted = (as_list(typed(table, key, list, [])) for key in ("problems", "methods", "families"))
    if not problems or not methods:
        raise BadInput("needs problems and methods, at least one of each")
    families = {recipe.family for recipe in recipes}
    problems = [problem_named(str(problem)).name for problem in problems]
    for problem in problems:
        if (kind := problem_named(problem).kind) not in {recipe.kind for recipe in recipes}:
            raise BadInput(f"problem '{problem}' needs instances of the kind '{kind}', and the study has none")
    variants = (variant for method in methods for variant in _variants(method))
    chosen = list(itertools.islice(variants, _MOST_RUNS + 1))
    for problem, (method, options) in itertools.product(problems, chosen):
        method_named(method).complete(dict(options), problem)
    for family in wanted:
        if family not in families:
            raise unknown("family", str(family), families)
    proof = typed(table, "proof", bool, False)
    if proof and not any(writes_proofs(method, problem) for problem in problems for method, _ in chosen):
        raise BadInput("proof: none of these methods writes proofs of these problems: leave it out, or add another")
    limits: dict[str, Any] = {key: data[key] for key in ("time_limit", "memory_limit") if key in data} | table
    return Runs(
        tuple(problems),
        tuple(chosen),
        tuple(wanted),
        positive(table, "nodes_at_most", int, 2**31),
        float(positive(limits, "time_limit", float, _TIME_LIMIT)),
        positive(limits, "memory_limit", int, _MEMORY_LIMIT),
        positive(table, "repeats", int, 1),
        proof,
    )


def _variants(method: object) -> Iterator[tuple[str, tuple[tuple[str, Value], ...]]]:
    """``"gm"``, or ``{method = "low-oda", k = [2, 3]}`` with every combination of the options' values."""
    if isinstance(method, str):
        yield method_named(method).name, ()
        return
    if not isinstance(method, dict) or not isinstance(method.get("method"), str):
        raise BadInput(f'a method is a name or {{method = "name", option = value}}, not {method!r}')
    name = method_named(method["method"]).name
    for values in grid({key: value for key, value in method.items() if key != "method"}):
        yield name, freeze(values)
