"""Studies with injected faults, compared with undisturbed ones.

``python -m tests.compare.fault_harness TIMES [NAME …]`` injects each fault so often and prints the table of
docs/results.md.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.compare.faults import ON_A_CLUSTER, ON_ONE_MACHINE
from tests.compare.loopback_cluster import Cluster, loopback_cluster
from tests.compare.trial_study import WELL, WITHOUT_TRIAL, Damage, Trial, table

COUNTS = ("faults", "stored_before", "lost", "doubled", "failed", "unexplained", "other")


class FaultHarness:
    """Injects faults, and compares with undisturbed studies, which are run once each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._undisturbed: dict[str, list[dict[str, object]]] = {}
        self._number = 0

    def damage_by(self, name: str, cluster: Cluster | None = None) -> Damage:
        """The damage that a fault does to a study of its own."""
        folder = self._new()
        if cluster is not None:
            trial = Trial(folder, WITHOUT_TRIAL, cluster.master)
            ON_A_CLUSTER[name](trial, cluster)
            return trial.compared(self._without(WITHOUT_TRIAL))
        fault, slow, may_fail = ON_ONE_MACHINE[name]
        trial = Trial(folder, slow)
        fault(trial)
        return trial.compared(self._without(WELL), may_fail=may_fail)

    def _without(self, slow: str) -> list[dict[str, object]]:
        if slow not in self._undisturbed:
            trial = Trial(self._new(), slow)
            trial.finish()
            self._undisturbed[slow] = table(trial.out)
        return self._undisturbed[slow]

    def _new(self) -> Path:
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        return folder


def main() -> None:
    times, names = int(sys.argv[1]), sys.argv[2:] or [*ON_ONE_MACHINE, *ON_A_CLUSTER]
    print("| fault | studies | faults | stored before | lost | doubled | failed | unexplained | other rows |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        harness, cluster = FaultHarness(Path(folder)), None
        for name in names:
            if name in ON_A_CLUSTER and cluster is None:
                cluster = stack.enter_context(loopback_cluster(2))
            try:
                damages = [harness.damage_by(name, cluster if name in ON_A_CLUSTER else None) for _ in range(times)]
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                print(f"| {name} | not done: {type(error).__name__}: {error} |", flush=True)
                continue
            sums = [sum(getattr(each, count) for each in damages) for count in COUNTS]
            print(f"| {name} | {times} | " + " | ".join(map(str, sums)) + " |", flush=True)


if __name__ == "__main__":
    main()
