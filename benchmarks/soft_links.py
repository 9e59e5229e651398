"""Running times of soft links beside their goals: ``python -m benchmarks.soft_links [--parts …]``.

static: matching, link management and routing of 36,000 publications at 120 brokers. queueing: 720,000 publications
at 72,000 a minute. maps: one link added and one removed in a working map, Δ = 4.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks._usage import Spent, timed
from overlaybench.heuristics.brokers.kernels.forwarding import (
    S0,
    STRATEGIES,
    no_messages,
    route,
    traffic_of,
)
from overlaybench.heuristics.brokers.kernels.link_management import Management, managed_links
from overlaybench.heuristics.brokers.kernels.queueing import Timing, simulate
from overlaybench.heuristics.brokers.kernels.working_map import add_link, remove_link, working_maps
from overlaybench.instances.brokers.network import BrokerNetwork
from overlaybench.instances.contract.arrays import Ids
from overlaybench.instances.contract.catalogue import WORKLOADS

DATA = ("brokers-sparse", "brokers-dense")
NO_LINKS = np.empty((0, 2), dtype=np.int32)


def main() -> None:
    parts: dict[str, Callable[[list[str]], Table]] = {"static": static, "queueing": queueing, "maps": map_updates}
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--parts", nargs="+", choices=parts, default=["static", "maps"], metavar="PART")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), help="workloads of the first two parts")
    chosen = parser.parse_args()
    console = Console()
    for part in chosen.parts:
        console.print(parts[part](chosen.data))


def columns(title: str, *headings: str) -> Table:
    table = Table(headings[0], headings[1], title=title)
    for heading in headings[2:]:
        table.add_column(heading, justify="right")
    return table


def links_for(network: BrokerNetwork, strategy: int) -> Ids:
    return NO_LINKS if strategy == S0 else managed_links(network, strategy, Management())


def static(chosen: list[str]) -> Table:
    table = columns(
        "120 brokers, 36,000 publications; seconds (processor); goal: all four strategies in 5 s",
        *("data", "strategy", "links", "routing", "messages", "M hops/s"),
    )
    for data in chosen:
        network = WORKLOADS[data].generate(seed=1, publications=36_000)
        _, matching = timed(lambda own: own.destinations, network)
        table.add_row(data, "matching", "", f"{matching}", "", "")
        parts = [matching]
        for number, name in enumerate(STRATEGIES):
            links, managing = timed(links_for, network, number)
            maps = working_maps(network.tree, links)
            counts = no_messages(network.tree.uplinks, maps, Management().output_threshold)
            messages, routing = timed(route, traffic_of(network), maps, number, counts)
            parts += [managing, routing]
            speed = f"{len(messages) / routing.processor / 1e6:.2f}"
            table.add_row(data, name, f"{managing}", f"{routing}", f"{len(messages):,}", speed)
        total = Spent(sum(one.clock for one in parts), sum(one.processor for one in parts))
        table.add_row(data, "all, with matching", "", f"{total}", "", "")
    return table


def queueing(chosen: list[str]) -> Table:
    headings = ("data", "strategy", "seconds", "messages", "M hops/s", "delivered in time", "delay ms")
    table = columns(
        "120 brokers, 720,000 publications in 10 minutes, 1 ms a match; seconds (processor); goal: 300",
        *headings,
    )
    for data in chosen:
        network = WORKLOADS[data].generate(seed=1, publications=720_000, rate=72_000)
        _, matching = timed(lambda own: own.destinations, network)
        table.add_row(data, "matching", f"{matching}", "", "", "", "")
        for number, name in enumerate(STRATEGIES):
            links = links_for(network, number)
            timing = Timing(horizon=600_000_000)
            found, spent = timed(simulate, network, number, links, timing)
            share = f"{found.deliveries / network.num_deliveries:.3f}"
            speed = f"{found.messages / spent.processor / 1e6:.2f}"
            table.add_row(data, name, f"{spent}", f"{found.messages:,}", speed, share, f"{found.average_delay:.1f}")
    return table


def map_updates(_: list[str]) -> Table:
    table = columns(
        "one link added or removed; microseconds; goal: median 800", "brokers", "links of the broker", "median", "worst"
    )
    for brokers in (120, 500):
        network = WORKLOADS["brokers-sparse"].generate(seed=1, brokers=brokers, publications=1)
        allowed = network.allowed_links()
        maps = working_maps(network.tree, allowed)
        spent = []
        for u, v in np.random.default_rng(1).permutation(allowed)[:2000].tolist():
            _, removal = timed(remove_link, maps, u, int(maps.slots[u, v]))
            _, addition = timed(add_link, maps, u, v, True)
            spent += [removal.clock, addition.clock]
        most = f"up to {maps.counts.max()}"
        table.add_row(str(brokers), most, f"{statistics.median(spent) * 1e6:.1f}", f"{max(spent) * 1e6:.1f}")
    return table


if __name__ == "__main__":
    main()
