"""How far bounds are proven: proof files, kept and checked by another process, and the level of each bound."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_file
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ...instances.runtime.run import die_with_parent
from ...instances.runtime.signals import keeping
from ...instances.topics.objective import Objective
from ..catalogue import METHODS, kind_named, problem_named
from .isolation import IsolatedRun, Job

if TYPE_CHECKING:
    import pandas as pd

CERTIFIED, AGREED, CLAIMED = "certified", "agreed", "claimed"
LEVELS = (CERTIFIED, AGREED, CLAIMED)
"""From the strongest on; "" where nothing is proven."""

PROOF, VERDICT = "proof", "proof_check"
COUNTERS = (PROOF, VERDICT, CERTIFIED)
"""Counters of a row: the SHA-256 of its proof file, the checker's sentence, and the bound that was checked."""

VIPR = ".vipr"
"""The ending of certificates that checkers of others read."""

_CHECKER = Path(__file__).resolve().parents[2] / "models" / "checker" / "check_proof.py"
_TRANSLATOR = _CHECKER.with_name("vipr") / "vipr.py"
_NUMBER = r"(-?[\d.]+(?:e[-+]?\d+)?|inf)"
_OPTIMAL = re.compile(rf"proven: (\S+) {_NUMBER} is optimal$")
_AT_LEAST = re.compile(rf"proven: (\S+) is at least {_NUMBER}; the proof has (?:no answer|an answer of {_NUMBER})$")
_SHARED = "shared: "
_CHECK_SECONDS, _CHECK_SHARE = 60.0, 10.0
_NO_VERDICT = "not checked"
_PAIR = ["instance", "problem"]
TOLERANCE = 1e-6


class CheckedProof(NamedTuple):
    """What the checker says of a proof: the line that it prints, or why there is none, and if it accepts, what of.

    `value` is that of the answer in the proof, if there is one; `optimal` says that it is proven. `shared` is a
    sentence about the edges of all answers, where the proof is about them.
    """

    sentence: str
    accepted: bool = False
    problem: str | None = None
    lower_bound: float | None = None
    value: float | None = None
    optimal: bool = False
    shared: str = ""


def run_checker(
    instance: Path, proof: Path, seconds: float | None = None, *, digest: str = "", objective: Objective | None = None
) -> CheckedProof:
    """Check a proof by another process, which imports nothing of this package and has `seconds` for it.

    The instance's file has one of the `proof_endings` of its kind. `digest` is of the instance as this package reads
    it, if known: a proof about another one is wrong, whatever the checker reads. So is one that states another problem
    than the `objective` of a problem of others, whose rows are judged by its own class.
    """
    words = [sys.executable, str(_CHECKER), str(instance), str(proof)]
    if objective is not None and objective.separator is not None and objective.checked_by is None:
        return CheckedProof(f"{_NO_VERDICT}: the problem has rows of its own, and its objective no `checked_by`")
    if objective is not None and objective.checked_by is not None:
        words.append(str(objective.checked_by))
    try:
        ended = subprocess.run(
            words, capture_output=True, text=True, timeout=seconds, preexec_fn=die_with_parent, check=False
        )
    except subprocess.TimeoutExpired:
        return CheckedProof(f"{_NO_VERDICT}: the checker had no verdict after {seconds:g} s")
    lines, sentence = _said(ended, proof)
    if ended.returncode != 0:
        return CheckedProof(sentence)
    head = head_of(proof)
    if digest and head["instance"] != digest:
        return CheckedProof("wrong: the proof is about another instance")
    stated = {} if objective is None else objective.stated
    if {key: head[key] for key in ("base", "cap") if key in head} != stated:
        return CheckedProof("wrong: the proof states another problem of this name")
    shared = lines[0] if lines[0].startswith(_SHARED) else ""
    if found := _OPTIMAL.match(sentence):
        return CheckedProof(sentence, True, found[1], float(found[2]), float(found[2]), True, shared)
    if found := _AT_LEAST.match(sentence):
        value = None if found[3] is None else float(found[3])
        return CheckedProof(sentence, True, found[1], float(found[2]), value, shared=shared)
    return CheckedProof(f"{_NO_VERDICT}: {sentence}")


def head_of(proof: Path) -> dict[str, Any]:
    """What the first line of a proof says; that of a file that the checker has read."""
    with gzip.open(proof) as file:
        head: dict[str, Any] = json.loads(next(file))[1]
        return head


def _said(ended: subprocess.CompletedProcess[str], proof: Path) -> tuple[list[str], str]:
    """All lines of a process that read a proof, and its last sentence; one that was killed has said nothing."""
    lines = (ended.stdout.strip() or ended.stderr.strip()).splitlines()
    return lines, lines[-1].replace(f"{proof}: ", "", 1) if lines else f"{_NO_VERDICT}: exit status {ended.returncode}"


def checked_proof(instance: Any, problem: Problem[Any, Any], proof: Path, run_seconds: float) -> CheckedProof:
    """Check a proof about an instance in memory, for at most a minute and ten times the seconds of its run."""
    if not kind_named(problem.kind).proof_endings:
        return CheckedProof(f"{_NO_VERDICT}: the checker knows no instances of the kind {problem.kind}")
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        seconds = _CHECK_SECONDS + _CHECK_SHARE * (run_seconds if isfinite(run_seconds) else 0.0)
        objective = own_objective(problem)
        asked = instance if objective is None else objective.priced(instance)
        file = file_for_checker(asked, problem.kind, Path(folder))
        return run_checker(file, proof, seconds, digest=asked.digest, objective=objective)


def problem_of(proof: Path) -> Problem[Any, Any] | None:
    """The problem of others that a proof is about; None if it is about none, or cannot be read.

    Bad input if the problem is not known here.
    """
    try:
        head = head_of(proof)
        name = head["problem"] if "base" in head else None
    except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, StopIteration):
        return None
    try:
        return None if name is None else problem_named(name)
    except BadInput:
        raise BadInput(f"{proof}: {name} is a problem of others: give it as --problem module:NAME") from None


def own_objective(problem: Problem[Any, Any] | None) -> Objective | None:
    """The objective of a problem of others."""
    objective = getattr(problem, "objective", None)
    return objective if isinstance(objective, Objective) and objective.own else None


def file_for_checker(instance: Any, kind: str, folder: Path) -> Path:
    """Write an instance in a format that the checker reads and that has a place for all of it."""
    file = folder / f"instance{kind_named(kind).proof_endings[-1]}"
    kind_named(kind).write(instance, file)
    return file


def write_vipr(instance: Path, proof: Path, certificate: Path) -> None:
    """Translate a proof that the checker accepts to VIPR, and write the problem as MPS beside it.

    Bad input if it is wrong, or has lines without a translation.
    """
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        written = Path(folder) / f"certificate{VIPR}"
        words = [sys.executable, str(_TRANSLATOR), str(instance), str(proof), str(written)]
        ended = subprocess.run(words, capture_output=True, text=True, preexec_fn=die_with_parent, check=False)
        if ended.returncode != 0:
            raise BadInput(f"{certificate}: no translation: {_said(ended, proof)[1]}")
        for suffix in (VIPR, ".mps"):
            with atomic_file(certificate.with_suffix(suffix)) as file:
                shutil.copyfile(written.with_suffix(suffix), file)


def run_with_evidence(job: Job, run: Callable[[Job], IsolatedRun], proof: Path | None) -> IsolatedRun:
    """Do a run; keep the proof that it writes in `proof`, atomically, and add to its counters what was checked.

    A run that fails leaves no file. Counters of the method's own with names of ours are dropped.
    """
    if proof is None:
        return without_evidence(run(job))
    added: dict[str, float | str] = {}
    with atomic_file(proof, if_filled=True) as file:
        done = without_evidence(run(replace(job, options={**job.options, "proof": str(file)})))
        if done.result.status is Status.FAILED or isnan(done.cpu_seconds):  # killed: the file is incomplete
            file.write_bytes(b"")
        written = file.stat().st_size > 0
    if written:
        try:
            with keeping(False):
                checked = checked_proof(job.instance, job.problem, proof, done.result.seconds)
        except KeyboardInterrupt:
            checked = CheckedProof("not checked: interrupted")
        added = _evidence(checked, job.problem, proof)
    return replace(done, result=replace(done.result, counters={**done.result.counters, **added}))


def without_evidence(run: IsolatedRun) -> IsolatedRun:
    """A run without counters of the method's own that have names of ours."""
    own = {name: value for name, value in run.result.counters.items() if name not in COUNTERS}
    return replace(run, result=replace(run.result, counters=own)) if len(own) < len(run.result.counters) else run


def has_evidence(counters: str) -> bool:
    """Whether a row's counters (JSON) say that a proof or a bound was checked."""
    return any(f'"{name}": ' in counters for name in COUNTERS)


def without_digest(counters: str) -> str:
    """Counters (JSON) without the digest of the proof file, which has the time of writing."""
    return re.sub(rf'"{PROOF}": "[0-9a-f]{{64}}", ', "", counters)


def faults_of_evidence(
    counters: Mapping[str, Any], instance: Any, problem: Problem[Any, Any], proof: Path, seconds: float
) -> Iterator[str]:
    """Check again what a row's counters say was checked; a checker without a verdict contradicts no other one."""
    if not proof.is_file():
        yield f"has {_named(counters)} as evidence, and its proof {proof.name} is missing"
    elif counters.get(PROOF) != digest_of(proof):
        yield f"its proof {proof.name} is not the file that was checked"
    else:
        checked = checked_proof(instance, problem, proof, seconds)
        found = _evidence(checked, problem, proof)
        undecided = any(str(each.get(VERDICT)).startswith(_NO_VERDICT) for each in (counters, found))
        compared = (CERTIFIED,) if undecided else COUNTERS
        if checked.sentence.startswith("wrong"):
            yield f"its proof is not accepted: {checked.sentence}"
        elif any(counters.get(name) != found.get(name) for name in compared) and (
            not undecided or CERTIFIED in counters
        ):
            yield f"has {_named(counters)} as evidence, and its proof gives {_named(found)}"


def _named(counters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {counters[name]}" for name in COUNTERS if name in counters)


def digest_of(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _evidence(checked: CheckedProof, problem: Problem[Any, Any], proof: Path) -> dict[str, float | str]:
    """The counters of a checked proof, with the bound where it proves one of the problem."""
    counters: dict[str, float | str] = {PROOF: digest_of(proof), VERDICT: checked.sentence}
    if checked.problem == problem.name and checked.lower_bound is not None:
        counters[CERTIFIED] = checked.lower_bound
    return counters


def levels(rows: pd.DataFrame) -> pd.Series[str]:
    """The level of each row's lower bound (or infeasibility), by all rows of its instance and problem.

    ``certified``: a proof was checked that proves this bound or a higher one. ``agreed``: methods of two
    engines have each proven it or a higher one. ``claimed``: one has. "": the row has none. Where some run's bound lies
    above some run's value, one of the engines is wrong, and none of them counts as agreeing. Two methods are
    independent unless one names the other as its engine (:attr:`.Method.engine`). Cost O(R log R).
    """
    import pandas as pd

    from .row import object_in

    def certified(counters: str) -> float:
        bound = object_in(counters).get(CERTIFIED) if f'"{CERTIFIED}": ' in counters else None
        return float(bound) if isinstance(bound, (int, float)) else np.nan

    def engine(method: str) -> str:
        return (METHODS[method].engine if method in METHODS else "") or method

    over = rows["status"].isin([Status.FAILED, Status.SKIPPED])
    bound = pd.to_numeric(rows["lower_bound"]).astype(np.float64).mask(over)
    bound = bound.mask(rows["status"] == Status.INFEASIBLE, np.inf)
    if not bound.notna().any():
        return pd.Series("", rows.index)
    known = rows[_PAIR].assign(
        bound=bound,
        value=pd.to_numeric(rows["value"]).astype(np.float64).mask(over),
        certified=rows["counters"].map(certified).astype(np.float64),
        engine=rows["method"].map({name: engine(name) for name in rows["method"].unique()}),
    )
    pairs = known.groupby(_PAIR, sort=False)
    contradicted = pairs["bound"].transform("max") > _above(pairs["value"].transform("min"), rows["problem"])
    by_engine = known.groupby([*_PAIR, "engine"], sort=False)["bound"].max().dropna()
    second = by_engine.sort_values(ascending=False).groupby(level=_PAIR, sort=False).nth(1).droplevel("engine")
    agreed = pd.Series(second.reindex(pd.MultiIndex.from_frame(known[_PAIR])).to_numpy(np.float64), rows.index)
    found = pd.Series(np.where(bound.notna(), CLAIMED, ""), rows.index)
    found = found.mask(bound <= _above(agreed.mask(contradicted), rows["problem"]), AGREED)
    return found.mask(bound <= _above(pairs["certified"].transform("max"), rows["problem"]), CERTIFIED)


def level_of(result: Result[Any]) -> str:
    """The level of the lower bound (or infeasibility) of a single run."""
    if result.status in (Status.FAILED, Status.SKIPPED):
        return ""
    bound = np.inf if result.status is Status.INFEASIBLE else result.lower_bound
    certified = result.counters.get(CERTIFIED)
    if isinstance(certified, (int, float)) and bound is not None and bound <= _above(certified, result.problem):
        return CERTIFIED
    return "" if bound is None else CLAIMED


def weakest(levels: list[str]) -> str:
    """The weakest of some levels; "" without any."""
    return max(levels, key=lambda level: LEVELS.index(level) if level else len(LEVELS), default="")


def tolerances(problems: Any) -> Any:
    """The relative rounding errors of the values of problems, by name: none of those whose values are integers."""
    if isinstance(problems, str):
        return 0.0 if problems in PROBLEMS and PROBLEMS[problems].integral else TOLERANCE
    return problems.map({name: tolerances(name) for name in problems.unique()}).astype(np.float64)


def _above(values: Any, problems: Any) -> Any:
    """Numbers, each plus its rounding errors."""
    return values + tolerances(problems) * np.where(np.isinf(values), 1, np.abs(values))
