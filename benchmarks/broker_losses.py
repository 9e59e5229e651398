"""What P5's system loses against the optimum, and by what: ``python -m benchmarks.broker_losses [--figure FILE]``.

small: 12 brokers, where the fewest messages over all links are proven. The system's messages ÷ the fewest are the
product of three factors on the same network: local knowledge (the system, once links are found ÷ S2 that knows the
traffic), forwarding (S2 ÷ the fewest over its links) and the choice of links by gain (the fewest over these ÷ the
fewest over any). changes: two traces take turns; the shorter their turns, the more the links lag behind. c1: 120
brokers, where the best links of several settings stand for the optimum.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from overlaybench.compare.claims.simulator.outcome import counters, simulate_system
from overlaybench.compare.intervals import Interval, mean_interval
from overlaybench.heuristics.brokers.kernels.forwarding import S2
from overlaybench.heuristics.brokers.kernels.link_management import Management
from overlaybench.heuristics.brokers.soft_links import Scenario, disseminate
from overlaybench.instances.brokers.network import BrokerNetwork
from overlaybench.instances.brokers.predicates import Publications
from overlaybench.instances.brokers.problems import SoftLinks
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.result import Status
from overlaybench.models.brokers.soft_link_model import LEAST_MESSAGES, SOFT_CP_SAT

SMALL = {"tree": "random", "brokers": 12, "subscriptions": 60, "spread": 20, "fanout": 4}
TRACE, REPEATS, PER_REVIEW = 40, 96, 3
TURNS = (16, 8, 4, 2, 1)
_MINUTE = 60_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--parts", nargs="+", choices=("small", "c1"), default=["small", "c1"])
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--figure", type=Path, help="draw the losses by the length of a turn")
    chosen = parser.parse_args()
    console = Console()
    if "small" in chosen.parts:
        rows = [row for seed in range(1, chosen.networks + 1) for row in small(seed)]
        factors = {name: mean_interval(row[name] for row in rows) for name in rows[0]}
        console.print(table(f"{len(rows)} networks with proven optima, factors on messages", factors))
        if chosen.figure:
            draw(factors, chosen.figure)
    if "c1" in chosen.parts:
        found = [c1(seed) for seed in range(1, 4)]
        console.print(table("C1, yields", {name: mean_interval(one[name] for one in found) for name in found[0]}))


def small(seed: int) -> Iterator[dict[str, float]]:
    """The factors of one network, unless an optimum is not proven."""
    both = WORKLOADS["brokers-sparse"].generate(seed=seed, publications=2 * TRACE, **SMALL)
    first, second = (turns(both, ((k, 1),)) for k in (0, 1))
    optima = [SOFT_CP_SAT.run(each, SoftLinks(), time_limit=240) for each in (first, second)]
    if any(one.status is not Status.OPTIMAL for one in optima):
        return
    least, other = (float(one.value or 0) for one in optima)
    s2 = disseminate(first, "s2", Management()).num_messages
    routed = float(LEAST_MESSAGES.run(first, SoftLinks(), strategy="s2").value or 0)
    ideal = first.num_deliveries / least
    steady = system_yields(turns(both, ((0, REPEATS),)))
    mixed = (first.num_deliveries + second.num_deliveries) / (least + other)
    yield {
        "system ÷ optimum": ideal / steady["late"],
        "local knowledge": first.num_deliveries / steady["late"] / s2,
        "forwarding": s2 / routed,
        "choice of links": routed / least,
        "profiling: whole run ÷ once links are found": steady["late"] / steady["all"],
        **{name_of(turn): mixed / system_yields(taking_turns(both, turn))["all"] for turn in TURNS},
    }


def name_of(turn: int) -> str:
    return f"system ÷ optimum, traffic changes every {turn} review{'s' * (turn > 1)}"


def taking_turns(both: BrokerNetwork, reviews: int) -> BrokerNetwork:
    """The two traces in turn, each for some reviews of the links."""
    each = PER_REVIEW * reviews
    return turns(both, tuple((k % 2, each) for k in range(REPEATS // each)))


def turns(both: BrokerNetwork, order: tuple[tuple[int, int], ...]) -> BrokerNetwork:
    """The network with its first or second trace, each some times, in an order; evenly spaced at the same rate."""
    published = both.publications
    rows = np.concatenate([np.tile(np.arange(TRACE) + which * TRACE, times) for which, times in order])
    times = np.arange(len(rows)) * (_MINUTE // 3600)
    return replace(both, publications=Publications(times, published.sources[rows], published.values[rows]))


def system_yields(network: BrokerNetwork) -> dict[str, float]:
    interval = PER_REVIEW * TRACE / 60
    outcome = simulate_system(network, S2, Scenario(interval=interval), Management())
    found = counters(outcome)
    return {"all": float(found["system_yield"]), "late": float(found["system_yield_late"])}


def c1(seed: int) -> dict[str, float]:
    """Yields at 120 brokers: the system once links are found, S2 on the same traffic, and the best of all settings."""
    network = WORKLOADS["brokers-sparse"].generate(seed=seed, publications=2400)
    settings = [
        (strategy, Management(candidates=candidates, window=window))
        for strategy in ("s1", "s2")
        for candidates in (10, 30, 80)
        for window in (1200, 2400)
    ]
    best = min(disseminate(network, *setting).num_messages for setting in settings)
    s2 = disseminate(network, "s2", Management()).num_messages
    outcome = simulate_system(network, S2, Scenario(interval=2.0), Management())
    found = counters(outcome)
    return {
        "system, whole run": float(found["system_yield"]),
        "system, second half": float(found["system_yield_late"]),
        "S2, links chosen on the traffic": network.num_deliveries / s2,
        "best links found": network.num_deliveries / best,
    }


def table(title: str, factors: dict[str, Interval]) -> Table:
    shown = Table("", "mean", "95% interval", title=title)
    for name, one in factors.items():
        shown.add_row(name, f"{one.mean:.3f}", "" if one.n < 2 else f"[{one.low:.3f}, {one.high:.3f}]")
    return shown


_POINT = ["curve", "x", "y", "low", "high"]


def draw(factors: dict[str, Interval], file: Path) -> None:
    """The system's messages ÷ the optimum by the reviews between two changes of the traffic."""
    from overlaybench.compare.figures.curves import Axis, curves

    rows = [("messages ÷ optimum", turn, factors[name_of(turn)]) for turn in TURNS]
    rows += [("traffic that repeats", turn, factors["system ÷ optimum"]) for turn in TURNS]
    points = pd.DataFrame([(curve, x, one.mean, one.low, one.high) for curve, x, one in rows], columns=_POINT)
    points.loc[points["curve"] == "traffic that repeats", ["low", "high"]] = np.nan
    caption = "Messages of the system ÷ the proven optimum, by how fast traffic changes."
    axes = Axis("reviews between changes of traffic", log=True), Axis("messages ÷ optimum")
    drawn = curves(points, *axes, name=file.stem, caption=caption, shaded=False)
    file.write_bytes(drawn.files["svg"])


if __name__ == "__main__":
    main()
