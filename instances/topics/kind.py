"""The kind ``topics``: subscriptions of nodes to topics, answered by overlays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..contract.kind import Kind, LoadedInstance
from ..contract.overlay import Overlay
from ..contract.overlay_files import labelled_edges, read_overlay, write_overlay
from .files import FORMAT, SEPARATED, read_topics, write_topics
from .instance import TopicInstance


class Topics(Kind[TopicInstance, Overlay]):
    """Subscriptions of nodes to topics (P1 §3)."""

    name, summary = "topics", "subscriptions of nodes to topics; answered by an overlay"
    instance_type, default_problem = TopicInstance, "min-tco"
    format, endings = FORMAT, (*SEPARATED, ".parquet")
    columns, ending = ("node", "topic"), ".parquet"
    sizes, measures = ("nodes", "topics", "subscriptions"), ("edges", "max_degree", "average_degree")
    shown = ("edges",)

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[TopicInstance]:
        """See :func:`.read_topics`."""
        read = read_topics(path, **{f"{column}_column": name for column, name in columns.items()})
        remark = f"{path}: {read.duplicates} duplicate (node, topic) rows, each counted once" if read.duplicates else ""
        return LoadedInstance(read.instance, remark)

    def write(self, instance: TopicInstance, path: Path) -> None:
        """See :func:`.write_topics`."""
        write_topics(instance, path)

    def size(self, instance: TopicInstance) -> dict[str, int]:
        """|V|, |T| and Σ|T_v|."""
        return {
            "nodes": instance.num_nodes,
            "topics": instance.num_topics,
            "subscriptions": instance.num_subscriptions,
        }

    def read_answer(self, path: Path, instance: TopicInstance) -> Overlay:
        """See :func:`.read_overlay`."""
        return read_overlay(path, instance)

    def write_answer(self, answer: Overlay, instance: TopicInstance, path: Path) -> None:
        """See :func:`.write_overlay`."""
        write_overlay(answer, instance, path)

    def labelled(self, answer: Overlay, instance: TopicInstance) -> dict[str, object]:
        """The edges by node label."""
        return {"edges": labelled_edges(answer, instance)}

    def pack(self, answer: Overlay) -> npt.NDArray[np.int32]:
        """The ends of the edges in order: u0, v0, u1, v1 and so on."""
        return answer.edges.ravel()

    def unpack(self, packed: npt.NDArray[np.int32], instance: TopicInstance) -> Overlay:
        """The inverse of :meth:`pack`."""
        return Overlay.from_edges(instance.num_nodes, np.asarray(packed, dtype=np.int64).reshape(-1, 2))

    def sample(self, instance: TopicInstance, size: int, seed: int) -> TopicInstance:
        """See :meth:`TopicInstance.sample`."""
        return instance.sample(size, seed)


TOPICS = Topics()
