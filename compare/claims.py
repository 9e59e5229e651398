"""The papers' claims by their id, and running them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compare.catalogue import METHODS
from compare.claim import Claim, Finding, Verdict
from compare.claim_bench import Bench, Experiment, rows_here, rows_of, together
from compare.claims_figures import CLAIMS_FIGURES
from compare.claims_p1 import CLAIMS_P1
from compare.claims_p2 import CLAIMS_P2
from compare.claims_p3 import CLAIMS_P3
from compare.claims_p3_figures import CLAIMS_P3_FIGURES
from compare.claims_p4 import CLAIMS_P4
from compare.claims_p4_figures import CLAIMS_P4_FIGURES
from compare.claims_p5 import CLAIMS_P5
from compare.claims_search import CLAIMS_SEARCH
from compare.store import Store
from instances import Method
from instances.errors import unknown
from instances.files import read_text, write_whole

CLAIMS: Mapping[str, Claim] = {
    claim.id: claim
    for claim in sorted(
        (
            *(*CLAIMS_P1, *CLAIMS_P2, *CLAIMS_FIGURES),
            *(*CLAIMS_P3, *CLAIMS_P3_FIGURES),
            *(*CLAIMS_P4, *CLAIMS_P4_FIGURES),
            *(*CLAIMS_P5, *CLAIMS_SEARCH),
        ),
        key=lambda claim: claim.id[:2],
    )
}


@dataclass(frozen=True)
class Outcome:
    """What a claim came to: its findings, and the seconds of its runs and of judging them together."""

    id: str
    quick: bool
    seconds: float
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """As in ``claims --json``."""
        claim = CLAIMS[self.id]
        return {
            "id": self.id,
            "statement": claim.statement,
            "source": claim.source,
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "findings": [asdict(finding) for finding in self.findings],
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Outcome:
        """The inverse of :meth:`to_dict`."""
        findings = tuple(Finding(**{**one, "verdict": Verdict(one["verdict"])}) for one in told["findings"])
        return cls(told["id"], told["quick"], told["seconds"], findings)


def claims_named(ids: Sequence[str]) -> list[Claim]:
    """The claims of these ids, all if there are none; ``P2`` stands for all of P2. An unknown one is bad input."""
    if not ids:
        return list(CLAIMS.values())
    found: dict[str, Claim] = {}
    for name in ids:
        matching = {key: claim for key, claim in CLAIMS.items() if key == name or key.startswith(f"{name}.")}
        if not matching:
            raise unknown("claim", name, CLAIMS)
        found |= matching
    return list(found.values())


def judge(claim: Claim, quick: bool, methods: Mapping[str, Method[Any, Any]] = METHODS) -> Outcome:
    """Run one claim in this process, with these algorithms.

    Cost: that of its experiment's runs one after the other, so for small ones and for tests.
    """
    experiment = claim.experiment(quick)
    bench = Bench(quick, methods)
    start = time.perf_counter()
    if experiment is not None:
        bench.rows = rows_here(experiment, methods)
    findings = tuple(claim.judge(bench))
    return Outcome(claim.id, quick, time.perf_counter() - start, findings)


def run_claims(
    claims: Sequence[Claim], quick: bool, folder: Path, master: str, said: Callable[[str], None]
) -> Iterator[Outcome]:
    """Run claims: first all their grids as one study on Spark, then each claim's own runs and its verdicts.

    What is stored in `folder` is not run again; ``claims.json`` there has every outcome so far.

    Raises
    ------
    BadInput
        If the folder holds something else.
    """
    experiments = {claim.id: experiment for claim in claims if (experiment := claim.experiment(quick)) is not None}
    store = run_grids(list(experiments.values()), quick, folder, master)
    outcomes = stored_outcomes(folder)
    for claim in claims:
        said(f"{claim.id}: {claim.statement}")
        start = time.perf_counter()
        bench = Bench(quick)
        if claim.id in experiments:
            bench.rows = rows_of(experiments[claim.id], store)
        spent = float(bench.rows["seconds"].sum()) if claim.id in experiments else 0.0
        findings = tuple(claim.judge(bench))
        outcome = Outcome(claim.id, quick, spent + time.perf_counter() - start, findings)
        outcomes[claim.id] = outcome
        _write(folder, outcomes)
        yield outcome


def run_grids(experiments: Sequence[Experiment], quick: bool, folder: Path, master: str) -> Store:
    """Run experiments as one study on Spark, but for what `folder` holds of them already."""
    study = together(experiments).study(f"claims, {'quick' if quick else 'full'}")
    store = Store(folder)
    if not experiments:
        store.open_for(study.spec)
        return store
    # Spark takes a second to import, and claims without a grid do not need it.
    from compare.spark_study import run_study

    run_study(study, store, master)
    return store


def stored_outcomes(folder: Path) -> dict[str, Outcome]:
    """The outcomes in a folder of results, by id; claims that are no more are left out."""
    file = folder / "claims.json"
    told = json.loads(read_text(file)) if file.is_file() else []
    return {one["id"]: Outcome.from_dict(one) for one in told if one["id"] in CLAIMS}


def _write(folder: Path, outcomes: Mapping[str, Outcome]) -> None:
    told = [outcomes[id_].to_dict() for id_ in CLAIMS if id_ in outcomes]
    text = json.dumps(told, ensure_ascii=False, indent=1)
    write_whole(folder / "claims.json", lambda file: file.write_text(text + "\n", encoding="utf-8"))
