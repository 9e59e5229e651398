"""A study done without Spark, by what its workers do."""

from pathlib import Path

from overlaybench.compare.catalogue import kind_named
from overlaybench.compare.studies.isolation import Solver
from overlaybench.compare.studies.spark_study import run_task
from overlaybench.compare.studies.store import Plan, RunLog, Store, StoredInstance
from overlaybench.compare.studies.study import read_study


def study_done_in(folder: Path, spec: str) -> Store:
    """The folder's results, merged; what is stored there already is not repeated."""
    file = folder / "spec.toml"
    file.write_text(spec)
    study, store = read_study(file), Store(folder / "out")
    store.open_for(study.spec)
    store.check_related(study.name, [recipe.to_json() for recipe in study.recipes])
    index = store.index()
    for recipe in study.recipes:
        instance, kind = recipe.make(), kind_named(recipe.kind)
        store.add_instance(instance, kind)
        index[recipe.to_json()] = StoredInstance(instance.digest, kind.size(instance)[kind.sizes[0]])
    store.write_index(index)
    tasks, done = store.keyed(study.tasks(index)), store.done()
    store.write_plan(Plan(study.name, study.notes, study.spec, list(tasks)), tasks)
    with Solver() as solver:
        log = RunLog(store.runs)
        for key, task in tasks.items():
            if key not in done:
                log.add(run_task(task, store, solver))
        log.close()
    store.merge()
    return store
