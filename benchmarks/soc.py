"""The SOC problems of P1 §9: ``python -m benchmarks.soc [--parts exact speed figures] [--figures DIR]``.

``exact``: value, bound and gap of the exact methods in a minute. ``speed``: the heuristics at 10,000 nodes.
``figures``: what filtering and topic diameters trade, exact at 12 nodes and by heuristics at 1,000.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import overlaybench as ob
from overlaybench.heuristics.topics.limits import limits_of
from overlaybench.instances.topics.soc import as_soc
from overlaybench.models.topics.soc_cp_sat import least_degree

EXACT = ("filtering", "filtering=4@edges", "filtering@max-degree=3", "topic-diameter", "topic-diameter=3@max-degree")
FAST = {
    "filtering": ("edge-removal", "edge-insertion"),
    "filtering@max-degree=5": ("edge-removal", "edge-insertion"),
    "filtering=500@edges": ("edge-removal", "edge-insertion"),
    "topic-diameter=2@edges": ("degree-diameter", "layered-oda"),
    "topic-diameter=3@max-degree": ("degree-diameter", "layered-oda"),
    "topic-diameter=4@max-degree": ("degree-diameter", "layered-oda"),
}
Points = list[tuple[float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description="The SOC problems of P1 §9.")
    parser.add_argument("--parts", nargs="+", default=["exact", "speed"], choices=["exact", "speed", "figures"])
    parser.add_argument("--figures", type=Path, default=Path("docs"), help="folder of the figures")
    parser.add_argument("--nodes", nargs="+", type=int, default=[12, 16, 20, 25, 30], help="of the exact part")
    parser.add_argument("--large", type=int, default=10_000, help="nodes of the speed part")
    parser.add_argument("--time-limit", type=float, default=60.0)
    chosen = parser.parse_args()
    if "exact" in chosen.parts:
        exact(chosen.nodes, chosen.time_limit)
    if "speed" in chosen.parts:
        speed(chosen.large)
    if "figures" in chosen.parts:
        draw_filtering(chosen.figures / "filtering.svg", chosen.time_limit)
        draw_diameter(chosen.figures / "topic_diameter.svg", chosen.time_limit)


def exact(sizes: list[int], limit: float) -> None:
    table = Table(
        "nodes", "problem", "status", "value", "bound", "gap", "seconds", title=f"exact methods in {limit:g} s"
    )
    for nodes in sizes:
        instance = ob.generate("zipf", nodes=nodes, topics=nodes // 2, subscriptions=3, seed=1)
        for name in EXACT:
            result = ob.solve(instance, name, time_limit=limit)
            gap = "" if result.gap is None else f"{result.gap:.0%}"
            value, bound = ("" if each is None else f"{each:g}" for each in (result.value, result.lower_bound))
            print(f"{nodes} nodes, {name}: {result}", flush=True)
            table.add_row(str(nodes), name, str(result.status), value, bound, gap, f"{result.seconds:.1f}")
    Console(width=120).print(table)


def speed(nodes: int) -> None:
    table = Table("problem", "method", "status", "value", "edges", "max degree", "seconds", "judged in")
    instance = ob.generate("zipf", nodes=nodes, topics=100, subscriptions=10, seed=1)
    for name, methods in FAST.items():
        for method in methods:
            begin, used = time.perf_counter(), time.process_time()
            result = ob.solve(instance, name, method, time_limit=None)
            judged = time.perf_counter() - begin - result.seconds
            value = "" if result.value is None else f"{result.value:g}"
            sizes = [f"{result.measures.get(key, float('nan')):g}" for key in ("edges", "max_degree")]
            table.add_row(name, method, str(result.status), value, *sizes, f"{result.seconds:.1f}", f"{judged:.1f}")
            print(f"{name} by {method}: {result}, processor {time.process_time() - used:.1f} s", flush=True)
    table.title = f"heuristics at {nodes} nodes, 100 topics, 10 subscriptions a node"
    Console(width=120).print(table)


def draw_filtering(file: Path, limit: float) -> None:
    """Average degree against filtering cost, from a spanning tree to a topic-connected overlay."""
    small = ob.generate("zipf", nodes=12, topics=6, subscriptions=2, seed=1)
    result = ob.solve(small, "filtering@edges", "filtering-cp-sat", time_limit=limit)
    print(f"12 nodes: {result}, front {result.counters['front']}, complete {result.counters['front_complete']}")
    fronts = {"exact": degrees(front_of(result), 12)}
    for method in ("edge-removal", "edge-insertion"):
        fronts[method] = degrees(curve(small, method, range(11, 15)), 12)
    large = ob.generate("zipf", nodes=1000, topics=100, subscriptions=10, seed=1)
    connected = int(ob.solve(large, "min-tco", "gm", time_limit=None).value or 0)
    budgets = range(999, connected + 1, max(1, (connected - 999) // 6))
    curves = {each: degrees(curve(large, each, budgets), 1000) for each in ("edge-removal", "edge-insertion")}
    titles = ("12 nodes, 6 topics", "1,000 nodes, 100 topics")
    _draw(file, titles, (fronts, curves), "average degree", "relays, all topics together")


def draw_diameter(file: Path, limit: float) -> None:
    """Largest topic diameter against the maximum degree."""
    small = ob.generate("zipf", nodes=12, topics=6, subscriptions=2, seed=1)
    methods = ("degree-diameter", "layered-oda")
    fronts = {"diameter-cp-sat": by_diameter(small, "diameter-cp-sat", range(1, 7), limit)}
    fronts |= {method: by_diameter(small, method, range(1, 7), limit) for method in methods}
    large = ob.generate("zipf", nodes=1000, topics=100, subscriptions=10, seed=1)
    curves = {method: by_diameter(large, method, range(2, 9), limit) for method in methods}
    curves["Moore's bound"] = [(float(hops), moore(large, hops)) for hops in range(2, 9)]
    titles = ("12 nodes, 6 topics", "1,000 nodes, 100 topics")
    _draw(file, titles, (fronts, curves), "largest topic diameter allowed", "maximum degree", log=True)


def front_of(result: ob.Result[ob.Overlay]) -> Points:
    points = [point.split("x") for point in str(result.counters["front"]).split()]
    return [(float(edges), float(cost)) for edges, cost in points]


def curve(instance: ob.TopicInstance, method: str, budgets: range) -> Points:
    results = [(edges, ob.solve(instance, f"filtering@edges={edges}", method, time_limit=None)) for edges in budgets]
    return [(float(edges), result.value) for edges, result in results if result.value is not None]


def degrees(points: Points, nodes: int) -> Points:
    return [(2 * edges / nodes, cost) for edges, cost in points]


def by_diameter(instance: ob.TopicInstance, method: str, hops: range, limit: float) -> Points:
    found: Points = []
    for each in hops:
        result = ob.solve(instance, f"topic-diameter={each}@max-degree", method, time_limit=limit)
        print(f"{instance.num_nodes} nodes, at most {each} hops: {result}")
        if result.value is not None:  # an overlay for fewer hops is one for more
            found.append((float(each), min([result.value, *(value for _, value in found)])))
    return found


def moore(instance: ob.TopicInstance, hops: int) -> float:
    limits = limits_of(as_soc(ob.PROBLEMS[f"topic-diameter={hops}@max-degree"]), instance)
    return float(least_degree(instance, limits, average=False))


def _draw(
    file: Path, titles: tuple[str, str], panels: tuple[dict[str, Points], ...], x: str, y: str, *, log: bool = False
) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "overlaybench"  # the same file each time
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, title, lines in zip(axes, titles, panels, strict=True):
        for name, points in lines.items():
            method = ob.METHODS.get(name)
            style = {} if method is None else {"color": method.colour, "marker": method.marker}
            dashed = "--" if name == "Moore's bound" else "-"
            axis.plot(*zip(*points, strict=True), label=name, linestyle=dashed, markersize=5, **style)
        axis.set(title=title, xlabel=x, ylabel=y)
        if log and max(value for points in lines.values() for _, value in points) > 50:
            axis.set_yscale("log")
        axis.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})
    print(f"wrote {file}")


if __name__ == "__main__":
    main()
