"""Claims that were stopped go on: what is done is not repeated."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overlaybench.compare.claims import register
from overlaybench.compare.claims.claim import Claim, Finding, Verdict
from overlaybench.compare.claims.register import CLAIMS, outcomes_in, run_claims
from overlaybench.compare.claims.version import version_of_claim
from overlaybench.compare.papers.bench import Bench
from overlaybench.compare.studies.store import Store

WITHOUT_GRID = ("P1.L6.1", "P1.L5.2", "P1.L5.1")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The claims that were judged, in order; the second judge is interrupted once."""
    calls: list[str] = []

    def findings(claim: Claim, bench: Bench) -> tuple[Finding, ...]:
        calls.append(claim.id)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return (Finding("x", Verdict.HOLDS, "", 1),)

    monkeypatch.setattr(register, "_findings", findings)
    return calls


def start(folder: Path) -> list[str]:
    claims = [CLAIMS[id_] for id_ in WITHOUT_GRID]
    return [outcome.id for outcome in run_claims(claims, True, folder, "local[1]", lambda line: None)]


def test_claims_that_were_interrupted_between_judges_repeat_none(tmp_path: Path, judged: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path)
    assert [one.id for one in outcomes_in(tmp_path / "claims.json")] == ["P1.L6.1"]
    assert start(tmp_path) == list(WITHOUT_GRID)
    assert judged == ["P1.L6.1", "P1.L5.2", "P1.L5.2", "P1.L5.1"]
    assert start(tmp_path) == list(WITHOUT_GRID)
    assert len(judged) == 4


def test_a_judge_of_changed_code_is_repeated(
    tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged.append("none is interrupted")
    judged.append("none is interrupted")
    start(tmp_path)
    monkeypatch.setattr(register, "version_of_claim", lambda claim: "other")
    start(tmp_path)
    assert judged[2:] == [*WITHOUT_GRID, *WITHOUT_GRID]


def test_the_version_of_a_claim_is_that_of_its_own_file_and_what_it_imports() -> None:
    lemma, figure, other = (version_of_claim(CLAIMS[id_]) for id_ in ("P1.L6.1", "P1.F2", "P4.MST"))
    assert len({lemma, figure, other}) == 3
    assert lemma == version_of_claim(CLAIMS["P1.L6.1"])
    stranger = Claim("X.1", "anything", "nowhere", lambda bench: ())
    assert version_of_claim(stranger) == ""


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_claims_that_were_killed_during_a_grid_repeat_no_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "overlaybench.compare", "claims", "P5.T2", "--quick", "--out", str(tmp_path)]
    command += ["--master", "local[1]"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(Store(tmp_path).done()) < 3 and first.poll() is None:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    assert first.wait(60) == -signal.SIGKILL
    before = stored(tmp_path)
    subprocess.run(command, check=True, capture_output=True, timeout=800)
    after = stored(tmp_path)
    assert len(after) > len(before) >= 3
    assert {key: after[key] for key in before} == before
    assert [one.id for one in outcomes_in(tmp_path / "claims.json")] == ["P5.T2"]


def stored(folder: Path) -> dict[str, str]:
    """When each stored run was started: a repeated run would have another time."""
    table = Store(folder).table(columns=["key", "started"])
    return dict(zip(table["key"].to_pylist(), table["started"].to_pylist(), strict=True))
