"""The runs of a study as columns: a million take 100 MB, and are objects only where they are done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..catalogue import method_named, problem_named, version_of
from .store import Store, positions
from .task import TOGETHER, Recipes, RunGroup, Task, derived_seed, options_json, writes_proofs

if TYPE_CHECKING:
    from .study import Runs, Study

Numbers = npt.NDArray[np.int64]
_PIECE = pa.schema([*((name, pa.int64()) for name in ("recipe", "group", "runs", "seed")), ("key", pa.string())])
_SAME_RUN = ("instance", "problem", "method", "options", "seed", "code_version")


@dataclass(frozen=True)
class RunTable:
    """The runs of a study on the instances that are known, each once, in the order in which they should begin.

    Those expected to be the longest come first: exact methods by their limit, then the largest instances; runs on the
    same instance are consecutive. ``recipe`` has the number of each run's recipe among `recipes`, ``group`` that of its
    group; `digests`, `sizes` and `sources` are of the recipes, "" and 0 where an instance is not known.
    """

    recipes: Recipes
    digests: pa.Array
    sizes: Numbers
    sources: pa.Array
    groups: tuple[RunGroup, ...]
    recipe: Numbers
    group: Numbers
    seed: Numbers
    keys: pa.Array

    def __len__(self) -> int:
        return len(self.keys)

    def task(self, number: int) -> Task:
        """A run as one object."""
        group, recipe = self.groups[self.group[number]], self.recipes[int(self.recipe[number])]
        return Task(
            instance=self.digests[self.recipe[number]].as_py(),
            recipe=recipe.to_json(),
            family=recipe.family,
            seed=int(self.seed[number]),
            **asdict(group),
        )

    def __iter__(self) -> Iterator[Task]:
        return map(self.task, range(len(self)))

    def short_digests(self) -> pa.Array:
        """The first digits of the digests, which tell instances apart: 150 MB less for a million."""
        return pc.utf8_slice_codeunits(self.digests, 0, 16)

    def labels(self) -> Iterator[pa.Table]:
        """The key, family and recipe of each run, in tables of some runs."""
        families = [form.family for form in self.recipes.forms]
        for begin in range(0, max(1, len(self)), TOGETHER):
            some = self.recipe[begin : begin + TOGETHER]
            texts, of_families = self.recipes.some_texts(some), self.recipes.by_form(families, some)
            yield pa.table({"key": self.keys.slice(begin, TOGETHER), "family": of_families, "recipe": texts})

    def missing(self, done: pa.Array) -> Numbers:
        """The runs whose keys are not among those done, in order."""
        return np.flatnonzero(~pc.is_in(self.keys, value_set=done).to_numpy(zero_copy_only=False))

    def keyed(self, done: pa.Array) -> RunTable:
        """With the key of the same run with a proof, where that is stored and the own one is not."""
        keys, missing = self.keys, self.missing(done)
        for number, group in enumerate(self.groups):
            if not group.proof and writes_proofs(group.method, group.problem):
                own = missing[self.group[missing] == number]
                proven = pa.array(self._keys(own, replace(group, proof=True)), pa.string())
                stored = pc.is_in(proven, value_set=done)
                mask = np.zeros(len(self), bool)
                mask[own[stored.to_numpy(zero_copy_only=False)]] = True
                keys = pc.replace_with_mask(keys, mask, proven.filter(stored))
        return replace(self, keys=keys)

    def again(
        self, store: Store, statuses: Sequence[str], time_limit: float | None, memory_limit: int | None
    ) -> RunTable:
        """With other limits for the runs that ended with one of these statuses; None keeps a limit.

        A run that was repeated under larger limits before, at most these, counts as it ended under the largest.
        """
        rows = store.table(columns=["key", *_SAME_RUN, "time_limit", "memory_limit", "status"]).to_pandas()
        own = rows[rows["key"].isin(self.keys.to_pylist()) & rows["status"].isin(list(statuses))]
        alike = {at: each.sort_values(["time_limit", "memory_limit"]) for at, each in rows.groupby(list(_SAME_RUN))}
        keys, groups, of_runs = self.keys.to_pylist(), list(self.groups), self.group.copy()
        number_of = {key: number for number, key in enumerate(keys)}
        for row in own.to_dict("records"):
            number = number_of[row["key"]]
            group = groups[of_runs[number]]
            limits = time_limit or group.time_limit, memory_limit or group.memory_limit
            wanted = replace(group, time_limit=limits[0], memory_limit=limits[1])
            same = alike[tuple(row[name] for name in _SAME_RUN)]
            within = same["time_limit"].between(row["time_limit"], wanted.time_limit) & same["memory_limit"].between(
                row["memory_limit"], wanted.memory_limit
            )
            last = same[within].iloc[-1] if within.any() else None
            if last is None or last["status"] in statuses:
                of_runs[number] = groups.index(wanted) if wanted in groups else len(groups)
                groups += [wanted] if wanted not in groups else []
                keys[number] = wanted.keys([row["instance"]], [row["seed"]])[0]
            else:
                keys[number] = last["key"]
        return replace(self, keys=pa.array(keys, pa.string()), groups=tuple(groups), group=of_runs)

    def counted(self, numbers: Numbers) -> Counter[tuple[RunGroup, int]]:
        """How many of some runs are of each group and size."""
        table = pa.table({"group": self.group[numbers], "size": self.sizes[self.recipe[numbers]]})
        counts = table.group_by(["group", "size"]).aggregate([([], "count_all")]).to_pylist()
        return Counter({(self.groups[each["group"]], each["size"]): each["count_all"] for each in counts})

    def by_method(self) -> dict[str, int]:
        """The number of runs of each method."""
        counts = np.bincount(self.group, minlength=len(self.groups))
        found: Counter[str] = Counter()
        for group, count in zip(self.groups, counts.tolist(), strict=True):
            found[group.method] += count
        return {method: count for method, count in found.items() if count}

    def _keys(self, numbers: Numbers, group: RunGroup) -> list[str]:
        digests = self.digests.take(pa.array(self.recipe[numbers])).to_pylist()
        return group.keys(digests, self.seed[numbers].tolist())


def run_table(study: Study, index: pa.Table) -> RunTable:
    """Every run of a study on the instances in the index, each once."""
    at = positions(index, study.recipes.texts())
    known = pa.array(at, mask=at < 0)
    digests, sources, sizes = (index[name].combine_chunks().take(known) for name in ("instance", "source", "size"))
    digests, sources = digests.fill_null(""), sources.fill_null("")
    sizes = sizes.fill_null(0).to_numpy(zero_copy_only=False)
    forms, groups = np.repeat(np.arange(len(study.recipes.forms)), np.diff(study.recipes.starts)), dict[RunGroup, int]()
    pieces = [_PIECE.empty_table()]
    for number, runs in enumerate(study.runs):
        admitted = np.array([not runs.families or form.family in runs.families for form in study.recipes.forms], bool)
        for (problem, method, options), repeat in product(runs.pairs(), range(runs.repeats)):
            kind = problem_named(problem).kind
            fitting = admitted & np.array([form.kind == kind for form in study.recipes.forms], bool)
            chosen = np.flatnonzero((at >= 0) & fitting[forms] & (sizes <= runs.nodes_at_most))
            group = _group(runs, problem, method, options)
            order = groups.setdefault(group, len(groups))
            for begin in range(0, len(chosen), TOGETHER):
                some = chosen[begin : begin + TOGETHER]
                named = digests.take(pa.array(some)).to_pylist()
                parts = (problem, method, group.options, str(repeat))
                seeds = [derived_seed(str(study.seed), digest, *parts) for digest in named]
                of_piece = np.full((2, len(some)), [[order], [number]])
                pieces.append(pa.table([some, *of_piece, seeds, group.keys(named, seeds)], schema=_PIECE))
    found = pa.concat_tables(pieces)
    recipe, group_of, number_of, seed = (found[name].to_numpy() for name in _PIECE.names[:-1])
    columns = recipe, group_of, seed, found["key"].combine_chunks()
    whole = RunTable(study.recipes, digests, sizes, sources, tuple(groups), *columns)
    return _in_order(_each_once(whole, number_of))


def _group(runs: Runs, problem: str, method: str, options: Any) -> RunGroup:
    complete = options_json(method_named(method).keyed(dict(options), problem))
    proof = runs.proof and writes_proofs(method, problem)
    limits = runs.time_limit, runs.memory_limit
    return RunGroup(problem, method, complete, *limits, version_of(method, problem), proof)


def _each_once(table: RunTable, runs: Numbers) -> RunTable:
    """Without repeated keys, of which the first recipe's stays, and without the same runs as one with a proof."""
    first = np.lexsort([runs, table.recipe])
    keys = table.keys.take(pa.array(first)).dictionary_encode().indices.to_numpy()
    kept = first[np.unique(keys, return_index=True)[1]]
    with_proof = [number for number, group in enumerate(table.groups) if group.proof]
    replaced: list[str] = []
    for number in with_proof:
        replaced += table._keys(np.flatnonzero(table.group == number), replace(table.groups[number], proof=False))
    if replaced:
        own = table.keys.take(pa.array(kept))
        kept = kept[~pc.is_in(own, value_set=pa.array(replaced, pa.string())).to_numpy(zero_copy_only=False)]
    return _taken(table, kept)


def _in_order(table: RunTable) -> RunTable:
    expected = np.array([group.time_limit if group.exact else 0.0 for group in table.groups] or [0.0])[table.group]
    instance = table.short_digests().dictionary_encode().indices.to_numpy()[table.recipe]
    return _taken(table, np.lexsort([table.group, instance, -table.sizes[table.recipe], -expected]))


def _taken(table: RunTable, numbers: Numbers) -> RunTable:
    columns = {name: getattr(table, name)[numbers] for name in ("recipe", "group", "seed")}
    return replace(table, keys=table.keys.take(pa.array(numbers)), **columns)
