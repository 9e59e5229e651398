"""What P4 says of channels and Steiner-tree mixing (§IV), of migration and known brokers (§IV.C, §V), as checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from ...heuristics.content.assignment import assign_in_order, random_assignment
from ...heuristics.content.migration import migrate, simulate_migration
from ...heuristics.content.steiner_mixing import traffic_on_closure_trees, traffic_on_grown_trees
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay
from ...instances.content.workloads import contained_cells, exact_cells, intersected_cells
from ...instances.contract.arrays import Ids, Reals
from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.result import Status
from ..intervals import mean_interval, share_interval
from .bench import Bench
from .claim import RISES, CaseTally, Judgement, Line, Verdict, at_most, claim, depends_on, exact, judged
from .p4 import METRICS, PROVEN, assignment_cost, mst_overlay, networks, over_laws, part_of_cost, solved, under_laws

_ROUNDING, _MATCH = 1e-9, 0.01


@claim("P4.S4.1")
def HISTOGRAMS(bench: Bench) -> Judgement:
    """Messages and subscriptions on cells; the optimum on 2 cells against that on exact cells, both proven."""
    rng, lost = np.random.default_rng(6), CaseTally()
    for dimensions, _ in product((1, 2), range(20 if bench.quick else 200)):
        low, high = np.sort(rng.random((2, dimensions, 1)), axis=0)
        cells = [intersected_cells(low[d], high[d], 10)[0] for d in range(dimensions)]
        points = rng.random((100, dimensions))
        wanted = ((low[:, 0] <= points) & (points <= high[:, 0])).all(axis=1)
        sent = np.all([cells[d][(points[:, d] * 10).astype(int)] for d in range(dimensions)], axis=0)
        lost.add(not (wanted & ~sent).any(), f"a wanted message outside the cells of {low.ravel()} to {high.ravel()}")
    if lost.failed:
        return lost.judgement()

    def worse(law: str) -> Judgement:
        found: list[bool] = []
        for seed in range(10 if bench.quick else 40):
            shape: dict[str, Any] = {"seed": seed, "metric": law, "users": 5, "brokers": 3, "slack": 1e6}
            fine = WORKLOADS["content"].generate(**shape, cells="exact")
            rough = WORKLOADS["content"].generate(**shape, cells="equal", intervals=2)
            best, coarse = (solved(bench, one) for one in (fine, rough))
            if best.status is coarse.status is Status.OPTIMAL and best.value and coarse.answer is not None:
                found.append(assignment_cost(fine, coarse.answer.brokers) > best.value * (1 + PROVEN))
        return judged(share_interval(sum(found), len(found)), RISES) if found else Judgement(Verdict.NOT_DECIDED)

    return over_laws(worse)


@claim("P4.S4.2")
def CHANNELS_ADD_UP(bench: Bench) -> Judgement:
    """The sums over channels and over publishers and subscribers; subscribers of a cell want the same messages."""
    tally = CaseTally()
    for law in METRICS:
        for seed, one in enumerate(networks(law, 3 if bench.quick else 20, users=60, brokers=12, intervals=8)):
            brokers = random_assignment(one, seed=seed)
            whole = assignment_cost(one, brokers)
            parts = sum(assignment_cost(_channel(one, c), brokers) for c in range(one.num_channels))
            tally.add(abs(whole - parts) <= _ROUNDING * whole, f"{law} {seed}: {whole:g}, channels {parts:g}")
            access, printed = part_of_cost("access", one, ContentOverlay(brokers)), access_by_formula(one, brokers)
            tally.add(abs(access - printed) <= _ROUNDING * access, f"{law} {seed}: access {access:g}, sum {printed:g}")
    overlapping, mixed, rng, draws = 0, 0, np.random.default_rng(7), 20 if bench.quick else 200
    for _ in range(draws):
        low, high = np.sort(rng.random((30, 2)), axis=1).T
        overlapping += bool(((low[:, None] < high) & (low < high[:, None])).sum() > 30)
        ends = exact_cells(low, high)
        members = contained_cells(low, high, ends)
        for cell, (left, right) in enumerate(pairwise(ends.tolist())):
            points = rng.uniform(left, right, 5)
            mixed += bool(((low[:, None] < points) & (points < high[:, None]) != members[:, cell, None]).any())
    lines = [
        Line.of("draws in which groups of equal subscriptions overlap (§III.A as printed)",
                share_interval(overlapping, draws), not overlapping),
        Line.of("cells between the ends of subscriptions with different subscribers", exact(mixed, draws), not mixed),
    ]  # fmt: skip
    return tally.judgement(tally.share, sensitivity=lines)


def _channel(instance: ContentInstance, channel: int) -> ContentInstance:
    return replace(instance, rates=instance.rates[:, [channel]], subscriptions=instance.subscriptions[:, [channel]])


def access_by_formula(instance: ContentInstance, brokers: Ids) -> float:
    """The access cost as §IV.A writes it: what each user sends, and what each other user receives of it."""
    price = instance.access[np.arange(len(brokers)), brokers]
    total = 0.0
    for c in range(instance.num_channels):
        rates, wanted = instance.rates[:, c], instance.subscriptions[:, c]
        total += float(rates @ price) + float(rates.sum() * price[wanted].sum() - (rates * price)[wanted].sum())
    return total


@claim("P4.S4.3")
def CONFLICTS(bench: Bench) -> Judgement:
    """The most brokers of a user in the trees of phase 1 ÷ the number of channels, and how often there are several."""

    def judge(law: str, grown: bool = False) -> Judgement:
        most, several = 0.0, list[bool]()
        for channels in (1, 2, 4, 8):
            for one in networks(law, 3 if bench.quick else 20, users=200, brokers=20, intervals=channels):
                counts = (trees_traffic(one, grown) > 0).sum(axis=1)
                most = max(most, float(counts.max()) / channels)
                several += [bool((counts > 1).any())] if channels == 8 else []
        found = judged(exact(most, 4 * len(several)), at_most(1))
        share = share_interval(sum(several), len(several))
        line = Line("share of networks with a user on several brokers, 8 channels", share,
                    Verdict.CONFIRMED if share.inside(0.5) else Verdict.NOT_DECIDED)  # fmt: skip
        return replace(found, sensitivity=(line,))

    grown = judge("plane", True)
    line = grown.line("trees by Algorithm 3, in which users are leaves")
    found = over_laws(judge)
    return replace(found, sensitivity=(*found.sensitivity, line))


def trees_traffic(instance: ContentInstance, grown: bool) -> Reals:
    """The traffic of phase 1 on each link between user and broker."""
    traffic: Reals = (traffic_on_grown_trees if grown else traffic_on_closure_trees)(instance)
    return traffic


@claim("P4.S4.5")
def UNWANTED(bench: Bench) -> Judgement:
    """The optima with and without the messages that nobody wants, both proven."""
    cheaper: list[bool] = []

    def moved(law: str) -> Judgement:
        tally = CaseTally()
        shape = {"users": 6, "brokers": 3, "intervals": 12, "width": 0.2, "slack": 1e6}
        for number, one in enumerate(networks(law, 6 if bench.quick else 30, **shape)):
            wanted = np.where(one.subscriptions.any(axis=0), one.rates, 0.0)
            pruned = replace(one, rates=wanted)
            whole, part = (solved(bench, each) for each in (one, pruned))
            if whole.status is part.status is Status.OPTIMAL and whole.value and part.answer is not None:
                cheaper.append((part.value or 0.0) < whole.value * (1 - PROVEN))
                cost = assignment_cost(one, part.answer.brokers)
                tally.add(cost <= whole.value * (1 + PROVEN), f"network {number}: {cost:g}, best {whole.value:g}")
        return tally.judgement(share_interval(tally.failed, tally.n) if tally.n else None)

    found = over_laws(moved)
    lower = Line("share of networks whose least cost is lower without them, all laws",
                 share_interval(sum(cheaper), len(cheaper)), found.verdict) if cheaper else None  # fmt: skip
    return replace(found, sensitivity=(*found.sensitivity, *filter(None, (lower,))))


@claim("P4.S4.6")
def BEST_BROKER(bench: Bench) -> Judgement:
    """Each move of the migration against every broker, evaluated anew; and networks that differ in rates only."""
    tally = CaseTally()
    for law in METRICS:
        for seed, one in enumerate(networks(law, 1 if bench.quick else 10, users=60, brokers=8, intervals=6)):
            brokers = random_assignment(one, seed=seed)
            for request in migrate(one, brokers, "mst", heaviest=1).requests:
                costs = [moved_cost(one, brokers, request.user, b) for b in range(one.num_brokers)]
                best = costs[request.foreign] <= min(costs) * (1 + _ROUNDING)
                lower = costs[request.foreign] < assignment_cost(one, brokers)
                tally.add(best and lower, f"{law} {seed}: user {request.user} to broker {request.foreign}")
                brokers[request.user] = request.foreign
    pairs = 40 if bench.quick else 200
    apart = sum(_needs_rates(seed) for seed in range(pairs))
    text = "share of networks that differ in rates only and have another best broker"
    line = Line.of(text, share_interval(apart, pairs), not apart)
    return tally.judgement(tally.share, sensitivity=[line])


def moved_cost(instance: ContentInstance, brokers: Ids, user: int, broker: int) -> float:
    """The cost with one user on another broker; infinite above its capacity."""
    moved = brokers.copy()
    moved[user] = broker
    loads = np.bincount(moved, weights=instance.demands, minlength=instance.num_brokers)
    return np.inf if loads[broker] > instance.load_limits()[broker] else assignment_cost(instance, moved)


def _needs_rates(seed: int) -> bool:
    """Whether the best broker of user 0 differs between two networks that differ in rates only."""
    one = WORKLOADS["content"].generate(seed=seed, users=8, brokers=3, intervals=4, slack=1e6, access_to_core=0.1)
    rates = np.random.default_rng(seed).permutation(one.rates)
    other = replace(one, rates=rates)
    brokers = random_assignment(one, seed=seed)
    best = [int(np.argmin([moved_cost(each, brokers, 0, b) for b in range(3)])) for each in (one, other)]
    return best[0] != best[1]


@claim("P4.S4.7")
def DISTRIBUTED(bench: Bench) -> Judgement:
    """The cost after migration from random assignment ÷ that of Steiner-tree mixing, by users that a broker tries."""
    draws = 6 if bench.quick else 20

    def match(law: str, heaviest: int, **options: Any) -> Judgement:
        ratios = []
        for seed, one in enumerate(networks(law, draws, users=200 if bench.quick else 500, brokers=10, intervals=20)):
            mixed = bench.value("steiner-mixing", one, "content-mst", seed=seed)
            start = {"start": "random-assignment", "heaviest": heaviest, "publications": 0, **options}
            ratios.append(bench.value("migration", one, "content-mst", seed=seed, **start) / mixed)
        return judged(mean_interval(ratios), at_most(1 + _MATCH))

    return _by_users(match, match("plane", 0, decline=0.5).line("each of its users, of whom half decline"))


def _by_users(judge: Callable[[str, int], Judgement], further: Line) -> Judgement:
    """The judgement if a broker tries to move its heaviest user (1), or each of its users (0), with a further line."""
    sides = {"its heaviest user": over_laws(lambda law: judge(law, 1))}
    sides["each of its users"] = over_laws(lambda law: judge(law, 0))
    found = depends_on("the users that a broker tries to move", sides)
    return replace(found, sensitivity=(*found.sensitivity, further))


@claim("P4.S4.10")
def FOLLOWS_CHANGES(bench: Bench) -> Judgement:
    """The cost over periods of changes with migration, and without, ÷ that of Steiner-tree mixing anew."""
    draws, periods = (4, 4) if bench.quick else (20, 10)

    def ratio(law: str, follow: Callable[[ContentInstance, Ids], Ids]) -> Judgement:
        found = []
        for seed, one in enumerate(networks(law, draws, users=200, brokers=10, intervals=10, slack=1e6)):
            brokers, paid, least = mst_overlay(bench, "steiner-mixing", one).brokers, 0.0, 0.0
            for period in range(periods):
                one = exchanged(one, 0.1, 3, seed=periods * seed + period)
                brokers = follow(one, brokers)
                paid += assignment_cost(one, brokers)
                least += assignment_cost(one, mst_overlay(bench, "steiner-mixing", one).brokers)
            found.append(paid / least)
        return judged(mean_interval(found), at_most(1 + _MATCH))

    def migrated(law: str, heaviest: int) -> Judgement:
        return ratio(law, lambda one, brokers: migrate(one, brokers, "mst", heaviest=heaviest).overlay.brokers)

    return _by_users(migrated, ratio("plane", lambda one, brokers: brokers).line("users stay where they were"))


def exchanged(instance: ContentInstance, share: float, kinds: int, *, seed: int) -> ContentInstance:
    """The network after some users exchanged the first kinds of: rates, subscriptions, prices of access.

    Each gets them from different users, as if others had come in their stead.
    """
    draw = np.random.default_rng(seed)
    users = draw.permutation(instance.num_users)[: max(2, round(share * instance.num_users))]
    rates, wanted, access = (np.arange(instance.num_users) for _ in range(3))
    for step, source in enumerate((rates, wanted, access)[:kinds], start=1):
        source[users] = np.roll(users, step)
    changed = replace(instance, access=instance.access[access], rates=instance.rates[rates])
    return replace(changed, subscriptions=instance.subscriptions[wanted])


@claim("P4.S1.1")
def STATIC_OPTIMUM(bench: Bench) -> Judgement:
    """How often the proven optimum before an exchange of rates and subscriptions is no optimum after it."""
    rates = _outdated(bench, METRICS[0], 1).line("only rates are exchanged")
    found = over_laws(lambda law: _outdated(bench, law, 2))
    return replace(found, sensitivity=(*found.sensitivity, rates))


def _outdated(bench: Bench, law: str, kinds: int) -> Judgement:
    """How many networks have an exchange after which the old optimum, routed anew, costs over 1% more than the new."""
    found = []
    shape = {"users": 8, "brokers": 3, "intervals": 4, "slack": 1e6, "access_to_core": 0.1}
    for seed, one in enumerate(networks(law, 10 if bench.quick else 40, **shape)):
        others = [exchanged(one, 0.5, kinds, seed=3 * seed + each) for each in range(3)]
        before, *after = (solved(bench, each) for each in (one, *others))
        if all(run.status is Status.OPTIMAL for run in (before, *after)) and before.answer is not None:
            old = (assignment_cost(other, before.answer.brokers) for other in others)
            found.append([cost / (best.value or np.inf) for cost, best in zip(old, after, strict=True)])
    if not found:
        return Judgement(Verdict.NOT_DECIDED)
    worse = share_interval(sum(max(one) > 1 + _MATCH for one in found), len(found))
    details = [f"old optimum ÷ new one: {np.mean(found):.4g} on average, {np.max(found):.4g} at most"]
    return judged(worse, RISES, details=details)


@claim("P4.S5.1")
@under_laws
def FORWARDING(bench: Bench, law: str) -> Judgement:
    """Deliveries while users move, with and without forwarding by the home broker."""
    counts = {1.0: 0, 0.0: 0}
    delivered = 0
    for seed, one in enumerate(networks(law, 2 if bench.quick else 10, users=60, brokers=6, intervals=8)):
        before = random_assignment(one, seed=seed)
        moves = migrate(one, before, "mst").requests
        for forwarding in counts:
            found = simulate_migration(one, before, moves, publications=500, seed=seed, forwarding=forwarding)
            counts[forwarding] += found.lost
            delivered += found.delivered if forwarding else 0
    share = exact(counts[1.0] / (delivered + counts[1.0]), delivered)
    verdict = Verdict.CONTRADICTED if counts[1.0] else Verdict.CONFIRMED if counts[0.0] else Verdict.NOT_DECIDED
    text = f"of {delivered + counts[1.0]} deliveries {counts[1.0]} are lost with forwarding, {counts[0.0]} without"
    return Judgement(verdict, text, share)


@claim("P4.S5.3")
def KNOWN_BROKERS(bench: Bench) -> Judgement:
    """Every method with users who know half of the brokers: nobody may be on an unknown one; the cost rises."""
    tally, ratios = CaseTally(), dict[str, list[float]]()
    for seed, one in enumerate(networks("plane", 2 if bench.quick else 15, users=300, brokers=10, slack=1e6)):
        users = np.arange(one.num_users)
        known = np.random.default_rng(seed).permuted(np.tile(np.arange(10) < 5, (len(users), 1)), axis=1)
        some = only_known(one, known)
        for method in ("greedy-packing", "clustering", "steiner-mixing", "migration"):
            overlay, free = (mst_overlay(bench, method, each) for each in (some, one))
            outside = int((~known[users, overlay.brokers]).sum())
            tally.add(not outside, f"{method}, network {seed}: {outside} users on unknown brokers")
            ratio = assignment_cost(one, overlay.brokers) / assignment_cost(one, free.brokers)
            ratios.setdefault(method, []).append(ratio)
    lines = [
        Line(f"cost of {name} ÷ with all known", mean_interval(each), Verdict.CONFIRMED)
        for name, each in ratios.items()
    ]
    return tally.judgement(mean_interval(ratios["greedy-packing"]), sensitivity=lines[1:])


def only_known(instance: ContentInstance, known: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> ContentInstance:
    """The instance with a prohibitive price to each broker that a user does not know: above that of any overlay."""
    price = 1e3 * float(instance.access.max() + instance.core.sum()) * instance.num_users
    return replace(instance, access=np.where(known, instance.access, price))


@claim("P4.S6.2")
@under_laws
def WORST_CASE(bench: Bench, law: str) -> Judgement:
    """Each user on the most expensive broker with enough capacity, against random assignment."""
    ratios = []
    for seed, one in enumerate(networks(law, 5 if bench.quick else 20, users=1000, brokers=10)):
        random = bench.value("random-assignment", one, "content-mst", seed=seed)
        ratios.append(assignment_cost(one, dearest_brokers(one)) / random)
    return judged(mean_interval(ratios), at_most(1.0))


def dearest_brokers(instance: ContentInstance) -> Ids:
    """The most expensive broker with enough residual capacity for each user, in their order."""
    return assign_in_order(
        instance,
        range(instance.num_users),
        lambda user, feasible: int(np.argmax(np.where(feasible, instance.access[user], -1.0))),
    )
