"""What proofs cost (docs/proofs.md): ``python -m benchmarks.proofs [--rows 0,3] [--seeds 2] [--repeats 1]``.

Every run has a process of its own. Seconds are of the processor, the least of the repeats, which alternate between runs
with and without a proof; memory is the process's largest. One thread.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._usage import apart
from benchmarks.heuristics import LASTFM, instance_of
from overlaybench.compare.catalogue import METHODS, kind_named
from overlaybench.compare.studies.proofs import run_checker
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.topics.instance import TopicInstance


@dataclass(frozen=True)
class Row:
    name: str
    problem: str
    make: Callable[[int], Any]
    seeds: int = 1
    method: str = "branch-and-cut"


class Run(NamedTuple):
    status: str
    value: float | None
    bound: float | None
    nodes: float
    seconds: float
    megabytes: float


def workload(law: str, nodes: int, topics: int, size: int) -> Callable[[int], TopicInstance]:
    return lambda seed: WORKLOADS[law].generate(nodes=nodes, topics=topics, subscriptions=size, seed=seed)


def lastfm(size: int) -> Callable[[int], TopicInstance]:
    return lambda seed: instance_of("lastfm").sample(size, seed)


def rows() -> list[Row]:
    """The larger trees come last."""

    def steiner(seed: int) -> Any:
        return WORKLOADS["steiner-sparse"].generate(nodes=160, edges=400, terminals=40, seed=seed)

    def content(seed: int) -> Any:
        return WORKLOADS["content"].generate(users=14, brokers=5, intervals=4, seed=seed)

    uniform, zipf = (workload(law, 100, 100, 10) for law in ("uniform", "zipf"))
    dense = workload("uniform", 26, 26, 13)
    table = [
        Row("uniform (100, 100, 10)", "min-tco", uniform, 5),
        Row("zipf (100, 100, 10)", "min-tco", zipf, 5),
        Row("uniform (26, 26, 13)", "min-tco", dense, 2),
        Row("uniform (12, 9, 4)", "2d-true", workload("uniform", 12, 9, 4), 2),
        Row("uniform (30, 20, 4)", "2d-star", workload("uniform", 30, 20, 4), 2),
        Row("uniform (24, 24, 4)", "minmax-tco", workload("uniform", 24, 24, 4), 2),
        Row("uniform (24, 24, 4)", "low-tco", workload("uniform", 24, 24, 4), 2),
        Row("steiner-sparse (160, 400, 40)", "steiner", steiner, 2),
        Row("content (14, 5, 4)", "content-steiner", content, 2),
        Row("uniform (1000, 100, 10)", "min-tco", workload("uniform", 1000, 100, 10), 1, "lp-bound"),
    ]
    return table + ([Row("Last.fm, 60 listeners", "min-tco", lastfm(60), 3)] if LASTFM.exists() else [])


def solved(number: int, seed: int, limit: float, proof: Path | None) -> Run:
    row = rows()[number]
    given = {} if proof is None else {"proof": proof}
    start = time.process_time()
    result = METHODS[row.method].run(row.make(seed), PROBLEMS[row.problem], seed=seed, time_limit=limit, **given)
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    nodes = float(result.counters.get("nodes", 0))
    return Run(str(result.status), result.value, result.lower_bound, nodes, seconds, memory)


def checked(number: int, seed: int, proof: Path) -> tuple[str, float]:
    """What the checker says, and its seconds."""
    row = rows()[number]
    kind = kind_named(PROBLEMS[row.problem].kind)
    file = proof.with_name(f"instance{kind.proof_endings[0]}")
    kind.write(row.make(seed), file)
    sentence = run_checker(file, proof).sentence
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sentence.partition(";")[0], used.ru_utime + used.ru_stime


def measure(number: int, seed: int, repeats: int, limit: float, folder: Path) -> str:
    row, proof = rows()[number], folder / "proof.gz"
    runs = [[apart(solved, number, seed, limit, file) for file in (None, proof)] for _ in range(repeats)]
    without, written = (min(each, key=lambda run: run.seconds) for each in zip(*runs, strict=True))
    sentence, seconds = apart(checked, number, seed, proof)
    same = "" if without[:4] == written[:4] else f" (without a proof {without[:4]})"
    more = written.seconds / without.seconds - 1
    size = proof.stat().st_size / 1000
    return (
        f"| {row.name}, seed {seed} | {row.problem} | {written.nodes:g}{same} | {without.seconds:.1f} | "
        f"{written.seconds:.1f} | {more:+.0%} | {written.megabytes - without.megabytes:+.0f} | {size:.0f} | "
        f"{seconds:.1f} | {sentence} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="", help="numbers from 0, with commas; all by default")
    parser.add_argument("--seeds", type=int, default=5, help="at most so many of each row")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600, help="seconds a run")
    asked = parser.parse_args()
    print("| instance | problem | nodes of the tree | s | with proof, s | | MB more | kB | check, s | verdict |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for number, row in enumerate(rows()):
        if asked.rows and str(number) not in asked.rows.split(","):
            continue
        for seed in range(min(row.seeds, asked.seeds)):
            with tempfile.TemporaryDirectory() as folder:
                print(measure(number, seed, asked.repeats, asked.limit, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
