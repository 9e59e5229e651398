"""Random workloads, drawn on Spark's executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from ...instances.contract.arrays import Ids, Offsets
from ...instances.contract.errors import BadInput
from ...instances.contract.workload import Workload
from ...instances.topics.workloads import RandomTopics
from .storage import move, new_folder

_NODES_OF_TASK = 200_000
_AT_ONCE = 20_000


def generate(session: SparkSession, workload: Workload[Any], output: str, *, seed: int, **given: object) -> int:
    """Write the (node, topic) rows of a random workload to a folder of Parquet files; returns the number of nodes.

    The rows are those of the instance on one machine: every node has its own random stream.

    Raises
    ------
    BadInput
        If the workload does not draw the topics of each node by themselves.
    """
    if not isinstance(workload.build, RandomTopics):
        raise BadInput(f"--master: workload '{workload.name}' is not drawn node by node: leave it out")
    parameters: dict[str, Any] = dict(workload.complete(dict(given)))
    nodes: int = parameters.pop("nodes")
    draw: Callable[[int, int], tuple[Offsets, Ids]] = partial(workload.build.draw, seed=seed, **parameters)
    draw(0, 1)  # raises for parameters that do not go together
    tasks = max(session.sparkContext.defaultParallelism, -(-nodes // _NODES_OF_TASK))
    with new_folder(session, output) as folder:
        numbers = session.range(0, nodes, 1, tasks)
        numbers.mapInArrow(partial(_rows, draw=draw), "node string, topic string").write.parquet(f"{folder}/rows")
        move(session, f"{folder}/rows", output)
    return nodes


def _rows(
    batches: Iterable[pa.RecordBatch], *, draw: Callable[[int, int], tuple[Offsets, Ids]]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        numbers = batch["id"].to_numpy()  # consecutive
        for at in range(0, len(numbers), _AT_ONCE):
            piece = numbers[at : at + _AT_ONCE]
            offsets, topics = draw(int(piece[0]), int(piece[-1]) + 1)
            nodes = np.repeat(piece, np.diff(offsets))
            labels = [pa.array(np.char.add(letter, ids.astype(str))) for letter, ids in (("n", nodes), ("t", topics))]
            yield pa.RecordBatch.from_arrays(labels, ["node", "topic"])
