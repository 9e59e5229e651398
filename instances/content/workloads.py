"""The content workload of P4 §VI.A, its generating functions and histograms, and P4's constructions.

All numbers are integers, so that sums and costs are exact and the same on every machine: rates in messages, prices in
thousandths of the side of the square in which users and brokers lie. Generating functions, subscriptions and prices
have random streams of their own: the same seed with another access-to-core ratio gives the same users.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from ..contract.arrays import Flags, Reals
from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from ..steiner.instance import SteinerInstance
from ..steiner.workloads import STEINER_WORKLOADS
from .instance import ContentInstance, metric_closure

_VALUES_AT_ONCE = 1_000_000


def exact_cells(low: Reals, high: Reals) -> Reals:
    """The ends of the k ≤ 2n + 1 cells with a boundary wherever one of n subscriptions begins or ends.

    Every subscription is a union of cells, so histograms on them are exact: all messages of a cell have the same
    subscribers (P4 §III.A: the content spaces of uniform subscriber groups do not overlap). Shape (k + 1,), in [0, 1].
    """
    return np.unique(np.concatenate([low, high, [0.0, 1.0]]))


def cut_quadratic_histogram(coefficients: Reals, ends: Reals, scale: float) -> Reals:
    """The integer number of units that each publisher generates in each cell of the content space (P4 §IV.A, §VI.A).

    The generating function is the positive part of a quadratic on [0, 1]. A cell's rate is the integral: the mean on
    the cell, as in P4, times its length. The integrals from 0 to the cells' ends are rounded, so that the rates of a
    coarser histogram are sums of those of a finer one.

    `coefficients`, shape (n, 3): a, b, c of a·x² + b·x + c, one row for each publisher. `ends`, shape (k + 1,): of the
    cells, from 0 to 1. `scale`: units per integral of 1. The result, shape (n, k), has integers. Only sums, products,
    quotients and square roots are used, which all machines round alike. O(n k).
    """
    rates = np.empty((len(coefficients), len(ends) - 1))
    step = max(1, _VALUES_AT_ONCE // len(ends))
    for start in range(0, len(rates), step):
        rows = slice(start, start + step)
        below = np.maximum.accumulate(cut_quadratic_integral(coefficients[rows], ends), axis=1)
        rates[rows] = np.diff(np.rint(below * scale), axis=1)
    return rates


def cut_quadratic_integral(coefficients: Reals, ends: Reals) -> Reals:
    """The integrals of max(0, a·x² + b·x + c) from 0 to each end, shape (n, k).

    Between consecutive ones of 0, the roots and 1 the quadratic has one sign, and so has its integral.
    """
    roots = np.sort(np.clip(np.nan_to_num(_roots(coefficients), nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0), axis=1)
    breaks = [np.zeros(len(roots)), roots[:, 0], roots[:, 1], np.ones(len(roots))]
    total = np.zeros((len(coefficients), len(ends)))
    for start, end in itertools.pairwise(breaks):
        reached = np.clip(ends, start[:, None], end[:, None])
        piece = _primitive(coefficients, reached) - _primitive(coefficients, start[:, None])
        total += np.maximum(piece, 0.0)
    return total


def _roots(coefficients: Reals) -> Reals:
    """Both roots, without cancellation; NaN or infinite if there is none. Shape (n, 2)."""
    a, b, c = coefficients.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        half = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
        return np.stack([half / a, c / half], axis=1)


def _primitive(coefficients: Reals, x: Reals) -> Reals:
    a, b, c = (coefficient[:, None] for coefficient in coefficients.T)
    integral: Reals = ((a / 3 * x + b / 2) * x + c) * x
    return integral


def intersected_cells(low: Reals, high: Reals, intervals: int) -> Flags:
    """The intervals of equal length of [0, 1] that each subscription intersects, shape (n, intervals) (P4 §IV.A).

    There are false positives, no false negatives. Intervals are half-open at the upper end, except the last one.
    """
    first = np.minimum(np.floor(low * intervals), intervals - 1)
    last = np.minimum(np.floor(high * intervals), intervals - 1)
    numbers = np.arange(intervals)
    return (numbers >= first[:, None]) & (numbers <= last[:, None])


def contained_cells(low: Reals, high: Reals, ends: Reals) -> Flags:
    """The cells within each subscription, shape (n, k); on :func:`exact_cells` it does not intersect any other."""
    return (ends[:-1] >= low[:, None]) & (ends[1:] <= high[:, None])


_MESSAGES = 10_000
_SIDE = 1000.0
_MOST_RATES = 2**31 - 1


def _grid(
    random: np.random.Generator, users: int, intervals: int, dimensions: int, cells: str, width: float
) -> Iterator[tuple[Reals, Flags]]:
    """For each dimension the ends of its cells, and those of each user's subscription.

    A subscription lies between two uniform points, shrunk about its middle; it is a union of exact cells, or has all
    equal intervals that it intersects.
    """
    for _ in range(dimensions):
        ends = np.sort(random.random((users, 2)), axis=1)
        middle, half = (ends[:, 0] + ends[:, 1]) / 2, (ends[:, 1] - ends[:, 0]) / 2 * width
        low, high = np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
        if cells == "exact":
            exact = exact_cells(low, high)
            yield exact, contained_cells(low, high, exact)
        else:
            yield np.arange(intervals + 1) / intervals, intersected_cells(low, high, intervals)


def _content(
    *,
    users: int,
    brokers: int,
    intervals: int,
    dimensions: int,
    cells: str,
    width: float,
    metric: str,
    access_to_core: float,
    slack: float,
    seed: int,
) -> ContentInstance:
    functions, intervals_of, prices = (np.random.default_rng([stream, seed]) for stream in range(3))
    grid = list(_grid(intervals_of, users, intervals, dimensions, cells, width))
    channels = math.prod(len(ends) - 1 for ends, _ in grid)
    if users * channels > _MOST_RATES:
        raise BadInput(f"{users} users on {channels} channels are more than {_MOST_RATES} rates: choose fewer")
    access, core = _METRICS[metric](prices, users, brokers)
    core = _scaled(core, float(access.mean()) / access_to_core)
    # Histograms of cut quadratics; in several dimensions the product of one for each, as of the subscriptions.
    rates, subscriptions = np.ones((users, 1)), np.ones((users, 1), dtype=np.bool_)
    for ends, inside in grid:
        a, b, c = (2 * functions.random((users, 3)) - 1).T
        # a·t² + b·t + c with t = 2x − 1, as a quadratic in x
        coefficients = np.stack([4 * a, 2 * b - 4 * a, a - b + c], axis=1)
        histogram = cut_quadratic_histogram(coefficients, ends, round(_MESSAGES ** (1 / dimensions)))
        rates = (rates[:, :, None] * histogram[:, None, :]).reshape(users, -1)
        subscriptions = (subscriptions[:, :, None] & inside[:, None, :]).reshape(users, -1)
    unlimited = ContentInstance(access, core, np.full(brokers, np.inf), rates, subscriptions)
    del rates, subscriptions, grid  # the largest arrays, which the instance has copied
    capacity = np.ceil(slack * float(unlimited.demands.sum()) / brokers)
    return ContentInstance(access, core, np.full(brokers, capacity), unlimited.rates, unlimited.subscriptions)


def _plane(random: np.random.Generator, users: int, brokers: int) -> tuple[Reals, Reals]:
    """Points in a square, distances rounded up, which preserves the triangle inequality."""
    user_points, broker_points = random.random((users, 2)), random.random((brokers, 2))
    access = np.maximum(1.0, np.ceil(_SIDE * _distances(user_points, broker_points)))
    return access, _distances(broker_points, broker_points)


def _distances(points: Reals, others: Reals) -> Reals:
    across, along = (points[:, None, axis] - others[None, :, axis] for axis in (0, 1))
    return np.sqrt(across * across + along * along)


def _independent(random: np.random.Generator, users: int, brokers: int) -> tuple[Reals, Reals]:
    """Independent prices from half the largest to the largest, which always form a metric."""
    access, core = (0.5 + 0.5 * random.random((count, brokers)) for count in (users, brokers))
    upper = np.triu(core, 1)
    return np.ceil(_SIDE * access), upper + upper.T


def _cheapest_paths(random: np.random.Generator, users: int, brokers: int) -> tuple[Reals, Reals]:
    """Uniform prices; between brokers their metric closure."""
    access, core = random.random((users, brokers)), np.triu(random.random((brokers, brokers)), 1)
    return np.maximum(1.0, np.ceil(_SIDE * access)), metric_closure(core + core.T)


_METRICS = {"plane": _plane, "independent": _independent, "cheapest-ways": _cheapest_paths}


def _scaled(core: Reals, mean: float) -> Reals:
    """The metric scaled to a mean link price, rounded up."""
    pairs = core[np.triu_indices(len(core), 1)]
    total = float(np.cumsum(pairs)[-1]) if len(pairs) else 0.0  # unlike sum, in one order on every machine
    return np.ceil(core * (mean * len(pairs) / total)) if total > 0 else core


CONTENT_WORKLOADS: tuple[Workload[ContentInstance], ...] = (
    Workload(
        "content",
        "cut quadratic generating functions, random subscription intervals, equal capacities",
        "P4 §VI.A",
        (
            Option("users", 1000, "|U|", least=1, most=10_000_000),
            Option("brokers", 10, "|B|; in P4 a tenth to a hundredth of the users", least=1, most=100_000),
            Option("intervals", 100, "intervals of the histogram in each dimension", least=1, most=1_000_000),
            Option("dimensions", 1, "of the content space; channels are the cells of the grid", least=1, most=8),
            Option(
                "cells",
                "equal",
                "intervals of equal length, or exact cells between the ends of subscriptions (`intervals` is unused)",
                choices=("equal", "exact"),
            ),
            Option("width", 1.0, "subscriptions shrunk to this share of a random interval", least=0.0, most=1.0),
            Option(
                "metric",
                "plane",
                "prices: distances in a square, independent, or the metric closure of random prices",
                choices=tuple(_METRICS),
            ),
            Option("access_to_core", 1.0, "mean access price as a multiple of the core's", least=1e-6, most=1e6),
            Option("slack", 2.0, "total capacity as a multiple of the total demand", least=0.0, most=1e6),
        ),
        _content,
        "content",
    ),
)


def steiner_overlay(instance: SteinerInstance, *, brokers_at: str = "all-nodes") -> ContentInstance:
    """P4, Theorem 1: the reduction from the Steiner tree problem. One user publishes, all others subscribe.

    Every terminal is a user; the first one publishes one unit on the only channel. Prices are the lengths of shortest
    paths. Cost O(n³). Raises BadInput if the graph is not connected, or no node is left for a broker.

    With brokers at ``steiner-nodes``, all nodes but terminals as in the proof, no tree of the overlay branches at a
    terminal or connects two terminals directly. With brokers at ``all-nodes`` access prices are multiplied by the
    number of terminals. Then the optimum for ``content-steiner`` is that of the Steiner tree problem: a Steiner tree is
    an overlay with each user on the broker at its node, and in any overlay the tree of brokers and the users' paths
    connect all terminals. A factor of 1 would do, but weakens linear relaxations.
    """
    nodes = np.arange(instance.num_nodes)
    brokers = nodes if brokers_at == "all-nodes" else np.setdiff1d(nodes, instance.terminals)
    if not len(brokers):
        raise BadInput("every node is a terminal, which leaves none for a broker: use brokers_at all-nodes")
    lengths = np.full((instance.num_nodes, instance.num_nodes), np.inf)
    np.fill_diagonal(lengths, 0.0)
    u, v = instance.edges.T
    lengths[u, v] = lengths[v, u] = instance.costs
    paths = metric_closure(lengths, [instance.node_label(node) for node in range(instance.num_nodes)])
    factor = instance.num_terminals if brokers_at == "all-nodes" else 1
    return _one_publisher(
        factor * paths[np.ix_(instance.terminals, brokers)],
        paths[np.ix_(brokers, brokers)],
        [f"u{instance.node_label(t)}" for t in instance.terminals.tolist()],
        [f"b{instance.node_label(b)}" for b in brokers.tolist()],
    )


def relay_star(*, rim: int) -> ContentInstance:
    """P4 §III.A: `rim` brokers with one user each, at distance 2 from each other, and a hub, b0, at distance 1.

    The tree of the rim brokers costs 2(rim − 1), the tree through the hub costs rim. A user pays 0 to its own broker
    and more than either tree to any other. Cost O(rim²).
    """
    core = np.full((rim + 1, rim + 1), 2.0)
    core[0, :] = core[:, 0] = 1.0
    np.fill_diagonal(core, 0.0)
    access = np.full((rim, rim + 1), 2.0 * rim)
    access[np.arange(rim), np.arange(1, rim + 1)] = 0.0
    return _one_publisher(access, core, [f"u{i}" for i in range(1, rim + 1)], [f"b{i}" for i in range(rim + 1)])


def _one_publisher(access: Reals, core: Reals, users: list[str], brokers: list[str]) -> ContentInstance:
    """The first user publishes one unit on one channel, all others subscribe; capacities are infinite."""
    first = np.arange(len(access))[:, None] == 0
    return ContentInstance(
        access, core, np.full(len(core), np.inf), first.astype(np.float64), ~first, users, brokers, ["message"]
    )


CONTENT_CONSTRUCTIONS: tuple[Workload[ContentInstance], ...] = (
    Workload(
        "steiner-overlay",
        "one publisher, all others subscribe: a random Steiner tree problem as an overlay",
        "P4 Theorem 1",
        (
            Option("nodes", 12, "n of the graph", least=1, most=2000),
            Option("edges", 20, "m", least=0, most=2_000_000),
            Option("terminals", 5, "users", least=1, most=2000),
            Option("dearest", 10, "the largest cost of an edge", least=1, most=10**6),
            Option(
                "brokers_at",
                "all-nodes",
                "brokers at all nodes or, as in the proof, at the nodes that are no terminals",
                choices=("all-nodes", "steiner-nodes"),
            ),
        ),
        lambda *, brokers_at, **given: steiner_overlay(STEINER_WORKLOADS[0].generate(**given), brokers_at=brokers_at),
        "content",
    ),
    Workload(
        "relay-star",
        "minimum spanning trees cost 2(k − 1), trees through a relay k (no seed)",
        "P4 §III.A",
        (Option("rim", 3, "k, the number of brokers with users", least=2, most=2000),),
        lambda *, seed, rim: relay_star(rim=rim),
        "content",
    ),
)
