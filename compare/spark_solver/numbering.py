"""The rows of an instance on Spark, and the numbers of its nodes and topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ...instances.contract.errors import BadInput
from ...instances.contract.files import sort_key
from ...instances.contract.tables import check_columns, label_texts
from ..studies.spark_session import remark
from .tables import SparkTables, sent_labels

X_BITS = 62
X_END = 1 << X_BITS
_ROW_BITS = 33


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
    try:
        sent = sent_labels(session, path, flat)
        table = session.read.parquet(path) if sent is None else sent
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
        remark(f"{path}: {found[1]}")
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
        where = f"a row of {file}" if file else "a row"
        try:
            for names in columns:
                texts = []
                for name in names:
                    text = label_texts(batch.column(f"c{at}"), name)
                    plain = text if as_is else pc.utf8_trim_whitespace(text)
                    at += 1
                    if pc.any(pc.fill_null(pc.equal(plain, ""), True)).as_py():
                        raise BadInput(f"{where} has an empty {name}: name it or remove the row")
                    if not plain.equals(text):
                        first = text.filter(pc.not_equal(text, plain))[0].as_py()
                        remark = f"'{first}' is read as '{first.strip()}': blanks around labels do not count"
                    texts.append(plain)
                labels.append(_key_texts(texts))
        except BadInput as error:
            wrong = f"{file}: {error}" if str(error).startswith("row ") else str(error)
            labels = [pa.nulls(batch.num_rows, pa.string())] * len(columns)
        said = [pa.array([text or None] * batch.num_rows, pa.string()) for text in (wrong, remark)]
        yield pa.RecordBatch.from_arrays([*labels, *said], ["a", "b", "wrong", "remark"])


def _key_texts(columns: Sequence[Any]) -> Any:
    """The key ``a|b`` of each row of several arrays of texts (:func:`.joined`); for one array its texts."""
    if len(columns) == 1:
        return columns[0]
    escaped = [pc.replace_substring_regex(each, r"([\\|])", r"\\\1") for each in columns]
    return pc.binary_join_element_wise(*escaped, "|")


def numbered(tables: SparkTables, rows: DataFrame, seed: int) -> Numbered:
    """Number the nodes and topics of (node, topic) rows; repeated rows count once.

    Shuffles the rows once by node (and by topic where Spark does not broadcast the topics), the nodes once in the order
    of their labels.
    """
    topics = in_natural_order(tables, rows.select(F.col("topic").alias("label")).distinct(), "topics")
    named = topics.select(F.col("label").alias("topic"), F.col("id").cast("int").alias("number"))
    wants = (
        rows.join(named, "topic")
        .groupBy(F.col("node").alias("label"))
        .agg(F.sort_array(F.collect_set("number")).alias("topics"))
    )
    wants = tables.stored(wants, "wants")  # the sort below reads them twice
    nodes = in_natural_order(tables, wants, "nodes")
    nodes = nodes.withColumn("x", F.shiftrightunsigned(F.xxhash64(F.col("id"), F.lit(seed)), 64 - X_BITS))
    lowest = F.min(F.struct("x", "id"))
    subscribers = nodes.select("id", "x", F.explode("topics").alias("topic"))
    sizes = subscribers.groupBy("topic").agg(F.count("*").alias("size"), lowest.alias("lowest"))
    sizes = sizes.select("topic", "size", F.col("lowest.id").alias("anchor"), F.col("lowest.x").alias("anchor_x"))
    labelled = topics.select(F.col("id").cast("int").alias("topic"), "label")
    known = tables.stored(sizes.join(labelled, "topic"), "sizes")
    totals = known.agg(F.count("*"), F.sum("size")).collect()[0]
    return Numbered(nodes, known, nodes.count(), totals[0], totals[1])


def in_natural_order(tables: SparkTables, labelled: DataFrame, name: str) -> DataFrame:
    """Rows with distinct values in column ``label``, and their rank in natural order as column ``id``.

    The driver gets one number for each partition of Spark.
    """
    key = F.udf(sort_key, "binary", useArrow=True)
    ordered = labelled.withColumn("key", key("label")).orderBy("key").drop("key")
    placed = tables.stored(ordered.withColumn("position", F.monotonically_increasing_id()), name)
    partition = F.shiftright("position", _ROW_BITS)
    sizes: dict[int, int] = dict(placed.groupBy(partition.cast("int")).count().collect())
    starts = accumulate((sizes.get(number, 0) for number in range(max(sizes, default=0))), initial=0)
    start = F.element_at(long_array(starts), partition.cast("int") + 1)
    return placed.withColumn("id", start + F.col("position").bitwiseAND(2**_ROW_BITS - 1)).drop("position")


def long_array(values: Iterable[int]) -> Column:
    """A constant array; one expression in all, as a list of a literal each takes Spark seconds."""
    return F.from_json(F.lit(str(list(values))), "array<bigint>")
