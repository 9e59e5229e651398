"""A study on Spark: the executors make the instances and run the solvers; what is done is not done again."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from threading import Thread
from typing import Any

from pyspark import Accumulator, AccumulatorParam, SparkContext
from pyspark.core.broadcast import Broadcast

from ...instances.errors import BadInput
from ...instances.method import Method
from ...instances.result import Result, Status
from ..catalogue import code_version, kind_named, method_named, problem_named
from .isolation import Job, Outcome, Solver
from .processes import memory_bounded
from .progress import Progress
from .queue import Queue
from .recipe import Recipe
from .row import row
from .run_log import RunLog
from .spark_session import spark
from .store import Made, Plan, Store
from .study import Study, expected_seconds
from .tally import Tally
from .task import Task

_LOOK_EVERY, _MERGE_EVERY = 0.25, 30.0
_SLICES_A_CORE = 4
_LOST_AT_MOST = 3

Say = Callable[[str], None]


def _to_stderr(sentence: str) -> None:
    print(f"overlaybench: {sentence}", file=sys.stderr, flush=True)


def run_study(
    study: Study, store: Store, master: str, *, archive: Path | None = None, quiet: bool = False, say: Say = _to_stderr
) -> list[Task]:
    """Make the instances and do the runs that are missing; return all tasks of the study.

    The worker that finished a run stores it at once, so a study that is stopped, however it is stopped, goes on
    where it stood. A run whose worker dies three times becomes a failed row.

    Parameters
    ----------
    archive : Path, optional
        The code for a cluster's workers; see :func:`.spark`.
    quiet : bool
        Show no progress.
    say : callable
        Takes a sentence that the user must see: what was found damaged, which workers died.

    Raises
    ------
    BadInput
        If the store holds another study, cannot be written, or an instance cannot be made.
    KeyboardInterrupt
        After Spark and the solvers have been stopped.
    """
    store.open_for(study.spec)
    with store.locked():
        for remark in store.recover():
            say(remark)
        made = store.index()
        recipes = [recipe for recipe in study.recipes if not _is_made(recipe, made, store)]
        tasks = _planned(study, made, store)
        if recipes or _missing(tasks, store):
            with spark(master, store.folder / "spark.log", archive) as context:
                if recipes:
                    made |= _make(context, recipes, store)
                    store.write_index(made)
                    tasks = _planned(study, made, store)
                _run_all(context, tasks, store, quiet, say)
            store.merge()
        return tasks


def _is_made(recipe: Recipe, made: Mapping[str, Made], store: Store) -> bool:
    instance = made.get(recipe.to_json())
    return instance is not None and store.has_instance(instance.digest, kind_named(recipe.kind))


def _planned(study: Study, made: Mapping[str, Made], store: Store) -> list[Task]:
    tasks = study.tasks(made)
    store.write_plan(Plan(study.name, study.notes, study.spec, [task.key for task in tasks]))
    return tasks


def _missing(tasks: list[Task], store: Store) -> list[Task]:
    done = store.done()
    return [task for task in tasks if task.key not in done]


def _make(context: SparkContext, recipes: list[Recipe], store: Store) -> dict[str, Made]:
    folder = str(store.folder.resolve())
    lines = [recipe.to_json() for recipe in recipes]
    slices = min(len(lines), _SLICES_A_CORE * max(2, context.defaultParallelism))
    found = context.parallelize(lines, slices).map(lambda line: _make_one(line, folder)).collect()
    made = {}
    for line, digest, size, error in found:
        if error:
            raise BadInput(f"instance {line}: {error}")
        made[line] = Made(digest, size)
    return made


def _make_one(line: str, folder: str) -> tuple[str, str, int, str]:
    try:
        recipe = Recipe.from_json(line)
        kind = kind_named(recipe.kind)
        with memory_bounded("it"):
            instance = recipe.make()
        Store(Path(folder)).add_instance(instance, kind)
        return line, instance.digest, kind.size(instance)[kind.sizes[0]], ""
    except BadInput as error:
        return line, "", 0, str(error)


def _run_all(context: SparkContext, tasks: list[Task], store: Store, quiet: bool, say: Say) -> None:
    """Rounds of the runs that are missing, until none is: a worker that dies takes the run it had taken with it."""
    missing = _missing(tasks, store)
    lost: dict[str, int] = {}
    expected = Counter(expected_seconds(task.exact, task.time_limit) for task in missing)
    with Progress(len(tasks), len(tasks) - len(missing), quiet=quiet) as progress:
        tally = Tally(store, expected)
        while missing:
            error = _run_round(context, missing, store, progress, tally)
            before, missing = missing, _missing(tasks, store)
            if error is not None and len(missing) == len(before):
                raise error
            if missing:
                say(f"{len(missing)} of {len(before)} runs were lost with their workers, and are taken up again")
            for task in missing if error is None else ():  # otherwise some were never begun
                lost[task.key] = lost.get(task.key, 0) + 1
            given_up = [task for task in missing if lost[task.key] >= _LOST_AT_MOST]
            _give_up(given_up, store)
            missing = [task for task in missing if lost[task.key] < _LOST_AT_MOST]


def _run_round(
    context: SparkContext, tasks: list[Task], store: Store, progress: Progress, tally: Tally
) -> Exception | None:
    """Have the workers take runs from a queue until it is empty; what ended them before, if anything did."""
    queue = Queue.make(store.folder.resolve(), len(tasks))
    shared, unwritable = context.broadcast(tasks), context.accumulator("", _FirstWords())
    folder = str(store.folder.resolve())
    slices = min(len(tasks), _SLICES_A_CORE * max(2, context.defaultParallelism))
    workers = context.parallelize(range(slices), slices)
    errors: list[Exception] = []

    def job() -> None:
        try:
            workers.foreachPartition(lambda _: _work(shared, queue, folder, unwritable))
        except Exception as error:  # Spark's errors have no common base; raised below
            errors.append(error)

    thread = Thread(target=job, daemon=True)
    thread.start()
    merged = time.monotonic()
    try:
        while thread.is_alive():
            thread.join(_LOOK_EVERY)
            tally.update()
            progress.show(tally.done, tally.failed, _active(context), tally.share)
            if time.monotonic() > merged + _MERGE_EVERY:
                store.merge()
                merged = time.monotonic()
    finally:
        queue.end()
    shared.unpersist()
    if unwritable.value:
        raise BadInput(unwritable.value)
    return errors[0] if errors else None


class _FirstWords(AccumulatorParam[str]):
    """Keeps the first text that anyone adds."""

    def zero(self, value: str) -> str:
        return ""

    def addInPlace(self, value1: str, value2: str) -> str:
        return value1 or value2


def _active(context: SparkContext) -> int:
    tracker = context.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    active = sum(stage.numActiveTasks for stage in stages if stage is not None)
    return min(active, context.defaultParallelism)


def _give_up(tasks: list[Task], store: Store) -> None:
    log = RunLog(store.runs)
    for task in tasks:
        reason = f"crash: the worker that ran it died, {_LOST_AT_MOST} times"
        log.add(
            _row_of(
                task,
                store,
                Outcome(Result(problem=task.problem, method=task.method, status=Status.FAILED, reason=reason), 0.0),
            )
        )
    log.close()


def _work(shared: Broadcast[list[Task]], queue: Queue, folder: str, unwritable: Accumulator[str]) -> None:
    """Take runs from the queue until it is empty; what stops a worker that cannot store its runs ends the study."""
    tasks, store = shared.value, Store(Path(folder))
    log = RunLog(store.runs)
    try:
        for number in queue:
            log.add(run_task(tasks[number], store, _solver()))
        log.close()
    except BadInput as error:
        queue.end()
        unwritable.add(str(error))


def run_task(task: Task, store: Store, solver: Solver) -> dict[str, Any]:
    """Do a run in a solver; its row.

    Raises
    ------
    BadInput
        If the instance cannot be read, or the code here is not the code that the task is for.
    """
    if task.code_version != code_version():
        raise BadInput(f"a worker has code of version {code_version()}, the study is for {task.code_version}: ship it")
    method = _ready(task.method, task.problem)
    started = _now()
    job = Job(
        method,
        _instance(str(store.folder), task.instance, problem_named(task.problem).kind),
        problem_named(task.problem),
        seed=task.seed,
        options=json.loads(task.options),
        time_limit=task.time_limit,
        memory_limit=task.memory_limit,
    )
    return _row_of(task, store, solver.run(job), started)


def _row_of(task: Task, store: Store, outcome: Outcome, started: str | None = None) -> dict[str, Any]:
    problem = problem_named(task.problem)
    return row(
        task,
        _instance(str(store.folder), task.instance, problem.kind),
        kind_named(problem.kind),
        outcome.result,
        exact=task.exact,
        cpu_seconds=outcome.cpu_seconds,
        peak=outcome.peak,
        started=started or _now(),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@cache
def _solver() -> Solver:
    return Solver()


@cache
def _ready(name: str, problem: str) -> Method[Any, Any]:
    """The method, its kernels compiled and its libraries imported in this worker, for its solvers to inherit."""
    method = method_named(name)
    method.answering(problem).prepare()
    # Spark collects garbage after every task, which takes the longer the more is imported: set all that aside.
    gc.freeze()
    return method


@lru_cache(maxsize=2)
def _instance(folder: str, digest: str, kind: str) -> Any:
    return Store(Path(folder)).instance(digest, kind_named(kind))
