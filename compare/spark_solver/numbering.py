"""The rows of an instance on Spark, and the numbers of its nodes and topics."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from ...instances.contract.errors import BadInput
from ...instances.contract.files import sort_key
from ...instances.contract.tables import check_columns, key_texts, label_texts

X_BITS = 62
X_END = 1 << X_BITS
_ROW_BITS = 33
_UNCOUNTED_SECONDS = 5.0
_TOKEN = "token-"


@dataclass(frozen=True)
class Numbered:
    """An instance on Spark, with |V|, |T| and Σ|T_v| (`num_rows`).

    `nodes` have ``id`` (0 … |V| − 1 in the natural order of labels), ``label``, ``topics`` (sorted numbers) and ``x``,
    `topics` have ``topic`` (0 … |T| − 1), ``label``, ``size`` (|V_t|), and the subscriber of lowest x: ``anchor``,
    ``anchor_x``.
    """

    nodes: DataFrame
    topics: DataFrame
    num_nodes: int
    num_topics: int
    num_rows: int


def read_rows(session: SparkSession, path: str, columns: Mapping[str, Any], names: tuple[str, str]) -> DataFrame:
    """The two text columns `names` of Parquet files; `columns` maps such a name to the columns in the files.

    Labels are those of :func:`.label_texts`, as on one machine; columns in the names of folders are as written there.
    Bad input if there is no file, it is not Parquet, lacks a column, or a label is missing or empty.
    """
    if lists := [name for name in ("separator", "copies") if columns.get(name)]:
        raise BadInput(f"--{lists[0]}: a cluster does not split lists: read the file on one machine")
    asked = (columns.get(name, name) for name in names)
    given = [[one] if isinstance(one, str) else list(one) for one in asked]
    flat = [column for own in given for column in own]
    session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    check_seen(session, path, "give an address that all reach (s3a://…, hdfs://…)")
    try:
        table = session.read.parquet(path)
        check_columns(flat, table.columns)
        if len(flat) == len(names) and (plain := _plain_labels(table, flat, names)) is not None:
            return plain
        taken = table.select(*(F.col(f"`{one}`").alias(f"c{at}") for at, one in enumerate(flat)))
        labelled = partial(_labelled, columns=given, as_is=bool(columns.get("as_is")))
        schema = f"{names[0]} string, {names[1]} string, wrong string, remark string"
        rows = taken.withColumn("file", F.input_file_name()).mapInArrow(labelled, schema)
        found = rows.agg(F.first("wrong", ignorenulls=True), F.first("remark", ignorenulls=True)).collect()[0]
    except (PySparkException, Py4JJavaError) as error:
        why = (isinstance(error, PySparkException) and error.getCondition()) or "not readable"
        if "ILLEGAL" in why or "UNSUPPORTED" in why:
            why += ", as times in nanoseconds and UUIDs are, in whatever column: cast them to text"
        raise BadInput(f"{path}: cannot be read as Parquet ({why}): check the path and its files") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if found[0]:
        raise BadInput(f"{path}: {found[0]}")
    if found[1]:
        print(f"overlaybench: {path}: {found[1]}", file=sys.stderr, flush=True)
    return taken.mapInArrow(labelled, schema).select(*names)


# The ends of labels that :func:`_labelled` may trim or refuse: nothing, blanks, separators and control characters.
_UNCLEAR_ENDS = r"^$|^[\s\p{Z}\p{C}]|[\s\p{Z}\p{C}]\z"


def _plain_labels(table: DataFrame, columns: Sequence[str], names: Sequence[str]) -> DataFrame | None:
    """Columns of texts and whole numbers, by expressions of Spark alone; None where a label asks for :func:`_labelled`.

    For these types :func:`.label_texts` and Spark give the same text, and Spark needs no process of Python for it.
    """
    kinds = dict(table.dtypes)
    if not all(kinds[one] in ("string", "tinyint", "smallint", "int", "bigint") for one in columns):
        return None
    texts = [F.col(f"`{one}`").cast("string").alias(name) for one, name in zip(columns, names, strict=True)]
    rows = table.select(*texts)
    unclear = F.lit(False)
    for one, name in zip(columns, names, strict=True):
        unclear |= F.col(name).isNull()
        if kinds[one] == "string":
            unclear |= ~F.is_valid_utf8(F.col(name)) | F.col(name).rlike(_UNCLEAR_ENDS)
    return None if rows.agg(F.bool_or(unclear)).collect()[0][0] else rows


def _labelled(
    batches: Iterable[pa.RecordBatch], *, columns: Sequence[Sequence[str]], as_is: bool
) -> Iterator[pa.RecordBatch]:
    """The label of each row in columns c0, c1 …, of several the key; what is wrong in a row of a file, and a remark."""
    for batch in batches:
        labels, at, wrong, remark = [], 0, "", ""
        file = batch["file"][0].as_py().rpartition("/")[2] if "file" in batch.schema.names and batch.num_rows else ""
        try:
            for names in columns:
                texts = []
                for name in names:
                    text = label_texts(batch.column(f"c{at}"), name)
                    plain = text if as_is else pc.utf8_trim_whitespace(text)
                    at += 1
                    if pc.any(pc.fill_null(pc.equal(plain, ""), True)).as_py():
                        raise BadInput(f"a row of {file} has an empty {name}: name it or remove the row")
                    if not plain.equals(text):
                        first = text.filter(pc.not_equal(text, plain))[0].as_py()
                        remark = f"'{first}' is read as '{first.strip()}': blanks around labels do not count"
                    texts.append(plain)
                labels.append(key_texts(texts))
        except BadInput as error:
            wrong = f"{file}: {error}" if str(error).startswith("row ") else str(error)
            labels = [pa.nulls(batch.num_rows, pa.string())] * len(columns)
        said = [pa.array([text or None] * batch.num_rows, pa.string()) for text in (wrong, remark)]
        yield pa.RecordBatch.from_arrays([*labels, *said], ["a", "b", "wrong", "remark"])


def numbered(session: SparkSession, rows: DataFrame, seed: int, folder: str) -> Numbered:
    """Number the nodes and topics of (node, topic) rows; repeated rows count once.

    Tables go to `folder`. Shuffles the rows once by node (and by topic where Spark does not broadcast the topics), the
    nodes once in the order of their labels.
    """
    topics = in_natural_order(session, rows.select(F.col("topic").alias("label")).distinct(), f"{folder}/topics")
    named = topics.select(F.col("label").alias("topic"), F.col("id").cast("int").alias("number"))
    wants = (
        rows.join(named, "topic")
        .groupBy(F.col("node").alias("label"))
        .agg(F.sort_array(F.collect_set("number")).alias("topics"))
    )
    wants = stored(session, wants, f"{folder}/wants")  # the sort below reads them twice
    nodes = in_natural_order(session, wants, f"{folder}/nodes")
    nodes = nodes.withColumn("x", F.shiftrightunsigned(F.xxhash64(F.col("id"), F.lit(seed)), 64 - X_BITS))
    lowest = F.min(F.struct("x", "id"))
    subscribers = nodes.select("id", "x", F.explode("topics").alias("topic"))
    sizes = subscribers.groupBy("topic").agg(F.count("*").alias("size"), lowest.alias("lowest"))
    sizes = sizes.select("topic", "size", F.col("lowest.id").alias("anchor"), F.col("lowest.x").alias("anchor_x"))
    labelled = topics.select(F.col("id").cast("int").alias("topic"), "label")
    known = stored(session, sizes.join(labelled, "topic"), f"{folder}/sizes")
    totals = known.agg(F.count("*"), F.sum("size")).collect()[0]
    return Numbered(nodes, known, nodes.count(), totals[0], totals[1])


def in_natural_order(session: SparkSession, labelled: DataFrame, folder: str) -> DataFrame:
    """Rows with distinct values in column ``label``, and their rank in natural order as column ``id``.

    The rows go to `folder`. The driver gets one number for each partition of Spark.
    """
    key = F.udf(sort_key, "binary", useArrow=True)
    ordered = labelled.withColumn("key", key("label")).orderBy("key").drop("key")
    placed = stored(session, ordered.withColumn("position", F.monotonically_increasing_id()), folder)
    partition = F.shiftright("position", _ROW_BITS)
    sizes: dict[int, int] = dict(placed.groupBy(partition.cast("int")).count().collect())
    starts = accumulate((sizes.get(number, 0) for number in range(max(sizes, default=0))), initial=0)
    start = F.element_at(long_array(starts), partition.cast("int") + 1)
    return placed.withColumn("id", start + F.col("position").bitwiseAND(2**_ROW_BITS - 1)).drop("position")


def long_array(values: Iterable[int]) -> Column:
    """A constant array; one expression in all, as a list of a literal each takes Spark seconds."""
    return F.from_json(F.lit(str(list(values))), "array<bigint>")


def as_uri(path: Path | str) -> str:
    """A path as Spark takes it; ``s3:/bucket``, which a Path makes of ``s3://bucket``, is a URI again."""
    text = re.sub(r"^([a-z][a-z0-9+.-]+):/(?=[^/])", r"\1://", str(path))
    return text if "://" in text else str(Path(text).absolute())


@contextmanager
def new_folder(session: SparkSession, output: str, scratch: str = "") -> Iterator[str]:
    """A folder for tables, in `scratch` or beside `output`, which is removed at the end.

    Bad input if `output` exists, the folder cannot be made, or a worker does not see it.
    """
    system, at = _at(session, output)
    if system.exists(at):
        raise BadInput(f"{output}: exists: remove it or choose another path")
    parent, _, name = output.rpartition("/")
    folder = f"{scratch.rstrip('/') or parent}/.{name}.{uuid4().hex[:12]}"
    system, at = _at(session, folder)
    try:
        made = system.exists(at.getParent()) and system.mkdirs(at)
    except Exception:
        made = False
    if not made:
        where = f"--scratch {scratch}: cannot" if scratch else f"{output}: its folder cannot"
        raise BadInput(f"{where} be written: choose another path")
    try:
        if (place := _local(folder)) is not None:
            token = place / f"{_TOKEN}{uuid4().hex}"
            token.write_text("seen")
            check_seen(session, str(token), "give --scratch an address that all reach (s3a://…, hdfs://…)")
            token.unlink()
        yield folder
    finally:
        system.delete(at, True)


def _local(path: str) -> Path | None:
    """A path of this machine; None for another address."""
    place = re.fullmatch(r"(?:file:/*)?(/.*)", path)
    return None if place is None else Path(place[1])


def check_seen(session: SparkSession, path: str, advice: str) -> None:
    """Raise where this machine has a file that some worker of a cluster does not see."""
    context, place = session.sparkContext, _local(path)
    if place is None or not place.exists() or str(context.master).startswith("local"):
        return
    tasks = 2 * context.defaultParallelism
    if not all(context.parallelize(range(tasks), tasks).map(lambda _: place.exists()).collect()):
        folder = place.parent.parent if place.name.startswith(_TOKEN) else place.parent
        raise BadInput(f"{folder}: a worker does not see this folder of the driver: {advice}, or a shared mount")


def stored(session: SparkSession, table: DataFrame, path: str) -> DataFrame:
    """Write a table to Parquet files and read them; bad input unless they have all rows that the workers wrote."""
    written: Any = Observation()
    table.observe(written, F.count("*").alias("rows")).write.parquet(path)
    end = time.monotonic() + _UNCOUNTED_SECONDS
    while not (counted := written._jo.future().isCompleted()) and time.monotonic() < end:
        time.sleep(0.01)
    rows = int(written.get["rows"]) if counted else 0  # Spark may find that a table is empty, and counts nothing then
    try:
        kept = session.read.parquet(path)
        found = kept.count()
    except PySparkException:
        found = -1
    if found != rows:
        raise BadInput(
            f"{path.rpartition('/')[0]}: {rows:,} rows were written, and are not there: give --scratch an address that "
            "the driver and all workers reach (s3a://…, hdfs://…), or a shared mount"
        )
    return kept


def move(session: SparkSession, source: str, target: str) -> None:
    """Move a folder, which the driver copies if it is on another file system; an error leaves no half of it."""
    system, at = _at(session, source)
    there, to = _at(session, target)
    if at.getParent().getParent() != to.getParent():
        context: Any = session.sparkContext
        half = to.suffix(f".{uuid4().hex[:12]}")
        hidden = _at(session, f"{target.rpartition('/')[0]}/.{half.getName()}")[1]
        copied = context._jvm.org.apache.hadoop.fs.FileUtil.copy(
            system, at, there, hidden, False, context._jsc.hadoopConfiguration()
        )
        lengths = [on.getContentSummary(where).getLength() for on, where in ((system, at), (there, hidden))]
        if not copied or lengths[0] != lengths[1]:
            there.delete(hidden, True)
            raise BadInput(f"{target}: cannot be written: choose another path")
        at = hidden
    if not there.rename(at, to):
        raise BadInput(f"{target}: cannot be written: choose another path")


def _at(session: SparkSession, path: str) -> tuple[Any, Any]:
    """Hadoop's file system of a path, which Spark itself reads and writes by, and the path there."""
    context: Any = session.sparkContext
    at = context._jvm.org.apache.hadoop.fs.Path(path)
    return at.getFileSystem(context._jsc.hadoopConfiguration()), at
