"""The papers' claims by their id, and running them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...instances.errors import unknown
from ...instances.files import atomic_write, read_text
from ...instances.method import Method
from ...instances.result import Status
from ..catalogue import METHODS
from ..papers.bench import Bench, Experiment, RunFailed, rows_here, rows_of, together
from ..studies.store import Store
from .claim import Claim, Finding, Verdict
from .p1 import CLAIMS_P1
from .p1_p2_figures import CLAIMS_FIGURES
from .p2 import CLAIMS_P2
from .p3 import CLAIMS_P3
from .p3_figures import CLAIMS_P3_FIGURES
from .p4 import CLAIMS_P4
from .p4_figures import CLAIMS_P4_FIGURES
from .p5 import CLAIMS_P5
from .search import CLAIMS_SEARCH

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


RECORD = Path(__file__).with_name("on_record.json")
_CORES, _SPARK_STARTS = 2, 15.0


@dataclass(frozen=True)
class Outcome:
    """What a claim came to.

    Attributes
    ----------
    quick : bool
        Whether that was the thin version.
    seconds : float
        What its judge took, in one process.
    grid_seconds : float
        The sum of the seconds of its runs on Spark, which are shared among the cores.
    """

    id: str
    quick: bool
    seconds: float
    findings: tuple[Finding, ...]
    grid_seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """As in ``claims --json``."""
        claim = CLAIMS[self.id]
        return {
            "id": self.id,
            "statement": claim.statement,
            "source": claim.source,
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "grid_seconds": round(self.grid_seconds, 3),
            "findings": [asdict(finding) for finding in self.findings],
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Outcome:
        """The inverse of :meth:`to_dict`."""
        findings = tuple(Finding(**{**one, "verdict": Verdict(one["verdict"])}) for one in told["findings"])
        return cls(told["id"], told["quick"], told["seconds"], findings, told["grid_seconds"])


def expected_seconds(claims: Sequence[Claim], quick: bool) -> float:
    """How long these claims take at most on two cores: as measured, or else by what they took for the record.

    The record was made beside other work, which made it several times slower.

    A full version that is not on record counts as the quick one times how many more runs its grid has.
    """
    record = {(outcome.id, outcome.quick): outcome for outcome in outcomes_in(RECORD)}
    judging = grids = 0.0
    for claim in claims:
        if claim.seconds is not None:
            judging += claim.seconds[0 if quick else 1]
            continue
        known = record.get((claim.id, quick))
        if known is not None:
            judging, grids = judging + known.seconds, grids + known.grid_seconds
        elif (thin := record.get((claim.id, True))) is not None:
            sizes = [len(one.recipes) if (one := claim.experiment(q)) else 1 for q in (quick, True)]
            judging, grids = judging + thin.seconds, grids + thin.grid_seconds * sizes[0] / sizes[1]
    return judging + (grids / _CORES + _SPARK_STARTS if grids else 0.0)


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
    findings = _findings(claim, bench)
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
    for claim in claims:
        said(f"{claim.id}: {claim.statement}")
        start = time.perf_counter()
        bench = Bench(quick)
        if claim.id in experiments:
            bench.rows = rows_of(experiments[claim.id], store)
        on_grid = float(bench.rows["seconds"].sum()) if claim.id in experiments else 0.0
        findings = _findings(claim, bench)
        outcome = Outcome(claim.id, quick, time.perf_counter() - start, findings, on_grid)
        keep_outcomes([outcome], folder / "claims.json")
        yield outcome


def _findings(claim: Claim, bench: Bench) -> tuple[Finding, ...]:
    """What a claim's judge finds; where runs that it needs have failed, that, so that other claims go on."""
    try:
        return tuple(claim.judge(bench))
    except RunFailed as failure:
        return (Finding("its runs", Verdict.OPEN, f"A run failed: {failure}.", bench.done),)
    except (LookupError, ValueError):  # no value where a judge looks for one
        rows = bench.rows
        failed = rows[rows["status"] == Status.FAILED] if len(rows) else rows
        if failed.empty:
            raise
        first = failed.iloc[0]
        text = f"{len(failed)} of {len(rows)} runs failed, the first of {first['method']}: {first['reason']}."
        return (Finding("its runs", Verdict.OPEN, text, len(rows)),)


def run_grids(experiments: Sequence[Experiment], quick: bool, folder: Path, master: str) -> Store:
    """Run experiments as one study on Spark, but for what `folder` holds of them already."""
    study = together(experiments).study(f"claims, {'quick' if quick else 'full'}")
    store = Store(folder)
    if not experiments:
        store.open_for(study.spec)
        return store
    # Spark takes a second to import, and claims without a grid do not need it.
    from ..studies.spark_study import run_study

    run_study(study, store, master)
    return store


def outcomes_in(file: Path) -> list[Outcome]:
    """The outcomes in a file, in the order of the claims, quick ones first; claims that are no more are left out."""
    told = json.loads(read_text(file)) if file.is_file() else []
    order = {id_: place for place, id_ in enumerate(CLAIMS)}
    found = [Outcome.from_dict(one) for one in told if one["id"] in order]
    return sorted(found, key=lambda outcome: (order[outcome.id], not outcome.quick))


def keep_outcomes(outcomes: Sequence[Outcome], file: Path) -> None:
    """Put outcomes into a file, in the place of older ones of the same claim and version."""
    kept = {(one.id, one.quick): one for one in (*outcomes_in(file), *outcomes)}
    told = [kept[id_, quick].to_dict() for id_ in CLAIMS for quick in (True, False) if (id_, quick) in kept]
    text = json.dumps(told, ensure_ascii=False, indent=1)
    atomic_write(file, lambda path: path.write_text(text + "\n", encoding="utf-8"))
