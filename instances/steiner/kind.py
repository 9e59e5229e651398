"""The kind ``steiner``: graphs with terminals; an answer is a tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..contract.kind import Kind, LoadedInstance
from ..contract.overlay import Overlay
from ..contract.overlay_files import labelled_edges, read_overlay, write_overlay
from .files import read_stp, write_stp
from .instance import SteinerInstance


class Steiner(Kind[SteinerInstance, Overlay]):
    """Graphs with edge costs and terminals."""

    name, summary = "steiner", "a graph with edge costs and terminals; an answer is a tree"
    instance_type, default_problem = SteinerInstance, "steiner"
    endings, ending = (".stp",), ".stp"
    sizes, measures = ("nodes", "links", "terminals"), ("edges", "steiner_nodes")
    shown = ("edges",)

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[SteinerInstance]:
        return LoadedInstance(read_stp(path))

    def write(self, instance: SteinerInstance, path: Path) -> None:
        write_stp(instance, path)

    def size(self, instance: SteinerInstance) -> dict[str, int]:
        return {"nodes": instance.num_nodes, "links": instance.num_edges, "terminals": instance.num_terminals}

    def read_answer(self, path: Path, instance: SteinerInstance) -> Overlay:
        return read_overlay(path, instance)

    def write_answer(self, answer: Overlay, instance: SteinerInstance, path: Path) -> None:
        write_overlay(answer, instance, path)

    def labelled(self, answer: Overlay, instance: SteinerInstance) -> dict[str, object]:
        return {"edges": labelled_edges(answer, instance)}

    def pack(self, answer: Overlay) -> npt.NDArray[np.int32]:
        return answer.edges.ravel()

    def unpack(self, packed: npt.NDArray[np.int32], instance: SteinerInstance) -> Overlay:
        return Overlay.from_edges(instance.num_nodes, np.asarray(packed, dtype=np.int64).reshape(-1, 2))


STEINER = Steiner()
