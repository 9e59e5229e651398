"""Experiments: the runs behind claims and figures, as studies on Spark or in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from msgspec import structs

from ...instances.contract.errors import unknown
from ...instances.contract.method import Method
from ...instances.contract.result import Result, Status
from ...instances.topics.instance import TopicInstance
from ..catalogue import METHODS, method_named, problem_named, workload_named
from ..studies.columns import parameters
from ..studies.isolation import IsolatedRun
from ..studies.row import object_in, row, spread, table_of
from ..studies.run_table import run_table
from ..studies.store import Store, index_of
from ..studies.study import Runs, Study
from ..studies.task import Recipe, Recipes, derived_seed, freeze
from .contribution_table import BY_TABLE

LAWS = ("uniform", "zipf", "exponential")
TIES = ("lowest", "highest", "random")
SEED = 2007
_MEMORY = 6000


@dataclass(frozen=True)
class Experiment:
    """Instances and the runs on them; runs without families apply to all instances of the experiment."""

    recipes: tuple[Recipe, ...]
    runs: tuple[Runs, ...]

    def __post_init__(self) -> None:
        families = tuple(sorted({recipe.family for recipe in self.recipes}))
        own = tuple(one if one.families else structs.replace(one, families=families) for one in self.runs)
        object.__setattr__(self, "runs", own)

    def study(self, name: str) -> Study:
        """The experiment as a study; its name is its text."""
        return Study(name, SEED, Recipes.of(self.recipes), self.runs, (), f'name = "{name}"\n')


def together(experiments: Sequence[Experiment]) -> Experiment:
    """The union of experiments; the runs of each apply to its own families."""
    recipes = dict.fromkeys(recipe for one in experiments for recipe in one.recipes)
    return Experiment(tuple(recipes), tuple(dict.fromkeys(run for one in experiments for run in one.runs)))


def grid(family: str, workload: str, seeds: int, *, paired: bool = False, **parameters: Any) -> tuple[Recipe, ...]:
    """`seeds` instances of a workload, with seeds derived from the workload and its parameters.

    If `paired`, every shape has the same seeds, so that instances of different shapes are compared in pairs.
    """
    shape = freeze(workload_named(workload).complete(parameters))
    derived = [derived_seed(str(SEED), workload, repr(shape), str(replicate)) for replicate in range(seeds)]
    seed_of = range(SEED, SEED + seeds) if paired else derived
    return tuple(Recipe(family, seed, workload=workload, parameters=shape) for seed in seed_of)


def by_law(seeds: int, workloads: Sequence[str] = LAWS, **shape: Any) -> Iterator[tuple[str, TopicInstance]]:
    """The instances of :func:`grid` under each law, with their names."""
    for workload in workloads:
        yield from ((f"{workload} seed {one.seed}", one.make()) for one in grid("", workload, seeds, **shape))


def runs(
    problem: str,
    *methods: str | tuple[str, Mapping[str, Any]],
    families: Sequence[str] = (),
    time_limit: float = 120.0,
    repeats: int = 1,
) -> Runs:
    """Every method (a name, or a name with options) on one problem, on these families or on all."""
    given = [(m, {}) if isinstance(m, str) else m for m in methods]
    named = tuple((method_named(name).name, freeze(options)) for name, options in given)
    return Runs((problem,), named, tuple(families), 2**31, time_limit, _MEMORY, repeats)


class RunFailed(Exception):
    """A run that a verdict needs has no value; the message gives the reason."""


@dataclass
class Bench:
    """The runs and the algorithms that a claim's judge uses.

    `methods` are algorithms by name, of which tests replace some by faulty ones; `tables` the runs of each grid of the
    claim, by its name (see `on`); `done` is the number of runs made by `run`.
    """

    quick: bool
    methods: Mapping[str, Method[Any, Any]] = field(default_factory=lambda: METHODS)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    done: int = 0

    def on(self, grid: str) -> pd.DataFrame:
        """The runs on a grid that did not fail; RunFailed if none has a value.

        The columns are those of the store; ``law`` (the workload, without -varying and -fitted), ``ties`` and ``draw``
        (the seed of the instance, by which instances of different shapes are paired), ``o_data`` (``table`` for P3's
        methods by their own data structures, which are named as the plain ones);
        parameters of the workload as ``p_nodes``, options with their defaults as ``o_partitions``, counters as
        ``c_pn_ratio``.
        """
        rows = self.tables[grid]
        done = rows[rows["status"] != Status.FAILED]
        if done.empty:
            reason = rows["reason"].iloc[0] if len(rows) else "there are none"
            raise RunFailed(f"all runs of grid {grid} failed: {reason}")
        return done

    def run(
        self, method: str, instance: Any, problem: str = "min-tco", *, seed: int = 0, **options: Any
    ) -> Result[Any]:
        """Run an algorithm in this process; the problem judges its answer. Its name may be ``module:NAME``."""
        name = method_named(method).name if ":" in method else method
        if name not in self.methods:
            raise unknown("method", name, self.methods)
        self.done += 1
        return self.methods[name].run(instance, problem_named(problem), seed=seed, **options)

    def value(self, method: str, instance: Any, problem: str, *, proven: bool = False, **options: Any) -> float:
        """The value of a run made by `run`; RunFailed if it has none, or if it must be `proven` and is not."""
        result = self._valued(method, instance, problem, **options)
        if proven and result.status is not Status.OPTIMAL:
            raise RunFailed(f"{method} on {problem}: no optimum is proven")
        assert result.value is not None
        return result.value

    def answer(self, method: str, instance: Any, problem: str = "min-tco", **options: Any) -> Any:
        """The answer of a run made by `run`; RunFailed if it has none."""
        return self._valued(method, instance, problem, **options).answer

    def _valued(self, method: str, instance: Any, problem: str, **options: Any) -> Result[Any]:
        result = self.run(method, instance, problem, **options)
        if result.value is None:
            raise RunFailed(f"{method} on {problem}: {result.reason}")
        return result


def rows_here(experiment: Experiment, methods: Mapping[str, Method[Any, Any]]) -> pd.DataFrame:
    """Run an experiment in this process, with the given algorithms, and return its rows."""
    study = experiment.study("here")
    instances = {recipe.to_json(): recipe.make() for recipe in experiment.recipes}
    digests = [instance.digest for instance in instances.values()]
    made = index_of(list(instances), digests, [0] * len(digests), [""] * len(digests))
    rows = []
    for task in run_table(study, made):
        instance, method = instances[task.recipe], methods[task.method]
        given = {"time_limit": task.time_limit if method.exact else None, **object_in(task.options)}
        result = method.run(instance, problem_named(task.problem), seed=task.seed, **given)
        rows.append(row(task, instance, IsolatedRun(result, 0.0)))
    return _with_parameters(spread(table_of(rows)))


def run_grids(experiments: Sequence[Experiment], quick: bool, folder: Path, master: str) -> Store:
    """Run experiments as one study on Spark, except for the runs that `folder` holds already."""
    study = together(experiments).study(f"claims, {'quick' if quick else 'full'}")
    store = Store(folder)
    if not experiments:
        store.open_for(study.spec)
        return store
    # Spark takes a second to import, and claims without a grid do not need it.
    from ..studies.spark_study import run_study

    run_study(study, store, master)
    return store


def rows_of(experiment: Experiment, store: Store) -> pd.DataFrame:
    """The rows of an experiment whose runs a store holds."""
    table = run_table(experiment.study("rows"), store.index()).keyed(store.done())
    own = pd.concat([labels.to_pandas() for labels in table.labels()])
    rows, own = store.rows(own["key"]), own.set_index("key")
    # A run that two claims share is stored once, with the first one's recipe.
    rows["recipe"] = rows["key"].map(own["recipe"])
    rows["family"] = rows["key"].map(own["family"])
    return _with_parameters(rows)


def _with_parameters(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the columns that `Bench.on` describes."""
    if rows.empty:
        return rows
    recipes = rows["recipe"].map(object_in)
    workload = recipes.map(lambda recipe: recipe.get("workload", ""))
    options = pd.DataFrame(list(map(_all_options, rows["method"], rows["options"])), rows.index)
    counters = pd.DataFrame(rows["counters"].map(object_in).tolist(), rows.index)
    rows = rows.join(parameters(rows).add_prefix("p_")).join(options.add_prefix("o_")).join(counters.add_prefix("c_"))
    law = workload.str.replace("-varying|-fitted", "", regex=True)
    by_table = rows["method"].str.endswith(BY_TABLE)
    rows = rows.assign(method=rows["method"].str.removesuffix(BY_TABLE), o_data=np.where(by_table, "table", "rows"))
    ties = rows["o_ties"].fillna("lowest") if "o_ties" in rows else "lowest"
    return rows.assign(workload=workload, law=law, ties=ties, draw=[recipe.get("seed") for recipe in recipes])


def _all_options(method: str, given: str) -> Mapping[str, Any]:
    """The options of a run, with the method's own where none was given."""
    return {**{one.name: one.default for one in method_named(method).options}, **object_in(given)}
