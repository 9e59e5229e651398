"""The catalogue of claims, running them, and the record of their outcomes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.contract.catalogue import Catalogue, defined_in
from ...instances.contract.errors import unknown
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.method import Method
from ...instances.contract.result import Status
from ..catalogue import METHODS
from ..papers.bench import Bench, RunFailed, rows_here, rows_of, run_grids
from .claim import Claim, Finding, Interval, NotRun, Scope, Verdict
from .version import version_of_claim

RECORD = Path(__file__).with_name("on_record.json")


def _claims(_name: str) -> list[Claim]:
    """The claims that the files of this folder define, by paper."""
    return sorted(defined_in(__package__, Claim), key=lambda claim: claim.id.partition(".")[0])


def not_run() -> list[NotRun]:
    """The sentences of the papers that nothing here can check, by paper."""
    return sorted(defined_in(__package__, NotRun), key=lambda one: one.id)


CLAIMS: Catalogue[Claim] = Catalogue("claim", _claims, group="overlaybench.claims", kind=Claim)


@dataclass(frozen=True)
class ClaimOutcome:
    """The findings of one execution of a claim.

    Attributes
    ----------
    quick : bool
        Whether the quick version ran.
    seconds : float
        The duration of the judge, in one process.
    grid_seconds : float
        The sum of the durations of its runs on Spark, which share the cores.
    version : str
        Of the code that ran and judged it (`version_of_claim`); "" in records of earlier versions.
    """

    id: str
    quick: bool
    seconds: float
    findings: tuple[Finding, ...]
    grid_seconds: float = 0.0
    version: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``claims --json``."""
        claim = CLAIMS[self.id]
        return {
            "id": self.id,
            "statement": claim.statement,
            "source": claim.source,
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "grid_seconds": round(self.grid_seconds, 3),
            "version": self.version,
            "findings": [_plain({**asdict(finding), "scale": finding.scope.scale}) for finding in self.findings],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ClaimOutcome:
        """The inverse of :meth:`to_dict`."""
        findings = tuple(map(_finding, data["findings"]))
        return cls(data["id"], data["quick"], data["seconds"], findings, data["grid_seconds"], data.get("version", ""))


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers of numpy become Python's, and those that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _finding(data: Mapping[str, Any]) -> Finding:
    own = {name: value for name, value in data.items() if name != "scale"}
    own["verdict"] = Verdict(own["verdict"])
    scope = dict(own.get("scope", {}))
    for sizes in ("sizes", "claimed"):
        scope[sizes] = {symbol: tuple(values) for symbol, values in scope.get(sizes, {}).items()}
    own["scope"] = Scope(**scope | {"ties": tuple(scope.get("ties", ()))})
    own["intervals"] = tuple(Interval(**one) for one in own.get("intervals", ()) if one["mean"] is not None)
    return Finding(**own)


def claims_named(ids: Sequence[str]) -> list[Claim]:
    """The claims with these ids, or all if none is given; ``P2`` stands for all of P2, ``module:NAME`` for a plug-in.

    Raises
    ------
    BadInput
        If an id is unknown.
    """
    if not ids:
        return list(CLAIMS.values())
    found: dict[str, Claim] = {}
    for name in ids:
        if ":" in name:
            plug_in = CLAIMS.named(name)
            found[plug_in.id] = plug_in
            continue
        matching = {key: claim for key, claim in CLAIMS.items() if key == name or key.startswith(f"{name}.")}
        if not matching:
            raise unknown("claim", name, CLAIMS)
        found |= matching
    return list(found.values())


def judge(claim: Claim, quick: bool, methods: Mapping[str, Method[Any, Any]] = METHODS) -> ClaimOutcome:
    """Run one claim in this process, its experiment's runs one after the other, with these algorithms."""
    experiment = claim.experiment(quick)
    bench = Bench(quick, methods)
    start = time.perf_counter()
    if experiment is not None:
        bench.rows = rows_here(experiment, methods)
    findings = _findings(claim, bench)
    return ClaimOutcome(claim.id, quick, time.perf_counter() - start, findings)


def run_claims(
    claims: Sequence[Claim], quick: bool, folder: Path, master: str, report: Callable[[str], None]
) -> Iterator[ClaimOutcome]:
    """Run claims: first all their grids as one study on Spark, then each claim's judge.

    Runs that `folder` holds are not repeated, nor are judges of the present code; its ``claims.json`` has every outcome
    so far.

    Parameters
    ----------
    folder : Path
        A folder of results.
    master : str
        The Spark master.
    report : callable
        Receives a line before each claim.

    Raises
    ------
    BadInput
        If the folder holds another study.
    """
    # Before the runs: code that changes meanwhile is not the code that judges.
    versions = {claim.id: version_of_claim(claim) for claim in claims}
    experiments = {claim.id: experiment for claim in claims if (experiment := claim.experiment(quick)) is not None}
    store = run_grids(list(experiments.values()), quick, folder, master)
    judged = {(one.id, one.quick, one.version): one for one in outcomes_in(folder / "claims.json")}
    for claim in claims:
        if (version := versions[claim.id]) and (known := judged.get((claim.id, quick, version))) is not None:
            yield known
            continue
        report(f"{claim.id}: {claim.statement}")
        start = time.perf_counter()
        bench = Bench(quick)
        if claim.id in experiments:
            bench.rows = rows_of(experiments[claim.id], store)
        on_grid = float(bench.rows["seconds"].sum()) if claim.id in experiments else 0.0
        findings = _findings(claim, bench)
        seconds = time.perf_counter() - start
        outcome = ClaimOutcome(claim.id, quick, seconds, findings, on_grid, version)
        keep_outcomes([outcome], folder / "claims.json")
        yield outcome


def _findings(claim: Claim, bench: Bench) -> tuple[Finding, ...]:
    """The judge's findings; if runs that it needs have failed, a finding about them, so that other claims continue."""
    try:
        return tuple(claim.judge(bench))
    except RunFailed as failure:
        return (Finding("its runs", Verdict.OPEN, f"A run failed: {failure}.", bench.done),)
    except (LookupError, ValueError):  # a value that the judge needs is missing
        rows = bench.rows
        failed = rows[rows["status"] == Status.FAILED] if len(rows) else rows
        if failed.empty:
            raise
        first = failed.iloc[0]
        text = f"{len(failed)} of {len(rows)} runs failed, the first of {first['method']}: {first['reason']}."
        return (Finding("its runs", Verdict.OPEN, text, len(rows)),)


def outcomes_in(file: Path) -> list[ClaimOutcome]:
    """The outcomes in a file (none if it is missing), in the order of the claims and quick ones first.

    Outcomes of claims that no longer exist are left out.
    """
    stored = json.loads(read_text(file)) if file.is_file() else []
    order = {id_: rank for rank, id_ in enumerate(CLAIMS)}
    found = [ClaimOutcome.from_dict(one) for one in stored if one["id"] in order]
    return sorted(found, key=lambda outcome: (order[outcome.id], not outcome.quick))


def keep_outcomes(outcomes: Sequence[ClaimOutcome], file: Path) -> None:
    """Add outcomes to a file; they replace older ones of the same claim and version."""
    kept = {(one.id, one.quick): one for one in (*outcomes_in(file), *outcomes)}
    data = [kept[id_, quick].to_dict() for id_ in CLAIMS for quick in (True, False) if (id_, quick) in kept]
    text = json.dumps(data, ensure_ascii=False, indent=1)
    atomic_write(file, text + "\n")
