"""All optimal overlays of an instance, and what they share, as a table of edges that is drawn."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...instances.contract.errors import BadInput
from ...instances.contract.files import make_folder
from ...instances.contract.overlay import Overlay
from ...instances.contract.terms import said
from ...instances.topics.instance import TopicInstance
from ...models.topics.optima import CLASSES, EDGES_PROOF, EVERY, NONE, OPEN, OPTIMUM_PROOF, SOME, shared_edges
from .solving import AnyProblem, check_limits, problem_for
from .tables import ResultTable

_MOST = 10**6


def optima(
    instance: TopicInstance,
    problem: AnyProblem = None,
    *,
    most: int = 100,
    within: int = 0,
    seed: int = 0,
    time_limit: float | None = 60.0,
    proof: str | Path | None = None,
) -> Optima:
    """List the optimal overlays of an instance, and prove which edges are in every one, in some, and in none.

    Parameters
    ----------
    problem : str or Problem, optional
        ``min-tco`` (the default), ``weighted-tco``, ``k-tco`` or ``2d-true``.
    most : int
        At most so many overlays are listed. The classes of edges are about all of them.
    within : int
        Also overlays that cost so much more than the optimum, as far as no edge can be removed from them.
    seed : int
        The same seed gives the same list, unless the time limit ends the search.
    time_limit : float, optional
        Seconds; None for none. Edges that are not settled by then have the class ``open``.
    proof : path, optional
        A folder, made if it is missing, for proofs that ``overlaybench check-proof`` checks: of the optimum, and of the
        edges in every overlay and in none. They are checked, too.

    Returns
    -------
    Optima
        A table with a row for each pair of nodes with a topic in common.

    Raises
    ------
    BadInput
        For another problem, a number out of range, or an instance with too many pairs.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"ann": ["news", "chess"], "bob": ["news", "chess"], "cid": ["chess"]})
    >>> found = ob.optima(instance)
    >>> found.value, len(found.overlays), found.complete
    (2, 2, True)
    >>> found.edges("every"), found.edges("some")
    ([('ann', 'bob')], [('ann', 'cid'), ('bob', 'cid')])
    """
    import pandas as pd

    from ..studies.proofs import file_for_checker, run_checker

    check_limits(seed, time_limit)
    judge = problem_for(instance, problem)
    for name, number, least in (("most", most, 1), ("within", within, 0)):
        if type(number) is not int or not least <= number <= _MOST:
            raise BadInput(f"{name}={number}: take an integer from {least} to {_MOST:,}")
    folder = None if proof is None else Path(proof).expanduser()
    if folder is not None:
        make_folder(folder)
    given: dict[str, Any] = {"most": most, "within": within, "seed": seed, "time_limit": time_limit, "proof": folder}
    found = shared_edges(instance, judge, **given)
    checked: list[str] = []
    if folder is not None and found.value is not None:
        with tempfile.TemporaryDirectory(prefix="overlaybench-") as own:
            file = file_for_checker(instance, judge.kind, Path(own))
            for each in (OPTIMUM_PROOF, EDGES_PROOF):
                verdict = run_checker(file, folder / each, digest=instance.digest)
                checked.append(f"{folder / each}: {verdict.shared or verdict.sentence}")
    rows = pd.DataFrame(
        {
            "node": [instance.node_label(u) for u in found.edges[:, 0].tolist()],
            "other": [instance.node_label(v) for v in found.edges[:, 1].tolist()],
            "class": found.classes,
            "share": found.shares,
        }
    )
    rank = rows["class"].map([EVERY, SOME, OPEN, NONE].index)
    at = rows.assign(rank=rank).sort_values(["rank", "share"], ascending=[True, False], kind="stable").index
    counts = {name: int((found.classes == name).sum()) for name in CLASSES}
    size = f"{len(found.overlays):,}"
    what = said("optimal overlays" if not within else f"overlays within {within} of it")
    title = f"{judge.name}: no optimum proven in time"
    if found.value is not None:
        title = f"{judge.name}: optimum {found.value:,}; {'all ' if found.complete else ''}{size} {what}"
        title += "" if found.complete else " listed, not all"
    listed = f"{counts[EVERY]:,} {said('edges')} in every one, {counts[SOME]:,} in some, {counts[NONE]:,} in none"
    notes = (f"{listed}{f', {counts[OPEN]:,} open' if counts[OPEN] else ''}", *checked)
    return Optima(
        rows.loc[at].reset_index(drop=True),
        title,
        notes,
        drawn=partial(_drawn, instance, found, title, notes[0]),
        instance=instance,
        problem=judge.name,
        value=found.value,
        within=within,
        overlays=found.overlays,
        complete=found.complete,
        counts=counts,
    )


def _drawn(*given: Any, **looks: Any) -> Any:
    from ..figures.optima import shared_figure

    return shared_figure(*given, **looks)


@dataclass(frozen=True, repr=False, kw_only=True)
class Optima(ResultTable):
    """The optimal overlays of an instance, and the class of each edge: a table that shows and draws itself.

    Attributes
    ----------
    instance : TopicInstance
    problem : str
    value : int or None
        The optimum; None if it was not proven in time: then the overlay listed is the best one found.
    within : int
        How much more than the optimum the overlays may cost.
    overlays : tuple of Overlay
        Those found, at most as many as asked for.
    complete : bool
        Whether there are no others.
    counts : mapping
        How many edges there are of each class: ``every``, ``some``, ``none``, ``open``.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.optima(ob.read({"ann": ["news"], "bob": ["news"], "cid": ["news"]}))
    min-tco: optimum 2; all 3 optimal overlays
    node other class  share
     ann   bob  some 0.6667
     ann   cid  some 0.6667
     bob   cid  some 0.6667
    0 edges in every one, 3 in some, 0 in none
    """

    instance: TopicInstance
    problem: str
    value: int | None
    within: int
    overlays: tuple[Overlay, ...]
    complete: bool
    counts: Mapping[str, int]

    def edges(self, name: str) -> list[tuple[str, str]]:
        """The edges of a class, by the labels of their ends."""
        if name not in CLASSES:
            raise BadInput(f"'{name}' is no class of edges: take one of {', '.join(CLASSES)}")
        rows = self.rows[self.rows["class"] == name]
        return list(zip(rows["node"], rows["other"], strict=True))

    def document(self) -> dict[str, Any]:
        """All of it as one JSON object."""
        label = self.instance.node_label
        names = ("problem", "value", "within", "complete", "counts")
        overlays = [[[label(u), label(v)] for u, v in overlay.edges.tolist()] for overlay in self.overlays]
        edges = [[node, other, name, share] for node, other, name, share in self.rows.itertuples(index=False)]
        shown = {name: getattr(self, name) for name in names} | {"instance": self.instance.digest, "notes": self.notes}
        return shown | {"edges": edges, "overlays": overlays}
