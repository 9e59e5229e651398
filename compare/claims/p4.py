"""The theorem and the remarks of Zhao and Wu (P4) on trees as checks; :mod:`.p4_figures` has figures and table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...instances.catalogue import WORKLOADS
from ...instances.content.constructions import relay_star, steiner_overlay
from ...instances.errors import BadInput
from ...instances.result import Status
from ...instances.steiner.files import read_stp
from ...instances.steiner.instance import SteinerInstance
from ..papers.bench import Bench
from ..papers.grids_p4 import METRICS
from .claim import Claim, Finding, Verdict, verdict_of
from .worst_metric import spanning_price, steiner_price, worst_metric

STEINLIB = Path(__file__).parents[3] / "shared" / "data" / "steinlib"
_EXACT_SECONDS = 60.0
_ROUNDING = 1e-9


def steiner_instances(quick: bool) -> Iterator[tuple[str, SteinerInstance]]:
    """SteinLib's set B, if its files lie beside the checkout, and random graphs of the same law, with names."""
    for file in sorted(STEINLIB.glob("b*.stp")):
        yield f"SteinLib {file.stem}", read_stp(file)
    for seed in range(20 if quick else 100):
        yield _random_graph(seed, nodes=50, edges=63 if seed % 2 else 100, terminals=(9, 13, 25)[seed % 3])


def _random_graph(seed: int, **shape: int) -> tuple[str, SteinerInstance]:
    return f"steiner-sparse {shape} seed {seed}", WORKLOADS["steiner-sparse"].generate(seed=seed, **shape)


def _reduction(bench: Bench) -> Iterable[Finding]:
    for brokers_at, subject in (
        ("all-nodes", "a broker at every node"),
        ("steiner-nodes", "taken literally: brokers at Steiner nodes only"),
    ):
        different, open_, equal = [], 0, 0
        for name, graph in _small_graphs(bench.quick):
            try:
                overlay = steiner_overlay(graph, brokers_at=brokers_at)
            except BadInput:
                continue  # all nodes are terminals: there is no overlay
            tree = bench.run("branch-and-cut", graph, "steiner", time_limit=_EXACT_SECONDS)
            cost = bench.run("branch-and-cut", overlay, "content-steiner", time_limit=_EXACT_SECONDS)
            if Status.OPTIMAL not in (tree.status, cost.status) or tree.status is not cost.status:
                open_ += 1
            elif tree.value != cost.value:
                different.append(f"{name}: tree {tree.value:g}, overlay {cost.value:g}")
            else:
                equal += 1
        runs = equal + len(different) + open_
        text = f"Both optima proven and equal on {equal} of {runs} graphs, their metric closures as prices"
        text += f"; {open_} not proven in {_EXACT_SECONDS:g} s" if open_ else ""
        text += f". They differ on {len(different)}, as on {different[0]}." if different else "."
        proven = Verdict.HOLDS if equal else Verdict.OPEN
        yield Finding(subject, Verdict.REFUTED if different else proven, text, runs)


def _small_graphs(quick: bool) -> Iterator[tuple[str, SteinerInstance]]:
    """SteinLib's graphs and random graphs of up to 14 nodes."""
    yield from ((name, graph) for name, graph in steiner_instances(quick) if name.startswith("SteinLib"))
    for seed in range(20 if quick else 100):
        yield _random_graph(seed, nodes=8 + seed % 7, edges=12 + seed % 10, terminals=3 + seed % 4)


def _spanning_trees(bench: Bench) -> Iterable[Finding]:
    rims = range(3, 7 if bench.quick else 9)
    shown, wrong = [], 0
    for rim in rims:
        star = relay_star(rim=rim)
        without, relayed = (
            bench.value("branch-and-cut", star, problem) for problem in ("content-mst", "content-steiner")
        )
        wrong += relayed < without
        shown.append(f"{without:g} and {relayed:g} at {rim}")
    text = f"Proven least costs without and with relays on a star of k brokers about a hub: {', '.join(shown)}."
    yield Finding("relay star", verdict_of(not wrong), text, 2 * len(rims))
    draws, rng = 200 if bench.quick else 2000, np.random.default_rng(2011)
    for metric in METRICS:
        ratios = []
        for _ in range(draws):
            core = (
                WORKLOADS["content"]
                .generate(seed=int(rng.integers(2**31)), users=1, brokers=9, intervals=1, metric=metric)
                .core
            )
            least = steiner_price(core, 4)
            ratios.append(spanning_price(core, np.arange(4, dtype=np.int32)) / least if least else 1.0)
        dearer = np.array(ratios) > 1 + _ROUNDING
        text = (
            f"Four of nine brokers, prices `{metric}`: the minimum spanning tree of the four costs more than the "
            f"cheapest tree in {dearer.mean():.0%} of {draws} metrics, by a factor of {np.mean(ratios):.3f} on average "
            f"and {max(ratios):.3f} at most."
        )
        yield Finding(f"random metrics, {metric}", verdict_of(not dearer.any()), text, draws)
    for brokers, members in ((4, 3), (5, 4), (6, 4), (7, 5)):
        ratio, core, tried = worst_metric(brokers, members, steps=1500 if bench.quick else 20_000, seed=brokers)
        of_star = 2 * (1 - 1 / members)
        text = (
            f"Among {tried} integer metrics on {brokers} brokers, {members} of them terminals, local search "
            f"found {ratio:.4f} at most; the star has {of_star:.4f}. Prices from broker to broker: "
            f"{core.astype(int).tolist()}."
        )
        worst = verdict_of(ratio <= of_star + _ROUNDING)
        yield Finding(f"no metric on {brokers} brokers is worse than the star", worst, text, tried)


def _approximation(bench: Bench) -> Iterable[Finding]:
    shown, worst, broken, count, names = [], 0.0, [], 0, 0
    for name, graph in steiner_instances(bench.quick):
        best = bench.run("branch-and-cut", graph, "steiner", time_limit=_EXACT_SECONDS)
        if best.status is not Status.OPTIMAL or not best.value:
            continue
        count += 1
        ratio = bench.value("mehlhorn", graph, "steiner") / best.value
        bound = 2 * (1 - 1 / graph.num_terminals)
        worst = max(worst, ratio)
        if ratio > bound + _ROUNDING:
            broken.append(f"{name}: {ratio:.3f} above {bound:.3f}")
        if name.startswith("SteinLib"):
            names += 1
            shown.append(f"{name.removeprefix('SteinLib ')} {ratio:.3f} of {bound:.3f}")
    text = f"Ratio to the proven optimum on {count} graphs at most {worst:.3f}. "
    text += f"SteinLib B, ratio of bound 2(1 − 1/k): {', '.join(shown)}. " if shown else ""
    text += "; ".join(broken[:3])
    verdict = Verdict.REFUTED if broken else Verdict.HOLDS if names else Verdict.OPEN
    text += "" if names else f"SteinLib's files are not in {STEINLIB.parent.name}/{STEINLIB.name} beside the checkout."
    yield Finding("minimum spanning tree of the metric closure", verdict, text.strip(), count)


CLAIMS_P4: tuple[Claim, ...] = (
    Claim("P4.T1", "a Steiner tree problem is an overlay problem of equal optimum", "P4 Theorem 1", _reduction),
    Claim(
        "P4.MST",
        "under the triangle inequality the cheapest multicast tree uses no other broker",
        "P4 §III.A",
        _spanning_trees,
    ),
    Claim("P4.2A", "the MST approximation is within 2(1 − 1/k) of a Steiner tree", "P4 §VII, ref. 9", _approximation),
)
