"""A study on Spark: the executors generate the instances and run the solvers; stored runs are not repeated."""

from __future__ import annotations

import fcntl
import itertools
import math
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from pyspark import Accumulator, AccumulatorParam, SparkContext
from pyspark.core.broadcast import Broadcast

from ...instances.contract.errors import BadInput
from ..catalogue import kind_named, method_named, own_part, problem_named, version_of
from .isolation import IsolatedRun, Job, Solver, memory_bounded
from .progress import Bar, RunTally
from .proofs import run_with_evidence
from .row import object_in, row
from .spark_session import PlugIns, awaited, spark
from .store import Plan, RunLog, Store, StoredInstance
from .study import Study
from .task import Recipe, Task

_MERGE_SECONDS = 30.0
_SLICES_A_CORE = 4
_MOST_DEATHS = 3
_SHORT, _MOST_TOGETHER = 0.05, 10


def run_study(
    study: Study, store: Store, master: str, *, archive: Path | None = None, quiet: bool = False, grow: bool = False
) -> list[str]:
    """Generate the instances and do the runs that are missing; return the keys of all runs of the study.

    The worker that finished a run stores it at once, so a study that is stopped in any way can be resumed. A run whose
    worker dies three times becomes a failed row. What is no longer part of the study stays stored. `archive` is the
    code for a cluster's workers (:func:`.spark`); `grow` takes a folder of a study that shares neither name nor
    instance with this one, which is bad input otherwise, as are a folder that cannot be written and an instance that
    cannot be generated.
    """
    store.open_for(study.spec)
    with store.locked():
        if not grow:
            store.check_related(study.name, [recipe.to_json() for recipe in study.recipes])
        for remark in store.recover():
            print(f"overlaybench: {remark}", file=sys.stderr, flush=True)
        index = store.index()
        recipes = [recipe for recipe in study.recipes if not _is_stored(recipe, index, store)]
        for remark in study.check_files(index):
            print(f"overlaybench: {remark}", file=sys.stderr, flush=True)
        grows = recipes and store.has_plan  # until the new instances are there, the present plan remains
        tasks = store.keyed(study.tasks(index)) if grows else _planned(study, index, store)
        if recipes or _missing(tasks, store):
            plug_ins = _plug_ins(study)
            with Bar(len(recipes or tasks), "instances made" if recipes else "runs done", quiet=quiet) as bar:
                bar.waiting("Spark")
                with spark(master, store.folder / "spark.log", archive, plug_ins) as context:
                    if recipes:
                        index |= _generate(context, recipes, store, plug_ins, bar)
                        store.write_index(index)
                        tasks = _planned(study, index, store)
                        different = len({index[recipe.to_json()].digest for recipe in study.recipes})
                        if different < len(study.recipes) and not quiet:
                            bar.note(
                                f"{different} of the {len(study.recipes)} instances differ: equal ones are run once"
                            )
                    _run_all(context, tasks, store, plug_ins, bar)
            store.merge()
        return list(tasks)


def _plug_ins(study: Study) -> PlugIns:
    return PlugIns.among(
        methods=(name for runs in study.runs for name, _ in runs.methods),
        problems=(name for runs in study.runs for name in runs.problems),
        workloads=(recipe.workload for recipe in study.recipes),
    )


def _is_stored(recipe: Recipe, index: Mapping[str, StoredInstance], store: Store) -> bool:
    instance = index.get(recipe.to_json())
    return instance is not None and store.has_instance(instance.digest, kind_named(recipe.kind))


def _planned(study: Study, index: Mapping[str, StoredInstance], store: Store) -> dict[str, Task]:
    tasks = store.keyed(study.tasks(index))
    store.write_plan(Plan(study.name, study.notes, study.spec, list(tasks)), tasks)
    return tasks


def _missing(tasks: Mapping[str, Task], store: Store) -> list[Task]:
    done = store.done()
    return [task for key, task in tasks.items() if key not in done]


def _generate(
    context: SparkContext, recipes: list[Recipe], store: Store, plug_ins: PlugIns, bar: Bar
) -> dict[str, StoredInstance]:
    folder, made, index = str(store.folder.resolve()), context.accumulator(0), {}

    def generated(line: str) -> tuple[str, StoredInstance | None, str]:
        found = _generate_one(line, folder, plug_ins)
        made.add(1)
        return found

    partitions = _partitions(context, [recipe.to_json() for recipe in recipes])

    def poll() -> None:
        if made.value:
            bar.show(made.value)
        else:
            bar.waiting("workers")

    for line, stored, error in awaited(partitions.map(generated).collect, poll):
        if stored is None:
            recipe = Recipe.from_json(line)
            what = [recipe.family, *(f"{name}={value}" for name, value in recipe.parameters)]
            raise BadInput(f"{', '.join(what)}: {error}")
        index[line] = stored
    return index


def _generate_one(line: str, folder: str, plug_ins: PlugIns) -> tuple[str, StoredInstance | None, str]:
    try:
        plug_ins.register()
        recipe = Recipe.from_json(line)
        kind = kind_named(recipe.kind)
        with memory_bounded("it"):
            instance = recipe.make()
        Store(Path(folder)).add_instance(instance, kind)
        return line, StoredInstance(instance.digest, kind.size(instance)[kind.sizes[0]]), ""
    except BadInput as error:
        return line, None, str(error)


def _run_all(context: SparkContext, tasks: Mapping[str, Task], store: Store, plug_ins: PlugIns, bar: Bar) -> None:
    """Rounds of the runs that are missing, until none is: the death of a worker loses the run that it had begun."""
    missing = _missing(tasks, store)
    deaths: Counter[str] = Counter()
    planned = Counter(task.method for task in tasks.values())
    sizes = {instance.digest: instance.size for instance in store.index().values()}
    tally, most = RunTally(store, missing, sizes, planned, context.defaultParallelism), _MOST_TOGETHER
    bar.total, bar.what = len(tasks), "runs done"
    if len(missing) < len(tasks) and not bar.quiet:
        bar.note(f"{len(tasks) - len(missing)} of {len(tasks)} runs were done before")
    while missing:
        error = _run_round(context, missing, store, plug_ins, most=most, bar=bar, tally=tally)
        before, missing, most = missing, _missing(tasks, store), 1
        if error is not None and len(missing) == len(before):
            raise error
        if missing:
            lost = f"{len(missing)} of {len(before)} runs were lost with their workers and are repeated"
            bar.note(f"overlaybench: {lost}")
        if error is None:  # otherwise some were never begun
            deaths.update(task.key for task in missing)
        _give_up([task for task in missing if deaths[task.key] >= _MOST_DEATHS], store)
        missing = [task for task in missing if deaths[task.key] < _MOST_DEATHS]


@dataclass(frozen=True)
class _Round:
    """What the workers of a round share: the runs to do, and where.

    A worker whose last run was short takes up to `most` runs of one instance at a time. Runs that were lost with their
    workers are taken one at a time, so that one that kills its worker costs no other run an attempt.
    """

    tasks: list[Task]
    queue: Queue
    folder: str
    most: int

    def together(self, seconds: float, first: int) -> int:
        """How many runs from the first on a worker takes whose last one took these seconds."""
        if seconds >= _SHORT:
            return 1
        instance = self.tasks[first].instance
        alike = itertools.takewhile(lambda task: task.instance == instance, self.tasks[first : first + self.most])
        return sum(1 for _ in alike)


def _run_round(
    context: SparkContext, tasks: list[Task], store: Store, plug_ins: PlugIns, *, most: int, bar: Bar, tally: RunTally
) -> Exception | None:
    """Have the workers take runs from a queue until it is empty; return the error that ended them before, if any."""
    folder = store.folder.resolve()
    queue = Queue.create(folder, len(tasks))
    shared = context.broadcast(_Round(tasks, queue, str(folder), most))
    failure = context.accumulator("", _FirstText())
    # Each takes runs until there are none. Of a cluster, executors that come later take some; elsewhere they would only
    # start to end, at a second each.
    slices = 1 if str(context.master).startswith("local") else _SLICES_A_CORE
    workers, merged = _partitions(context, range(len(tasks)), slices), time.monotonic()

    def poll() -> None:
        nonlocal merged
        tally.update()
        tally.show(bar, _active(context))
        if time.monotonic() > merged + _MERGE_SECONDS:
            store.merge()
            merged = time.monotonic()

    def job() -> Exception | None:
        try:
            workers.foreachPartition(lambda _: _work(shared, failure, plug_ins))
        except Exception as error:  # Spark's errors have no common base
            return error
        return None

    try:
        ended = awaited(job, poll)
    finally:
        queue.close()
    shared.unpersist()
    if failure.value:
        raise BadInput(failure.value)
    return ended


def _partitions(context: SparkContext, items: Iterable[Any], slices: int = _SLICES_A_CORE) -> Any:
    """The items on Spark, in at most so many partitions a core."""
    listed = list(items)
    return context.parallelize(listed, min(len(listed), slices * max(2, context.defaultParallelism)))


class _FirstText(AccumulatorParam[str]):
    """Keeps the first text that is added."""

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
        job = _job(task, store)
        failed = job.failed(f"crash: the worker that ran it died, {_MOST_DEATHS} times")
        log.add(row(task, job.instance, IsolatedRun(failed, 0.0), _now()))
    log.close()


def _work(shared: Broadcast[_Round], failure: Accumulator[str], plug_ins: PlugIns) -> None:
    """Take runs from the queue until it is empty; a worker that cannot store its runs ends the study."""
    work = shared.value
    store = Store(Path(work.folder))
    log = RunLog(store.runs)
    try:
        plug_ins.register()
        seconds = math.inf
        while numbers := work.queue.take(partial(work.together, seconds)):
            for task in work.tasks[numbers.start : numbers.stop]:
                _check_code(task)
                done = run_task(task, store, _solver())
                log.add(done)
                seconds = done["seconds"]
        log.close()
    except BadInput as error:
        work.queue.close()
        failure.add(str(error))


_version_here = cache(version_of)


def _check_code(task: Task) -> None:
    """Raise where the code of a run in this worker is not that of the driver, which sends that of plug-ins."""
    wanted, found = own_part(task.code_version), own_part(_version_here(task.method, task.problem))
    if found != wanted:
        raise BadInput(
            f"a worker has code of version {found} for {task.method} on {task.problem}, the study is for {wanted}: "
            "give its workers the driver's code (`overlaybench archive`)"
        )


def run_task(task: Task, store: Store, solver: Solver, proof: Path | None = None) -> dict[str, Any]:
    """Do a run in a solver and return its row; the proof of a task that has one goes to `proof`, or to the store."""
    started, job = _now(), _job(task, store)
    run = run_with_evidence(job, solver.run, (proof or store.proof(task.key)) if task.proof else None)
    return row(task, job.instance, run, started)


def _job(task: Task, store: Store) -> Job:
    problem = problem_named(task.problem)
    instance = _instance(str(store.folder), task.instance, problem.kind)
    options = dict(object_in(task.options))
    return Job(method_named(task.method), instance, problem, task.seed, options, task.time_limit, task.memory_limit)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@cache
def _solver() -> Solver:
    return Solver()


@lru_cache(maxsize=2)
def _instance(folder: str, digest: str, kind: str) -> Any:
    return Store(Path(folder)).instance(digest, kind_named(kind))


@dataclass(frozen=True)
class Queue:
    """Numbers 0, 1, …, size − 1, each given once to one of many processes, by a locked file in a shared folder.

    A number that was given to a process that died is not given again: the queue's owner finds what is missing when it
    is empty, and creates another.
    """

    file: Path
    size: int

    @classmethod
    def create(cls, folder: Path, size: int) -> Queue:
        """A queue with a file of its own in a folder."""
        queue = cls(folder / f".queue.{secrets.token_hex(8)}", size)
        queue.file.write_bytes(b"0")
        return queue

    def close(self) -> None:
        """Give no more numbers to any process."""
        self.file.unlink(missing_ok=True)

    def take(self, count: Callable[[int], int]) -> range:
        """The next numbers, as many as `count` returns for the first of them; none if none are left."""
        try:
            handle = os.open(self.file, os.O_RDWR)
        except OSError:  # the study has ended, or its folder is gone
            return range(0)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            first = int(os.pread(handle, 32, 0) or self.size)
            end = min(self.size, first + count(first)) if first < self.size else first
            os.pwrite(handle, str(end).encode(), 0)
            return range(first, end)
        except OSError:
            return range(0)
        finally:
            os.close(handle)
