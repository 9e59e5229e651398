"""Searches of this tree and of another one, run by run on instances that no tuning has seen.

    python -m benchmarks.searches [--against ../other/overlaybench] [--methods best polish branch-and-cut]
                                  [--each 10] [--limit 5] [--steps N] [--tuning] [--shapes dense nested]
                                  [--problem steiner]

Both trees get the same instances and seeds, each in a process of its own, the first of the two in turns, so that other
work on the machine slows both alike. Limits are processor seconds. With `--steps` there is no limit but a number of
steps (polish, best): equal code then gives equal answers, whatever the load. For each shape the table has wins, ties
and losses of this tree, and the mean of its relative differences from the other (negative is better) with its 95%
interval (bootstrap over instances) and the p of Wilcoxon's signed-rank test. By proof that mean is geometric.

Parameters of searches are chosen on instances of `TUNING`, with `--tuning`. Those of `HELD_OUT` are for reports alone:
whoever changes a search because of its outcome on one of them moves `HELD_OUT` on to seeds that nobody has used.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import steiner
from overlaybench.compare.studies.paired import paired
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.problem import Problem
from overlaybench.instances.steiner.files import STEINER
from overlaybench.instances.steiner.instance import SteinerInstance
from overlaybench.instances.topics.instance import TopicInstance

HELD_OUT, TUNING = 390_500_000, 390_200_000  # the first seeds of two blocks of 100,000, which no other file uses
ROOT = Path(__file__).resolve().parent.parent
HERE, THERE = "this tree", "the other"
STEPPED = ("polish", "best")  # methods with an option `steps`
LEAST, EQUAL = 0.1, 1.1  # proofs count as at least so many seconds, and are a tie if the quotient is less

Random = np.random.Generator


def drawn(name: str, seed: int, **given: Any) -> TopicInstance:
    instance: TopicInstance = WORKLOADS[name].generate(seed=seed, **given)
    return instance


def dense(random: Random, seed: int) -> TopicInstance:
    law, topics = random.choice(["uniform", "zipf"]), int(random.choice([20, 24]))
    nodes, subscriptions = int(random.integers(36, 51)), int(random.integers(10, 13))
    return drawn(law, seed, nodes=nodes, topics=topics, subscriptions=subscriptions)


def sparse(random: Random, seed: int) -> TopicInstance:
    law = random.choice(["uniform", "zipf", "exponential"])
    nodes, subscriptions = int(random.integers(100, 201)), int(random.integers(6, 11))
    return drawn(law, seed, nodes=nodes, topics=100, subscriptions=subscriptions)


def few_large_topics(random: Random, seed: int) -> TopicInstance:
    law, topics = random.choice(["uniform", "zipf"]), int(random.integers(12, 21))
    return drawn(law, seed, nodes=int(random.integers(120, 201)), topics=topics, subscriptions=int(topics / 3))


def many_small_topics(random: Random, seed: int) -> TopicInstance:
    law, nodes = random.choice(["uniform", "zipf"]), int(random.integers(80, 121))
    return drawn(law, seed, nodes=nodes, topics=4 * nodes, subscriptions=int(random.integers(20, 31)))


def nested(random: Random, seed: int) -> TopicInstance:
    """Topics are the nodes of a random tree; who subscribes to one subscribes to those above it, as to a/b/c."""
    topics = int(random.integers(60, 121))
    above = [0, *(int(random.integers(max(0, t - 12), t)) for t in range(1, topics))]
    wanted = {}
    for v in range(int(random.integers(60, 121))):
        chosen = set[int]()
        for t in random.choice(topics, size=3, replace=False).tolist():
            while t not in chosen:
                chosen.add(t)
                t = above[t]
        wanted[f"n{v}"] = [f"t{t}" for t in chosen]
    return TopicInstance.from_subscriptions(wanted)


def large(random: Random, seed: int) -> TopicInstance:
    """So many nodes that overlays are searched in parts: only by `--shapes large`, with a `--limit` of a minute."""
    law, nodes = random.choice(["uniform", "zipf", "exponential"]), int(random.integers(10_000, 20_001))
    topics = int(random.choice([200, 500, 1000]))
    return drawn(law, seed, nodes=nodes, topics=topics, subscriptions=int(random.integers(3, 9)))


def real(random: Random, seed: int) -> TopicInstance:
    """A sample of real subscriptions, in turn of each source that this machine has."""
    sources = ("lastfm", 50, 90), ("debian-tags", 100, 200), ("disease-genes", 60, 120), ("movielens-sample", 20, 29)
    for k in range(len(sources)):
        name, least, most = sources[(seed + k) % len(sources)]
        try:
            return drawn(name, seed, nodes=int(random.integers(least, most)))
        except BadInput as error:
            print(error, file=sys.stderr)
    raise BadInput("shape 'real': this machine has none of the data: leave the shape out")


MAKERS: tuple[Callable[[Random, int], TopicInstance], ...]
MAKERS = (dense, sparse, few_large_topics, many_small_topics, nested, real)
OF_TOPICS = ("min-tco", "minmax-tco", "2d-true")
SHAPES: dict[str, dict[str, Callable[[Random, int], Any]]]
SHAPES = {
    problem: {maker.__name__.replace("_", " "): maker for maker in makers}
    for problem, makers in (*((each, MAKERS) for each in OF_TOPICS), ("steiner", steiner.MAKERS))
}
SHAPES["min-tco"]["large"] = large
METHODS = {problem: ["polish", "best", "branch-and-cut"] for problem in OF_TOPICS}
METHODS["steiner"] = ["branch-and-cut", "shortest-paths"]


def instance_of(problem: str, shape: str, number: int, *, tuning: bool) -> Any:
    seed = (TUNING if tuning else HELD_OUT) + 10_000 * list(SHAPES[problem]).index(shape) + number
    return SHAPES[problem][shape](np.random.default_rng(seed), seed)


def write(instance: TopicInstance | SteinerInstance, folder: Path) -> Path:
    """Write it to a file; topics with labels whose order every tree takes for the order of nodes."""
    if isinstance(instance, SteinerInstance):
        STEINER.write(instance, file := folder / "instance.stp")
        return file
    rows = np.split(instance.node_topics, instance.node_offsets[1:-1])
    wanted = {f"n{v:06d}": [f"t{t:06d}" for t in row.tolist()] for v, row in enumerate(rows)}
    (file := folder / "instance.json").write_text(json.dumps({"format": "topics/1", "subscriptions": wanted}))
    return file


class Tree:
    """A process that runs the methods of a tree, and ends with this one."""

    def __init__(self, root: Path, folder: Path, name: str) -> None:
        command = tomllib.loads((root / "pyproject.toml").read_text())["project"]["scripts"]["overlaybench"]
        package = command.split(":")[0].rpartition("compare")[0].rstrip(".")
        path = root.parent if package else root
        if package and root.name != package.split(".")[0]:  # the folder of a checkout may have any name
            (path := folder / name).mkdir()
            (path / package.split(".")[0]).symlink_to(root, target_is_directory=True)
        environment = {**os.environ, "PYTHONPATH": str(path)}
        worker = [sys.executable, "-P", str(Path(__file__).with_name("_tree_worker.py")), package]
        self._process = subprocess.Popen(
            worker, env=environment, cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, **run: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(run), file=self._process.stdin, flush=True)
        if not (line := self._process.stdout.readline()):
            sys.exit(f"the process of a tree ended at {run}")
        result: dict[str, Any] = json.loads(line)
        return result


def judged(problem: Problem[Any, Any], instance: Any, result: dict[str, Any]) -> dict[str, Any]:
    """The result without its edges, which this tree's problem has checked."""
    edges = result.pop("edges")
    assert edges is not None, result["reason"]
    overlay = Overlay.from_edges(instance.num_nodes, np.array(edges, np.int32).reshape(-1, 2))
    assert not problem.violations(instance, overlay)
    assert problem.value(instance, overlay) == result["value"]
    assert (result["lower_bound"] or 0) <= result["value"]
    return result


def measure(trees: dict[str, Tree], asked: argparse.Namespace, folder: Path) -> pd.DataFrame:
    """A row for each run."""
    rows, turn, problem = [], 0, PROBLEMS[asked.problem]
    for number in range(asked.first, asked.first + asked.each):
        for shape in asked.shapes:
            instance = instance_of(asked.problem, shape, number, tuning=asked.tuning)
            file = write(instance, folder)
            for method in asked.methods:
                options = {"steps": asked.steps} if asked.steps else {}
                given = {"limit": None if asked.steps else asked.limit, "options": options, "seed": asked.seed}
                turn += 1
                for name in (HERE, THERE) if turn % 2 else (THERE, HERE):
                    asked_for = {"kind": problem.kind, "problem": problem.name, "method": method, **given}
                    result = judged(problem, instance, trees[name].run(file=str(file), **asked_for))
                    row = {"shape": shape, "number": number, "run": method, "tree": name, **result}
                    rows.append(row)
                    print(json.dumps({**row, "load": os.getloadavg()[0]}), file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def difference(runs: pd.DataFrame, column: str) -> str:
    """The cells of one comparison: wins, ties, losses, mean difference of a column with its interval, and p."""
    names = dict.fromkeys(("label", "variant", "method"), runs["tree"])
    instance = runs["shape"] + runs["number"].astype(str)
    known = runs.assign(problem="", status="feasible", instance=instance, ratio=runs[column], **names)
    found = paired(known, [HERE, THERE], "").table.iloc[0]
    numbers = found[["mean", "mean_low", "mean_high"]].to_numpy(float)
    mean, low, high = (f"{number:+.2%}" for number in (np.expm1(numbers) if column == "proof" else numbers))
    interval = f" [{low}, {high}]" if len(runs) > 2 else ""
    counts = " | ".join(str(found[name]) for name in ("instances", "wins", "ties", "losses"))
    return f"{counts} | {mean}{interval} | {found['p']:.2g}"


def compared(runs: pd.DataFrame, limit: float) -> list[str]:
    """The rows of the table: by value, by bound, and by seconds to the proof, `limit` without one."""
    keys = ["shape", "number", "run"]
    there = runs[keys].merge(runs[runs["tree"] == THERE], on=keys)
    bound, bound_there = (each["lower_bound"].astype(float) for each in (runs, there))
    seconds, seconds_there = (each["seconds"].where(each["optimal"], limit).clip(lower=LEAST) for each in (runs, there))
    apart = np.log(seconds / seconds_there)
    runs = runs.assign(
        value=runs["value"] / there["value"],
        bound=-(bound / bound_there),
        proof=np.where(np.abs(apart) < np.log(EQUAL), 0.0, apart),
    )
    lines = []
    for method, own in runs.groupby("run", sort=False):
        for column in ("value", "bound", "proof"):
            if own[column].notna().all() and (column != "proof" or own["optimal"].any()):
                parts = [(shape, own[own["shape"] == shape]) for shape in dict.fromkeys(own["shape"])]
                lines += [f"| {method} | {column} | {shape} | {difference(part, column)} |" for shape, part in parts]
                lines.append(f"| {method} | {column} | **all** | {difference(own, column)} |")
    return lines


def checked_out(revision: str, folder: Path) -> Path:
    """The tree of a path, or a clone at a commit of this checkout."""
    if Path(revision, "pyproject.toml").exists():
        return Path(revision).resolve()
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "checkout", "--quiet", revision], check=True)
    return clone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", default="HEAD", help="the folder of another checkout, or a commit of this one")
    parser.add_argument("--problem", default="min-tco", choices=SHAPES)
    parser.add_argument("--methods", nargs="+", help="by default all that search")
    parser.add_argument(
        "--shapes", nargs="+", choices=[*SHAPES["min-tco"], *SHAPES["steiner"]], help="by default all but large"
    )
    parser.add_argument("--each", type=int, default=2, help="instances of each shape")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--limit", type=float, default=2.0, help="processor seconds of a run")
    parser.add_argument("--steps", type=int, default=0, help="steps of a run, in place of a limit")
    parser.add_argument("--seed", type=int, default=0, help="of the methods")
    parser.add_argument("--tuning", action="store_true", help="instances of the block for tuning")
    asked = parser.parse_args()
    asked.methods = asked.methods or METHODS[asked.problem]
    asked.shapes = asked.shapes or [shape for shape in SHAPES[asked.problem] if shape != "large"]
    if asked.against == "HEAD" and not (ROOT / ".git").exists():
        parser.exit(message="no commit to compare with: name a folder by --against\n")
    if asked.steps and (unlimited := set(asked.methods) - set(STEPPED)):
        parser.error(f"--steps: {', '.join(unlimited)} has no number of steps: name --methods {' '.join(STEPPED)}")
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as temporary:
        folder, load, begin = Path(temporary), os.getloadavg()[0], time.time()
        roots = {HERE: ROOT, THERE: checked_out(asked.against, folder)}
        runs = measure({name: Tree(root, folder, name) for name, root in roots.items()}, asked, folder)
    size = f"{asked.steps:,} steps" if asked.steps else f"{asked.limit:g} processor seconds"
    spent = f"load {load:.1f} to {os.getloadavg()[0]:.1f}, {(time.time() - begin) / 60:.0f} minutes"
    print(f"{size} a run, {spent}\n")
    print("| method | by | shape | instances | wins | ties | losses | mean difference | p |")
    print(f"|{' --- |' * 9}")
    print("\n".join(compared(runs, asked.limit)))


if __name__ == "__main__":
    main()
