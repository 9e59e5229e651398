"""Overlays under a limit on degrees: greedy by contribution, topic by topic, and the best that keeps all connected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.limits.problems import DegreeLimited
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import Clock, offer
from ...instances.runtime.stoppable import finished_within
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem
from ..topics.greedy_merge import greedy_merge
from ..topics.kernels.interest import TopicComponents, contribution, join, ordered_pairs, singletons
from ..topics.kernels.partial_overlay import PartialOverlay
from ..topics.local_search.overlay_search import copied
from ..topics.local_search.polish import is_judged_within, polish
from ..topics.merge.gm_m import gm_m
from ..topics.merge.low_oda import low_oda
from ..topics.ring_per_topic import harary_per_topic
from ..topics.tie_breaking.ties import TIES, tie_order

Caps = npt.NDArray[np.int64]
_LOW_ODA, _STEPS = (2, 4, 8), 3_000
_PAIRS = 2_000_000  # looked at without a look at the clock
_AT_ONCE, _BY_TOPIC = 2_000_000, 0.8


def as_limited(problem: AnyTopicProblem) -> DegreeLimited:
    """The problem as one with a limit on degrees; methods for these problems get no other."""
    if not isinstance(problem, DegreeLimited):
        raise TypeError(f"{problem!r} limits no degrees")
    return problem


def greedy_within(
    instance: TopicInstance, caps: Caps, most_edges: int, *, ties: str = "lowest", seed: int = 0
) -> Overlay:
    """Add an edge of maximum contribution between nodes below their caps while one contributes.

    At most so many edges. Parameters and cost as for :func:`.gm_m`.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> greedy_within(instance, np.array([1, 1, 1]), 3).edges.tolist()
    [[0, 1]]
    """
    built, most = PartialOverlay(instance, tie_order(ties, seed)), int(caps.max())
    built.degrees += (most - caps).astype(np.int32)
    bounds = built.bounds()
    while True:
        bounds[built.degrees >= most] = 0
        if (level := int(bounds.max())) == 0 or len(built.edges) >= most_edges:
            break
        built.add_level(bounds, level, below=most)
    edges = built.edges[:most_edges]
    return Overlay.from_edges(instance.num_nodes, np.stack(np.divmod(edges, instance.num_nodes), axis=1))


def _greedy(
    instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, time_limit: float | None, ties: str
) -> Proposal[Overlay]:
    limited = as_limited(problem)
    caps, most_edges = limited.caps(instance), limited.most_edges(instance)
    return Proposal(greedy_within(instance, caps, most_edges, ties=ties, seed=seed))


PTCO: Method[TopicInstance, Overlay] = Method(
    name="ptco",
    problems=("partial-tco",),
    summary="the edge that unites most topic components, of those that the limit allows (PTCOA, PTCOM)",
    source="Chen, Tock, Jacobsen 2016, of which only the abstract was read: the measure and the ratios here are ours",
    guarantee="unions of components, Σ_t (|V_t| − components): 1 − 1/e of the most under average-degree (Nemhauser, "
    "Wolsey and Fisher 1978), a third of the most under the other limits (Fisher, Nemhauser and Wolsey 1978)",
    cost="time O(C Σ_t |V_t|²) for maximum contribution C; memory O(Σ|T_v|)",
    solve=_greedy,
    options=(TIES,),
    compiled=True,
    anytime=False,
    pace=20,
)


def topic_by_topic(instance: TopicInstance, caps: Caps, most_edges: int, clock: Clock) -> Overlay:
    """Connect one topic after the other, those of fewest subscribers first, as long as the limits allow.

    Within a topic, edges between its components are taken by contribution, then by the degrees that are left. A topic
    that cannot be connected so gets no edge; at the end it gets what :func:`greedy_within` would add. Time
    O(Σ_t |V_t|³ max|T_v|), memory O(Σ|T_v|); no further topic is connected once the time is over.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a"], "n2": ["b"]})
    >>> topic_by_topic(instance, np.array([1, 1, 1]), 3, Clock(None)).edges.tolist()
    [[0, 1]]
    """
    components, left = singletons(instance), caps.astype(np.int64)
    edges = np.empty((0, 2), np.int32)
    sizes = np.diff(instance.topic_offsets)
    order = np.argsort(sizes, kind="stable")
    for topic in order[sizes[order] > 1].tolist():
        if clock.passed:
            break
        trial, remaining = copied(components), left.copy()
        found = _connecting(topic, remaining, most_edges - len(edges), trial, clock)
        if found is not None:
            components, left, edges = trial, remaining, np.concatenate([edges, found])
    more = _fill(left, most_edges - len(edges), components)
    return Overlay.from_edges(instance.num_nodes, np.concatenate([edges, more]))


def _filled(instance: TopicInstance, caps: Caps, most_edges: int) -> Overlay:
    """An edge wherever one contributes, topic by topic; O(Σ|T_v| log Σ|T_v|) and the joins of components."""
    return Overlay.from_edges(instance.num_nodes, _fill(caps.astype(np.int64), most_edges, singletons(instance)))


def _connecting(topic: int, left: Caps, most: int, components: TopicComponents, clock: Clock) -> Ids | None:
    """The edges that connect a topic within the degrees left, at most so many; None where that fails or time is over.

    `left` and `components` are changed.
    """
    first, last = components.topic_offsets[topic : topic + 2].tolist()
    edges: list[tuple[int, int]] = []
    rows = max(1, _PAIRS // (last - first))
    while components.size[components.label[first]] < last - first:
        best = (-1, -1, 0, 0)
        for row in range(first, last, rows):
            if clock.passed:
                return None
            best = _best_edge(row, min(row + rows, last), last, left, components, *best)
        u, v, *_ = best
        if u < 0 or len(edges) >= most:
            return None
        join(u, v, components)
        left[[u, v]] -= 1
        edges.append((u, v))
    return np.array(edges, np.int32).reshape(-1, 2)


@kernel
def _best_edge(
    first: int, after: int, last: int, left: Caps, components: TopicComponents, u: int, v: int, most: int, slack: int
) -> tuple[int, int, int, int]:
    """The better of an edge and those of entries first..after − 1 with later ones, by contribution, then slack."""
    c = components
    for p in range(first, after):
        a = c.topic_nodes[p]
        if left[a] <= 0:
            continue
        for q in range(p + 1, last):
            b = c.topic_nodes[q]
            if left[b] <= 0 or c.label[p] == c.label[q]:
                continue
            worth, spare = contribution(a, b, c, c.label), min(left[a], left[b])
            if worth > most or (worth == most and spare > slack):
                u, v, most, slack = a, b, worth, spare
    return u, v, most, slack


@kernel
def _fill(left: Caps, most: int, components: TopicComponents) -> Ids:
    """Edges that still contribute, topic by topic in order, within the degrees left."""
    c = components
    edges, count = np.empty((max(0, min(most, len(c.topic_nodes))), 2), np.int32), 0
    for topic in range(len(c.topic_offsets) - 1):
        p = c.topic_offsets[topic]
        for q in range(p + 1, c.topic_offsets[topic + 1]):
            # Entries before q whose nodes have degrees left are in one component: p is the first of them, or q.
            while p < q and left[c.topic_nodes[p]] <= 0:
                p += 1
            u, v = c.topic_nodes[p], c.topic_nodes[q]
            if count < len(edges) and left[u] > 0 and left[v] > 0 and c.label[p] != c.label[q]:
                join(u, v, c)
                left[u] -= 1
                left[v] -= 1
                edges[count, 0], edges[count, 1] = u, v
                count += 1
    return edges[:count].copy()


def _by_topic(
    instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, time_limit: float | None
) -> Proposal[Overlay]:
    limited, clock = as_limited(problem), Clock(time_limit)
    return Proposal(topic_by_topic(instance, limited.caps(instance), limited.most_edges(instance), clock))


TOPIC_BY_TOPIC: Method[TopicInstance, Overlay] = Method(
    name="topic-by-topic",
    problems=("partial-tco",),
    summary="connects small topics first, one as a whole after the other, as far as the limit allows",
    source="none",
    guarantee="none",
    cost="time O(Σ_t |V_t|³ max|T_v|), memory O(Σ|T_v|)",
    solve=_by_topic,
    compiled=True,
    pace=500,
)


def overlays_within(
    instance: TopicInstance, problem: AnyTopicProblem, *, seed: int = 0, clock: Clock
) -> Iterator[tuple[str, Overlay]]:
    """Valid overlays by name: of connected ones, those of fewest edges first and those of lowest degrees last.

    A partial overlay comes at once, and rings that keep the limit on a large instance. GM-M's is polished
    for its degree only where none before keeps the limit. Each is offered where there is time to judge it; but for the
    quick one, no other counts.

    Examples
    --------
    >>> from overlaybench.instances.contract.catalogue import PROBLEMS
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> found = overlays_within(instance, PROBLEMS["capped-tco@max-degree=2"], clock=Clock(None))
    >>> next(found)[0]
    'gm'
    """
    limited, is_kept = as_limited(problem), False
    caps, most_edges = limited.caps(instance), limited.most_edges(instance)
    pairs = ordered_pairs(instance)
    steps = pairs * int(np.diff(instance.node_offsets).max())
    makers: dict[str, Callable[[], Overlay]] = {"ptco": partial(greedy_within, instance, caps, most_edges, seed=seed)}
    quick: Overlay | None
    if is_partial := limited.family == "partial-tco":
        quick = _filled(instance, caps, most_edges)
        makers["topic-by-topic"] = lambda: topic_by_topic(instance, caps, most_edges, clock.share(_BY_TOPIC))
    else:
        quick = harary_per_topic(instance, order="number") if pairs > _AT_ONCE else None
        makers = {"gm": partial(greedy_merge, instance, seed=seed), **makers}
        makers |= {f"low-oda k={k}": partial(low_oda, instance, k=k, seed=seed) for k in _LOW_ODA}
        makers["gm-m"] = partial(gm_m, instance, seed=seed)
    latest = quick or Overlay.from_edges(instance.num_nodes, [])

    def last_resort() -> Iterator[tuple[str, Callable[[], Overlay]]]:
        if not (is_kept or is_partial):
            yield "polish", partial(polish, instance, latest, first="degree", seed=seed, steps=_STEPS)

    if quick is not None and not limited.limit_violations(instance, quick):
        is_kept = True
        if is_judged_within(instance, quick, clock):
            offer(quick)
        yield "quick", quick
    for name, make in chain(makers.items(), last_resort()):
        if (overlay := finished_within(clock, make, steps=steps)) is None:
            continue
        if not is_judged_within(instance, overlay, clock):
            return
        latest = overlay
        if not problem.violations(instance, overlay):
            is_kept = True
            offer(overlay)
            yield name, overlay


def starts_within(instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, clock: Clock) -> list[Overlay]:
    """The overlays of :func:`overlays_within`, the best first."""
    found = [overlay for _, overlay in overlays_within(instance, problem, seed=seed, clock=clock)]
    return sorted(found, key=partial(problem.value, instance)) if len(found) > 1 else found


def _connected(
    instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, time_limit: float | None
) -> Proposal[Overlay]:
    found = [*overlays_within(instance, problem, seed=seed, clock=Clock(time_limit))]
    if not found:
        return Proposal(status=Status.FAILED, reason="no overlay of this method keeps the limits")
    name, overlay = min(found, key=lambda each: each[1].num_edges)
    return Proposal(overlay, counters={"built": name})


CAPPED_GM: Method[TopicInstance, Overlay] = Method(
    name="capped-gm",
    problems=("capped-tco",),
    summary="the best of Greedy Merge, Greedy Merge below the limit, Low-ODA and GM-M that keeps the limit",
    source="none",
    guarantee="none: it may find no overlay where there is one",
    cost="that of the methods it runs",
    solve=_connected,
    compiled=True,
    pace=200,
)
