"""A study on Spark: the executors make the instances and run the solvers; what is done is not done again."""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from pyspark import Accumulator, SparkContext
from pyspark.sql import SparkSession

from compare.catalogue import kind_named, method_named, problem_named
from compare.isolation import run_isolated
from compare.progress import Progress
from compare.recipe import Recipe
from compare.store import Made, Plan, Store, row
from compare.study import Study, expected_seconds
from compare.task import Task
from instances import BadInput, Method, Status

_SLICES = 2000
_LOOK_EVERY = 0.25
_ATTEMPTS = 4


class Counts(NamedTuple):
    """What the executors have done: runs done, failed among them, and the seconds expected of those done."""

    done: Accumulator[int]
    failed: Accumulator[int]
    spent: Accumulator[float]


def run_study(study: Study, store: Store, master: str) -> list[Task]:
    """Make the instances and do the runs that are missing; return all tasks of the study.

    The executor that finished a run stores it at once, so a study that is stopped, however it is stopped, goes on
    where it stood.

    Raises
    ------
    BadInput
        If the store holds another study, or an instance cannot be made.
    KeyboardInterrupt
        After Spark and the solvers have been stopped.
    """
    store.open_for(study.spec)
    with store.locked():
        store.sweep()
        made = store.index()
        recipes = [recipe for recipe in study.recipes if recipe.to_json() not in made]
        tasks = _planned(study, made, store)
        if recipes or _missing(tasks, store):
            with _spark(master, store.folder) as context:
                if recipes:
                    made |= _make(context, recipes, store)
                    store.write_index(made)
                    tasks = _planned(study, made, store)
                _run(context, tasks, store)
        return tasks


def _planned(study: Study, made: Mapping[str, Made], store: Store) -> list[Task]:
    tasks = study.tasks(made)
    store.write_plan(Plan(study.name, study.notes, study.spec, [task.key for task in tasks]))
    return tasks


def _missing(tasks: list[Task], store: Store) -> list[Task]:
    done = store.done()
    return [task for task in tasks if task.key not in done]


@contextmanager
def _spark(master: str, folder: Path) -> Iterator[SparkContext]:
    """A Spark session whose own messages go to ``spark.log`` in the study's folder."""
    local = re.fullmatch(r"local(?:\[([0-9]+|\*)\])?", master)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.appName("overlaybench")
        .master(f"local[{local[1] or 1},{_ATTEMPTS}]" if local else master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.task.maxFailures", str(_ATTEMPTS))
    )
    with (folder / "spark.log").open("ab") as log:
        screen = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            session = builder.getOrCreate()
        finally:
            os.dup2(screen, 2)
            os.close(screen)
    try:
        session.sparkContext.setLogLevel("WARN")
        yield session.sparkContext
    finally:
        session.sparkContext.cancelAllJobs()
        session.stop()


def _make(context: SparkContext, recipes: list[Recipe], store: Store) -> dict[str, Made]:
    folder = str(store.folder.resolve())
    lines = [recipe.to_json() for recipe in recipes]
    found = context.parallelize(lines, min(len(lines), _SLICES)).map(lambda line: _make_one(line, folder)).collect()
    made = {}
    for line, digest, size, error in found:
        if error:
            raise BadInput(f"instance {line}: {error}")
        made[line] = Made(digest, size)
    return made


def _make_one(line: str, folder: str) -> tuple[str, str, int, str]:
    try:
        recipe = Recipe.from_json(line)
        instance, kind = recipe.make(), kind_named(recipe.kind)
        Store(Path(folder)).add_instance(instance, kind)
        return line, instance.digest, kind.size(instance)[kind.sizes[0]], ""
    except BadInput as error:
        return line, "", 0, str(error)


def _run(context: SparkContext, tasks: list[Task], store: Store) -> None:
    missing = _missing(tasks, store)
    folder = str(store.folder.resolve())
    counts = Counts(context.accumulator(0), context.accumulator(0), context.accumulator(0.0))
    slices = context.parallelize(missing, min(len(missing), _SLICES))
    errors: list[BaseException] = []

    def job() -> None:
        try:
            slices.foreach(lambda task: _run_one(task, folder, counts))
        except Exception as error:  # Spark's errors have no common base; raised below
            errors.append(error)

    thread = Thread(target=job, daemon=True)
    expected = sum(expected_seconds(task) for task in missing)
    with Progress(len(tasks), len(tasks) - len(missing), expected) as progress:
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_EVERY)
            progress.show(counts.done.value, counts.failed.value, _active(context), counts.spent.value)
    if errors:
        raise errors[0]


def _active(context: SparkContext) -> int:
    tracker = context.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    active = sum(stage.numActiveTasks for stage in stages if stage is not None)
    return min(active, context.defaultParallelism)


def _run_one(task: Task, folder: str, counts: Counts) -> None:
    store = Store(Path(folder))
    if task.key not in store:
        method, problem = _ready(task.method, task.problem), problem_named(task.problem)
        kind = kind_named(problem.kind)
        instance = _instance(folder, task.instance, kind.name)
        outcome = run_isolated(
            method,
            instance,
            problem,
            seed=task.seed,
            options=json.loads(task.options),
            time_limit=task.time_limit,
            memory_limit=task.memory_limit,
        )
        store.add(row(task, instance, kind, outcome.result, exact=method.exact, peak=outcome.peak))
        counts.failed.add(int(outcome.result.status is Status.FAILED))
    counts.done.add(1)
    counts.spent.add(expected_seconds(task))


@cache
def _ready(name: str, problem: str) -> Method[Any, Any]:
    """The method, its kernels compiled and its libraries imported in this worker, for its solvers to inherit."""
    method = method_named(name).answering(problem)
    if method.warm_up is not None:
        method.warm_up()
    # Spark collects garbage after every task, which takes the longer the more is imported: set all that aside.
    gc.freeze()
    return method


@lru_cache(maxsize=2)
def _instance(folder: str, digest: str, kind: str) -> Any:
    return Store(Path(folder)).instance(digest, kind_named(kind))
