"""What link costs and fault tolerance trade: ``python -m benchmarks.trades [weighted] [faults] [--docs FOLDER]``.

``weighted``: edges against cost on 100 nodes. Local search minimises the cost with a constant added to that of every
edge; the larger the constant, the fewer the edges. Beside the curve are the heuristics. ``faults``: the share of the
topics whose remaining subscribers stay connected, against the share of nodes that leave at random. Each prints a
table in Markdown, and with ``--docs`` writes a figure there.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.figures.curves import Axis, curves
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.link_costs import LinkCosts

LAWS = ("plane", "transit-stub")
ADDED = (0, 30, 100, 300, 1000, 3000, 10_000)
HEURISTICS = (("gm", "min-tco"), ("weighted-gm", "weighted-tco"), ("mst-per-topic", "weighted-tco"))
OVERLAYS = (
    ("polish", "min-tco"),
    ("gm", "min-tco"),
    ("polish", "k-tco"),
    ("gm2", "k-tco"),
    ("harary-per-topic", "k-tco"),
)
SHARES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", default=["weighted", "faults"])
    parser.add_argument("--docs", type=Path, help="write the figures here")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--steps", type=int, default=30_000, help="of local search")
    parser.add_argument("--draws", type=int, default=200, help="of the nodes that leave")
    chosen = parser.parse_args()
    if "weighted" in chosen.parts:
        weighted(chosen.nodes, chosen.steps, chosen.docs)
    if "faults" in chosen.parts:
        faults(chosen.nodes, chosen.steps, chosen.draws, chosen.docs)


def answer(method: str, problem: str, instance: TopicInstance, steps: int) -> Overlay:
    options = {"steps": steps} if method == "polish" else {}
    result = METHODS[method].run(instance, PROBLEMS[problem], seed=1, **options)
    assert isinstance(result.answer, Overlay), result.reason
    return result.answer


def cost(instance: TopicInstance, overlay: Overlay) -> int:
    return int(instance.edge_costs(overlay.edges[:, 0], overlay.edges[:, 1]).sum())


def dearer(instance: TopicInstance, added: int) -> TopicInstance:
    """The instance with a constant added to the cost of every edge."""
    n = instance.num_nodes
    table = instance.edge_costs(*np.divmod(np.arange(n * n), n)).reshape(n, n) + added
    return instance.with_costs(LinkCosts.given(table))


def weighted(nodes: int, steps: int, docs: Path | None) -> None:
    print("| workload | overlay | edges | cost |\n| --- | --- | --- | --- |")
    points = []
    for law in LAWS:
        instance = WORKLOADS[law].generate(seed=1, nodes=nodes, topics=nodes, subscriptions=10)
        for added in ADDED:
            overlay = answer("polish", "weighted-tco", dearer(instance, added), steps)
            points.append((law, "polish by cost", overlay.num_edges, cost(instance, overlay)))
            print(f"| {law} | polish, each edge dearer by {added} | {points[-1][2]} | {points[-1][3]} |")
        for name, problem in HEURISTICS:
            overlay = answer(name, problem, instance, steps)
            points.append((law, name, overlay.num_edges, cost(instance, overlay)))
            print(f"| {law} | {name} | {overlay.num_edges} | {cost(instance, overlay)} |")
    if docs is not None:
        table = pd.DataFrame(points, columns=["panel", "curve", "x", "y"])
        drawn = curves(table, Axis("edges"), Axis("cost"), name="weighted", caption="Edges against cost.")
        (docs / "weighted.svg").write_bytes(drawn.files["svg"])


def faults(nodes: int, steps: int, draws: int, docs: Path | None) -> None:
    print("| overlay | problem | edges |", *(f"{share:.0%} leave |" for share in SHARES))
    print("| --- " * (len(SHARES) + 3) + "|")
    instance = WORKLOADS["uniform"].generate(seed=1, nodes=nodes, topics=nodes, subscriptions=10)
    points = []
    for name, problem in OVERLAYS:
        overlay = answer(name, problem, instance, steps)
        survive = [survivors(instance, overlay, share, draws) for share in SHARES]
        print(f"| {name} | {problem} | {overlay.num_edges} |", *(f"{100 * mean:.1f}% |" for mean in survive))
        both = zip(SHARES, survive, strict=True)
        points += [(f"{name}, {problem}", 100 * share, 100 * mean) for share, mean in both]
    if docs is not None:
        table = pd.DataFrame(points, columns=["curve", "x", "y"])
        axes = Axis("nodes that leave (%)"), Axis("topics still connected (%)")
        drawn = curves(table, *axes, name="fault_tolerance", caption="Topics that survive.")
        (docs / "fault_tolerance.svg").write_bytes(drawn.files["svg"])


def survivors(instance: TopicInstance, overlay: Overlay, share: float, draws: int) -> float:
    """The mean share of the topics whose remaining subscribers are connected among themselves."""
    random, count = np.random.default_rng(7), round(share * instance.num_nodes)
    shares = []
    for _ in range(draws if count else 1):
        stays: npt.NDArray[np.bool_] = np.ones(instance.num_nodes, np.bool_)
        stays[random.choice(instance.num_nodes, count, replace=False)] = False
        left = instance.induced(np.flatnonzero(stays))
        number = np.cumsum(stays) - 1
        edges = overlay.edges[stays[overlay.edges].all(axis=1)]
        shares.append(float((Overlay.from_edges(left.num_nodes, number[edges]).topic_components(left) == 1).mean()))
    return statistics.mean(shares)


if __name__ == "__main__":
    main()
