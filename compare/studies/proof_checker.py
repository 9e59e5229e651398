"""The checker of proofs, run as a process of its own, and what it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ...instances.contract.run import die_with_parent

FORMATS = {"topics": (".csv", ".tsv", ".json"), "content": (".json",), "steiner": (".stp",)}
"""The suffixes of the instance files that the checker reads, by kind."""

_CHECKER = Path(__file__).resolve().parents[2] / "models" / "checker" / "check_proof.py"
_NUMBER = r"(-?[\d.]+(?:e[-+]?\d+)?|inf)"
_OPTIMAL = re.compile(rf"proven: (\S+) {_NUMBER} is optimal$")
_AT_LEAST = re.compile(rf"proven: (\S+) is at least {_NUMBER}; the proof has (?:no answer|an answer of {_NUMBER})$")


@dataclass(frozen=True)
class CheckedProof:
    """What the checker says of a proof.

    Attributes
    ----------
    sentence : str
        The line that it prints, or why there is none.
    accepted : bool
        Whether the proof is right; the next ones are None and False otherwise.
    problem : str or None
    lower_bound : float or None
    value : float or None
        Of the answer in the proof, if there is one.
    optimal : bool
        Whether this value is proven to be optimal.
    """

    sentence: str
    accepted: bool = False
    problem: str | None = None
    lower_bound: float | None = None
    value: float | None = None
    optimal: bool = False


def run_checker(instance: Path, proof: Path, seconds: float | None = None) -> CheckedProof:
    """Check a proof by another process, which imports nothing of this package and has `seconds` for it.

    Parameters
    ----------
    instance : path
        With a suffix of :data:`FORMATS`.
    """
    words = [sys.executable, str(_CHECKER), str(instance), str(proof)]
    try:
        ended = subprocess.run(
            words, capture_output=True, text=True, timeout=seconds, preexec_fn=die_with_parent, check=False
        )
    except subprocess.TimeoutExpired:
        return CheckedProof(f"not checked: the checker had no verdict after {seconds:g} s")
    lines = (ended.stdout.strip() or ended.stderr.strip()).splitlines()
    sentence = lines[-1].replace(f"{proof}: ", "", 1) if lines else f"not checked: exit status {ended.returncode}"
    if ended.returncode != 0:
        return CheckedProof(sentence)
    if found := _OPTIMAL.match(sentence):
        return CheckedProof(sentence, True, found[1], float(found[2]), float(found[2]), True)
    if found := _AT_LEAST.match(sentence):
        value = None if found[3] is None else float(found[3])
        return CheckedProof(sentence, True, found[1], float(found[2]), value)
    return CheckedProof(f"not checked: {sentence}")
