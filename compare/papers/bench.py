"""The runs behind claims: grids through the study machinery, small ones at once, every algorithm by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from ...instances.errors import unknown
from ...instances.method import Method
from ...instances.result import Result
from ..catalogue import METHODS, kind_named, problem_named, workload_named
from ..studies.recipe import Recipe, freeze
from ..studies.row import row, spread
from ..studies.store import Made, Store
from ..studies.study import Runs, Study
from ..studies.task import Task, derived_seed

SEED = 2007
_MEMORY = 6000


@dataclass(frozen=True)
class Experiment:
    """Instances, and what to run on them: `runs` are told by family, so that parts of a grid can differ."""

    recipes: tuple[Recipe, ...]
    runs: tuple[Runs, ...]

    def __post_init__(self) -> None:
        families = tuple(sorted({recipe.family for recipe in self.recipes}))
        own = tuple(one if one.families else replace(one, families=families) for one in self.runs)
        object.__setattr__(self, "runs", own)

    def study(self, name: str) -> Study:
        """The same as a study, whose text is its name."""
        return Study(name, SEED, self.recipes, self.runs, (), f'name = "{name}"\n')


def together(experiments: Sequence[Experiment]) -> Experiment:
    """All experiments as one; each keeps its runs to its own families."""
    recipes = dict.fromkeys(recipe for one in experiments for recipe in one.recipes)
    return Experiment(tuple(recipes), tuple(dict.fromkeys(run for one in experiments for run in one.runs)))


def grid(family: str, workload: str, seeds: int, **parameters: Any) -> tuple[Recipe, ...]:
    """`seeds` instances of a workload; the seed of each depends on what it is for."""
    shape = freeze(workload_named(workload).complete(parameters))
    seed_of = [derived_seed(str(SEED), workload, repr(shape), str(replicate)) for replicate in range(seeds)]
    return tuple(Recipe(family, seed, workload=workload, parameters=shape) for seed in seed_of)


def runs(
    problem: str,
    *methods: str | tuple[str, Mapping[str, Any]],
    families: Sequence[str] = (),
    time_limit: float = 120.0,
    repeats: int = 1,
) -> Runs:
    """Every method (a name, or a name with options) on one problem, on the given families or on all."""
    named = tuple((m, ()) if isinstance(m, str) else (m[0], freeze(m[1])) for m in methods)
    return Runs((problem,), named, tuple(families), 2**31, time_limit, _MEMORY, repeats)


class RunFailed(Exception):
    """A run without a value, on which a claim's verdict depends; with its reason."""


@dataclass
class Bench:
    """What a claim's judge works with.

    Attributes
    ----------
    quick : bool
        Whether the thin version was asked for.
    methods : mapping
        Algorithms by name. A test hands in broken ones.
    rows : DataFrame
        The claim's own runs through the study machinery: a row each as `compare.studies.store` keeps them, with the
        recipe's parameters as further columns (``p_nodes``) and ``workload``.
    done : int
        How many runs were made at once.
    """

    quick: bool
    methods: Mapping[str, Method[Any, Any]] = field(default_factory=lambda: METHODS)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    done: int = 0

    def run(
        self, method: str, instance: Any, problem: str = "min-tco", *, seed: int = 0, **options: Any
    ) -> Result[Any]:
        """Run an algorithm here and now, judged by the problem."""
        if method not in self.methods:
            raise unknown("method", method, self.methods)
        self.done += 1
        return self.methods[method].run(instance, problem_named(problem), seed=seed, **options)

    def value(self, method: str, instance: Any, problem: str, **options: Any) -> float:
        """The value of a run made here and now.

        Raises
        ------
        RunFailed
            If it has none.
        """
        result = self.run(method, instance, problem, **options)
        if result.value is None:
            raise RunFailed(f"{method} on {problem}: {result.reason}")
        return result.value


def rows_here(experiment: Experiment, methods: Mapping[str, Method[Any, Any]]) -> pd.DataFrame:
    """The rows of an experiment made in this process, with the given algorithms: for small ones and for tests."""
    study = experiment.study("here")
    instances = {recipe.to_json(): recipe.make() for recipe in experiment.recipes}
    made = {line: Made(instance.digest, 0) for line, instance in instances.items()}
    return _with_parameters(spread(pd.DataFrame(list(_rows_here(study.tasks(made), instances, methods)))))


def rows_of(experiment: Experiment, store: Store) -> pd.DataFrame:
    """The rows of an experiment whose runs are in a store."""
    tasks = experiment.study("rows").tasks(store.index())
    rows = store.rows(task.key for task in tasks)
    own = {task.key: task for task in tasks}
    # Runs that two claims share are stored once, under the recipe of the first.
    rows["recipe"] = [own[key].recipe for key in rows["key"]]
    rows["family"] = [own[key].family for key in rows["key"]]
    return _with_parameters(rows)


def _rows_here(
    tasks: list[Task], instances: Mapping[str, Any], methods: Mapping[str, Method[Any, Any]]
) -> Iterator[dict[str, Any]]:
    for task in tasks:
        instance, method = instances[task.recipe], methods[task.method]
        result = method.run(
            instance,
            problem_named(task.problem),
            seed=task.seed,
            time_limit=task.time_limit if method.exact else None,
            **json.loads(task.options),
        )
        kind = kind_named(problem_named(task.problem).kind)
        yield row(task, instance, kind, result, exact=method.exact, peak=0.0)


def _with_parameters(rows: pd.DataFrame) -> pd.DataFrame:
    if rows.empty:
        return rows
    recipes = [json.loads(recipe) for recipe in rows["recipe"]]
    rows["workload"] = [recipe.get("workload", "") for recipe in recipes]
    for name in sorted({name for recipe in recipes for name in recipe.get("parameters", {})}):
        rows[f"p_{name}"] = [recipe.get("parameters", {}).get(name) for recipe in recipes]
    return rows
