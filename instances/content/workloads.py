"""The content workload of P4 §VI.A.

All numbers are integers, so that sums and costs are exact and the same on every machine: rates in messages, prices in
thousandths of the side of the square in which users and brokers lie. Generating functions, subscriptions and prices
have random streams of their own: the same seed with another access-to-core ratio gives the same users.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from .core_prices import metric_closure
from .generating_functions import contained_cells, cut_quadratic_histogram, equal_cells, exact_cells, intersected_cells
from .instance import ContentInstance, Flags, Floats

Intervals = Sequence[tuple[Floats, Floats]]
_MESSAGES = 10_000
_SIDE = 1000.0
_MOST_RATES = 2**31 - 1
_FUNCTIONS, _SUBSCRIPTIONS, _PRICES = range(3)


@dataclass(frozen=True)
class _ContentSpace:
    """How the content space is divided into cells, and how wide subscriptions are."""

    intervals: int
    dimensions: int
    cells: str
    width: float

    def boxes(self, random: np.random.Generator, users: int) -> Intervals:
        """The subscriptions: in each dimension an interval between two uniform points, shrunk about its middle."""
        boxes = []
        for _ in range(self.dimensions):
            ends = np.sort(random.random((users, 2)), axis=1)
            middle, half = (ends[:, 0] + ends[:, 1]) / 2, (ends[:, 1] - ends[:, 0]) / 2 * self.width
            boxes.append((np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)))
        return boxes

    def grid(self, boxes: Intervals) -> list[Floats]:
        """The ends of the cells in each dimension."""
        return [exact_cells(low, high) if self.cells == "exact" else equal_cells(self.intervals) for low, high in boxes]

    def subscriptions(self, boxes: Intervals, grid: Sequence[Floats]) -> Flags:
        """The cells that each box intersects, or of which it is a union."""
        product = np.ones((len(boxes[0][0]), 1), dtype=np.bool_)
        for (low, high), ends in zip(boxes, grid, strict=True):
            exact = self.cells == "exact"
            inside = contained_cells(low, high, ends) if exact else intersected_cells(low, high, len(ends) - 1)
            product = (product[:, :, None] & inside[:, None, :]).reshape(len(low), -1)
        return product


def _content(
    *, users: int, brokers: int, metric: str, access_to_core: float, slack: float, seed: int, **space: object
) -> ContentInstance:
    content_space = _ContentSpace(**space)  # type: ignore[arg-type]
    boxes = content_space.boxes(np.random.default_rng([_SUBSCRIPTIONS, seed]), users)
    grid = content_space.grid(boxes)
    channels = math.prod(len(ends) - 1 for ends in grid)
    if users * channels > _MOST_RATES:
        raise BadInput(f"{users} users on {channels} channels are more than {_MOST_RATES} rates: choose fewer")
    access, core = _METRICS[metric](np.random.default_rng([_PRICES, seed]), users, brokers)
    core = _scaled(core, float(access.mean()) / access_to_core)
    rates = _rates(np.random.default_rng([_FUNCTIONS, seed]), users, grid)
    subscriptions = content_space.subscriptions(boxes, grid)
    unlimited = ContentInstance(access, core, np.full(brokers, np.inf), rates, subscriptions)
    del rates, subscriptions  # the largest arrays, which the instance has copied
    capacity = np.ceil(slack * float(unlimited.demands.sum()) / brokers)
    return ContentInstance(access, core, np.full(brokers, capacity), unlimited.rates, unlimited.subscriptions)


def _rates(random: np.random.Generator, users: int, grid: Sequence[Floats]) -> Floats:
    """Histograms of cut quadratics; in several dimensions the product of one for each."""
    scale = round(_MESSAGES ** (1 / len(grid)))
    product = np.ones((users, 1))
    for ends in grid:
        a, b, c = (2 * random.random((users, 3)) - 1).T
        # a·t² + b·t + c with t = 2x − 1, as a quadratic in x
        coefficients = np.stack([4 * a, 2 * b - 4 * a, a - b + c], axis=1)
        histogram = cut_quadratic_histogram(coefficients, ends, scale)
        product = (product[:, :, None] * histogram[:, None, :]).reshape(users, -1)
    return product


def _plane(random: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    """Points in a square, distances rounded up, which preserves the triangle inequality."""
    user_points, broker_points = random.random((users, 2)), random.random((brokers, 2))
    access = np.maximum(1.0, np.ceil(_SIDE * _distances(user_points, broker_points)))
    return access, _distances(broker_points, broker_points)


def _distances(points: Floats, others: Floats) -> Floats:
    across, along = (points[:, None, axis] - others[None, :, axis] for axis in (0, 1))
    return np.sqrt(across * across + along * along)


def _independent(random: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    """Independent prices from half the largest to the largest, which always form a metric."""
    access, core = (0.5 + 0.5 * random.random((count, brokers)) for count in (users, brokers))
    upper = np.triu(core, 1)
    return np.ceil(_SIDE * access), upper + upper.T


def _cheapest_paths(random: np.random.Generator, users: int, brokers: int) -> tuple[Floats, Floats]:
    """Uniform prices; between brokers their metric closure."""
    access, core = random.random((users, brokers)), np.triu(random.random((brokers, brokers)), 1)
    return np.maximum(1.0, np.ceil(_SIDE * access)), metric_closure(core + core.T)


_METRICS = {"plane": _plane, "independent": _independent, "cheapest-ways": _cheapest_paths}


def _scaled(core: Floats, mean: float) -> Floats:
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
