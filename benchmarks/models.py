"""LP bounds of the compact models, and their proofs in a given time: ``python -m benchmarks.models``.

First table: the LP bounds of the two flow formulations of Min-TCO and MinMax-TCO. Second: every problem by every
compact model, one thread, with the seconds to a proven optimum, or value and bound at the limit.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.method import Method
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Result, Status
from overlaybench.instances.topics.files import read_topics
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.workloads import TOPIC_WORKLOADS
from overlaybench.models.topics.compact.overlay_model import FORMULATED
from overlaybench.models.topics.ilp_and_cp_sat import CP_SAT, ILP, relaxation_bound

VARIANTS: dict[str, tuple[Method[Any, Any], dict[str, Any]]] = {
    "ilp highs multi": (ILP, {"solver": "highs", "formulation": "multi"}),
    "ilp highs single": (ILP, {"solver": "highs", "formulation": "single"}),
    "ilp cbc multi": (ILP, {"solver": "cbc", "formulation": "multi"}),
    "ilp cbc single": (ILP, {"solver": "cbc", "formulation": "single"}),
    "cp-sat": (CP_SAT, {}),
}
SIZES = ("12,12,4", "20,20,4", "30,30,6")
LASTFM = Path(__file__).parents[2] / "shared" / "data" / "lastfm" / "user_artists.dat"
LISTENERS = (20, 40)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] if __doc__ else "")
    parser.add_argument("--time-limit", type=float, default=10, help="seconds a run")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), help="nodes,topics,subscriptions of the workloads")
    parser.add_argument("--workloads", nargs="*", default=["uniform", "zipf"], help="laws of the generated instances")
    parser.add_argument("--listeners", nargs="*", type=int, default=list(LISTENERS), help="sizes of Last.fm samples")
    parser.add_argument("--problems", nargs="*", default=list(FORMULATED), choices=FORMULATED, metavar="PROBLEM")
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=VARIANTS, metavar="VARIANT")
    parser.add_argument("--seed", type=int, default=0, help="of the instances")
    chosen = parser.parse_args()
    instances = chosen_instances(chosen.workloads, chosen.sizes, chosen.listeners, chosen.seed)
    console = Console()
    with console.status("") as status:
        flows = Table("instance", "problem", title="LP bound of single- and multi-commodity flows, and seconds")
        for heading in ("single", "s", "multi", "s"):
            flows.add_column(heading, justify="right")
        for name, instance in instances.items():
            for problem in [each for each in ("min-tco", "minmax-tco") if each in chosen.problems]:
                status.update(f"{name}: LP of {problem}")
                flows.add_row(name, problem, *bounds_of_both_formulations(instance, problem))
        console.print(flows)
        proven = Table(
            "instance", "problem", title=f"proven after … s, or value and bound after {chosen.time_limit:g} s"
        )
        for variant in chosen.variants:
            proven.add_column(variant, justify="right")
        for name, instance in instances.items():
            for problem in chosen.problems:
                cells = []
                for variant in chosen.variants:
                    status.update(f"{name}: {problem} by {variant}")
                    method, options = VARIANTS[variant]
                    if problem.startswith("2d-") and options.get("formulation") == "single":
                        cells.append("as multi")
                        continue
                    limit = chosen.time_limit
                    cells.append(described(method.run(instance, PROBLEMS[problem], time_limit=limit, **options)))
                proven.add_row(name, problem, *cells)
            proven.add_section()
    console.print(proven)


def chosen_instances(laws: list[str], sizes: list[str], listeners: list[int], seed: int) -> dict[str, TopicInstance]:
    workloads = {workload.name: workload for workload in TOPIC_WORKLOADS}
    instances = {}
    for law in laws:
        for size in sizes:
            nodes, topics, subscriptions = map(int, size.split(","))
            instances[f"{law} ({size})"] = workloads[law].generate(
                seed=seed, nodes=nodes, topics=topics, subscriptions=subscriptions
            )
    if listeners and LASTFM.exists():
        everyone = read_topics(LASTFM, node_column="userID", topic_column="artistID").instance
        instances |= {f"Last.fm ({count})": everyone.sample(count, seed) for count in listeners}
    return instances


def bounds_of_both_formulations(instance: TopicInstance, problem: str) -> list[str]:
    cells = []
    for formulation in ("single", "multi"):
        begin = time.perf_counter()
        bound = relaxation_bound(instance, problem, formulation=formulation)
        cells += [f"{bound:.2f}", f"{time.perf_counter() - begin:.2f}"]
    return cells


def described(result: Result[Overlay]) -> str:
    if result.status is Status.OPTIMAL:
        return f"{result.value:g}: {result.seconds:.2f} s"
    return f"{result.value:g} ≥ {result.lower_bound:g}" if result.value is not None else result.status


if __name__ == "__main__":
    main()
