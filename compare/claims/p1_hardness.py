"""The hardness of Min-TCO (Chockler et al., P1, §5, §7 and Appendix A): its reductions, built and solved both ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result, Status
from ...instances.topics.constructions import (
    SetCover,
    duplicated_instance,
    random_set_cover,
    repeated_instance,
    single_node_instance,
)
from ...instances.topics.instance import TopicInstance
from ...models.topics.enumeration import minimum_set_cover, smallest_degree_of
from ..papers.bench import LAWS, Bench, grid
from .claim import Claim, Finding, Scope, Verdict, verdict_of

_EDGES = "|E| = k, and as edges can be added, |E| ≤ k decides it"
_OVERLAY_SECONDS = 3.0


def _counted(
    subject: str, statement: str, wrong: list[str], runs: int, scope: Scope, otherwise: Verdict = Verdict.REFUTED
) -> Finding:
    """A finding on a statement that is to hold on every instance; `wrong` names those on which it does not."""
    text = f"{statement}: on {runs - len(wrong)} of {runs}." + (f" Not on {'; '.join(wrong[:3])}." if wrong else "")
    return Finding(subject, verdict_of(not wrong, otherwise), text, runs, scope=scope)


def _covers(
    number: int, elements: tuple[int, int], sets: tuple[int, int], shares: tuple[float, ...] = (0.15, 0.3, 0.5)
) -> Iterator[tuple[int, SetCover]]:
    """Random set covers of every combination of sizes in turn, sparse and dense."""
    for seed in range(number):
        many = elements[0] + seed % (elements[1] - elements[0] + 1)
        groups = sets[0] + seed // 2 % (sets[1] - sets[0] + 1)
        yield seed, random_set_cover(many, groups, shares[seed % len(shares)], seed)


def _scope(number: int, elements: tuple[int, int], sets: tuple[int, int], reading: str = "") -> Scope:
    return Scope({"elements": elements, "sets": sets}, samples=number, reading=reading)


def _single_node(bench: Bench) -> Iterable[Finding]:
    number, elements, sets = (60 if bench.quick else 400), (4, 9), (3, 7)
    wrong = []
    for seed, cover in _covers(number, elements, sets):
        degree, _ = smallest_degree_of(single_node_instance(cover), len(cover.sets))
        if degree != (least := len(minimum_set_cover(cover))):
            wrong.append(f"seed {seed}: degree {degree}, cover {least}")
    scope = _scope(number, elements, sets)
    text = "The smallest degree of v is the size of the smallest cover, each found apart (all neighbourhoods; CP-SAT)"
    yield _counted("SN-TCO", text, wrong, number, scope)
    yield from _reverse(bench)


def _reverse(bench: Bench) -> Iterable[Finding]:
    """The remark after the proof: SN-TCO reduces to set cover, and d ≤ 2 is decided in polynomial time."""
    number = 5 if bench.quick else 40
    wrong, small, runs = [], [], 0
    for law in LAWS:
        for recipe in grid("", law, number, nodes=10, topics=8, subscriptions=3):
            instance = recipe.make()
            for node in range(0, 10, 3):
                runs += 1
                degree, _ = smallest_degree_of(instance, node)
                cover = _cover_of(instance, node)
                least = len(minimum_set_cover(cover)) if cover.elements else 0
                if degree != least:
                    wrong.append(f"{recipe.to_json()} node {node}: degree {degree}, cover {least}")
                if (degree <= 2) != _at_most_two(instance, node):
                    small.append(f"{recipe.to_json()} node {node}")
    scope = Scope({"law": LAWS, "|V|": (10,), "|T|": (8,), "|T_v|": (3,)}, samples=number, points=len(LAWS))
    text = "The smallest degree of a node is that of the set cover of its topics by its neighbours' interests"
    yield _counted("set cover from SN-TCO", text, wrong, runs, scope)
    text = "Degree d ≤ 2 is decided by the |V|² pairs of neighbours"
    yield _counted("d ≤ 2 in polynomial time", text, small, runs, scope)


def _cover_of(instance: TopicInstance, node: int) -> SetCover:
    """A node's topics that others have too, covered by the interests of the others."""
    sizes = np.diff(instance.topic_offsets)
    shared = {t: k for k, t in enumerate(t for t in instance.topics_of(node).tolist() if sizes[t] > 1)}
    others = (set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes) if v != node)
    return SetCover(len(shared), tuple(frozenset(shared[t] for t in one if t in shared) for one in others
                                       if shared.keys() & one))  # fmt: skip


def _at_most_two(instance: TopicInstance, node: int) -> bool:
    cover = _cover_of(instance, node)
    return not cover.elements or any(
        cover.covered_by(chosen) for size in (1, 2) for chosen in combinations(range(len(cover.sets)), size)
    )


def _duplicated(bench: Bench) -> Iterable[Finding]:
    degrees, edges, number = list[str](), list[str](), 20 if bench.quick else 150
    elements, sets, above_three = (5, 8), (3, 5), 0
    for seed, cover in _covers(number, elements, sets, (0.1, 0.3)):
        single = single_node_instance(cover)
        degree, _ = smallest_degree_of(single, len(cover.sets))
        above_three += degree > 3
        instance = duplicated_instance(single, len(cover.sets))
        smallest = bench.run("branch-and-cut", instance, "minmax-tco")
        fewest = bench.run("branch-and-cut", instance, "min-tco")
        if smallest.status is not Status.OPTIMAL or max(3, degree) != max(3, int(smallest.value or 0)):
            degrees.append(f"seed {seed}: v needs {degree}, the smallest maximum degree is {smallest.value}")
        if fewest.value is not None and fewest.value > max(3, degree):
            edges.append(f"seed {seed}: v needs degree {degree}, yet {fewest.value:g} edges are needed")
    reading = "TCO bounds every degree, as the proof of Lemma 5.1 does"
    text = (
        "For every d ≥ 3, SN-TCO(d) exactly if the duplicated instance has an overlay of maximum degree ≤ d, both "
        f"solved to proven optimality ({above_three} need d > 3)"
    )
    scope = _scope(number, elements, sets, reading)
    yield _counted("reduction to maximum degree", text, degrees, number, scope)
    reading = f"TCO fixes the number of edges, as Definition 4.2 does: {_EDGES}"
    text = "With d' = d the duplicated instance has an overlay of at most d edges exactly if SN-TCO(d)"
    scope = _scope(number, elements, sets, reading)
    yield _counted("reduction to TCO as defined (|E| ≤ k)", text, edges, number, scope)


def _np_hard(bench: Bench) -> Iterable[Finding]:
    """Theorem 5.3 in spite of Lemma 5.1's slip: Lemma 7.1's instance decides set cover by its number of edges."""
    number, elements, sets = (10 if bench.quick else 60), (4, 6), (3, 4)
    wrong = []
    for seed, cover in _covers(number, elements, sets):
        clique = len(cover.sets) * (len(cover.sets) - 1) // 2
        copies = clique + 1
        result = bench.run("branch-and-cut", repeated_instance(cover, copies), "min-tco")
        least = len(minimum_set_cover(cover))
        decided = None if result.status is not Status.OPTIMAL else int(result.value or 0) // copies
        if decided != least:
            wrong.append(f"seed {seed}: {result.value} edges, {copies} copies, smallest cover {least}")
    text = (
        "With m = |S|(|S| − 1)/2 + 1 copies in Lemma 7.1's instance, a cover of k sets exists exactly if k·m + m − 1 "
        "edges suffice: the proven optimum ÷ m, rounded down, is the smallest cover"
    )
    reading = f"TCO as defined: {_EDGES}; the reduction is ours, because Lemma 5.1's does not bound |E|"
    yield _counted("set cover ≤p TCO as defined", text, wrong, number, _scope(number, elements, sets, reading))


def _repeated(bench: Bench) -> Iterable[Finding]:
    number, elements, sets = (12 if bench.quick else 90), (4, 7), (3, 5)
    no_cover, misprinted, too_large, no_overlay, checked = list[str](), list[str](), list[str](), list[str](), 0
    factors = list[str]()
    for seed, cover in _covers(number, elements, sets):
        copies = len(cover.sets) ** 2
        best = minimum_set_cover(cover)
        for name, result in _overlays(bench, repeated_instance(cover, copies), seed):
            if (overlay := result.answer) is None:
                continue
            checked += 1
            chosen = _chosen(cover, copies, overlay)
            least = min(map(len, chosen))
            if not all(cover.covered_by(one) for one in chosen):
                no_cover.append(f"seed {seed} {name}")
            if least > overlay.num_edges / copies:
                too_large.append(f"seed {seed} {name}")
            if least / copies > overlay.num_edges:
                misprinted.append(f"seed {seed} {name}")
            if least > 2 * overlay.num_edges / (len(best) * copies + len(cover.sets) ** 2) * len(best):
                factors.append(f"seed {seed} {name}")
        links = [(s, len(cover.sets) + i) for s in best for i in range(copies)]
        links += [(s, other) for s in range(len(cover.sets)) for other in range(s)]
        built = Overlay.from_edges(len(cover.sets) + copies, links)
        connected = (built.topic_components(repeated_instance(cover, copies)) == 1).all()
        if not connected or built.num_edges > len(best) * copies + len(cover.sets) ** 2:
            no_overlay.append(f"seed {seed}")
    scope = Scope(_scope(number, elements, sets).sizes, samples=number, ties=("lowest", "highest", "random"))
    yield _counted("m set covers", "The neighbours of each vm_i are a set cover (m = |S|²)", no_cover, checked, scope)
    said = Scope(scope.sizes, samples=number, ties=scope.ties, reading="|C_i| ≤ |E|/m, as the sum before it gives")
    yield _counted("one of size ≤ |E|/m", "The smallest has at most |E|/m sets", too_large, checked, said)
    said = Scope(scope.sizes, samples=number, ties=scope.ties, reading="|C_i|/m ≤ |E| as printed, which says far less")
    text = "The smallest has at most m|E| sets"
    yield _counted("one with |C_i|/m ≤ |E|, as printed", text, misprinted, checked, said)
    text = "S_opt from a model that proves it: |S_opt|·m + |S|² links make every topic connected"
    yield _counted("upper bound", text, no_overlay, number, _scope(number, elements, sets))
    text = "An overlay within a factor c of |S_opt|m + |S|² gives a cover within 2c of the smallest"
    yield _counted("constant factors carry over", text, factors, checked, scope)


def _overlays(bench: Bench, instance: TopicInstance, seed: int) -> Iterator[tuple[str, Result[Overlay]]]:
    for ties in ("lowest", "highest", "random"):
        yield f"gm, ties {ties}", bench.run("gm", instance, ties=ties, seed=seed)
    for name in ("gm-m", "ring-per-topic"):
        yield name, bench.run(name, instance, seed=seed)
    # Any overlay will do, and copies of one node make a proof long.
    yield "branch-and-cut", bench.run("branch-and-cut", instance, seed=seed, time_limit=_OVERLAY_SECONDS)


def _chosen(cover: SetCover, copies: int, overlay: Overlay) -> list[list[int]]:
    """The sets linked to each of the nodes vm_1, …, vm_m."""
    sets, edges = len(cover.sets), overlay.edges.tolist()
    return [[u for u, v in edges if v == sets + i and u < sets] for i in range(copies)]


CLAIMS_P1_HARDNESS: tuple[Claim, ...] = (
    Claim("P1.L5.2", "SN-TCO ⇔ set cover; d ≤ 2 is easy", "P1 Lemma 5.2, Appendix A", _single_node),
    Claim("P1.L5.1", "SN-TCO ≤p TCO", "P1 Lemma 5.1, Appendix A", _duplicated),
    Claim("P1.T5.3", "TCO as defined is NP-hard", "P1 Theorem 5.3", _np_hard),
    Claim("P1.L7.1", "an overlay holds m set covers, one of size ≤ |E|/m", "P1 Lemma 7.1", _repeated),
)
