"""Checking everything that a study has stored again: rows, answers, bounds, proofs, plan and index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...instances.contract.errors import BadInput
from ..catalogue import kind_named
from .plug_ins import PlugIns, find_plug_ins
from .proofs import has_evidence
from .recipe import Recipe
from .rerun import faults_of_rerun, rerun, sampled
from .row_checks import faults_of_row, generated
from .spark_session import spark
from .store import Store
from .study_checks import Fault, contradictions, index_entries, plan_faults, stored_rows

_ROWS_PER_SLICE, _PROOFS_PER_SLICE = 50, 5

Item = Mapping[str, Any] | tuple[str, str, int]
"""A row, or an entry of the index: recipe, digest and size."""

Apply = Callable[[list[Item], int, PlugIns], list[Fault]]


@dataclass(frozen=True)
class Verification:
    """What :func:`verify` checked.

    Attributes
    ----------
    checked, proofs, repeated : int
        Answers checked, proofs checked and runs repeated.
    faults : tuple of (str, str)
        A row's key or a file's name, and a sentence.
    notes : tuple of str
        What could not be checked.
    """

    checked: int
    proofs: int
    repeated: int
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]


def verify(
    folder: Path, master: str, archive: Path | None = None, *, share: float = 0.0, seed: int = 0
) -> Verification:
    """Check every stored row on Spark, and what rows, plan, index and labels say of each other.

    Of each row everything is recomputed that follows from it: its key; its instance, from its file and from its recipe,
    with sizes; kind, variant, exactness and judge; its answer's violations, value and measures; that its status has an
    answer, a reason and a bound where it needs one, from a method that proves bounds; and its proof or certificate.
    No bound of a row may lie above a valid answer's value on the same instance, directly or by an implication between
    problems. The plan and every row must follow from the text of a study in the folder.

    Parameters
    ----------
    share : float
        Also repeat this share of the runs, drawn at random, and compare (:func:`.faults_of_rerun`).
    seed : int
        Of that draw.

    Raises
    ------
    BadInput
        If there are no results, or their plan is damaged or of another version.
    """
    store = Store.existing(folder)

    def on_spark(items: list[Item], slices: int, plug_ins: PlugIns) -> list[Fault]:
        with spark(master, store.folder / "spark.log", archive, plug_ins) as context:
            faults_of = checked_in(str(store.folder.resolve()), plug_ins)
            return list(context.parallelize(items, slices).flatMap(faults_of).collect())

    return verified(store, on_spark, share=share, seed=seed)


def verified(store: Store, apply: Apply, *, share: float = 0.0, seed: int = 0) -> Verification:
    """As :func:`verify`, where `apply` has the rows and the entries of the index checked, in about so many slices."""
    rows, faults = stored_rows(store)
    faults += _unknown_plug_ins(store)
    index, damaged = index_entries(store)
    faults += damaged
    plug_ins = PlugIns.among(
        methods={str(row.get("method")) for row in rows},
        problems={str(row.get("problem")) for row in rows},
        workloads={_workload(recipe) for recipe, _, _ in index},
    )
    items: list[Item] = [*sorted(rows, key=lambda row: str(row.get("instance"))), *index]
    proofs = sum(has_evidence(str(row.get("counters"))) for row in rows)
    if items:
        faults += apply(items, max(1, len(items) // _ROWS_PER_SLICE, proofs // _PROOFS_PER_SLICE), plug_ins)
    wrong = {key for key, _ in faults}
    sound = [row for row in rows if row["key"] not in wrong]
    faults += contradictions(sound)
    notes: list[str] = []
    if not damaged:
        of_plan, notes = plan_faults(store, [row for row in rows if _has_version(row)])
        faults += of_plan
    repeated = sampled(sound, share, seed) if share else []
    for key in repeated:
        faults += [(key, fault) for fault in faults_of_rerun(rerun(store.folder, key))]
    answered = sum(row.get("answer") is not None for row in rows)
    return Verification(answered, proofs, len(repeated), tuple(sorted(set(faults))), tuple(notes))


def checked_in(folder: str, plug_ins: PlugIns) -> Callable[[Item], list[Fault]]:
    """The function that a worker applies to each row and each entry of the index."""

    def faults_of(item: Item) -> list[Fault]:
        plug_ins.register()
        if isinstance(item, tuple):
            return [("index.json", fault) for fault in faults_of_entry(*item, folder)]
        return [(str(item.get("key")), fault) for fault in faults_of_row(item, folder)]

    return faults_of


def faults_of_entry(recipe: str, digest: str, size: int, folder: str) -> Iterator[str]:
    """The faults of an entry of the index: that its recipe gives another instance, or that of another size."""
    try:
        made, read = generated(recipe), Recipe.from_json(recipe)
        kind = kind_named(read.kind)
        if made is not None and made != digest:
            yield f"its recipe {recipe} gives another instance than {digest}"
        if kind.size(Store(Path(folder)).instance(digest, kind))[kind.sizes[0]] != size:
            yield f"has another size than the instance {digest}"
    except Exception as error:  # a forged entry must not end the verification of the others
        yield f"its recipe {recipe}: {error}".splitlines()[0]


def _workload(recipe: str) -> str:
    try:
        return str(Recipe.from_json(recipe).workload)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""


def _has_version(row: Mapping[str, Any]) -> bool:
    return all(isinstance(row.get(name), str) for name in ("key", "code_version", "instance"))


def _unknown_plug_ins(store: Store) -> Sequence[Fault]:
    """Know the plug-ins of the study; a plan whose text is no study is a fault."""
    try:
        find_plug_ins(store.plan().spec)
    except (BadInput, ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return [("plan.json", "the text of its study is no study")]
    return []
