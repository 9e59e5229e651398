"""Solve, check and generate on a cluster: from Parquet to Parquet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ...heuristics.topics.tie_breaking.ties import tie_order
from ...instances.contract.arrays import Ids, Offsets
from ...instances.contract.errors import BadInput
from ...instances.contract.files import Coded
from ...instances.contract.option import Option, complete
from ...instances.contract.result import Result, Status
from ...instances.contract.terms import said
from ...instances.contract.workload import Workload
from ...instances.topics.members import Labels, Reading, Remarks, judge_labels
from ...instances.topics.workloads import RandomTopics
from ...models.topics.relaxation.cost_splitting import MOST_SUBSCRIPTIONS
from ..studies.spark_session import kept_log, remark, spark
from .bound import STEPS, lower_bound
from .conquer import LOCALITIES, edges_of_level, levels
from .judge import OverlayJudgement, edges_by_number, judge
from .numbering import Numbered, numbered, read_rows
from .splitting import improved
from .tables import SparkTables, TableFiles, as_uri, new_tables

OPTIONS = (
    Option("part_rows", 12_000_000, "subscriptions of a part", least=1),
    Option("core_rows", 20_000_000, "most subscriptions of the core, where parts look for candidates", least=1),
    Option("candidates", 8, "nodes of the core for each subscription of a part", least=1, most=64),
    Option("locality", "random", "what brings nodes into one part", choices=LOCALITIES),
    Option(
        "split_seconds", 0, f"of a task that improves overlay and bound of up to {MOST_SUBSCRIPTIONS:,} rows", least=0
    ),
    Option("bound_steps", STEPS, "comparisons a topic for the lower bound; 0: a bound without pairs of nodes", least=0),
)
PROBLEM, METHOD, PARQUET = "min-tco", "dc-gm", ".parquet"
_EDGES_OF_FILE = 4_000_000


@dataclass(frozen=True)
class Source:
    """Parquet files of (node, topic) rows: a file, folder or pattern, and the columns that are named otherwise."""

    path: str
    columns: Mapping[str, Any]


@contextmanager
def session_on(master: str) -> Iterator[SparkSession]:
    """A Spark session without a web page, whose messages go to a file that an error names."""
    with kept_log() as log, spark(master, log):
        yield SparkSession.builder.getOrCreate()


@contextmanager
def on_cluster(
    master: str, problem: str | None, *paths: Path, scratch: str | None
) -> Iterator[tuple[SparkSession, list[str], str]]:
    """A Spark session for a command from Parquet to Parquet, and the addresses of its files and tables for Spark."""
    for path in paths:
        if not (path.suffix == PARQUET or path.is_dir()):
            raise BadInput(f"{path}: a cluster reads and writes Parquet: give {PARQUET}, or leave out --master")
    if problem not in (None, PROBLEM):
        raise BadInput(f"--master: from Parquet to Parquet no {problem}: take {PROBLEM}, or leave it out")
    with session_on(master) as session:
        yield session, [as_uri(path) for path in paths], as_uri(scratch) if scratch else ""


def solve_files(
    file: Path,
    problem: str | None,
    method: str | None,
    options: Mapping[str, str],
    columns: Mapping[str, Any],
    output: Path,
    *,
    master: str,
    seed: int,
    scratch: str | None,
    **others: Any,
) -> Result[str]:
    """Do what the command ``solve`` does from Parquet to Parquet; `others` are options that it has no use for."""
    if unused := [f"--{name.replace('_', '-')}" for name, value in others.items() if value]:
        raise BadInput(f"{unused[0]}: not on a cluster from Parquet to Parquet: leave it out")
    if method not in (None, METHOD):
        raise BadInput(f"{output}: from Parquet to Parquet no {method}: take {METHOD}, or leave it out")
    given = completed(options)
    with on_cluster(master, problem, file, output, scratch=scratch) as (session, (source, out), tables):
        return solve(session, Source(source, columns), out, seed=seed, options=given, scratch=tables)


def solve(
    session: SparkSession, source: Source, output: str, *, seed: int, options: Mapping[str, object], scratch: str = ""
) -> Result[str]:
    """Solve ``min-tco`` by divide and conquer over Greedy Merge; the overlay is judged before it is at `output`.

    P3 (Chen, Vitenberg and Jacobsen 2011) §IV with Greedy Merge, in levels (:func:`.levels`). A task holds `part_rows`
    subscriptions and 1 to 5 times as many of their candidates, in about 95 bytes each. With `split_seconds` one task
    improves the overlay and its bound (:func:`.improved`). `output` becomes a folder of
    Parquet files with label columns ``u`` and ``v``, an edge a row, in the order of numbers; the result's answer is its
    path. Tables are those of :func:`.new_tables`; without a folder that all see, the driver writes the output.
    """
    given = completed(options)
    begun, seconds = time.monotonic(), dict[str, float]()

    def ended(stage: str) -> None:
        seconds[f"seconds_{stage}"] = round(time.monotonic() - begun - sum(seconds.values()), 1)

    with new_tables(session, output, scratch) as tables:
        instance = _numbered(tables, source, seed)
        ended("numbering")
        edges, counters = _conquer_levels(tables, instance, given, seed)
        proven = 0
        if given["split_seconds"] and instance.num_rows <= MOST_SUBSCRIPTIONS:
            ended("conquering")
            edges, proven = improved(tables, instance, edges, given["split_seconds"])
        overlay = tables.stored(_by_label(instance, edges), "overlay")
        ended("splitting" if proven else "conquering")
        verdict = judge(tables, instance, edges_by_number(tables, instance, overlay, output))
        ended("judging")
        bound, why = lower_bound(tables, instance, verdict.edges, given["bound_steps"])
        bound, why = max((bound, why), (proven, "costs split among topics"))
        ended("bounding")
        if not verdict.violations:
            tables.move(overlay, "overlay", output)
    result = partial(Result[str], problem=PROBLEM, method=METHOD, seconds=time.monotonic() - begun)
    if verdict.violations:
        return result(status=Status.FAILED, reason=verdict.violations[0])
    return result(
        status=Status.OPTIMAL if bound == verdict.edges else Status.FEASIBLE,
        value=verdict.edges,
        lower_bound=bound,
        answer=output,
        measures=verdict.measures,
        counters={**counters, **seconds, "bound": why},
    )


def completed(options: Mapping[str, object]) -> dict[str, Any]:
    """All of OPTIONS with their values; an unknown one is bad input."""
    return complete(OPTIONS, dict(options), f"method '{METHOD}' on a cluster")


def check(session: SparkSession, source: Source, answer: str, scratch: str = "") -> OverlayJudgement:
    """Judge an overlay in Parquet files for ``min-tco``; tables are those of :func:`.new_tables`."""
    with new_tables(session, f"{answer.replace('*', '').rstrip('/')}.check", scratch) as tables:
        instance = _numbered(tables, source, 0)
        edges = edges_by_number(tables, instance, read_rows(session, answer, {}, ("u", "v")), answer)
        return judge(tables, instance, edges)


def _numbered(tables: SparkTables, source: Source, seed: int) -> Numbered:
    rows = read_rows(tables.session, source.path, source.columns, ("node", "topic"))
    if rows.isEmpty():
        raise BadInput(f"{source.path}: has no rows: give it at least one")
    instance = numbered(tables, rows, seed)
    if instance.num_rows == instance.num_topics and not source.columns.get("as_is"):
        why = said("every topic has one subscriber")
        raise BadInput(f"{source.path}: {why}: read it on one machine with --separator, or --as-is if that is meant")
    _remark_labels(instance, source.path)
    return instance


_JUDGED, _UNCLEAR = 1000, r"[;|,\t()\[\]]|(^|/)[#+*](/|$)"


def _remark_labels(instance: Numbered, path: str) -> None:
    """Say what is suspicious in some of the labels that have signs of lists, as on one machine."""
    remarks = Remarks()
    for noun, rows in (("node", instance.nodes), ("topic", instance.topics)):
        found = [row[0] for row in rows.where(F.col("label").rlike(_UNCLEAR)).select("label").limit(_JUDGED).collect()]
        labels = Labels(Coded(found, np.arange(len(found))), partial("{} {}".format, noun))
        judge_labels(labels, noun, Reading(), "", remarks)
    for line in remarks.lines():
        remark(f"{path}: {line}")


def _conquer_levels(
    tables: SparkTables, instance: Numbered, given: Mapping[str, Any], seed: int
) -> tuple[DataFrame, dict[str, float]]:
    """The distinct edges of all levels, each stored by itself, and counters."""
    plan = levels(instance.num_nodes, instance.num_rows, given["part_rows"], given["core_rows"])
    core, order, parts, found = TableFiles(""), tie_order("lowest", seed), 0, list[DataFrame]()
    if plan[-1].core:
        rows = instance.nodes.where(F.col("x") < plan[-1].core).select("id", "topics", "x").orderBy("x")
        core = tables.files(tables.stored(rows, "core"), "core")
    for number, level in enumerate(plan):
        edges, more = edges_of_level(instance, level, given["locality"], core, given["candidates"], seed, order)
        parts += more
        found.append(tables.stored(edges, f"edges/{number}"))
    counters = {"nodes": instance.num_nodes, "topics": instance.num_topics, "subscriptions": instance.num_rows}
    return reduce(DataFrame.union, found).distinct(), {**counters, "levels": len(plan), "parts": parts}


def _by_label(instance: Numbered, edges: DataFrame) -> DataFrame:
    """Edges with the labels of their ends, in the order of their numbers."""
    files = max(1, -(-instance.num_rows // 2 // _EDGES_OF_FILE))
    at = F.floor(F.col("u") * files / instance.num_nodes).cast("int")
    for end in ("u", "v"):
        labels = instance.nodes.select(F.col("id").alias(end), F.col("label").alias(f"{end}_label"))
        edges = edges.join(labels, end)
    placed = edges.repartitionById(files, at).sortWithinPartitions("u", "v")
    return placed.select(F.col("u_label").alias("u"), F.col("v_label").alias("v"))


_NODES_OF_TASK = 200_000
_AT_ONCE = 20_000


def generate(
    session: SparkSession, workload: Workload[Any], output: str, *, seed: int, scratch: str = "", **given: object
) -> int:
    """Write the (node, topic) rows of a random workload to a folder of Parquet files; returns the number of nodes.

    The rows are those of the instance on one machine: every node has its own random stream. Bad input if the workload
    does not draw the topics of each node by themselves. `scratch` is as in :func:`solve`.
    """
    if not isinstance(workload.build, RandomTopics):
        raise BadInput(f"--master: workload '{workload.name}' is not drawn node by node: leave it out")
    parameters: dict[str, Any] = dict(workload.complete(dict(given)))
    nodes: int = parameters.pop("nodes")
    draw: Callable[[int, int], tuple[Offsets, Ids]] = partial(workload.build.draw, seed=seed, **parameters)
    draw(0, 1)  # raises for parameters that do not go together
    tasks = max(session.sparkContext.defaultParallelism, -(-nodes // _NODES_OF_TASK))
    with new_tables(session, output, scratch) as tables:
        numbers = session.range(0, nodes, 1, tasks)
        drawn = numbers.mapInArrow(partial(_rows, draw=draw), "node string, topic string")
        tables.move(tables.stored(drawn, "rows"), "rows", output)
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
