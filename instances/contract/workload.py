"""Workloads: named families of seeded instances; and the popularity of topics, as integer weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import numpy as np
import numpy.typing as npt

from .arrays import check_seed
from .option import Option, Value, complete
from .problem import Instance


@dataclass(frozen=True)
class Workload(Generic[Instance]):
    """A named family of seeded instances.

    Attributes
    ----------
    name, summary, source
        As listed; `source` names paper and section.
    parameters : tuple of Option
        With their defaults.
    build : callable
        Takes the parameters and `seed` as keywords and returns an instance.
    kind : str
        The kind of its instances.
    needs : str
        What it needs of the machine, such as a file of other software; "" for nothing.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.WORKLOADS["zipf"].generate(nodes=20, topics=5, subscriptions=2, seed=1)
    TopicInstance(20 nodes, 5 topics, 40 subscriptions, ...)
    """

    name: str
    summary: str
    source: str
    parameters: tuple[Option, ...]
    build: Callable[..., Instance]
    kind: str = "topics"
    needs: str = ""

    def __repr__(self) -> str:
        return f"Workload({self.name}: {self.summary})"

    def complete(self, given: dict[str, object]) -> dict[str, Value]:
        """All parameters with their values; BadInput for an unknown parameter."""
        return complete(self.parameters, given, f"workload '{self.name}'")

    def generate(self, *, seed: int = 0, **given: object) -> Instance:
        """The instance for a seed (0 … 2^63 − 1) and parameters."""
        check_seed(seed)
        return self.build(seed=seed, **self.complete(given))


Weights = npt.NDArray[np.uint64]
_SCALE = 2.0**40
_FLATTEST = 1e-9


def uniform(topics: int) -> Weights:
    """All topics have the same popularity."""
    return _weights(np.ones(topics))


def zipf(topics: int, alpha: float) -> Weights:
    """p_i ∝ i^-α: α = 0.5 in P1 and P2, 2.0 in P3."""
    return _weights(np.arange(1, topics + 1, dtype=float) ** -alpha)


def exponential(topics: int, top_decile: float) -> Weights:
    """p_i ∝ q^i, with q ≤ 1 such that the first tenth of the topics (rounded up) has the mass `top_decile`.

    P1 §8 states only that mass, 0.55; the geometric distribution is the discrete exponential one. The distribution is
    uniform if `top_decile` is at most that tenth's share of the topics, or there is a single topic.
    """
    top = -(-topics // 10)
    if top == topics or top_decile <= top / topics:
        return uniform(topics)

    def excess(rate: float) -> float:
        return float(np.expm1(-rate * top) / np.expm1(-rate * topics) - top_decile)

    if excess(_FLATTEST) >= 0:
        return uniform(topics)
    from scipy.optimize import brentq

    rate = brentq(excess, _FLATTEST, 700.0 / top)
    return _weights(np.exp(-rate * np.arange(topics)))


def _weights(popularity: npt.NDArray[np.float64]) -> Weights:
    """Integers ∝ popularity, at least 1 each and about 2^40 in total, so that draws need no floating point."""
    weights: Weights = np.maximum(1, np.rint(popularity / popularity.sum() * _SCALE)).astype(np.uint64)
    return weights
