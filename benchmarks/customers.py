"""Greedy Merge, the bound by cost splitting and the overlay along it, by size: seconds, memory, edges (docs/exact.md).

``python -m benchmarks.customers 20000 60000 --seconds 180`` draws customers with channels: log-normal sizes, and
popularity by Zipf's law (exponent 1.05), 100 clusters of interest. Each size is measured in a process of its own. The
seconds are given to everything after Greedy Merge, two thirds of them to the bound.
"""

from __future__ import annotations

import os
import resource

import click
import numpy as np

from benchmarks._usage import apart, timed
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.runtime.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.engine.relaxation import UNIT
from overlaybench.models.topics.lp_heuristics.lp_guided import GuidedIncumbent
from overlaybench.models.topics.relaxation.cost_splitting import split_by_pricing
from overlaybench.models.topics.relaxation.separation import Goal

_TOPICS, _CLUSTERS, _INTERESTS, _MEAN = 5_000, 100, 150, 11.25
_GIB = 2**30


@click.command()
@click.argument("sizes", nargs=-1, type=int)
@click.option("--seconds", default=60.0, show_default=True, help="After Greedy Merge.")
@click.option("--seed", default=1, show_default=True)
def main(sizes: tuple[int, ...], seconds: float, seed: int) -> None:
    """Measure instances of SIZES customers, by default 8,000."""
    print("nodes\trows\tgm\twall s (processor s)\tvalue\t÷ gm\tbound\tgap\twall s (processor s)\trounds\tGiB\tload")
    for nodes in sizes or (8_000,):
        print("\t".join(apart(measured, nodes, seed, seconds)), f"{os.getloadavg()[0]:.1f}", sep="\t", flush=True)


def measured(nodes: int, seed: int, seconds: float) -> list[str]:
    """The cells of a size, without the load; a small instance first, so that kernels are compiled."""
    small = customers(500, seed)
    _along_the_split(small, greedy_merge(small), 1)
    instance = customers(nodes, seed)
    gm, of_gm = timed(greedy_merge, instance)
    (value, bound, rounds), spent = timed(_along_the_split, instance, gm, seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _GIB
    found = [f"{value:,}", f"{value / gm.num_edges:.3f}", f"{bound:,}", f"{1 - bound / value:.1%}", str(spent)]
    of_instance = [f"{nodes:,}", f"{instance.num_subscriptions:,}", f"{gm.num_edges:,}", str(of_gm)]
    return [*of_instance, *found, str(rounds), f"{peak:.1f}"]


def _along_the_split(instance: TopicInstance, start: Overlay, seconds: float) -> tuple[int, int, int]:
    """The edges of the best overlay, the bound, and the rounds."""
    clock = Clock(seconds)
    splitting = split_by_pricing(instance, start, clock.share(2 / 3))
    bound = -(-splitting.units // UNIT)
    incumbent = GuidedIncumbent(instance, Goal(), start, 0)
    incumbent.improve_along(*splitting.used_or_in(start), clock, goal=bound, steps=10_000)
    return int(incumbent.value), bound, splitting.rounds


def customers(nodes: int, seed: int) -> TopicInstance:
    """Subscriptions as a company has them, 11.25 a node before repeated ones are dropped."""
    random = np.random.default_rng(seed)
    sizes = np.clip(np.round(random.lognormal(1.9, 0.85, nodes)), 1, 200)
    sizes = np.maximum(1, np.round(sizes * _MEAN * nodes / sizes.sum())).astype(int)
    popularity = 1 / np.arange(1, _TOPICS + 1) ** 1.05
    interests = np.argsort(random.random((_CLUSTERS, _TOPICS)), axis=1)[:, :_INTERESTS]
    near = 1 / np.arange(1, _INTERESTS + 1) ** 0.8
    cluster = np.repeat(random.integers(0, _CLUSTERS, nodes), sizes)
    own = interests[cluster, random.choice(_INTERESTS, len(cluster), p=near / near.sum())]
    popular = random.choice(_TOPICS, len(cluster), p=popularity / popularity.sum())
    topics = np.where(random.random(len(cluster)) < 0.6, own, popular)
    keys = np.unique(np.repeat(np.arange(nodes), sizes) * _TOPICS + topics)
    _, present = np.unique(keys % _TOPICS, return_inverse=True)
    return TopicInstance(np.searchsorted(keys, np.arange(nodes + 1) * _TOPICS), present.astype(np.int32))


if __name__ == "__main__":
    main()
