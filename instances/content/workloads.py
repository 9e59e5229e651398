"""The content workload of P4 §VI.A, by name.

Everything is in whole numbers, so that sums and costs are exact and the same on every machine: rates in messages,
prices in thousandths of the side of the square that users and brokers lie in. Generating functions, subscriptions and
prices are drawn from streams of their own: the same seed at another access-to-core ratio has the same users.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import BadInput
from ..option import Option
from ..workload import Workload
from .core_prices import closed
from .generating_functions import covered, cut_quadratic_histogram, equal_cells, exact_cells, touched
from .instance import ContentInstance, Flags, Floats

Intervals = Sequence[tuple[Floats, Floats]]
_MESSAGES = 10_000
_SIDE = 1000.0
_MOST_RATES = 2**31 - 1
_FUNCTIONS, _SUBSCRIPTIONS, _PRICES = range(3)


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
    boxes = _boxes(np.random.default_rng([_SUBSCRIPTIONS, seed]), users, dimensions, width)
    grid = [exact_cells(low, high) if cells == "exact" else equal_cells(intervals) for low, high in boxes]
    channels = math.prod(len(ends) - 1 for ends in grid)
    if users * channels > _MOST_RATES:
        raise BadInput(f"{users} users on {channels} channels are more than {_MOST_RATES} rates: choose fewer")
    access, core = _METRICS[metric](np.random.default_rng([_PRICES, seed]), users, brokers)
    core = _scaled(core, float(access.mean()) / access_to_core)
    rates = _rates(np.random.default_rng([_FUNCTIONS, seed]), users, grid)
    wanted = _wanted(boxes, grid, exact=cells == "exact")
    free = ContentInstance(access, core, np.full(brokers, np.inf), rates, wanted)
    del rates, wanted  # the largest arrays, of which there is a copy now
    capacity = np.ceil(slack * float(free.demands.sum()) / brokers)
    return ContentInstance(access, core, np.full(brokers, capacity), free.rates, free.subscriptions)


def _boxes(random: np.random.Generator, users: int, dimensions: int, width: float) -> Intervals:
    """What users subscribe to: in each dimension an interval between two points, shrunk about its middle."""
    boxes = []
    for _ in range(dimensions):
        ends = np.sort(random.random((users, 2)), axis=1)
        middle, half = (ends[:, 0] + ends[:, 1]) / 2, (ends[:, 1] - ends[:, 0]) / 2 * width
        boxes.append((np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)))
    return boxes


def _rates(random: np.random.Generator, users: int, grid: Sequence[Floats]) -> Floats:
    """Histograms of cut quadratics; over several dimensions the product of one in each."""
    scale = round(_MESSAGES ** (1 / len(grid)))
    product: Floats | None = None
    for ends in grid:
        a, b, c = (2 * random.random((users, 3)) - 1).T
        # a·t² + b·t + c with t = 2x − 1, as a quadratic in x
        coefficients = np.stack([4 * a, 2 * b - 4 * a, a - b + c], axis=1)
        histogram = cut_quadratic_histogram(coefficients, ends, scale)
        product = histogram if product is None else (product[:, :, None] * histogram[:, None, :]).reshape(users, -1)
    assert product is not None
    return product


def _wanted(boxes: Intervals, grid: Sequence[Floats], *, exact: bool) -> Flags:
    """The cells that a box touches, or is made of."""
    product = np.ones((len(boxes[0][0]), 1), dtype=np.bool_)
    for (low, high), ends in zip(boxes, grid, strict=True):
        inside = covered(low, high, ends) if exact else touched(low, high, len(ends) - 1)
        product = (product[:, :, None] & inside[:, None, :]).reshape(len(low), -1)
    return product


def _plane(random: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    """Points in a square, distances rounded up, which keeps the triangle inequality."""
    places, homes = random.random((users, 2)), random.random((brokers, 2))
    return np.maximum(1.0, np.ceil(_SIDE * _distances(places, homes))), _distances(homes, homes)


def _distances(ends: Floats, others: Floats) -> Floats:
    across, along = (ends[:, None, axis] - others[None, :, axis] for axis in (0, 1))
    return np.sqrt(across * across + along * along)


def _independent(random: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    """Prices from half to all of the largest, which are a metric whatever they are."""
    access, core = (0.5 + 0.5 * random.random((count, brokers)) for count in (users, brokers))
    upper = np.triu(core, 1)
    return np.ceil(_SIDE * access), upper + upper.T


def _cheapest_ways(random: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    """Uniform prices; between brokers those of the cheapest ways."""
    access, core = random.random((users, brokers)), np.triu(random.random((brokers, brokers)), 1)
    return np.maximum(1.0, np.ceil(_SIDE * access)), closed(core + core.T)


_METRICS = {"plane": _plane, "independent": _independent, "cheapest-ways": _cheapest_ways}


def _scaled(core: Floats, mean: float) -> Floats:
    """The metric scaled to a mean price of a link, rounded up."""
    pairs = core[np.triu_indices(len(core), 1)]
    total = float(np.cumsum(pairs)[-1]) if len(pairs) else 0.0  # unlike sum, in one order on every machine
    return np.ceil(core * (mean * len(pairs) / total)) if total > 0 else core


_PARAMETERS = (
    Option("users", 1000, "|U|", least=1, most=10_000_000),
    Option("brokers", 10, "|B|; P4 has a tenth to a hundredth of the users", least=1, most=100_000),
    Option("intervals", 100, "intervals of the histogram in each dimension", least=1, most=1_000_000),
    Option("dimensions", 1, "of the content space; channels are the cells of the grid", least=1, most=8),
    Option(
        "cells",
        "equal",
        "intervals of one length, or cut exactly at the subscriptions' ends (then `intervals` counts for nothing)",
        choices=("equal", "exact"),
    ),
    Option("width", 1.0, "subscriptions shrunk to this share of a random interval", least=0.0, most=1.0),
    Option(
        "metric",
        "plane",
        "prices: of points in a square, independent, or of cheapest ways under random prices",
        choices=tuple(_METRICS),
    ),
    Option("access_to_core", 1.0, "mean price of a user's link to that between brokers", least=1e-6, most=1e6),
    Option("slack", 2.0, "capacities in all, as a multiple of the users' traffic", least=0.0, most=1e6),
)
CONTENT_WORKLOADS: tuple[Workload[ContentInstance], ...] = (
    Workload(
        "content",
        "cut quadratic generating functions, random subscription intervals, equal capacities",
        "P4 §VI.A",
        _PARAMETERS,
        _content,
        "content",
    ),
)
