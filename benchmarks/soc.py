"""What filtering and topic diameters trade (P1 §9): ``python -m benchmarks.soc`` draws both figures.

They are those of docs/routing_cost.md: exact at 12 nodes, by heuristics at 1,000.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

import overlaybench as ob
from overlaybench.compare.figures.curves import Axis, curves
from overlaybench.heuristics.limits.limits import limits_of
from overlaybench.instances.limits.soc import as_soc
from overlaybench.models.limits.soc_cp_sat import least_degree

Points = list[tuple[float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--figures", type=Path, default=Path("results"), help="their folder")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of an exact method")
    chosen = parser.parse_args()
    chosen.figures.mkdir(parents=True, exist_ok=True)
    draw_filtering(chosen.figures / "filtering.svg", chosen.time_limit)
    draw_diameter(chosen.figures / "topic_diameter.svg", chosen.time_limit)


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
    found = {each: degrees(curve(large, each, budgets), 1000) for each in ("edge-removal", "edge-insertion")}
    titles = ("12 nodes, 6 topics", "1,000 nodes, 100 topics")
    _draw(file, titles, (fronts, found), Axis("average degree"), Axis("relays, all topics together"))


def draw_diameter(file: Path, limit: float) -> None:
    """Largest topic diameter against the maximum degree."""
    small = ob.generate("zipf", nodes=12, topics=6, subscriptions=2, seed=1)
    methods = ("degree-diameter", "layered-oda")
    fronts = {"diameter-cp-sat": by_diameter(small, "diameter-cp-sat", range(1, 7), limit)}
    fronts |= {method: by_diameter(small, method, range(1, 7), limit) for method in methods}
    large = ob.generate("zipf", nodes=1000, topics=100, subscriptions=10, seed=1)
    found = {method: by_diameter(large, method, range(2, 9), limit) for method in methods}
    found["Moore's bound"] = [(float(hops), moore(large, hops)) for hops in range(2, 9)]
    titles = ("12 nodes, 6 topics", "1,000 nodes, 100 topics")
    axes = Axis("largest topic diameter allowed"), Axis("maximum degree", log=True)
    _draw(file, titles, (fronts, found), *axes)


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


def _draw(file: Path, titles: tuple[str, str], panels: tuple[dict[str, Points], ...], x: Axis, y: Axis) -> None:
    points = [
        (title, name, *point)
        for title, lines in zip(titles, panels, strict=True)
        for name, line in lines.items()
        for point in line
    ]
    table = pd.DataFrame(points, columns=["panel", "curve", "x", "y"])
    file.write_bytes(curves(table, x, y, name=file.stem).files["svg"])
    print(f"wrote {file}")


if __name__ == "__main__":
    main()
