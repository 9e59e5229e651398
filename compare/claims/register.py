"""The catalogue of claims, running them, the record of their rows, and the version of the code that a row is of."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...instances.contract.catalogue import Catalogue, defined_in, home_of
from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.method import Method
from ...instances.runtime.code import closure, digest_of
from ..catalogue import METHODS, code_version
from .bench import Bench, RunFailed, rows_here, rows_of, run_grids
from .claim import Claim, Judgement, LedgerRow, Verdict
from .data import claims_on_rows, experiment_of

RECORD = Path(__file__).parent / "record.json"
_QUICK = (5.0, 2.3)  # seconds for the start and for a claim


def _claims(_name: str) -> list[Claim]:
    """The claims that the files of this folder define, by paper and in the order of the paper's statements."""
    from .statements import statements

    rank = {id_: number for number, id_ in enumerate(statements())}
    every = [*defined_in(__package__, Claim), *claims_on_rows()]
    return sorted(every, key=lambda one: (one.id[0] != "P", one.id[:2], rank.get(one.id, 0)))


CLAIMS: Catalogue[Claim] = Catalogue("claim", _claims, group="overlaybench.claims", kind=Claim)


def claims_named(ids: Sequence[str]) -> list[Claim]:
    """The claims with these ids, or all if none is given.

    ``P2`` stands for all of P2, ``P1 Lemma 6.6`` for the claims at that place, ``module:NAME`` for a plug-in. Capitals
    make no difference. An unknown id is bad input.
    """
    if not ids:
        return list(CLAIMS.values())
    found: dict[str, Claim] = {}
    for name in ids:
        if ":" in name:
            plug_in = CLAIMS.named(name)
            found[plug_in.id] = plug_in
            continue
        matching = _matching(name.casefold().split())
        if not matching:
            raise unknown("claim", name, CLAIMS)
        found |= matching
    return list(found.values())


def _matching(words: Sequence[str]) -> dict[str, Claim]:
    """The claims whose id these words are, or at whose place in the paper they point: ``p1``, ``lemma``, ``6.6``."""
    paper, id_ = "".join(words[:1]).rstrip(".,:"), ".".join(words)
    place = re.sub(r"(section|sec\.|§) *", "§", re.sub(r"\bfig\b\.?", "figure", " ".join(words[1:])))
    found: dict[str, Claim] = {}
    for key, claim in CLAIMS.items():
        own, places = key.casefold(), claim.statement.place.casefold().split(", ")
        is_there = own.startswith(f"{paper}.") and any(place in (at, at.partition("(")[0]) for at in places)
        if own == id_ or own.startswith(f"{id_}.") or (place and is_there):
            found[key] = claim
    return found


def judge(claim: Claim, quick: bool = True, methods: Mapping[str, Method[Any, Any]] = METHODS) -> LedgerRow:
    """Run one claim in this process, its grids' runs one after the other, with these algorithms."""
    start = time.perf_counter()
    bench = Bench(quick, methods, {name: rows_here(experiment_of(name, quick), methods) for name in claim.grids})
    judgement = _judgement(claim, bench)
    return LedgerRow(claim.id, quick, judgement, time.perf_counter() - start)


def run_claims(
    claims: Sequence[Claim], quick: bool, folder: Path, master: str, start: Callable[[Claim], None]
) -> Iterator[LedgerRow | tuple[Claim, Exception]]:
    """Run claims: first all their grids as one study on Spark, then each claim's judge.

    Runs that `folder` holds are not repeated, nor are judges of the present code; its ``claims.json`` has every row so
    far. `start` receives each claim before it is judged. A claim whose judge raises gives its exception; the others go
    on. Bad input if the folder holds another study.
    """
    versions = {claim.id: version_of_claim(claim) for claim in claims}  # before the runs: code may change meanwhile
    rows = {(row.id, row.version): row for row in rows_in(folder / "claims.json", quick)}
    known = {claim.id: row for claim in claims if (row := rows.get((claim.id, versions[claim.id]))) and row.version}
    waiting = [claim for claim in claims if claim.id not in known]
    grids = {name: experiment_of(name, quick) for claim in waiting for name in claim.grids}
    store = run_grids(list(grids.values()), quick, folder, master)
    for claim in claims:
        start(claim)
        if claim.id in known:
            yield known[claim.id]
            continue
        try:
            began = time.perf_counter()
            bench = Bench(quick, tables={name: rows_of(grids[name], store) for name in claim.grids})
            judgement = _judgement(claim, bench)
        except Exception as error:
            yield claim, error
            continue
        on_grids = sum(float(table["seconds"].sum()) for table in bench.tables.values() if len(table))
        row = LedgerRow(claim.id, quick, judgement, time.perf_counter() - began, on_grids, versions[claim.id])
        keep_rows([row], folder / "claims.json")
        yield row


def version_of_claim(claim: Claim) -> str:
    """A digest of the code that runs and judges a claim.

    It covers the layers below, the module that defines the claim with all that it imports, the data (JSON) beside these
    files, and the text of a claim that is data. A claim of a plug-in has none (""), so that its judge is always
    repeated.
    """
    defining = {home_of(claim)} - {""}
    if claim.module:
        defining = {f"{__package__}.data", f"{__package__}.{claim.module}"}
    return f"{code_version()}-{_digest(frozenset(defining), claim.data)}" if defining else ""


@cache
def _digest(defining: frozenset[str], data: str = "") -> str:
    digest = hashlib.sha256(digest_of(defining).encode() + data.encode())
    for file in closure(defining).values():
        beside = file.with_suffix(".json")
        digest.update(beside.read_bytes() if beside.is_file() else b"")
    return digest.hexdigest()[:12]


def _judgement(claim: Claim, bench: Bench) -> Judgement:
    """The judge's judgement with the runs that it made; ``not decided`` if runs that it needs have failed."""
    try:
        found = claim.judge(bench)
    except RunFailed as failure:
        return Judgement(Verdict.NOT_DECIDED, f"a run failed: {failure}", runs=bench.done)
    return Judgement(**{**vars(found), "runs": found.runs or bench.done})


def rows_in(file: Path, quick: bool | None = None) -> list[LedgerRow]:
    """The rows in a file (none if it is missing), in its order; those of one version if `quick` is given."""
    text = read_text(file) if file.is_file() else "[]"
    try:
        stored = map(LedgerRow.from_dict, json.loads(text))
        return [row for row in stored if quick is None or row.quick == quick]
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"{file}: no verdicts ({type(error).__name__}): give a file that claims has written") from None


def record(file: Path = RECORD) -> dict[str, LedgerRow]:
    """The row of each claim on record: that of the full version where there is one."""
    return {row.id: row for row in sorted(rows_in(file), key=lambda row: not row.quick)}


def keep_rows(rows: Sequence[LedgerRow], file: Path) -> None:
    """Add rows to a file; they replace older ones of the same claim and version."""
    kept = {(row.id, row.quick): row for row in (*rows_in(file), *rows)}
    lines = [_entry(kept[key].to_dict()) for key in sorted(kept, key=str)]
    atomic_write(file, "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n")


def _entry(row: Mapping[str, Any]) -> str:
    """A row as JSON, a line each field and each line of the sensitivity."""
    fields = []
    for name, value in row.items():
        if name in ("sensitivity", "details") and value:
            inner = ",\n".join(f"   {json.dumps(one, ensure_ascii=False)}" for one in value)
            fields.append(f'  "{name}": [\n{inner}\n  ]')
        else:
            fields.append(f'  "{name}": {json.dumps(value, ensure_ascii=False)}')
    return " {\n" + ",\n".join(fields) + "\n }"


def expected_seconds(claims: Sequence[Claim], quick: bool, file: Path = RECORD) -> tuple[dict[str, float], float]:
    """How long each claim's judge takes by the record, and all with the runs of their grids on all cores.

    A claim that is not on record counts as the mean of the others, or as a second. The record is of full versions;
    quick ones take `_QUICK` together, measured with all of them on two cores.
    """
    rows = {row.id: row for row in rows_in(file, False)}
    known = [rows[claim.id] for claim in claims if claim.id in rows]
    usual = sum(row.seconds for row in known) / len(known) if known else 1.0
    judges = {claim.id: rows[claim.id].seconds if claim.id in rows else usual for claim in claims}
    grids = {claim.grids: rows[claim.id].grid_seconds for claim in claims if claim.id in rows}
    start, each = _QUICK
    full = sum(judges.values()) + sum(grids.values()) / len(os.sched_getaffinity(0))
    return judges, start + each * len(claims) if quick else full
