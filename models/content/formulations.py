"""Three compact formulations of the connection between publishers and destinations, added to a content model."""

from __future__ import annotations

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.contract.option import Option
from ...instances.contract.run import Clock
from .model import Columns, ContentModel

FORMULATIONS = ("arborescences", "broker-trees", "flows")
FORMULATION = Option(
    "formulation", FORMULATIONS[0], "how trees are connected, see docs/content.md", choices=FORMULATIONS
)


def compact_model(
    instance: ContentInstance, routing: str, formulation: str, clock: Clock | None = None
) -> ContentModel:
    """An exact model of polynomial size.

    Parameters
    ----------
    formulation : {"arborescences", "broker-trees", "flows"}
        ``arborescences``: one for each publisher and audience, connected by one flow (P4 §IV.A). ``broker-trees``: the
        same for each broker and audience, paid for by the publishers on that broker. ``flows``: one flow for each
        publisher, audience and destination broker; a link carries the union of the flows, which share their content
        (P4 §II.B, corrected).
    clock : Clock, optional
        Limits the time for building.

    Raises
    ------
    ModelTooLarge, OutOfTime

    Notes
    -----
    For n brokers, n² further columns for each arborescence, or n³ with ``flows``.
    """
    trees_of = "brokers" if formulation == "broker-trees" else "publishers"
    model = ContentModel(instance, routing, trees_of=trees_of, clock=clock)
    brokers = instance.num_brokers
    if routing == "shared-tree":
        for target in range(1, brokers):
            _add_unit_flow(model, model.t, None, target, None)
    for number, tree in enumerate(model.trees):
        model.clock.check()
        arcs, destinations = model.y[number], model.d[tree.audience]
        if formulation == "flows":
            for target in range(brokers):
                _add_unit_flow(model, arcs, tree.source, target, int(destinations[target]))
        else:
            _connect(model, arcs, tree.source, tree.root, destinations)
    return model


def _connect(model: ContentModel, arcs: Columns, source: Columns, root: int | None, destinations: Columns) -> None:
    """Arcs enter every destination and leave only entered brokers; one flow excludes cycles.

    The source broker, which is the `root` or the publisher's broker, needs no entering arc. The rows of a tree with a
    root are binding only if its source column is 1.
    """
    brokers = len(arcs)
    flow = np.full((brokers, brokers), -1)
    most = max(1, brokers - 1)
    flow[model.off_diagonal] = model.add(np.zeros(brokers * (brokers - 1)), upper=most, integral=False)
    for i, j in np.argwhere(model.off_diagonal):
        model.rows.add([arcs[i, j], flow[i, j]], [most, -1], 0)
    for b in range(brokers):
        others = np.flatnonzero(model.off_diagonal[b])
        into, out = flow[others, b].tolist(), flow[b, others].tolist()
        if root == b:
            continue
        if root is None:
            here, supply, rhs = [int(source[b])], brokers, 0
            sign = 1
        else:
            here, supply, rhs = [int(source[0])], -1, -1
            sign = -1
        entered = [*arcs[others, b].tolist(), *here, int(destinations[b])]
        model.rows.add(entered, [1] * len(others) + [sign, -1], rhs)
        # A destination consumes one unit of flow; the source supplies up to one unit for each broker.
        flows = [*into, *out, *here, int(destinations[b])]
        model.rows.add(flows, [1] * len(into) + [-1] * len(out) + [supply, -1], rhs)
        for j in others.tolist():
            before = [int(arcs[i, b]) for i in others if i != j] + (here if root is None else [])
            model.rows.add([*before, int(arcs[b, j])], [1] * len(before) + [-1], 0)


def _add_unit_flow(
    model: ContentModel, arcs: Columns, source: Columns | None, target: int, destination: int | None
) -> None:
    """A unit of flow within the arcs to a target, if its `destination` column is 1 or there is none.

    The flow starts at the broker whose `source` column is 1, or at broker 0 if there is no source.
    """
    brokers = len(arcs)
    flow = np.full((brokers, brokers), -1)
    flow[model.off_diagonal] = model.add(np.zeros(brokers * (brokers - 1)), integral=False)
    for i, j in np.argwhere(model.off_diagonal):
        model.rows.add([arcs[i, j], flow[i, j]], [1, -1], 0)
    for b in range(brokers):
        others = np.flatnonzero(model.off_diagonal[b])
        columns = [*flow[others, b].tolist(), *flow[b, others].tolist()]
        values, rhs = [1] * len(others) + [-1] * len(others), 0
        if source is not None:
            columns.append(int(source[b]))
            values.append(1)
        elif b == 0:
            rhs -= 1
        if b == target and destination is not None:
            columns.append(destination)
            values.append(-1)
        elif b == target:
            rhs += 1
        model.rows.add(columns, values, rhs)
