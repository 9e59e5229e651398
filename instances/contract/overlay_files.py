"""Overlays in files: overlay/1 JSON, edges by node label."""

from __future__ import annotations

import json
from pathlib import Path

from .errors import BadInput
from .files import atomic_write, read_json
from .overlay import LabelledNodes, Overlay

FORMAT = "overlay/1"


def read_overlay(path: str | Path, instance: LabelledNodes) -> Overlay:
    """Read an overlay of an instance. An edge given twice counts once.

    Raises
    ------
    BadInput
        If the file cannot be used; the message names the file, the edge (counted from 0) and the fix.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_overlay(ob.Overlay.from_edges(2, [(0, 1)]), instance, f"{folder}/overlay.json")
    ...     ob.read_overlay(f"{folder}/overlay.json", instance)
    Overlay(2 nodes, 1 edges, maximum degree 1)
    """
    path = Path(path)
    edges = read_json(path, FORMAT).get("edges")
    if not isinstance(edges, list):
        raise BadInput(f'{path}: needs "edges": a list of pairs of node labels')
    for number, edge in enumerate(edges):
        if not isinstance(edge, list) or len(edge) != 2 or not all(isinstance(end, str) for end in edge):
            raise BadInput(f"{path}: edge {number} must be a pair of node labels: correct or remove it")
    try:
        return Overlay.from_labels(((a, b) for a, b in edges), instance)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def write_overlay(overlay: Overlay, instance: LabelledNodes, path: str | Path) -> None:
    """Write an overlay with the labels of its instance; the inverse of :func:`read_overlay`.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_overlay(ob.Overlay.from_edges(2, [(0, 1)]), instance, f"{folder}/overlay.json")
    ...     ob.check(instance, f"{folder}/overlay.json", "min-tco")
    []
    """
    text = json.dumps({"format": FORMAT, "edges": labelled_edges(overlay, instance)}, ensure_ascii=False)
    atomic_write(Path(path), text + "\n")


def labelled_edges(overlay: Overlay, instance: LabelledNodes) -> list[tuple[str, str]]:
    """The edges by node label, in the overlay's order."""
    return [(instance.node_label(int(u)), instance.node_label(int(v))) for u, v in overlay.edges]
