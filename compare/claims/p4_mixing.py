"""What Zhao and Wu (P4) say of channels, of Steiner-tree mixing (§IV) and of user migration (§IV.C, §V), as checks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from ...heuristics.content.migration import migrate
from ...heuristics.content.migration_protocol import simulate_migration
from ...heuristics.content.random_assignment import random_assignment
from ...heuristics.content.steiner_mixing import traffic_on_closure_trees, traffic_on_grown_trees
from ...instances.content.instance import ContentInstance, Floats
from ...instances.content.problems import ContentOverlay
from ...instances.content.workloads import intersected_cells
from ...instances.contract.arrays import Ids
from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.result import Status
from ..catalogue import problem_named
from ..papers.bench import Bench
from ..papers.grids_p4 import METRICS, ROUTINGS
from .claim import Claim, Finding, Scope, Verdict, verdict_of
from .evidence import above, all_of, at_most, mean_of, share_of
from .p4_figures import CLOSURE, GROWN, spelled
from .p4_model import cheapest_links, networks, scope_of_networks

_EXACT_SECONDS, _MATCH = 60.0, 0.01
_PROVEN = 2e-6
"""Two optima, each within a relative 10⁻⁶, differ by more than this only if they are different."""


def cost_of(instance: ContentInstance, brokers: Ids) -> float:
    """The cost of an assignment under ``content-mst``."""
    return problem_named("content-mst").value(instance, ContentOverlay(brokers))


def _histograms(bench: Bench) -> Iterable[Finding]:
    rng, draws = np.random.default_rng(6), 2000 if bench.quick else 20_000
    for dimensions in (1, 2):
        lost = extra = 0
        for _ in range(draws // 100):
            low, high = np.sort(rng.random((2, dimensions, 1)), axis=0)
            cells = [intersected_cells(low[d], high[d], 10)[0] for d in range(dimensions)]
            points = rng.random((100, dimensions))
            wanted = ((low[:, 0] <= points) & (points <= high[:, 0])).all(axis=1)
            sent = np.all([cells[d][(points[:, d] * 10).astype(int)] for d in range(dimensions)], axis=0)
            lost, extra = lost + int((wanted & ~sent).sum()), extra + int((sent & ~wanted).sum())
        text = f"Of {draws} messages and subscriptions on 10 intervals a dimension, {lost} are wanted and not in the "
        text += f"intervals, {extra} in the intervals and not wanted."
        scope = Scope({"dimensions": (dimensions,), "|C|": (10**dimensions,)}, samples=draws)
        yield Finding(f"no message is lost, {dimensions}-dimensional", verdict_of(not lost), text, draws, scope=scope)
    seeds, worse, proven, ratios = 4 if bench.quick else 20, 0, 0, []
    shape = {"users": 5, "brokers": 3, "slack": 1e6}
    for seed, law in product(range(seeds), METRICS):
        fine, coarse = (
            WORKLOADS["content"].generate(seed=seed, metric=law, **shape, **cells)
            for cells in ({"cells": "exact"}, {"cells": "equal", "intervals": 2})
        )
        best, rough = (
            bench.run("branch-and-cut", one, "content-mst", time_limit=_EXACT_SECONDS) for one in (fine, coarse)
        )
        if best.status is rough.status is Status.OPTIMAL and best.value and rough.answer is not None:
            proven += 1
            ratios.append(cost_of(fine, rough.answer.brokers) / best.value)
            worse += ratios[-1] > 1 + _PROVEN
    share = share_of("share of networks where the optimum on 2 intervals is not optimal", worse, max(proven, 1))
    text = (
        f"The proven optimum for 2 intervals costs more than that for exact cells on {worse} of {proven} networks, by "
    )
    text += f"up to {max(ratios, default=1) - 1:.2%}."
    scope = Scope({"|U|": (5,), "|B|": (3,), "|C|": (2,), "prices": METRICS}, samples=seeds, points=3)
    verdict = Verdict.HOLDS if worse else Verdict.OPEN if proven < 30 else Verdict.REFUTED
    yield Finding("false positives make results worse", verdict, text, proven, (), scope, [share])


def _channels(bench: Bench) -> Iterable[Finding]:
    draws, shape = 5 if bench.quick else 40, {"users": 60, "brokers": 12, "intervals": 8}
    different = formula = 0
    for _, instance in networks(draws, **shape):
        brokers = random_assignment(instance, seed=draws)
        whole = cost_of(instance, brokers)
        parts = sum(cost_of(_channel(instance, c), brokers) for c in range(instance.num_channels))
        different += abs(whole - parts) > 1e-9 * whole
        access = problem_named("content-mst").measures(instance, ContentOverlay(brokers))["access"]
        formula += abs(access - access_by_formula(instance, brokers)) > 1e-9 * access
    scope = scope_of_networks(draws, shape)
    text = (
        f"The cost is the sum of those of its channels, each alone, on {3 * draws - different} of {3 * draws} networks."
    )
    yield Finding("the costs of channels add up", verdict_of(not different), text, 3 * draws, scope=scope)
    text = (
        f"The paper's sum over publishers and subscribers is the access cost on {3 * draws - formula} of {3 * draws}."
    )
    yield Finding("the access cost of §IV.A", verdict_of(not formula), text, 3 * draws, scope=scope)


def _channel(instance: ContentInstance, channel: int) -> ContentInstance:
    own = [channel]
    rates, subscriptions = instance.rates[:, own], instance.subscriptions[:, own]
    return ContentInstance(instance.access, instance.core, instance.capacities, rates, subscriptions)


def access_by_formula(instance: ContentInstance, brokers: Ids) -> float:
    """The access cost as §IV.A writes it: what each user sends, and what each other user receives of it."""
    price = instance.access[np.arange(len(brokers)), brokers]
    total = 0.0
    for c in range(instance.num_channels):
        rates, wanted = instance.rates[:, c], instance.subscriptions[:, c]
        total += float(rates @ price) + float(rates.sum() * price[wanted].sum() - (rates * price)[wanted].sum())
    return total


def trees_traffic(trees: str, instance: ContentInstance) -> Floats:
    """The traffic of phase 1 on each link between user and broker."""
    traffic: Floats = (traffic_on_grown_trees if trees == GROWN else traffic_on_closure_trees)(instance)
    return traffic


def _brokers_of_a_user(bench: Bench) -> Iterable[Finding]:
    draws = 5 if bench.quick else 20
    for trees in (CLOSURE, GROWN):
        most: dict[int, int] = {}
        several: list[float] = []
        for channels in (1, 2, 4, 8):
            shape = {"users": 200, "brokers": 20, "intervals": channels}
            counts = [(trees_traffic(trees, one) > 0).sum(axis=1) for _, one in networks(draws, **shape)]
            most[channels] = max(int(each.max()) for each in counts)
            several = [float((each > 1).mean()) for each in counts]
        text = "The most brokers of a user in the trees of phase 1: "
        text += f"{', '.join(f'{count} with {channels} channels' for channels, count in most.items())}."
        scope = scope_of_networks(draws, {"users": 200, "brokers": 20}, trees)
        held = all(count <= channels for channels, count in most.items())
        yield Finding(f"at most T brokers, {trees}", verdict_of(held), text, 12 * draws, scope=scope)
        hits = sum(each > 0 for each in several)
        share = share_of(f"share of networks with a user on several brokers, {channels} channels", hits, len(several))
        text = f"With {channels} channels some user is on several brokers on {hits} of {len(several)} networks, "
        text += f"{np.mean(several):.1%} of the users on average."
        likely = scope_of_networks(draws, shape, f"{trees}; likely is on more than half of the networks")
        yield Finding(f"assignments conflict, {trees}", above(share, 0.5), text, 3 * draws, (), likely, [share])


def _one_tree_for_all(bench: Bench) -> Iterable[Finding]:
    rings, dearer, shown = (3, 4), 0, []
    for count in rings:
        costs = [bench.value("branch-and-cut", ring_of_pairs(count), one) for one in ROUTINGS]
        dearer += costs[2] > costs[0]
        shown.append(f"{costs[2]:g} with one tree, {costs[0]:g} with a tree for each message at k = {count}")
    text = (
        "k brokers at distance 1 from each other with a user each, who publishes to the next one. Proven least costs: "
    )
    text += f"{'; '.join(shown)}."
    scope = Scope({"k": rings}, samples=1, points=2, reading="one spanning tree of all brokers (eq. 7, 8)")
    yield Finding("pairs of users", verdict_of(not dearer), text, 3 * len(rings), scope=scope)
    draws, shape = 2 if bench.quick else 20, {"users": 1, "brokers": 5, "intervals": 1}
    cycles = 0
    for _, instance in networks(draws, **shape):
        links = cheapest_links(instance.core, 4)
        cycles += len(links) != len({v for link in links for v in link}) - 1
    text = "The cheapest links that connect four of five brokers, found among all sets of links, have a cycle on "
    text += f"{cycles} of {len(METRICS) * draws} networks: without one of its links a cycle connects as much for less."
    scope = scope_of_networks(draws, shape, "a tree for each publisher and channel")
    yield Finding("a tree for each message", verdict_of(not cycles), text, len(METRICS) * draws, scope=scope)


def ring_of_pairs(count: int) -> ContentInstance:
    """Brokers at distance 1 from each other; each one's user pays 0 to it, 10 to others, and publishes a unit to the
    next one's user.
    """
    apart, own = 1.0 - np.eye(count), np.eye(count)
    return ContentInstance(10 * apart, apart, np.full(count, np.inf), own, np.roll(own, 1, axis=0) > 0)


def _unwanted(bench: Bench) -> Iterable[Finding]:
    draws = 4 if bench.quick else 20
    shape = {"users": 6, "brokers": 3, "intervals": 12, "width": 0.2, "slack": 1e6}
    cheaper = moved = proven = 0
    for _, instance in networks(draws, **shape):
        wanted = np.where(instance.subscriptions.any(axis=0), instance.rates, 0.0)
        pruned = ContentInstance(instance.access, instance.core, instance.capacities, wanted, instance.subscriptions)
        whole, part = (
            bench.run("branch-and-cut", one, "content-mst", time_limit=_EXACT_SECONDS) for one in (instance, pruned)
        )
        if whole.status is part.status is Status.OPTIMAL and whole.value and part.answer is not None:
            proven += 1
            cheaper += (part.value or 0.0) < whole.value * (1 - _PROVEN)
            moved += cost_of(instance, part.answer.brokers) > whole.value * (1 + _PROVEN)
    scope = scope_of_networks(draws, shape, "the results are the assignment of users and its cost")
    for subject, count, shown in (
        ("the least cost", cheaper, "is lower without them"),
        ("the best assignment", moved, "without them is not the best one with them"),
    ):
        text = (
            f"Without the messages that nobody wants {subject} {shown}: on {count} of {proven} networks, both proven."
        )
        verdict = Verdict.REFUTED if count else Verdict.HOLDS if proven else Verdict.OPEN
        share = share_of(f"share of networks where {subject} differs", count, max(proven, 1))
        yield Finding(f"{subject} stays the same", verdict, text, proven, (), scope, [share])


def _best_connection(bench: Bench) -> Iterable[Finding]:
    draws, shape = 2 if bench.quick else 10, {"users": 60, "brokers": 8, "intervals": 6}
    wrong = moves = 0
    for seed, (_, instance) in enumerate(networks(draws, **shape)):
        brokers = random_assignment(instance, seed=seed)
        for request in migrate(instance, brokers, "mst", heaviest=1).requests:
            costs = [_moved_cost(instance, brokers, request.user, b) for b in range(instance.num_brokers)]
            moves += 1
            wrong += costs[request.foreign] > min(costs) * (1 + 1e-9) or costs[request.foreign] >= cost_of(
                instance, brokers
            )
            brokers[request.user] = request.foreign
    text = f"{moves - wrong} of {moves} moves go to the broker of least total cost within the capacities, found by "
    text += "evaluating every broker anew, and lower the cost."
    scope = scope_of_networks(draws, shape, "a broker moves its heaviest user")
    yield Finding("enumeration finds the best broker", verdict_of(not wrong and moves > 0), text, moves, scope=scope)
    apart = sum(_needs_rates(seed) for seed in range(20 if bench.quick else 200))
    pairs = 20 if bench.quick else 200
    text = "Two networks agree in all prices, subscriptions and brokers of users and differ in rates only: the best "
    text += f"broker of the same user differs in {apart} of {pairs} pairs."
    scope = Scope({"|U|": (8,), "|B|": (3,)}, samples=pairs, reading="only what §IV.C lists: subscriptions and prices")
    yield Finding("subscriptions and prices suffice", verdict_of(not apart), text, pairs, scope=scope)


def _moved_cost(instance: ContentInstance, brokers: Ids, user: int, broker: int) -> float:
    """The cost with one user on another broker; infinite above its capacity."""
    moved = brokers.copy()
    moved[user] = broker
    loads = np.bincount(moved, weights=instance.demands, minlength=instance.num_brokers)
    return np.inf if loads[broker] > instance.load_limits()[broker] else cost_of(instance, moved)


def _needs_rates(seed: int) -> bool:
    """Whether the best broker of user 0 differs between two networks that differ in rates only."""
    one = WORKLOADS["content"].generate(seed=seed, users=8, brokers=3, intervals=4, slack=1e6, access_to_core=0.1)
    rates = np.random.default_rng(seed).permutation(one.rates)
    other = ContentInstance(one.access, one.core, one.capacities, rates, one.subscriptions)
    brokers = random_assignment(one, seed=seed)
    best = [int(np.argmin([_moved_cost(each, brokers, 0, b) for b in range(3)])) for each in (one, other)]
    return best[0] != best[1]


def _distributed(bench: Bench) -> Iterable[Finding]:
    draws, shape = 4 if bench.quick else 20, {"users": 500, "brokers": 10, "intervals": 20}
    centralised: tuple[tuple[str, dict[str, str]], ...] = ((CLOSURE, {}), (GROWN, {"trees": "grown"}))
    ratios: dict[tuple[int, str, str], list[float]] = {}
    for seed, (law, instance) in enumerate(networks(draws, **shape)):
        costs = {
            name: bench.value("steiner-mixing", instance, "content-mst", seed=seed, **o) for name, o in centralised
        }
        for heaviest in (1, 0):
            start = {"start": "random-assignment", "heaviest": heaviest, "publications": 0}
            cost = bench.value("migration", instance, "content-mst", seed=seed, **start)
            for name, value in costs.items():
                ratios.setdefault((heaviest, name, law), []).append(cost / value)
    for heaviest, step in ((1, "its heaviest user"), (0, "each of its users")):
        for name in costs:
            found = [
                mean_of(f"migration ÷ {name}, prices {law}", ratios[heaviest, name, law], together=len(METRICS))
                for law in METRICS
            ]
            text = f"Cost after migration from random assignment ÷ that of {name}: {spelled(found)} for prices "
            text += f"{', '.join(METRICS)}."
            reading = f"a broker tries {step} in each sweep; a match is within {_MATCH:.0%} on average"
            scope = scope_of_networks(draws, shape, reading)
            verdict = all_of(at_most(one, 1 + _MATCH) for one in found)
            subject = f"moving {step} matches {name}"
            yield Finding(subject, verdict, text, 9 * draws, (), scope, found)


def _protocol(bench: Bench) -> Iterable[Finding]:
    draws, shape = 2 if bench.quick else 10, {"users": 60, "brokers": 6, "intervals": 8}
    lost = {1.0: 0, 0.0: 0}
    delivered = 0
    for seed, (_, instance) in enumerate(networks(draws, **shape)):
        before = random_assignment(instance, seed=seed)
        moves = migrate(instance, before, "mst").requests
        for forwarding in lost:
            counts = simulate_migration(instance, before, moves, publications=500, seed=seed, forwarding=forwarding)
            lost[forwarding] += counts.lost
            delivered += counts.delivered if forwarding else 0
    scope = scope_of_networks(draws, shape, "the price of a link is also its delay")
    text = f"Of {delivered + lost[1.0]} deliveries while users move, {lost[1.0]} are lost if the home broker "
    text += f"forwards until no message can still be on its way, {lost[0.0]} if it does not forward."
    yield Finding("with forwarding no message is lost", verdict_of(not lost[1.0]), text, 3 * draws, scope=scope)
    yield Finding("forwarding is needed", verdict_of(lost[0.0] > 0), text, 3 * draws, scope=scope)


def _declines(bench: Bench) -> Iterable[Finding]:
    draws, shape = 3 if bench.quick else 20, {"users": 200, "brokers": 8, "intervals": 10}
    start = {"start": "random-assignment"}
    for decline in (0.0, 0.5, 1.0):
        ratios = []
        for seed, (_, instance) in enumerate(networks(draws, **shape)):
            before = bench.value("random-assignment", instance, "content-mst", seed=seed)
            given = {**start, "decline": decline, "publications": 0}
            ratios.append(bench.value("migration", instance, "content-mst", seed=seed, **given) / before)
        found = mean_of(f"cost after migration ÷ before, {decline:.0%} decline", ratios)
        text = (
            f"If {decline:.0%} of the users decline, the cost after migration is {spelled([found])} of that before, at "
        )
        text += f"most {max(ratios):.3f}."
        scope = scope_of_networks(draws, shape, "trivially: a user moves only if that lowers the cost")
        held = verdict_of(max(ratios) <= 1 + 1e-9)
        yield Finding(f"no higher cost if {decline:.0%} decline", held, text, 6 * draws, (), scope, [found])


CLAIMS_P4_MIXING: tuple[Claim, ...] = (
    Claim("P4.S4.1", "histograms lose no message; false positives cost something", "P4 §IV.A", _histograms),
    Claim("P4.S4.2", "the costs of channels add up to the whole", "P4 §IV.A, eq. 6", _channels),
    Claim(
        "P4.S4.3",
        "assignments conflict: a user is on several brokers, at most T, in the trees of T channels",
        "P4 §IV.B",
        _brokers_of_a_user,
    ),
    Claim("P4.S4.4", "flows are placed on spanning trees of brokers", "P4 §IV.B", _one_tree_for_all),
    Claim("P4.S4.5", "messages that nobody wants can be removed without effect", "P4 §IV.B", _unwanted),
    Claim("P4.S4.6", "a broker finds a user's best broker from subscriptions and prices", "P4 §IV.C", _best_connection),
    Claim(
        "P4.S4.7", "migration carries the centralised algorithm out in a distributed way", "P4 §I, §IV.C", _distributed
    ),
    Claim("P4.S5.1", "the home broker must forward for some time, and then no message is lost", "P4 §V", _protocol),
    Claim("P4.S5.2", "users may decline to move", "P4 §V", _declines),
)
