"""A study on Spark: executors make the instances and run the solvers, the driver plans, and stores what they return."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from multiprocessing.util import Finalize
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ...instances.contract.errors import BadInput
from ..catalogue import kind_named, method_named, own_part, problem_named, version_of
from .executors import DEATHS, Batches, Executors, GrowingBatches, one_by_one, run_batches, work_of
from .isolation import IsolatedRun, Job, Solver, memory_bounded, trim_heap
from .progress import Bar, RunTally
from .proofs import run_with_evidence, without_evidence
from .row import object_in, row, to_bytes
from .run_table import Numbers, RunTable, run_table
from .spark_session import PlugIns, executors_on
from .store import INDEX, Plan, RowWriter, Store, index_of, positions
from .study import Study
from .task import Recipe, Task, instance_of

_BATCH_SECONDS, _LEAST_SECONDS, _LONGEST_SECONDS = 2.0, 0.2, 3.0
_OVERHEAD_SECONDS, _MOST_TOGETHER, _SIZES_TOGETHER = 0.001, 1000, 2**17
_INDEX_SECONDS = 30.0

Start = Callable[[PlugIns], AbstractContextManager[Executors]]
Row = dict[str, Any]


class Again(NamedTuple):
    """Runs that ended with one of these statuses are done again under these limits; None keeps a limit."""

    statuses: Sequence[str]
    time_limit: float | None = None
    memory_limit: int | None = None


def run_study(
    study: Study,
    store: Store,
    master: str,
    *,
    archive: Path | None = None,
    quiet: bool = False,
    grow: bool = False,
    again: Again | None = None,
    start: Start | None = None,
) -> pa.Array:
    """Make the instances and do the runs that are missing; return the keys of all runs of the study.

    Rows are stored as soon as the batch with their runs, of some seconds, has ended: a study that is stopped in any way
    can be resumed, and loses its unfinished batches at most. A run whose worker dies three times becomes a failed row.
    What is no longer part of the study stays stored. `archive` is the code for a cluster's workers (:func:`.spark`);
    `grow` takes a folder of a study that shares neither name nor instance with this one, which is bad input otherwise,
    as are a folder that cannot be written and an instance that cannot be made. `start` gives other executors than those
    of the master.
    """
    begun = time.monotonic()
    pa.set_memory_pool(pa.system_memory_pool())  # the default one keeps what temporary columns of a million runs had
    store.open_for(study.spec)
    with store.locked():
        texts = study.recipes.texts()
        if not grow:
            store.check_related(study.name, texts)
        for remark in store.recover():
            print(f"overlaybench: {remark}", file=sys.stderr, flush=True)
        index = _with_contents(store.index(), store)
        unknown = np.flatnonzero(positions(index, texts) < 0)
        del texts  # a million recipes take 130 MB
        trim_heap()
        sources = {}
        for key, instance, remarks in study.files(map(study.recipes.__getitem__, unknown.tolist())):
            for remark in remarks:
                print(f"overlaybench: {remark}", file=sys.stderr, flush=True)
            sources[key] = store.add_source(key, instance)
        # Until the instances of a study that grows are there, the present plan remains.
        table = None if len(unknown) and store.has_plan else _planned(study, index, store, again)
        if len(unknown) or table is None or len(table.missing(store.done())):
            plug_ins = _plug_ins(study)
            what = (len(unknown), "instances made") if len(unknown) else (len(table or ()), "runs done")
            with Bar(*what, quiet=quiet) as bar:
                bar.waiting("Spark")
                start = start or partial(executors_on, master, store.folder / "spark.log", archive)
                with start(plug_ins) as executors:
                    if len(unknown):
                        for key, digest in sources.items():
                            executors.send(store.source(key, digest))
                        index = _make(executors, study, unknown, sources, store, plug_ins, bar)
                        trim_heap()
                        table = _planned(study, index, store, again)
                        _note_equal(table, bar)
                    assert table is not None
                    index = INDEX.empty_table()  # its texts take more than the table
                    trim_heap()
                    _run_all(executors, table, store, plug_ins, bar, begun)
        assert table is not None
        return table.keys


def _plug_ins(study: Study) -> PlugIns:
    return PlugIns.among(
        methods=(name for runs in study.runs for name, _ in runs.methods),
        problems=(name for runs in study.runs for name in runs.problems),
        workloads=(form.workload for form in study.recipes.forms),
    )


def _with_contents(index: pa.Table, store: Store) -> pa.Table:
    """The index without instances of files whose kept content is gone."""
    wanted = index["source"].combine_chunks().unique().to_pylist()
    there = {file.name.partition(".")[0] for file in store.instances.glob("[!.]*")}
    lost = [digest for digest in wanted if digest and digest not in there]
    if not lost:
        return index
    return index.filter(pa.array(~np.isin(index["source"].to_numpy(), lost)))


def _planned(study: Study, index: pa.Table, store: Store, again: Again | None) -> RunTable:
    limits = list(store.plan().limits) if store.has_plan else []
    table = run_table(study, index).keyed(store.done())
    if again is not None:
        table = table.again(store, *again)
        limits += {(group.time_limit, group.memory_limit) for group in table.groups} - set(map(tuple, limits))
    store.write_plan(Plan(study.name, study.notes, study.spec, limits), table.labels())
    return table


def _note_equal(table: RunTable, bar: Bar) -> None:
    different = len(table.short_digests().unique())
    if different < len(table.recipes) and not bar.quiet:
        bar.note(f"{different:,} of the {len(table.recipes):,} instances differ: equal ones are run once")


def _make(
    executors: Executors,
    study: Study,
    numbers: Numbers,
    sources: Mapping[Any, str],
    store: Store,
    plug_ins: PlugIns,
    bar: Bar,
) -> pa.Table:
    """Have the instances made that the index lacks; what it has then is stored, also now and then before."""
    index, written, total = store.index(), time.monotonic(), 0

    def receive(items: Sequence[tuple[str, str]], results: list[tuple[str, int]]) -> None:
        nonlocal written, index, total
        recipes, files = zip(*items, strict=True)
        digests, sizes = zip(*results, strict=True)
        index = pa.concat_tables([index, index_of(recipes, digests, sizes, [Path(file).stem for file in files])])
        total += len(items)
        if time.monotonic() > written + _INDEX_SECONDS:
            store.write_index(index)
            written = time.monotonic()

    recipes = map(study.recipes.__getitem__, numbers.tolist())
    items = ((recipe.to_json(), store.kept(recipe, sources.get(recipe.file_key, ""))) for recipe in recipes)
    work = work_of(one_by_one(partial(_sized, executors.path_of)), begin=plug_ins.register, seconds=_LONGEST_SECONDS)
    try:
        batches = GrowingBatches(items, len(numbers), _MOST_TOGETHER)
        run_batches(executors, batches, work, receive, lambda _: bar.show(total) if total else bar.waiting("workers"))
    finally:
        if total:
            store.write_index(index)
    return index


def _sized(path_of: Callable[[str], str], item: tuple[str, str], is_dead: bool) -> tuple[str, int]:
    """In a worker: the digest and the first size of a recipe's instance."""
    text, file = item
    recipe = Recipe.from_json(text)
    kind = kind_named(recipe.kind)
    try:
        if is_dead:
            raise BadInput(f"the worker that made it died, {DEATHS} times")
        with memory_bounded("it"):
            instance = instance_of(text, path_of(file))
    except BadInput as error:
        what = [recipe.family, *(f"{name}={value}" for name, value in recipe.parameters)]
        raise BadInput(f"{', '.join(what)}: {error}") from None
    return instance.digest, kind.size(instance)[kind.sizes[0]]


class _Runs(Batches[tuple[Task, str]]):
    """The runs that are missing, in the order of their table, each with the file that its instance comes from."""

    def __init__(self, table: RunTable, missing: Numbers, tally: RunTally, store: Store) -> None:
        super().__init__()
        self._table, self._missing, self._tally, self._store = table, missing, tally, store
        self._at = 0
        kinds = np.stack([table.group[missing], table.sizes[table.recipe[missing]]])
        kinds, of_runs = np.unique(kinds, axis=1, return_inverse=True)
        self._kinds = [(table.groups[group], size) for group, size in kinds.T.tolist()]
        self._kind_of_run = of_runs.ravel()

    def next(self, cores: int) -> list[tuple[Task, str]]:
        if self._at == len(self._missing):
            return []
        seconds = np.array([self._tally.expected(*kind) for kind in self._kinds]) + _OVERHEAD_SECONDS
        together = np.cumsum(seconds[self._kind_of_run[self._at : self._at + _MOST_TOGETHER]])
        wanted = min(_BATCH_SECONDS, max(_LEAST_SECONDS, self._tally.work.left / (3 * cores)))
        begin, self._at = self._at, self._at + max(1, int(np.searchsorted(together, wanted)))
        table, some = self._table, self._missing[begin : self._at]
        kept = [self._store.kept(table.recipes[at], table.sources[at].as_py()) for at in table.recipe[some].tolist()]
        return [(table.task(number), file) for number, file in zip(some.tolist(), kept, strict=True)]


def _run_all(executors: Executors, table: RunTable, store: Store, plug_ins: PlugIns, bar: Bar, begun: float) -> None:
    """Do the runs that are missing, and store them as their batches end."""
    missing = table.missing(store.done())
    tally = RunTally(store, table.counted(missing), table.by_method(), executors.cores, begun)
    bar.total, bar.what = len(table), "runs done"
    if len(missing) < len(table) and not bar.quiet:
        bar.note(f"{len(table) - len(missing):,} of {len(table):,} runs were done before")
    batches = _Runs(table, missing, tally, store)
    for at in np.unique(table.recipe[missing]).tolist() if any(form.file for form in table.recipes.forms) else ():
        if file := store.kept(table.recipes[at], table.sources[at].as_py()):
            executors.send(Path(file))
    work = work_of(partial(_done, executors.path_of), begin=plug_ins.register, seconds=_LONGEST_SECONDS, pack=_packed)
    with RowWriter(store) as writer:
        run_batches(
            executors, batches, work, lambda _, results: tally.count(writer.add(*results)), partial(tally.show, bar)
        )


@cache
def _check_code(method: str, problem: str, version: str) -> None:
    """Raise where the code of a run in this worker is not that of the driver, which sends that of plug-ins."""
    wanted, found = own_part(version), own_part(version_of(method, problem))
    if found != wanted:
        raise BadInput(
            f"a worker has code of version {found} for {method} on {problem}, the study is for {wanted}: "
            "give its workers the driver's code (`overlaybench archive`)"
        )


def _done(
    path_of: Callable[[str], str], items: Sequence[tuple[Task, str]], is_dead: bool, end: float
) -> Iterator[tuple[Row, bytes]]:
    """In a worker: the rows of runs, and the bytes of their proofs."""
    for some in _together((task, _job(path_of, task, file)) for task, file in items):
        task, job = some[0]
        if is_dead:
            failed = job.failed(f"crash: the worker that ran it died, {DEATHS} times")
            yield row(task, job.instance, IsolatedRun(failed, 0.0, started=time.time())), b""
        elif task.proof:
            yield run_task(task, job, _solver())
        else:
            runs = _solver().run_all([job for _, job in some], end - time.monotonic())
            for (task, job), run in zip(some, runs, strict=False):
                yield row(task, job.instance, without_evidence(run)), b""
            if len(runs) < len(some):
                return
        if time.monotonic() > end:
            return


def run_task(task: Task, job: Job, solver: Solver) -> tuple[Row, bytes]:
    """Do a run in a solver and return its row, and the bytes of its proof where it has one."""
    if not task.proof:
        return row(task, job.instance, run_with_evidence(job, solver.run, None)), b""
    with TemporaryDirectory(prefix="overlaybench-") as folder:
        proof = Path(folder, "proof.gz")
        run = run_with_evidence(job, solver.run, proof)
        return row(task, job.instance, run), proof.read_bytes() if proof.is_file() else b""


def _together(jobs: Iterable[tuple[Task, Job]]) -> Iterator[list[tuple[Task, Job]]]:
    """Jobs that go to the solver together, whose instances have some hundred kilobytes; one with a proof goes alone."""
    some, size = list[tuple[Task, Job]](), 0
    for task, job in jobs:
        if some and (task.proof or some[-1][0].proof or size > _SIZES_TOGETHER):
            yield some
            some, size = [], 0
        some.append((task, job))
        size += sum(job.instance.size.values())
    yield some


def _job(path_of: Callable[[str], str], task: Task, file: str) -> Job:
    _check_code(task.method, task.problem, task.code_version)
    instance = instance_of(task.recipe, path_of(file))
    if instance.digest != task.instance:
        raise BadInput(
            f"the recipe {task.recipe} gives another instance on a worker than when it was made first: its code, "
            "libraries or data differ: if those are right now, remove instances.parquet and run the study again"
        )
    return job_of(task, instance)


def _packed(results: list[tuple[Row, bytes]]) -> tuple[bytes, dict[str, bytes]]:
    return to_bytes([row for row, _ in results]), {row["key"]: proof for row, proof in results if proof}


def job_of(task: Task, instance: Any) -> Job:
    """What a task asks of a solver."""
    named = method_named(task.method), instance, problem_named(task.problem)
    return Job(*named, task.seed, object_in(task.options), task.time_limit, task.memory_limit)


@cache
def _solver() -> Solver:
    solver = Solver()
    Finalize(None, solver.stop, exitpriority=1)  # before multiprocessing waits for the processes of this one
    return solver
