"""The theorem and the remarks of Zhao and Wu (P4) on trees as checks, and the sentences that cannot be run here.

:mod:`.p4_model`, :mod:`.p4_mixing`, :mod:`.p4_figures` and :mod:`.p4_costs` have the other claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.content.workloads import relay_star, steiner_overlay
from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.errors import BadInput
from ...instances.contract.result import Status
from ...instances.steiner.files import read_stp
from ...instances.steiner.instance import SteinerInstance
from ..papers.bench import Bench
from ..papers.grids_p4 import METRICS
from .claim import Claim, Finding, NotRun, Scope, Verdict, verdict_of
from .evidence import mean_of, share_of
from .worst_metric import spanning_price, steiner_price, worst_metric

STEINLIB = Path(__file__).parents[3] / "shared" / "data" / "steinlib"
_EXACT_SECONDS = 300.0
_ALL_SETS = 14
_ROUNDING = 1e-9


def steiner_instances(quick: bool) -> Iterator[tuple[str, SteinerInstance]]:
    """SteinLib's graphs of set B that lie beside the checkout, and random graphs of the same law, with names."""
    for file in sorted(STEINLIB.glob("b*.stp")):
        yield f"SteinLib {file.stem}", read_stp(file)
    for seed in range(20 if quick else 500):
        yield _random_graph(seed, nodes=50, edges=63 if seed % 2 else 100, terminals=(9, 13, 25)[seed % 3])


def _random_graph(seed: int, **shape: int) -> tuple[str, SteinerInstance]:
    return f"steiner-sparse {shape} seed {seed}", WORKLOADS["steiner-sparse"].generate(seed=seed, **shape)


def _reduction(bench: Bench) -> Iterable[Finding]:
    for brokers_at, subject in (
        ("all-nodes", "a broker at every node"),
        ("steiner-nodes", "taken literally: brokers at Steiner nodes only"),
    ):
        different, open_, equal = [], 0, 0
        nodes: set[int] = set()
        for name, graph in _small_graphs(bench.quick):
            try:
                overlay = steiner_overlay(graph, brokers_at=brokers_at)
            except BadInput:
                continue  # all nodes are terminals: there is no overlay
            nodes.add(graph.num_nodes)
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
        proven = Verdict.HOLDS if equal and not open_ else Verdict.OPEN
        scope = Scope({"nodes": tuple(sorted(nodes))}, samples=runs, reading=subject)
        yield Finding(subject, Verdict.REFUTED if different else proven, text, runs, scope=scope)

    yield _star_problem(bench)


def _star_problem(bench: Bench) -> Finding:
    """The reduction to the Steiner tree/star problem, which the proof names: terminals are leaves."""
    equal, proven, nodes = 0, 0, set[int]()
    for _, graph in _small_graphs(bench.quick):
        if graph.num_nodes > _ALL_SETS or graph.num_nodes == graph.num_terminals:
            continue
        overlay = steiner_overlay(graph, brokers_at="steiner-nodes")
        found = bench.run("branch-and-cut", overlay, "content-steiner", time_limit=_EXACT_SECONDS)
        if found.status is Status.OPTIMAL and found.value is not None:
            nodes.add(graph.num_nodes)
            proven += 1
            equal += abs(found.value - star_price(overlay)) <= _ROUNDING * found.value
    text = "The proven optimum is the cheapest tree of Steiner nodes with all terminals as leaves on "
    text += f"{equal} of {proven} graphs."
    subject = "brokers at Steiner nodes, the Steiner tree/star problem"
    scope = Scope({"nodes": tuple(sorted(nodes))}, samples=proven, reading="terminals are leaves, as in ref. 13")
    verdict = Verdict.REFUTED if equal < proven else Verdict.HOLDS if proven else Verdict.OPEN
    return Finding(subject, verdict, text, proven, scope=scope)


def star_price(overlay: ContentInstance) -> float:
    """The least price of a tree of some brokers and of each user's link to one of them, over all sets of brokers."""
    brokers = range(overlay.num_brokers)
    sets = (np.array(one, np.int32) for size in brokers for one in combinations(brokers, size + 1))
    return min(spanning_price(overlay.core, one) + float(overlay.access[:, one].min(axis=1).sum()) for one in sets)


def _small_graphs(quick: bool) -> Iterator[tuple[str, SteinerInstance]]:
    """SteinLib's graphs and random graphs of up to 14 nodes."""
    yield from ((name, graph) for name, graph in steiner_instances(quick) if name.startswith("SteinLib"))
    for seed in range(20 if quick else 150):
        yield _random_graph(seed, nodes=8 + seed % 7, edges=14 + seed % 10, terminals=3 + seed % 4)


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
    scope = Scope({"brokers around the hub": tuple(rims)}, samples=1, points=len(rims))
    yield Finding("relay star", verdict_of(not wrong), text, 2 * len(rims), scope=scope)
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
        found = [
            share_of("share of metrics where a relay helps", int(dearer.sum()), draws),
            mean_of("spanning tree ÷ cheapest tree", ratios),
        ]
        scope = Scope({"|B|": (9,), "brokers to connect": (4,), "prices": (metric,)}, samples=draws)
        yield Finding(f"random metrics, {metric}", verdict_of(not dearer.any()), text, draws, (), scope, found)
    for brokers, members in ((4, 3), (5, 4), (6, 4), (7, 5)):
        ratio, core, tried = worst_metric(brokers, members, steps=1500 if bench.quick else 20_000, seed=brokers)
        of_star = 2 * (1 - 1 / members)
        text = (
            f"Among {tried} integer metrics on {brokers} brokers, {members} of them terminals, local search "
            f"found {ratio:.4f} at most; the star has {of_star:.4f}."
        )
        prices = [
            {"broker": b, **{f"to {v}": price for v, price in enumerate(row)}}
            for b, row in enumerate(core.astype(int).tolist())
        ]
        worst = verdict_of(ratio <= of_star + _ROUNDING)
        scope = Scope({"|B|": (brokers,), "brokers to connect": (members,), "prices": ("1 … 10",)}, samples=tried)
        yield Finding(f"no metric on {brokers} brokers is worse than the star", worst, text, tried, prices, scope)


def _approximation(bench: Bench) -> Iterable[Finding]:
    shown, ratios, broken, names, unproven = [], list[float](), [], 0, 0
    terminals, nodes = set[int](), set[int]()
    for name, graph in steiner_instances(bench.quick):
        best = bench.run("branch-and-cut", graph, "steiner", time_limit=_EXACT_SECONDS)
        if best.status is not Status.OPTIMAL or not best.value:
            unproven += 1
            continue
        nodes.add(graph.num_nodes)
        terminals.add(graph.num_terminals)
        ratio = bench.value("mehlhorn", graph, "steiner") / best.value
        bound = 2 * (1 - 1 / graph.num_terminals)
        ratios.append(ratio)
        if ratio > bound + _ROUNDING:
            broken.append(f"{name}: {ratio:.3f} above {bound:.3f}")
        if name.startswith("SteinLib"):
            names += 1
            shown.append(f"{name.removeprefix('SteinLib ')} {ratio:.3f} of {bound:.3f}")
    text = f"Ratio to the proven optimum on {len(ratios)} graphs at most {max(ratios, default=1):.3f}. "
    text += f"{unproven} graphs not proven in {_EXACT_SECONDS:g} s. " if unproven else ""
    text += (
        f"SteinLib B, {shown[0][:3]} to {shown[-1][:3]}, ratio of bound 2(1 − 1/k): {', '.join(shown)}. "
        if shown
        else ""
    )
    text += "; ".join(broken[:3])
    verdict = Verdict.REFUTED if broken else Verdict.HOLDS if names else Verdict.OPEN
    text += "" if names else f"SteinLib's files are not in {STEINLIB.parent.name}/{STEINLIB.name} beside the checkout."
    scope = Scope({"nodes": tuple(sorted(nodes)), "terminals k": tuple(sorted(terminals))}, samples=len(ratios))
    found = [mean_of("ratio to the optimum", ratios)] if ratios else []
    subject = "minimum spanning tree of the metric closure"
    yield Finding(subject, verdict, text.strip(), len(ratios), (), scope, found)
    sizes, grown = (4, 16, 64), []
    for count in sizes:
        users = far_cluster(count)
        costs = [bench.value("steiner-mixing", users, "content-steiner", trees=trees) for trees in ("grown", "closure")]
        grown.append(costs[0] / costs[1])
    text = (
        "k users near a broker far from the publisher's: Algorithm 3, in which users are leaves, connects each of them "
    )
    text += "to the publisher's broker, at "
    text += (
        f"{', '.join(f'{r:.2f} times the cost with k = {k}' for k, r in zip(sizes, grown, strict=True))} of another "
    )
    text += "tree, that of the metric closure."
    scope = Scope({"k": sizes, "|B|": (2,)}, samples=1, points=3, reading="Algorithm 3 as written: users are leaves")
    yield Finding("Algorithm 3", verdict_of(max(grown) <= 2), text, 6, scope=scope)


def far_cluster(count: int) -> ContentInstance:
    """A publisher at broker 0 and `count` subscribers at price 1 of broker 1, at distance 10: straight to broker 0 a
    subscriber pays 10, less than the 11 through broker 1.
    """
    access = np.array([[0.0, 20.0], *([10.0, 1.0] for _ in range(count))])
    first = np.arange(count + 1)[:, None] == 0
    core = np.array([[0.0, 10.0], [10.0, 0.0]])
    return ContentInstance(access, core, np.full(2, np.inf), first.astype(np.float64), ~first)


CLAIMS_P4: tuple[Claim, ...] = (
    Claim("P4.T1", "a Steiner tree problem is an overlay problem of equal optimum", "P4 Theorem 1", _reduction),
    Claim(
        "P4.MST",
        "under the triangle inequality the cheapest multicast tree uses no other broker",
        "P4 §III.A",
        _spanning_trees,
    ),
    Claim(
        "P4.2A",
        "the MST approximation is within 2, even 2(1 − 1/k), of a Steiner tree",
        "P4 §VII, ref. 17",
        _approximation,
    ),
)

NOT_RUN_P4: tuple[NotRun, ...] = (
    NotRun(
        "P4.E.1", "the example's overlays cost 525 and 706", "P4 §III, Fig. 3–5", "the figure with its prices is lost"
    ),
    NotRun("P4.F9.1", "the numbers of Figures 9 and 10", "P4 Fig. 9, 10", "the curves are lost; the text names none"),
    NotRun(
        "P4.TI.1", "the seconds of Table I", "P4 Table I", "seconds of another machine; P4.TI compares their ratios"
    ),
    NotRun("P4.I.1", "linear costs suffice for the Internet", "P4 §I", "a statement on networks, not on the model"),
    NotRun("P4.I.2", "links between clients compromise anonymity", "P4 §I", "the model has no anonymity to measure"),
    NotRun(
        "P4.I.3", "the two-stage algorithms are fairly good", "P4 §I", "no number; P4.F9 has their ratios and bounds"
    ),
    NotRun(
        "P4.S2.3", "a tree of brokers makes routing less complex", "P4 §II.A", "complexity of routing is not defined"
    ),
    NotRun(
        "P4.S2.4",
        "the problem is considerably harder than topic connectivity",
        "P4 §II.A",
        "both are NP-hard, and no measure of harder is given; P4.T1.2 has what capacities add",
    ),
    NotRun("P4.S2.5", "matching dominates the work of a broker", "P4 §II.B", "no messages are matched in the model"),
    NotRun(
        "P4.S2.6",
        "the integer program is too complex to be used",
        "P4 §II.B, §III, §IV",
        "eq. 3 as written admits no overlay, so the program cannot be solved; the exact methods here are others",
    ),
    NotRun("P4.S4.8", "a primal-dual approximation applies directly", "P4 §IV.A", "it is not described"),
    NotRun(
        "P4.S4.9", "false positives do not occur in forwarding", "P4 §IV.A", "forwarding does not use the histograms"
    ),
    NotRun("P4.S5.3", "each user knows some brokers from a central server", "P4 §V", "a choice of the system's design"),
    NotRun("P4.S5.4", "brokers summarise rates to spare the clients", "P4 §V", "no client's load is in the model"),
)
"""The sentences of P4 that state something checkable and that no run here checks."""
