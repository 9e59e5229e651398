"""Content-based publish/subscribe: users, brokers, channels, traffic rates, prices and capacities (P4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Flags, Reals, sampled
from ..contract.errors import BadInput
from ..contract.files import distinct_labels
from ..contract.numbers import distinct
from ..contract.shown import Digested, matrix

if TYPE_CHECKING:
    import networkx as nx


_Array = TypeVar("_Array", Reals, Flags)
FORMAT = "content/1"
AXES: dict[str, tuple[str, ...]] = {
    "access": ("user", "broker"),
    "core": ("broker", "broker"),
    "capacities": ("broker",),
    "rates": ("user", "channel"),
    "subscriptions": ("user", "channel"),
}
"""The arrays of an instance, with what their rows and columns are."""
_INFINITE = ("access", "capacities")
_CELLS_AT_ONCE = 4_000_000
_TINY = 1000
_DEAREST = 1e200


@dataclass(frozen=True, eq=False, repr=False)
class ContentInstance(Digested):
    """Users, brokers and channels; immutable, with copies of the given arrays.

    Every user is connected to one broker and may publish and subscribe; brokers forward what users publish. The content
    space is divided into channels. Units of traffic and of price are free; with integers (below 2^53 in total) every
    cost is exact. Memory: 9 bytes per user and channel, 8 bytes per user and broker. Raises BadInput if there is no
    user, broker or channel, a shape is wrong, a rate or a core price is infinite, a number is negative or NaN, a user
    knows no broker, the core prices are no metric, or labels are empty, repeated or of the wrong number.

    Parameters
    ----------
    access : float64 array, shape (|U|, |B|)
        Price of a unit of traffic between a user and a broker, either way; infinite for a broker that the user does not
        know. The instance has a prohibitive price there, above the cost of any overlay of known brokers.
    core : float64 array, shape (|B|, |B|)
        Price of a unit of traffic between two brokers: a metric, except that two brokers may be at distance 0
        (:func:`.metric_closure` makes one of other prices).
    capacities : float64 array, shape (|B|,)
        The largest total demand of a broker's users; infinite for no limit.
    rates : float64 array, shape (|U|, |C|)
        Traffic that a user publishes on a channel.
    subscriptions : bool array, shape (|U|, |C|)
        Whether a user subscribes to a channel.
    user_labels, broker_labels, channel_labels : sequences of str, optional
        By default ``u0…``, ``b0…`` and ``c0…``. They do not change the digest.

    Examples
    --------
    Two users with a broker each: what one publishes on the only channel, the other receives.

    >>> import overlaybench as ob
    >>> instance = ob.ContentInstance(
    ...     access=[[1, 9], [9, 1]], core=[[0, 2], [2, 0]], capacities=[10, 10], rates=[[3], [0]],
    ...     subscriptions=[[False], [True]],
    ... )
    >>> instance.demands.tolist()
    [3.0, 3.0]
    """

    access: Reals
    core: Reals
    capacities: Reals
    rates: Reals
    subscriptions: Flags
    user_labels: Sequence[str] | None = None
    broker_labels: Sequence[str] | None = None
    channel_labels: Sequence[str] | None = None
    unknown: Flags = field(init=False)  # where the access price was given as infinite, shape (|U|, |B|)

    def __post_init__(self) -> None:
        if (
            np.ndim(self.access) != 2
            or np.ndim(self.rates) != 2
            or 0 in (*np.shape(self.access), *np.shape(self.rates))
        ):
            raise BadInput("an instance needs at least one user, one broker and one channel")
        (users, brokers), channels = np.shape(self.access), np.shape(self.rates)[1]
        count_of = {"user": users, "broker": brokers, "channel": channels}
        for kind, count in count_of.items():
            self._set(**{f"{kind}_labels": distinct_labels(getattr(self, f"{kind}_labels"), count, kind)})
        for name, axes in AXES.items():
            shape = tuple(count_of[axis] for axis in axes)
            if np.shape(getattr(self, name)) != shape:
                raise BadInput(f"{name} has shape {np.shape(getattr(self, name))}: give {shape}")
            self._set(**{name: self._flags() if name == "subscriptions" else self._numbers(name)})
        self._set(unknown=_read_only(np.isinf(self.access)))
        self._set(access=_read_only(self._with_prohibitive_prices()))
        check_metric(self.core, [self.broker_label(b) for b in range(brokers)])

    def _numbers(self, name: str) -> Reals:
        """The values as a new array, not negative; infinite ones only where that has a meaning."""
        values = np.array(getattr(self, name), dtype=np.float64, order="C")
        values += 0.0  # no negative zero, which would change the digest
        for index in map(tuple, np.argwhere(~(values >= 0) | (name not in _INFINITE) & np.isinf(values))):
            at = " and ".join(
                f"{axis} '{getattr(self, f'{axis}_label')(int(k))}'" for axis, k in zip(AXES[name], index, strict=True)
            )
            raise BadInput(f"{name} of {at} is {values[index]:g}: give a finite number of 0 or more")
        return _read_only(values)

    def _flags(self) -> Flags:
        values = np.asarray(self.subscriptions)
        if values.dtype != np.bool_ and not np.isin(values, (0, 1)).all():
            raise BadInput("subscriptions must be true or false")
        return _read_only(np.array(values, dtype=np.bool_, order="C"))

    def _with_prohibitive_prices(self) -> Reals:
        """The access prices, with one above the cost of any overlay in place of each infinite price."""
        unknown = self.unknown
        known = self.access[~unknown]
        with np.errstate(over="ignore", invalid="ignore"):
            dearest = self.demands.sum() * known.max(initial=0.0) + self.rates.sum() * self.core.sum()
        if not dearest < _DEAREST:
            raise BadInput(f"prices times rates add up to {_DEAREST:g} or more: divide them by a common factor")
        if not unknown.any():
            return self.access
        for user in np.flatnonzero(unknown.all(axis=1)).tolist():
            raise BadInput(f"user '{self.user_label(user)}' knows no broker: give it a finite access price")
        demanding = self.demands[self.demands > 0]
        price = np.ceil(2 * dearest / demanding.min()) + 1 if demanding.size else 1.0
        return np.where(unknown, price, self.access)

    @property
    def num_users(self) -> int:
        """|U|."""
        return len(self.access)

    @property
    def num_brokers(self) -> int:
        """|B|."""
        return len(self.core)

    @property
    def num_channels(self) -> int:
        """|C|."""
        return int(self.rates.shape[1])

    @cached_property
    def out_rates(self) -> Reals:
        """What each user publishes, with or without subscribers: Σ_c g_uc. Shape (|U|,)."""
        return _read_only(self.rates.sum(axis=1))

    @cached_property
    def in_rates(self) -> Reals:
        """What each user receives: the rates of all other users on its channels. Shape (|U|,)."""
        totals = self.rates.sum(axis=0)
        received = np.empty(self.num_users)
        step = max(1, _CELLS_AT_ONCE // self.num_channels)
        for start in range(0, self.num_users, step):
            rows = slice(start, start + step)
            received[rows] = np.where(self.subscriptions[rows], totals - self.rates[rows], 0.0).sum(axis=1)
        return _read_only(received)

    @cached_property
    def demands(self) -> Reals:
        """The traffic between each user and its broker, published and received. Shape (|U|,)."""
        return _read_only(self.out_rates + self.in_rates)

    @property
    def is_tiny(self) -> bool:
        return self.num_users * self.num_brokers * self.num_channels <= _TINY

    def trial(self) -> ContentInstance:
        points = np.array([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]])
        distances = np.abs(points[:, None] - points).sum(axis=2).astype(np.float64)
        users, channels = np.arange(10), np.arange(3)
        rates = ((users[:, None] + channels) % 4).astype(np.float64)
        subscriptions = (users[:, None] + 2 * channels) % 3 == 0
        unlimited = ContentInstance(1 + distances[users % 5], distances, np.full(5, np.inf), rates, subscriptions)
        capacities = np.full(5, unlimited.demands.sum() / 2)
        return ContentInstance(unlimited.access, distances, capacities, rates, subscriptions)

    def load_limits(self) -> Reals:
        """The capacities with the tolerance for rounding errors in a sum of demands. Shape (|B|,), a new array."""
        return self.capacities * (1 + _TOLERANCE)

    def capacity_conflict(self) -> str:
        """Why no assignment respects the capacities, with the numbers; empty if three simple tests find no conflict.

        The tests: one user exceeds every capacity; all users exceed the total capacity; of the |B| + 1 users of
        largest demand, any two exceed every capacity. Without such a conflict there can still be no assignment: to
        decide that is NP-hard (bin packing). Cost O(|U| log |U|).
        """
        demands, limits = np.sort(self.demands)[::-1], self.load_limits()
        heaviest, widest = int(np.argmax(self.demands)), int(np.argmax(limits))
        pair = float(demands[self.num_brokers - 1 : self.num_brokers + 1].sum())
        first, second, most = distinct(float(demands[0]), pair, float(self.capacities[widest]))
        largest = f"the largest capacity is {most}, of broker '{self.broker_label(widest)}'"
        if demands[0] > limits[widest]:
            return f"user '{self.user_label(heaviest)}' has demand {first}, {largest}"
        if demands.sum() > limits.sum():
            wanted, there = distinct(float(demands.sum()), float(self.capacities.sum()))
            return f"the total demand is {wanted}, the total capacity {there}"
        if len(demands) > self.num_brokers and pair > limits[widest]:
            count = self.num_brokers + 1
            return f"any two of {count} users have demand {second} or more, on {self.num_brokers} brokers: {largest}"
        return ""

    def user_label(self, user: int) -> str:
        """The name of a user."""
        return self.user_labels[user] if self.user_labels is not None else f"u{user}"

    def broker_label(self, broker: int) -> str:
        """The name of a broker."""
        return self.broker_labels[broker] if self.broker_labels is not None else f"b{broker}"

    def channel_label(self, channel: int) -> str:
        """The name of a channel."""
        return self.channel_labels[channel] if self.channel_labels is not None else f"c{channel}"

    def sample(self, size: int, seed: int) -> ContentInstance:
        """The instance with `size` users drawn without replacement, in their order; the seed is from 0 to 2^63 - 1."""
        kept = sampled(self.num_users, size, seed, "users")
        return ContentInstance(
            self.access[kept],
            self.core,
            self.capacities,
            self.rates[kept],
            self.subscriptions[kept],
            [self.user_label(u) for u in kept.tolist()],
            self.broker_labels,
            self.channel_labels,
        )

    @property
    def size(self) -> dict[str, int]:
        """|U|, |B| and |C|."""
        return {"users": self.num_users, "brokers": self.num_brokers, "channels": self.num_channels}

    def _content(self) -> tuple[str, Iterable[npt.NDArray[Any]]]:
        return FORMAT, (np.array([*self.size.values()]), *(getattr(self, name) for name in AXES))

    def to_networkx(self) -> nx.Graph[tuple[str, str]]:
        """The prices as a graph on ("user", label) and ("broker", label): every possible link, with its ``weight``."""
        import networkx as nx

        graph: nx.Graph[tuple[str, str]] = nx.Graph()
        users = [("user", self.user_label(u)) for u in range(self.num_users)]
        brokers = [("broker", self.broker_label(b)) for b in range(self.num_brokers)]
        graph.add_nodes_from((*users, *brokers))
        graph.add_weighted_edges_from((users[u], brokers[b], price) for (u, b), price in np.ndenumerate(self.access))
        core = ((a, b, price) for (a, b), price in np.ndenumerate(self.core) if a < b)
        graph.add_weighted_edges_from((brokers[a], brokers[b], price) for a, b, price in core)
        return graph

    def _shown(self) -> tuple[Mapping[str, object], str]:
        rows = {
            "subscriptions": int(self.subscriptions.sum()),
            "traffic of all users": float(self.demands.sum()),
            "total capacity": float(self.capacities.sum()),
        }
        labelled = (self.num_users, self.user_label), (self.num_channels, self.channel_label)
        return rows, matrix(*labelled, lambda user: np.flatnonzero(self.subscriptions[user]))


def _read_only(values: _Array) -> _Array:
    values.flags.writeable = False
    return values


_TOLERANCE = 1e-9


def check_metric(prices: npt.NDArray[np.float64], labels: Sequence[str]) -> None:
    """Raise BadInput unless prices are symmetric, 0 on the diagonal, and satisfy the triangle inequality.

    The prices, shape (|B|, |B|), are finite and not negative; the inequality has a relative tolerance of 10⁻⁹. O(|B|³).
    """
    for own in np.flatnonzero(np.diagonal(prices)).tolist():
        raise BadInput(f"the price of broker '{labels[own]}' to itself is {prices[own, own]:g}: give 0")
    for a, b in np.argwhere(prices != prices.T).tolist():
        one, other = distinct(prices[a, b], prices[b, a])
        raise BadInput(
            f"the price between brokers '{labels[a]}' and '{labels[b]}' is {one} one way and {other} the other: make "
            "them equal"
        )
    lowered = prices * (1 - _TOLERANCE)
    for via in range(len(prices)):
        for a, b in np.argwhere(lowered > prices[:, via, None] + prices[via]).tolist():
            direct, path = distinct(prices[a, b], prices[a, via] + prices[via, b])
            raise BadInput(
                f"the price between brokers '{labels[a]}' and '{labels[b]}', {direct}, exceeds the path through "
                f"'{labels[via]}', {path}: lower it, or close the prices"
            )


def metric_closure(prices: npt.NDArray[np.float64], labels: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
    """The price of the cheapest path between any two brokers (Floyd and Warshall, O(|B|³)).

    The prices, shape (|B|, |B|), are symmetric, not negative, and infinite if there is no link. Two brokers without a
    path are bad input; the labels name them.
    """
    closure = np.array(prices, dtype=np.float64)
    for via in range(len(closure)):
        np.minimum(closure, closure[:, via, None] + closure[via], out=closure)
    for pair in np.argwhere(np.isinf(closure)):
        a, b = (str(i) if labels is None else labels[i] for i in pair)
        raise BadInput(f"there is no path between brokers '{a}' and '{b}': add a price of one of its links")
    return closure
