"""Two sets of results beside each other: which runs they share, and what changed in them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...instances.contract.errors import BadInput
from ...instances.contract.result import Status
from ..intervals import bootstrap_interval
from .bounds import near, sorted_by
from .results import results
from .row import object_in

IGNORABLE = ("options", "time_limit", "memory_limit")
NOISE_SECONDS = 0.1
_IDENTITY = ("instance", "problem", "method", *IGNORABLE)
_COMPARED = ("key", "seed", "code_version", "status", "reason", "value", "lower_bound", "seconds", "machine")
_ABOUT = ("problem", "variant", "family", "instance")
_RANK = {
    **dict.fromkeys((Status.FAILED, Status.SKIPPED), 0),
    **dict.fromkeys((Status.TIME_LIMIT, Status.MEMORY_LIMIT), 1),
    Status.FEASIBLE: 2,
    Status.INFEASIBLE: 3,
    Status.OPTIMAL: 3,
}
_INTERVAL_RUNS = 5
_COUNTS = ("better", "same", "worse", "bounds_up", "bounds_down")


@dataclass(frozen=True)
class StudyComparison:
    """The runs of A and of B.

    `pairs` has a row a run that both have: problem, variant, family, instance, redrawn (the instances have one recipe,
    but are two draws of it); key, seed, code_version, status, reason, value, lower_bound, seconds, machine, each with
    ``_a`` and ``_b``; then value, bound and status (``better``, ``same`` or ``worse``: lower values and higher bounds
    are better), change = (value_b − value_a) ÷ |value_a|, and time_ratio = seconds_b ÷ seconds_a (NaN below the noise).
    `only_a` and `only_b` are the runs without a partner, `notes` what cannot be matched, and why.
    """

    pairs: pd.DataFrame
    only_a: pd.DataFrame
    only_b: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """Whether a value got worse or a status fell, on one instance."""
        same = self.pairs[~self.pairs["redrawn"]]
        return bool(((same["value"] == "worse") | (same["status"] == "worse")).any())


def results_of_version(folder: Path, version: str, where: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The rows that a code version has stored in a folder, planned or not; its first digits suffice."""
    rows = results(folder, all_runs=True)
    known = rows["code_version"].value_counts()
    matching = [version] if version in known else [name for name in known.index if name.startswith(version)]
    if len(matching) != 1:
        listed = ", ".join(f"{name} ({runs} runs)" for name, runs in known.items())
        problem = "no code version begins" if not matching else "several code versions begin"
        raise BadInput(f"{folder}: {problem} with '{version}': it has {listed or 'no runs'}")
    return results(folder, {**(where or {}), "code_version": matching[0]}, all_runs=True)


def compared(
    a: pd.DataFrame, b: pd.DataFrame, *, ignore: Sequence[str] = (), noise: float = NOISE_SECONDS
) -> StudyComparison:
    """Match the runs of two results by what they are.

    A run is its instance (by content), problem, method, options and limits. Seeds and keys do not count: repeats of one
    run are matched by equal seeds first and then in order. Runs on instances that the other side does not have are
    matched by the recipe of the instance without its seed, and marked as redrawn. Partners may differ in what `ignore`
    names, of `IGNORABLE`. The time of a pair counts if one of its runs took longer than the `noise` (seconds). Cost
    O(R log R) for R runs.
    """
    identity = [name for name in _IDENTITY if name not in ignore]
    sides = [_prepared(rows) for rows in (a, b)]
    by_seed, sides = _match(sides, [*identity, "seed"])
    in_order, sides = _match(sides, identity)
    shared = set(a["instance"]) & set(b["instance"])
    foreign, sides = _match(sides, ["shape", *identity[1:]], but=shared)
    pairs = pd.concat([each for each in (by_seed, in_order, foreign) if len(each)] or [by_seed], ignore_index=True)
    pairs = _judged(pairs.assign(redrawn=~pairs["instance"].isin(shared)), noise)
    only_a, only_b = (side.drop(columns=["shape", "order"], errors="ignore") for side in sides)
    return StudyComparison(pairs, only_a, only_b, tuple(_notes(pairs, sides, identity)))


def _prepared(rows: pd.DataFrame) -> pd.DataFrame:
    shapes = {recipe: _shape(recipe) for recipe in rows["recipe"].unique()}
    numbers = {name: pd.to_numeric(rows[name]).astype("float64") for name in ("value", "lower_bound", "seconds")}
    return rows.assign(shape=rows["recipe"].map(shapes), **numbers).sort_values(["seed", "key"], ignore_index=True)


def _shape(recipe: str) -> str:
    """A recipe without its seed and its family."""
    fields = object_in(recipe)
    return json.dumps({name: value for name, value in fields.items() if name not in ("seed", "family")}, sort_keys=True)


def _match(
    sides: list[pd.DataFrame], columns: list[str], but: Collection[str] = frozenset()
) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """The pairs that agree in these columns, in order, and what remains of both sides; none on the instances `but`."""
    chosen = (side[~side["instance"].isin(but)] for side in sides)
    a, b = (side.assign(order=side.groupby(columns, dropna=False).cumcount()) for side in chosen)
    joined = a.merge(b, on=[*columns, "order"], suffixes=("_a", "_b"), how="inner")
    for name in (*_COMPARED, *_ABOUT):
        if name in columns:
            joined[f"{name}_a"] = joined[f"{name}_b"] = joined[name]
    about = {name: joined[f"{name}_a"] for name in _ABOUT}
    pairs = pd.DataFrame(about | {f"{name}_{side}": joined[f"{name}_{side}"] for name in _COMPARED for side in "ab"})
    rest = [side[~side["key"].isin(pairs[f"key_{name}"])] for name, side in zip("ab", sides, strict=True)]
    return pairs, rest


def _judged(pairs: pd.DataFrame, noise: float) -> pd.DataFrame:
    ranks = [pairs[f"status_{side}"].map(_RANK).astype("float64") for side in "ab"]
    pairs = pairs.assign(
        value=_steps(pairs["value_b"], pairs["value_a"], missing=np.inf),
        bound=_steps(pairs["lower_bound_a"], pairs["lower_bound_b"], missing=-np.inf),
        status=_steps(ranks[0], ranks[1], missing=0.0),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        change = (pairs["value_b"] - pairs["value_a"]) / pairs["value_a"].abs()
        pairs["change"] = change.mask(pairs["value_b"] == pairs["value_a"], 0.0)
        timed = pairs[["seconds_a", "seconds_b"]].max(axis="columns") >= noise
        failed = (pairs["status_a"] == Status.FAILED) | (pairs["status_b"] == Status.FAILED)
        pairs["time_ratio"] = (pairs["seconds_b"] / pairs["seconds_a"]).where(
            timed & ~failed & (pairs["seconds_a"] > 0)
        )
    return pairs


def _steps(first: pd.Series[float], second: pd.Series[float], *, missing: float) -> pd.Series[str]:
    """``better`` where the first number is lower than the second."""
    x, y = (side.fillna(missing).to_numpy(dtype=np.float64) for side in (first, second))
    same = (x == y) | near(x, y)
    return pd.Series(np.select([same, x < y], ["same", "better"], "worse"), first.index, dtype="object")


def summary(comparison: StudyComparison) -> pd.DataFrame:
    """One row a problem, variant and kind of match.

    problem, variant, redrawn, runs (matched), only_a, only_b, better, same, worse (values; none where instances are
    redrawn), bounds_up, bounds_down, status_up, status_down, value_ratio (geometric mean of value_b ÷ value_a), timed
    (the runs beyond the noise), time_ratio (their geometric mean), and from five runs on its 95% interval time_low,
    time_high.
    """
    groups = ["problem", "variant", "redrawn"]
    matched = {name: _line(group) for name, group in comparison.pairs.groupby(groups)}
    for column, rows in (("only_a", comparison.only_a), ("only_b", comparison.only_b)):
        for (problem, variant), runs in rows.groupby(["problem", "variant"]).size().items():
            at = (problem, variant, (problem, variant, False) not in matched and (problem, variant, True) in matched)
            matched.setdefault(at, _line(comparison.pairs.head(0)))[column] = runs
    if not matched:
        return pd.DataFrame()
    table = pd.DataFrame([dict(zip(groups, at, strict=True)) | line for at, line in matched.items()])
    table.loc[table["redrawn"] & (table["runs"] > 0), list(_COUNTS)] = None
    return sorted_by(table.astype(dict.fromkeys(_COUNTS, "Int64")), *groups)


def _line(pairs: pd.DataFrame) -> dict[str, Any]:
    times = np.log(pairs["time_ratio"].dropna().to_numpy(dtype=np.float64))
    low, high = bootstrap_interval(times, np.mean) if len(times) >= _INTERVAL_RUNS else (np.nan, np.nan)
    positive = pairs[(pairs["value_a"] > 0) & (pairs["value_b"] > 0)]
    values = np.log(positive["value_b"] / positive["value_a"])
    return {
        "runs": len(pairs),
        "only_a": 0,
        "only_b": 0,
        **{step: int((pairs["value"] == step).sum()) for step in _COUNTS[:3]},
        "bounds_up": int((pairs["bound"] == "better").sum()),
        "bounds_down": int((pairs["bound"] == "worse").sum()),
        "status_up": int((pairs["status"] == "better").sum()),
        "status_down": int((pairs["status"] == "worse").sum()),
        "value_ratio": float(np.exp(values.mean())),
        "timed": len(times),
        "time_ratio": float(np.exp(times.mean())) if len(times) else np.nan,
        "time_low": float(np.exp(low)),
        "time_high": float(np.exp(high)),
    }


def most_changed(comparison: StudyComparison, most: int) -> pd.DataFrame:
    """The pairs on one instance that changed most: by status, value, bound, and then time (by at least a factor 2)."""
    pairs = comparison.pairs[~comparison.pairs["redrawn"]]
    pace = np.log2(pairs["time_ratio"]).abs().fillna(0.0)
    changed = (pairs[["value", "bound", "status"]] != "same").any(axis="columns")
    size = pairs["change"].abs().fillna(0.0).mask((pairs["value"] != "same") & pairs["change"].isna(), np.inf)
    ranked = pairs.assign(_status=pairs["status"] != "same", _size=size, _bound=pairs["bound"] != "same", _pace=pace)
    ranked = ranked[changed | (pace >= 1)].sort_values(
        ["_status", "_size", "_bound", "_pace", "key_a"], ascending=[False, False, False, False, True]
    )
    return ranked.head(most)[pairs.columns].reset_index(drop=True)


def _notes(pairs: pd.DataFrame, sides: list[pd.DataFrame], identity: list[str]) -> list[str]:
    notes = []
    if redrawn := int(pairs["redrawn"].sum()):
        notes.append(
            f"{redrawn} of {len(pairs)} pairs are on two draws of one recipe (other seeds, a workload's changed "
            "code or a changed file): their values compare in the mean only"
        )
    proofs = pairs[(pairs[["status_a", "status_b"]].isin([Status.OPTIMAL, Status.INFEASIBLE])).all(axis="columns")]
    differ = proofs[~proofs["redrawn"] & ((proofs["value"] != "same") | (proofs["status_a"] != proofs["status_b"]))]
    if len(differ):
        notes.append(f"{len(differ)} pairs prove different optima of one instance: one proof is wrong (`verify`)")
    for column in IGNORABLE:
        rest = [name for name in identity if name != column]
        if column in identity and (possible := len(_match(sides, rest)[0])):
            advice = f"`--ignore {column}` matches them"
            notes.append(f"{possible} runs without a partner differ from one only in {column}: {advice}")
    if set(pairs["machine_a"].dropna()) != set(pairs["machine_b"].dropna()):
        notes.append("A and B ran on different machines, so their times differ for that reason too")
    for name, side, other in (("A", *sides), ("B", *reversed(sides))):
        if len(side):
            methods = ", ".join(sorted(set(side["variant"]))[:4]) + (", …" if side["variant"].nunique() > 4 else "")
            absent = int((~side["instance"].isin(set(other["instance"]) | set(pairs["instance"]))).sum())
            where = f", {absent} of them on instances that the other does not have" if absent else ""
            notes.append(f"{len(side)} runs only in {name} ({methods}){where}")
    return notes
