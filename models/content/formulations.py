"""Three compact ways to say that messages reach their destinations: rows and flows added to a content model."""

from __future__ import annotations

import numpy as np

from ...instances.clock import Clock
from ...instances.content.instance import ContentInstance
from ...instances.option import Option
from .model import Columns, ContentModel

FORMULATIONS = ("arborescences", "broker-trees", "flows")
FORMULATION = Option(
    "formulation", "arborescences", "how messages are held together: docs/content_exact.md", choices=FORMULATIONS
)


def compact_model(
    instance: ContentInstance, routing: str, formulation: str, clock: Clock | None = None
) -> ContentModel:
    """An exact model of polynomial size.

    Parameters
    ----------
    formulation : {"arborescences", "broker-trees", "flows"}
        ``arborescences``: one for each publisher and content, held together by one flow (P4 §IV.A). ``broker-trees``:
        the same for each broker and content, whose price the publishers at that broker pay. ``flows``: one flow for
        each publisher, content and destination broker; a link carries the union of the flows, as they share content,
        which is how P4 §II.B is meant: there is nothing that an arborescence would be told beside.

    clock : Clock, optional
        How long building may take.

    Returns
    -------
    ContentModel

    Raises
    ------
    ModelTooLarge
    OutOfTime

    Notes
    -----
    For n brokers, n² further columns an arborescence, or n³ with ``flows``.
    """
    trees_of = "brokers" if formulation == "broker-trees" else "publishers"
    model = ContentModel(instance, routing, trees_of=trees_of, clock=clock)
    brokers = instance.num_brokers
    if routing == "shared-tree":
        for target in range(1, brokers):
            _send(model, model.t, None, 0, target, None)
    for number, tree in enumerate(model.trees):
        model.check_time()
        arcs, wanted = model.y[number], model.d[tree.content]
        if formulation == "flows":
            for target in range(brokers):
                _send(model, arcs, tree.source, None, target, int(wanted[target]))
        else:
            _arborescence(model, arcs, tree.source, tree.root, wanted)
    return model


def _arborescence(model: ContentModel, arcs: Columns, source: Columns, root: int | None, wanted: Columns) -> None:
    """Destinations are entered, only brokers that are entered are left, and one flow allows no circle.

    The source broker needs no arc into it: where it is `root`, or where the publisher is. A tree with a root only
    counts if its source column says that it is used.
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
            here, some, rhs = [int(source[b])], [brokers], 0
            entered = ([*arcs[others, b].tolist(), *here, int(wanted[b])], [1] * len(others) + [1, -1], 0)
        else:
            here, some, rhs = [int(source[0])], [-1], -1
            entered = ([*arcs[others, b].tolist(), *here, int(wanted[b])], [1] * len(others) + [-1, -1], -1)
        model.rows.add(*entered)
        # A destination keeps one unit of flow; the source may send as many as there are brokers.
        model.rows.add([*into, *out, *here, int(wanted[b])], [1] * len(into) + [-1] * len(out) + [*some, -1], rhs)
        for j in others.tolist():
            before = [int(arcs[i, b]) for i in others if i != j]
            at = here if root is None else []
            model.rows.add([*before, *at, int(arcs[b, j])], [1] * (len(before) + len(at)) + [-1], 0)


def _send(
    model: ContentModel, arcs: Columns, source: Columns | None, root: int | None, target: int, wanted: int | None
) -> None:
    """A unit of flow within the arcs, from the source or a root, to a target that wants it or gets it in any case."""
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
        elif b == root:
            rhs -= 1
        if b == target and wanted is not None:
            columns.append(wanted)
            values.append(-1)
        elif b == target:
            rhs += 1
        model.rows.add(columns, values, rhs)
