"""What Zhao and Wu (P4) say of the problem (§II) and of the two-stage algorithms (§III), as checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, compress, pairwise, product

import networkx as nx
import numpy as np
import numpy.typing as npt

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay, broker_traffic
from ...instances.content.workloads import contained_cells, exact_cells
from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.result import Result, Status
from ...models.content.exact import access_bound
from ..papers.bench import Bench, RunFailed
from ..papers.grids_p4 import CONTENT_METHODS, METRICS
from .claim import Claim, Finding, Interval, Scope, Verdict, verdict_of
from .evidence import above, all_of, at_most, mean_of, share_of
from .p4_figures import CLOSURE, CLUSTERING, PACKING, spelled
from .worst_metric import spanning_price, steiner_price

_EXACT_SECONDS = 60.0
_ROUNDING = 1e-9
Shape = Mapping[str, float | str]


def networks(draws: int, **shape: float | str) -> Iterator[tuple[str, ContentInstance]]:
    """The law and an instance of the content workload: so many draws under each law of prices."""
    for law in METRICS:
        for seed in range(draws):
            yield law, WORKLOADS["content"].generate(seed=seed, metric=law, **shape)


def scope_of_networks(draws: int, shape: Shape, reading: str = "", ties: tuple[str, ...] = ()) -> Scope:
    """The scope of a finding on :func:`networks`."""
    symbols = {"users": "|U|", "brokers": "|B|", "intervals": "|C|", "slack": "capacity ÷ demand"}
    sizes = {symbols[name]: (value,) for name, value in shape.items() if name in symbols}
    return Scope({**sizes, "prices": METRICS}, {}, draws, len(METRICS), ties, reading=reading)


def _partition(bench: Bench) -> Iterable[Finding]:
    cases, rng = 20 if bench.quick else 100, np.random.default_rng(13)
    right = feasible = failed = 0
    for _ in range(cases):
        numbers = rng.integers(1, 20, 7)
        numbers[0] += numbers.sum() % 2
        half = int(numbers.sum()) // 2
        possible = any(
            numbers[list(chosen)].sum() == half for size in range(7) for chosen in combinations(range(7), size)
        )
        users = ContentInstance(
            np.ones((7, 2)),
            np.zeros((2, 2)),
            np.full(2, float(half)),
            numbers[:, None].astype(np.float64),
            np.zeros((7, 1), np.bool_),
        )
        found = bench.run("cp-sat", users, "content-mst", start="none", time_limit=_EXACT_SECONDS)
        right += found.status is (Status.OPTIMAL if possible else Status.INFEASIBLE)
        feasible += possible
        packed = bench.run(PACKING, users, "content-mst").status is Status.FEASIBLE
        failed += possible and not packed
    text = (
        "Two brokers of half the demand each have an assignment exactly where the users' demands can be divided into "
    )
    text += (
        f"two equal halves: right on {right} of {cases} instances, of which {feasible} have one (greedy packing finds "
    )
    text += f"none on {failed} of these). So a constant ratio in polynomial time would solve PARTITION."
    scope = Scope({"|U|": (7,), "|B|": (2,)}, samples=cases, reading="the problem with its capacities, eq. 5")
    verdict = Verdict.REFUTED if right == cases else Verdict.OPEN
    yield Finding("a constant ratio is possible", verdict, text, 2 * cases, scope=scope)
    cases, right = 5 if bench.quick else 50, 0
    for _ in range(cases):
        contains = rng.random((5, 6)) < 0.4
        contains[rng.integers(5, size=6), np.arange(6)] = True
        found = bench.run("branch-and-cut", set_cover_overlay(contains), "content-mst", time_limit=_EXACT_SECONDS)
        fewest = next(
            k for k in range(1, 6) if any(contains[list(sets)].any(axis=0).all() for sets in combinations(range(5), k))
        )
        right += found.status is Status.OPTIMAL and found.value is not None and _equal(found.value, fewest)
    text = "A broker for each set at price 1 from the publisher's and 2 from each other, a user for each element: the "
    text += f"proven optimum is the fewest sets that cover all elements on {right} of {cases} instances. So a constant "
    text += "ratio in polynomial time would be one for SET COVER."
    scope = Scope({"|U|": (7,), "|B|": (6,)}, samples=cases, reading="without capacities; trees without relays")
    verdict = Verdict.REFUTED if right == cases else Verdict.OPEN
    yield Finding("a constant ratio is possible without capacities", verdict, text, cases, scope=scope)


def set_cover_overlay(contains: npt.NDArray[np.bool_]) -> ContentInstance:
    """Elements (columns) to be covered by sets (rows) as an overlay problem whose optimum is the fewest sets.

    The publisher is on broker 0. A user at an element pays 0 to the brokers of the sets that have it, 100 to others.
    """
    sets, elements = contains.shape
    core = np.full((sets + 1, sets + 1), 2.0) - 2 * np.eye(sets + 1)
    core[0, 1:] = core[1:, 0] = 1.0
    access = np.full((elements + 1, sets + 1), 100.0)
    access[0, 0] = 0.0
    access[1:, 1:][contains.T] = 0.0
    publisher = np.arange(elements + 1)[:, None] == 0
    return ContentInstance(access, core, np.full(sets + 1, np.inf), publisher.astype(np.float64), ~publisher)


def _one_tree(bench: Bench) -> Iterable[Finding]:
    draws, shape = 5 if bench.quick else 30, {"users": 60, "brokers": 8, "intervals": 10}
    wrong, runs = [], 0
    for law, instance in networks(draws, **shape):
        for method in CONTENT_METHODS:
            found = bench.run(method, instance, "content-shared-tree")
            runs += 1
            if not is_one_tree(instance, found):
                wrong.append(f"{method}, prices {law}")
    text = (
        f"Brokers as a tree and each user as a leaf: {runs - len(wrong)} of {runs} overlays are one tree of |U| + |B| "
    )
    text += f"nodes.{' Not so: ' + wrong[0] + '.' if wrong else ''}"
    scope = scope_of_networks(draws, shape, "the problem with one tree of brokers (content-shared-tree)")
    yield Finding("users and brokers", verdict_of(not wrong), text, runs, scope=scope)


def is_one_tree(instance: ContentInstance, result: Result[ContentOverlay]) -> bool:
    """Whether users and brokers form a tree: |U| + |B| − 1 links that connect all."""
    if result.answer is None or not result.answer.trees:
        return False
    brokers = instance.num_brokers
    links = [*result.answer.trees[0].links]
    links += [(int(broker), brokers + user) for user, broker in enumerate(result.answer.brokers)]
    group = list(range(brokers + instance.num_users))

    def root(node: int) -> int:
        while group[node] != node:
            node = group[node]
        return node

    for a, b in links:
        if root(a) == root(b):
            return False
        group[root(a)] = root(b)
    return len(links) == len(group) - 1


def _shared_links(bench: Bench) -> Iterable[Finding]:
    draws, shape = 5 if bench.quick else 30, {"users": 200, "brokers": 20, "intervals": 20}
    shares: dict[str, list[float]] = {law: [] for law in METRICS}
    for law, instance in networks(draws, **shape):
        result = done(bench, PACKING, instance)
        assert result.answer is not None
        shares[law].append(result.measures["core"] / cost_of_single_flows(instance, result.answer))
    found = [mean_of(f"core cost ÷ that of single flows, prices {law}", s, together=3) for law, s in shares.items()]
    text = "A message once on each link of a tree, ÷ a copy of it to every broker with a subscriber: "
    text += f"{spelled(found)} for prices {', '.join(METRICS)}."
    less = all_of(below(one, 1.0) for one in found)
    yield Finding("traffic between brokers", less, text, 3 * draws, (), scope_of_networks(draws, shape), found)


def below(interval: Interval, limit: float) -> Verdict:
    """Whether a mean is less than a limit; equality refutes it."""
    return Verdict.REFUTED if interval.low is not None and interval.low >= limit else at_most(interval, limit)


def cost_of_single_flows(instance: ContentInstance, overlay: ContentOverlay) -> float:
    """The core cost if each broker with a subscriber gets a copy of its own of every message."""
    traffic = broker_traffic(instance, overlay)
    return float((traffic.rates * (instance.core @ traffic.subscribed)).sum())


def _access_first(bench: Bench) -> Iterable[Finding]:
    draws = 10 if bench.quick else 50
    shape = {"users": 500, "brokers": 20, "intervals": 20, "slack": 1e6}
    reached = [_equal(access_of(bench, one), access_bound(one)) for _, one in networks(draws, **shape)]
    text = f"Each user is on the cheapest broker, the least access cost, on {sum(reached)} of {len(reached)} networks."
    scope = scope_of_networks(draws, shape, "no limits of capacity")
    yield Finding("greedy packing without capacities", verdict_of(all(reached)), text, len(reached), scope=scope)
    draws, shape = 5 if bench.quick else 30, {"users": 12, "brokers": 4, "intervals": 6, "slack": 2.0}
    above_least, ratios, proven, stuck = 0, [], 0, 0
    for _, instance in networks(draws, **shape):
        free = without_core(instance)
        best = bench.run("branch-and-cut", free, "content-mst", time_limit=_EXACT_SECONDS)
        packed = bench.run(PACKING, free, "content-mst")
        if best.status is Status.OPTIMAL and best.value:
            proven += 1
            stuck += packed.value is None
            ratios.append((packed.value or best.value) / best.value)
            above_least += packed.value is None or packed.value > best.value * (1 + 2e-6)
    share = share_of("share of networks above the proven least access cost", above_least, max(proven, 1))
    text = "Whether any assignment is within the capacities decides PARTITION (P4.T1.2), so no polynomial method finds "
    text += (
        "the cheapest unless P = NP. With core prices 0 greedy packing, which the paper does not call optimal, costs "
    )
    text += f"more than the proven optimum or finds none ({stuck}) on {above_least} of {proven} networks, by up to "
    text += f"{max(ratios, default=1) - 1:.1%}: users who come late find the cheapest broker full."
    scope = scope_of_networks(draws, shape, "a polynomial method finds it; capacities of twice the demand, as in §VI.A")
    verdict = Verdict.REFUTED if above_least else Verdict.OPEN
    yield Finding("a polynomial method within capacities", verdict, text, proven, (), scope, [share])
    yield from _core_problem(bench)


def _core_problem(bench: Bench) -> Iterable[Finding]:
    """§I: whether the minimum spanning tree of some brokers is the cheapest tree that connects them."""
    draws, shape = 2 if bench.quick else 20, {"users": 1, "brokers": 5, "intervals": 1}
    right = dearer = 0
    for _, instance in networks(draws, **shape):
        own = instance.core[:4, :4]
        tree = spanning_price(instance.core, np.arange(4, dtype=np.int32))
        right += _equal(sum(float(own[link]) for link in cheapest_links(own, 4)), tree)
        dearer += tree > steiner_price(instance.core, 4) * (1 + _ROUNDING)
    runs = len(METRICS) * draws
    text = "The minimum spanning tree, found in polynomial time, costs as much as the cheapest of all sets of links on "
    text += f"{right} of {runs} networks."
    scope = scope_of_networks(draws, shape, "core problem: trees without relays")
    yield Finding("core problem without relays", verdict_of(right == runs), text, runs, scope=scope)
    text = f"It costs more than the cheapest tree with relays on {dearer} of {runs} networks. That tree is a Steiner "
    text += "tree: the reduction of P4.T1 has free access, so no polynomial method finds it unless P = NP."
    scope = scope_of_networks(draws, shape, "core problem: trees with relays")
    verdict = Verdict.REFUTED if dearer else Verdict.OPEN
    yield Finding("core problem with relays", verdict, text, runs, scope=scope)


def cheapest_links(core: npt.NDArray[np.float64], members: int) -> list[tuple[int, int]]:
    """The cheapest set of links that connects the first brokers, among all sets of links; links may pass others."""
    pairs = list(combinations(range(len(core)), 2))
    least, best = np.inf, list[tuple[int, int]]()
    for taken in product((False, True), repeat=len(pairs)):
        links = list(compress(pairs, taken))
        price = sum(float(core[link]) for link in links)
        if price < least:
            graph = nx.Graph(links)
            if set(range(members)) <= nx.node_connected_component(graph, 0) if 0 in graph else False:
                least, best = price, links
    return best


def access_of(bench: Bench, instance: ContentInstance) -> float:
    """The access cost of greedy packing."""
    return done(bench, PACKING, instance).measures["access"]


def done(bench: Bench, method: str, instance: ContentInstance) -> Result[ContentOverlay]:
    """A run under ``content-mst`` that has an answer.

    Raises
    ------
    RunFailed
        If it has none.
    """
    result = bench.run(method, instance, "content-mst")
    if result.answer is None or result.value is None:
        raise RunFailed(f"{method} on content-mst: {result.reason}")
    return result


def without_core(instance: ContentInstance) -> ContentInstance:
    """The instance with free links between brokers."""
    core = np.zeros_like(instance.core)
    return ContentInstance(instance.access, core, instance.capacities, instance.rates, instance.subscriptions)


def _equal(a: float, b: float) -> bool:
    return abs(a - b) <= _ROUNDING * max(abs(a), abs(b))


def _groups(bench: Bench) -> Iterable[Finding]:
    draws, users = 20 if bench.quick else 200, 30
    rng = np.random.default_rng(7)
    overlapping = mixed = cells = 0
    for _ in range(draws):
        low, high = np.sort(rng.random((users, 2)), axis=1).T
        overlapping += bool(((low[:, None] < high) & (low < high[:, None])).sum() > users)
        ends = exact_cells(low, high)
        members = contained_cells(low, high, ends)
        for cell, (left, right) in enumerate(pairwise(ends.tolist())):
            cells += 1
            points = rng.uniform(left, right, 5)
            mixed += bool(((low[:, None] < points) & (points < high[:, None]) != members[:, cell, None]).any())
    text = f"Groups of users with the same subscription: on {overlapping} of {draws} draws of {users} intervals two "
    text += "groups want the same messages."
    scope = Scope(
        {"|U|": (users,)}, samples=draws, reading="a group is all users with one subscription, as the term is defined"
    )
    yield Finding("groups of equal subscriptions", verdict_of(not overlapping), text, draws, scope=scope)
    text = f"Cells between the ends of subscriptions: of {cells} cells {mixed} have messages with different "
    text += "subscribers."
    scope = Scope({"|U|": (users,)}, samples=draws, reading="a group is the users who want a message")
    yield Finding("groups of equal subscribers", verdict_of(not mixed), text, cells, scope=scope)


def _demand_unused(bench: Bench) -> Iterable[Finding]:
    draws = 5 if bench.quick else 20
    for slack, subject in ((1e6, "without capacities"), (2.0, "within capacities")):
        shape = {"users": 1000, "brokers": 10, "intervals": 20, "slack": slack}
        moved = dict.fromkeys(METRICS, 0)
        for law, instance in networks(draws, **shape):
            first, second = (done(bench, PACKING, one).answer for one in (instance, permuted(instance)))
            assert first is not None
            assert second is not None
            moved[law] += not np.array_equal(first.brokers, second.brokers)
        shown = ", ".join(f"{count} under prices {law}" for law, count in moved.items())
        text = f"Other rates for the same users change the assignment on {shown}, each of {draws} networks."
        scope = scope_of_networks(draws, shape)
        yield Finding(subject, verdict_of(not any(moved.values())), text, 6 * draws, scope=scope)


def permuted(instance: ContentInstance) -> ContentInstance:
    """The instance with rates and subscriptions of other users, prices and capacities as they are."""
    order = np.random.default_rng(0).permutation(instance.num_users)
    rates, subscriptions = instance.rates[order], instance.subscriptions[order]
    return ContentInstance(instance.access, instance.core, instance.capacities, rates, subscriptions)


def _two_hops(bench: Bench) -> Iterable[Finding]:
    draws, shape = 5 if bench.quick else 20, {"users": 1000, "brokers": 10}
    shares: dict[tuple[str, str], list[float]] = {}
    for law, instance in networks(draws, **shape):
        for method in (CLUSTERING, PACKING, CLOSURE, "random-assignment"):
            answer = done(bench, method, instance).answer
            assert answer is not None
            shares.setdefault((law, method), []).append(two_hop_share(instance, answer))
    for other in (PACKING, CLOSURE, "random-assignment"):
        found = []
        for law in METRICS:
            more = np.subtract(shares[law, CLUSTERING], shares[law, other])
            found.append(mean_of(f"share on two hops, {CLUSTERING} − {other}, prices {law}", more, together=9))
        text = (
            f"Traffic between users of one broker, {CLUSTERING} − {other}: {spelled(found)} of all traffic, for prices "
        )
        text += f"{', '.join(METRICS)}."
        verdict = all_of(above(one, 0.0) for one in found)
        yield Finding(f"more than {other}", verdict, text, 6 * draws, (), scope_of_networks(draws, shape), found)


def two_hop_share(instance: ContentInstance, overlay: ContentOverlay) -> float:
    """The share of the traffic from user to user that stays at one broker."""
    users = np.arange(instance.num_users)
    at = np.zeros((instance.num_brokers, instance.num_users))
    at[overlay.brokers, users] = 1.0
    wanted = instance.subscriptions.astype(float)
    own = float((instance.rates * wanted).sum())
    inside = float(((at @ instance.rates) * (at @ wanted)).sum()) - own
    return inside / (float(instance.rates.sum(axis=0) @ wanted.sum(axis=0)) - own)


def _claim(id_: str, statement: str, source: str, judge: Callable[[Bench], Iterable[Finding]]) -> Claim:
    return Claim(f"P4.{id_}", statement, f"P4 {source}", judge)


CLAIMS_P4_MODEL: tuple[Claim, ...] = (
    _claim("T1.2", "the problem is APX-complete, so a constant ratio is possible", "Theorem 1", _partition),
    _claim("S2.1", "the whole overlay is a tree once the brokers form one", "§II.A", _one_tree),
    _claim("S2.2", "flows that share links need less traffic than their sum", "§II.B", _shared_links),
    _claim(
        "S3.1",
        "the least access cost and the least core cost are found in polynomial time",
        "§I, §III.A",
        _access_first,
    ),
    _claim("S3.2", "the content spaces of uniform subscriber groups do not overlap", "§III.A", _groups),
    _claim("S3.3", "Algorithm 1 does not use the bandwidth demand", "§III.A", _demand_unused),
    _claim("S3.4", "clustering puts more traffic on the two-hop path within a broker", "§III.B", _two_hops),
)
