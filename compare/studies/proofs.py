"""The proof files of a study's runs: kept, checked, and checked again."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.contract.files import atomic_file
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ..catalogue import kind_named
from .evidence import CERTIFIED, VERDICT
from .isolation import IsolatedRun, Job
from .proof_checker import FORMATS, CheckedProof, run_checker

PROOF, CERTIFICATE = "proof", "certificate"
COUNTERS = (PROOF, VERDICT, CERTIFIED)
"""Counters of a row: the SHA-256 of its proof file, the checker's sentence, and the bound that was checked, by the file
or, without one, by the counter `CERTIFICATE` (:func:`recomputed`)."""

_CHECK_SECONDS, _CHECK_SHARE = 60.0, 10.0
_MOST_STEPS = 5_000_000


def check_proof(instance: Any, problem: Problem[Any, Any], proof: Path, seconds: float | None = None) -> CheckedProof:
    """Check a proof about an instance in memory, which is written to a temporary file; see :func:`.run_checker`."""
    if (formats := FORMATS.get(problem.kind)) is None:
        return CheckedProof(f"not checked: the checker knows no instances of the kind {problem.kind}")
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        # Tables of text have no place for link costs.
        suffix = formats[0] if getattr(instance, "costs", None) is None else formats[-1]
        file = Path(folder) / f"instance{suffix}"
        kind_named(problem.kind).write(instance, file)
        return run_checker(file, proof, seconds)


def seconds_to_check(run_seconds: float) -> float:
    """The time for the checker: a minute, and ten times that of the run."""
    return _CHECK_SECONDS + _CHECK_SHARE * (run_seconds if isfinite(run_seconds) else 0.0)


def run_with_evidence(job: Job, run: Callable[[Job], IsolatedRun], proof: Path | None) -> IsolatedRun:
    """Do a run; keep the proof that it writes in `proof`, atomically, and add to its counters what was checked.

    A run that fails leaves no file. Counters of the method's own with names of ours are dropped.
    """
    if proof is None:
        done = run(job)
        return _with_counters(done, _of_certificate(job, done.result))
    with atomic_file(proof, if_filled=True) as file:
        done = run(replace(job, options={**job.options, "proof": str(file)}))
        if done.result.status is Status.FAILED:
            file.write_bytes(b"")
        if not file.stat().st_size:
            return _with_counters(done, {})
    checked = check_proof(job.instance, job.problem, proof, seconds_to_check(done.result.seconds))
    counters: dict[str, float | str] = {PROOF: digest_of(proof), VERDICT: checked.sentence}
    if (bound := _bound(checked, job.problem)) is not None:
        counters[CERTIFIED] = bound
    return _with_counters(done, counters)


def has_evidence(counters: str) -> bool:
    """Whether a row's counters (JSON) have a proof or a bound that was checked."""
    return any(f'"{name}": ' in counters for name in (PROOF, CERTIFIED))


def without_digest(counters: str) -> str:
    """Counters (JSON) without the digest of the proof file, which has the time of writing."""
    return re.sub(rf'"{PROOF}": "[0-9a-f]{{64}}", ', "", counters)


def faults_of_evidence(
    counters: Mapping[str, Any], instance: Any, problem: Problem[Any, Any], proof: Path, seconds: float
) -> Iterator[str]:
    """Check again what a row's counters say was checked."""
    certified, text = counters.get(CERTIFIED), counters.get(CERTIFICATE)
    if PROOF not in counters:
        bound = recomputed(instance, problem.name, text) if isinstance(text, str) else None
        if bound != certified:
            yield f"is certified to be at least {certified}, which no proof or certificate of the run proves"
        return
    if not proof.is_file():
        yield f"its proof {proof.name} is missing"
        return
    if digest_of(proof) != counters[PROOF]:
        yield f"its proof {proof.name} is not the file that was checked"
        return
    checked = check_proof(instance, problem, proof, seconds_to_check(seconds))
    if not checked.accepted and (certified is not None or checked.sentence.startswith("wrong")):
        yield f"its proof is not accepted: {checked.sentence}"
    elif certified is not None and (bound := _bound(checked, problem)) != certified:
        yield f"its proof proves a bound of {bound}, its row has {certified} as certified"


def recomputed(instance: Any, problem: str, certificate: str) -> float | None:
    """The bound that a certificate proves, in integers; None if that takes too long or it proves nothing."""
    from ...models.topics.bounds.certificate_text import proven_value, unpacked

    try:
        sizes = (np.diff(each.rows.offsets).astype(np.float64) for each in unpacked(certificate))
        if sum(float(labels @ labels) for labels in sizes) > _MOST_STEPS:
            return None
        return float(proven_value(instance, problem, certificate))
    except ValueError:
        return None


def digest_of(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _bound(checked: CheckedProof, problem: Problem[Any, Any]) -> float | None:
    """The bound that a proof proves of a problem."""
    return checked.lower_bound if checked.problem == problem.name else None


def _of_certificate(job: Job, result: Result[Any]) -> dict[str, float | str]:
    text = result.counters.get(CERTIFICATE)
    bound = recomputed(job.instance, job.problem.name, text) if isinstance(text, str) else None
    return {} if bound is None else {CERTIFIED: bound}


def _with_counters(run: IsolatedRun, added: dict[str, float | str]) -> IsolatedRun:
    own = {name: value for name, value in run.result.counters.items() if name not in COUNTERS}
    return replace(run, result=replace(run.result, counters={**own, **added}))
