"""The CP-SAT model of the filtering problems: an overlay, and an arborescence with relays for each topic.

A Boolean x_e for each pair e of nodes. Each topic t has a Boolean a_v for each non-subscriber v that relays it, and an
arborescence on V_t and its relays: every node but the root has one parent, a parent requires an edge, and a node has a
higher level than its parent, which excludes cycles. A relay has a child.

Valid inequalities raise the bound. With r_t = 1 where topic t has a relay, Σ_{e ⊆ V_t} x_e ≥ (|V_t| − 1)(1 − r_t), as
the subscribers are otherwise connected among themselves, and each of them has an edge to another one or r_t = 1. An
overlay that connects every topic through any nodes has at least |V| − c edges, where c counts the components of the
relation "a common topic".
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from ortools.sat.python import cp_model

from ....instances.contract.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.exact_method import check_size
from .overlay_variables import OverlayVariables
from .requirements import Subscribers, pair

# At most this many variables are built: about 1 GB.
MOST_VARIABLES = 3_000_000


def build_filtering(instance: TopicInstance, clock: Clock) -> OverlayVariables:
    """The overlays that connect every topic, with their filtering cost. O(|T||V|²) variables.

    Raises
    ------
    OutOfTime
        If building takes longer than the clock.
    ModelTooLarge
        If there would be more than `MOST_VARIABLES` variables.
    """
    n = instance.num_nodes
    topics = Counter(tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics))
    check_size(len(topics) * n * n, MOST_VARIABLES)
    cp = OverlayVariables(n)
    for subscribers, count in topics.items():
        clock.check()
        if len(subscribers) > 1:
            cp.cost = cp.cost + count * _relays(cp, subscribers)
    return cp


def _relays(cp: OverlayVariables, subscribers: Subscribers) -> cp_model.LinearExpr | int:
    """Connect a topic; returns the number of its relays."""
    model, nodes, inside = cp.model, range(cp.num_nodes), set(subscribers)
    root = subscribers[0]
    active = {v: model.new_bool_var("") for v in nodes if v not in inside}
    parent = {(u, v): model.new_bool_var("") for u in nodes for v in nodes if u != v and v != root}
    for v in nodes:
        arcs = [parent[u, v] for u in nodes if u != v] if v != root else []
        if v in active:
            model.add(sum(arcs) == active[v])
            model.add_bool_or(~active[v], *(parent[v, w] for w in nodes if w not in (v, root)))
            for w in nodes:
                if w not in (v, root):
                    model.add_implication(parent[v, w], active[v])
        elif v != root:
            model.add_exactly_one(arcs)
    for u, v in combinations(nodes, 2):
        model.add(sum(parent[arc] for arc in ((u, v), (v, u)) if arc in parent) <= cp.edge[u, v])
    level = [model.new_int_var(0 if v == root else 1, 0 if v == root else cp.num_nodes - 1, "") for v in nodes]
    for (u, v), arc in parent.items():
        model.add(level[v] >= level[u] + 1).only_enforce_if(arc)
    if active:
        relayed = model.new_bool_var("")
        for each in active.values():
            model.add_implication(each, relayed)
        model.add_bool_or(~relayed, *active.values())
        for v in subscribers:
            model.add_bool_or(relayed, *(cp.edge[pair(v, w)] for w in subscribers if w != v))
        among = sum(cp.edge[pair(u, v)] for u, v in combinations(subscribers, 2))
        model.add(among >= (len(subscribers) - 1) * (1 - relayed))
    total: cp_model.LinearExpr | int = sum(active.values())
    return total
