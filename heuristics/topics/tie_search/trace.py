"""The trace of a greedy run: its choices again, in plain Python and from their definition, with the number of ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ....instances.contract.errors import BadInput
from ....instances.contract.overlay import Overlay
from ....instances.contract.result import Step, Trace
from ....instances.topics.instance import TopicInstance
from ..kernels.ties import RULES, TieOrder, ranks_of
from .steps import Choice, EdgeSteps, GreedySteps, StarSteps, State

MOST_NODES = 200
_HIGHEST, _RANDOM = RULES.index("highest"), RULES.index("random")

Pick = Callable[[Sequence[Choice]], Choice]


def check_traceable(instance: TopicInstance) -> None:
    """Raise BadInput if an instance is too large for a trace."""
    if instance.num_nodes > MOST_NODES:
        raise BadInput(f"a trace of {instance.num_nodes} nodes: at most {MOST_NODES}: draw a sample, or leave it out")


def trace_of(steps: GreedySteps, pick: Pick, overlay: Overlay) -> Trace:
    """The trace that ends in an overlay.

    Parameters
    ----------
    steps : GreedySteps
        The method on an instance.
    pick : callable
        The rule for ties: one of the equally good choices (:func:`by_order`, :func:`along`).
    overlay : Overlay
        The answer of the run.

    Raises
    ------
    BadInput
        If the instance has more than 200 nodes.
    RuntimeError
        If the choices do not end in the overlay, which would be a defect of the method.

    Notes
    -----
    Time O(|E| |V|² + Σ_t |V_t|²) for a method that adds edges, O(|V| Σ_v |T_v| max|V_t|) a step for one that adds
    stars; memory O(|V|² + Σ_pairs |T_u ∩ T_v|). At 200 nodes 1 to 12 s.
    """
    check_traceable(steps.instance)
    listed = tuple(_edge_steps(steps, pick) if isinstance(steps, EdgeSteps) else _star_steps(steps, pick))
    edges = [edge for step in listed for edge in step.edges]
    if Overlay.from_edges(len(steps.nodes), edges) != overlay:
        raise RuntimeError("the trace does not end in the overlay of the run: please report this")
    return traced(steps.instance, listed, steps.measure)


def traced(instance: TopicInstance, steps: Sequence[Step], measure: str) -> Trace:
    """The trace of these steps, with the labels of their instance."""
    nodes = tuple(map(instance.node_label, range(instance.num_nodes)))
    return Trace(measure, tuple(steps), nodes, tuple(map(instance.topic_label, range(instance.num_topics))))


def by_order(steps: GreedySteps, order: TieOrder) -> Pick:
    """Pick the choice of lowest rank (see :func:`.tie_order`)."""
    if order.rule != _RANDOM:
        end = -1 if order.rule == _HIGHEST else 0
        return lambda choices: choices[end]

    def pick(choices: Sequence[Choice]) -> Choice:
        numbers = np.array([steps.number(choice) for choice in choices], dtype=np.int64)
        return choices[int(np.argmin(ranks_of(numbers, order)))]

    return pick


def along(path: Sequence[Choice]) -> Pick:
    """Pick the choices of a path, one after the other."""
    following = iter(path)
    return lambda choices: next(following)


def _edge_steps(steps: EdgeSteps, pick: Pick) -> Iterator[Step]:
    state = steps.start()
    contributions = steps.contributions(state)
    while any(contributions.values()):
        choices = steps.choose(contributions, state.degrees)
        yield edge_step(steps, state, edge := pick(choices), len(choices))
        for c, here, there in steps.united(state, edge):
            for u in here:
                for v in there:
                    if (pair := (u, v) if u < v else (v, u)) in contributions:
                        contributions[pair] -= steps.weights[c]
        del contributions[edge]
        state = steps.after(state, edge)


def edge_step(steps: EdgeSteps, state: State, edge: Choice, ties: int) -> Step:
    """The step that adds an edge to a state."""
    topics = sorted(t for c, _, _ in steps.united(state, edge) for t in steps.topics[c])
    degrees = steps.after(state, edge).degrees
    return Step(edge, (edge,), len(topics), ties, tuple(degrees[v] for v in edge), tuple(topics))


def _star_steps(steps: GreedySteps, pick: Pick) -> Iterator[Step]:
    assert isinstance(steps, StarSteps)
    state = steps.start()
    while scores := steps.scores(state):
        most = max(scores.values())
        choices = [choice for choice, score in scores.items() if score == most]
        choice = pick(choices)
        centre, following = choice[0], steps.after(state, choice)
        star = [(min(centre, v), max(centre, v)) for v in steps.nodes if v != centre]
        added = tuple(e for e in star if steps.has_edge(following, e) and not steps.has_edge(state, e))
        dropped = [c for c, left in enumerate(following.rest) if left < state.rest[c]]
        topics = tuple(sorted(t for c in dropped for t in steps.topics[c]))
        gain = int(most) if most.denominator == 1 else float(most)
        yield Step((centre,), added, gain, len(choices), (following.degrees[centre],), topics)
        state = following
