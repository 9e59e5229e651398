"""One rule for labels on one machine and on Spark: 200 generated files by both paths."""

import datetime
import decimal
import random
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import overlaybench as ob
from overlaybench.compare.spark_solver.numbering import _labelled, read_rows
from tests.instances.topics.test_bad_files import refused

Pairs = set[tuple[str, str]]
DAY = datetime.date(2026, 1, 1)


def texts(draw: random.Random, rows: int) -> pa.Array:
    return pa.array(
        [draw.choice(["a", "b", " a", "b ", "007", "7", "1.0", "é", "a|b", "\\", "A"]) for _ in range(rows)]
    )


COLUMNS: dict[str, Callable[[random.Random, int], pa.Array]] = {
    "text": texts,
    "large text": lambda draw, rows: texts(draw, rows).cast(pa.large_string()),
    "dictionary": lambda draw, rows: texts(draw, rows).dictionary_encode(),
    "integers": lambda draw, rows: pa.array([draw.choice([1, 2, -3, 2**40]) for _ in range(rows)]),
    "small": lambda draw, rows: pa.array([draw.choice([1, 2, 3]) for _ in range(rows)], pa.int8()),
    "whole": lambda draw, rows: pa.array([draw.choice([1.0, 2.0, 1.5e10, -0.0, 1e7]) for _ in range(rows)]),
    "float32": lambda draw, rows: pa.array([draw.choice([1.0, 2.0, 1e7]) for _ in range(rows)], pa.float32()),
    "fractions": lambda draw, rows: pa.array([draw.choice([1.0, 2.0, 3.5]) for _ in range(rows)]),
    "large floats": lambda draw, rows: pa.array([draw.choice([1.0, 1e16]) for _ in range(rows)]),
    "nan": lambda draw, rows: pa.array([draw.choice([1.0, np.nan]) for _ in range(rows)]),
    "truth": lambda draw, rows: pa.array([draw.choice([True, False]) for _ in range(rows)]),
    "dates": lambda draw, rows: pa.array([DAY + datetime.timedelta(draw.randrange(3)) for _ in range(rows)]),
    "decimals": lambda draw, rows: pa.array([decimal.Decimal(draw.choice(["1.00", "2.50"])) for _ in range(rows)]),
    "times": lambda draw, rows: pa.array([draw.randrange(3) for _ in range(rows)], pa.timestamp("us")),
    "times in ns": lambda draw, rows: pa.array([draw.randrange(3) for _ in range(rows)], pa.timestamp("ns")),
    "bytes": lambda draw, rows: pa.array([draw.choice([b"a", b"b"]) for _ in range(rows)]),
    "uuids": lambda draw, rows: pa.array([uuid.UUID(int=draw.getrandbits(128)).bytes for _ in range(rows)], pa.uuid()),
    "lists": lambda draw, rows: pa.array([["a"]] * rows),
    "missing": lambda draw, rows: pa.array(["a", None] * rows)[:rows],
    "blank": lambda draw, rows: pa.array(["a", " "] * rows)[:rows],
}


def generated(number: int, folder: Path) -> tuple[Path, dict[str, Any]]:
    """A Parquet file, or a folder of parts named for the topics, and what is said of its columns."""
    draw = random.Random(number)
    rows = draw.randint(2, 8)
    usual = ("text", "integers", "whole")
    kinds = [draw.choice(usual if draw.random() < 0.6 else list(COLUMNS)) for _ in range(3)]
    arrays = [COLUMNS[kind](draw, rows) for kind in kinds]
    path = folder / f"{number}.parquet"
    if draw.random() < 0.25:
        for at, value in enumerate(
            draw.sample(["007", "7", "1.0", "a b", "2026-01-01", "__HIVE_DEFAULT_PARTITION__"], 2)
        ):
            part = path / f"topic={value}"
            part.mkdir(parents=True)
            pq.write_table(pa.table({"node": arrays[0].take(pa.array(range(at, rows)))}), part / "p.parquet")
        return path, {}
    pq.write_table(pa.table(dict(zip(("node", "topic", "more"), arrays, strict=True))), path)
    return path, {"topic": ["topic", "more"]} if draw.random() < 0.2 else {}


def here(path: Path, columns: dict[str, Any]) -> Pairs | None:
    """The pairs that one machine reads; None where it refuses the file."""
    try:
        instance = ob.read_topics(path, topic_column=columns.get("topic", "topic")).instance
    except ob.BadInput as error:
        if "every topic has one subscriber" in str(error):
            return set()
        return None
    return set(instance.to_pandas()[["node", "topic"]].itertuples(index=False, name=None))


def by_its_task(path: Path, columns: dict[str, Any]) -> Pairs | None:
    """The pairs that a task of Spark makes of the file's rows, without a session."""
    names = [["node"], columns.get("topic", ["topic"])]
    flat = [name for own in names for name in own]
    table = pq.read_table(path, partitioning=None, columns=flat)
    table = table.rename_columns([f"c{at}" for at in range(len(flat))])
    found: Pairs = set()
    for batch in _labelled(table.to_batches(), columns=names, as_is=False):
        if any(batch["wrong"].to_pylist()):
            return None
        found |= set(zip(batch["a"].to_pylist(), batch["b"].to_pylist(), strict=True))
    return found


def agree(one: Pairs | None, other: Pairs | None) -> bool:
    """Whether both refuse, or read the same; an empty set is an instance that was refused for its topics."""
    if one is not None and not one and other:
        return len({topic for _, topic in other}) == len(other)
    return one == other


def test_a_task_of_spark_reads_labels_as_one_machine_does(tmp_path: Path) -> None:
    outcomes = []
    for number in range(200):
        path, columns = generated(number, tmp_path)
        if path.is_file():
            one = here(path, columns)
            assert agree(one, by_its_task(path, columns)), (number, one)
            outcomes.append(one is None)
    assert min(outcomes.count(True), outcomes.count(False)) > 30


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from overlaybench.compare.spark_solver.solving import session_on

    with session_on("local[2]") as running:
        running.conf.set("spark.sql.shuffle.partitions", "2")
        yield running


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_spark_reads_200_files_as_one_machine_does(session: Any, tmp_path: Path) -> None:
    for number in range(200):
        path, columns = generated(number, tmp_path)
        try:
            rows = read_rows(session, str(path), columns, ("node", "topic")).collect()
            found: Pairs | None = {(row["node"], row["topic"]) for row in rows}
        except ob.BadInput:
            found = None
        one = here(path, columns)
        types = [] if path.is_dir() else pq.read_schema(path).types
        unread = found is None and bool({pa.timestamp("ns"), pa.uuid()} & {*types})  # by Spark, in whatever column
        assert agree(one, found) or unread, (number, one, found)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "is_plain"),
    [
        (pa.array(["a", "é b", "7", "😀"]), True),
        (pa.array(["a", "b"]).dictionary_encode(), True),
        (pa.array([-3, 2**40]), True),
        (pa.array([1, 2], pa.uint16()), True),
        *((pa.array(["a", text]), False) for text in (" b", "b\n", "b\u00a0", "\u3000b", "b\x1f", "\u2028b")),
        (pa.array([1.0, 2.0]), False),
        (pa.array([b"a", b"b"]), False),
        (pa.array([2**63], pa.uint64()), False),
    ],
    ids=str,
)
def test_plain_labels_need_no_process_of_python(session: Any, tmp_path: Path, nodes: pa.Array, is_plain: bool) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"node": nodes, "topic": ["x"] * len(nodes)}), path)
    rows = read_rows(session, str(path), {}, ("node", "topic"))
    assert ("MapInArrow" not in rows._jdf.queryExecution().toString()) == is_plain
    assert agree(here(path, {}), {(row["node"], row["topic"]) for row in rows.collect()})


def test_partition_columns_are_read_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    for topic, nodes in (("007", ["a", "b"]), ("7", ["c", "d"]), ("x%2Fy", ["a", "d"])):
        (path / f"topic={topic}").mkdir(parents=True)
        pq.write_table(pa.table({"node": nodes}), path / f"topic={topic}" / "p.parquet")
    assert here(path, {}) == {*(("a", "007"), ("b", "007"), ("c", "7"), ("d", "7"), ("a", "x/y"), ("d", "x/y"))}


@pytest.mark.parametrize(
    ("nodes", "fragment"),
    [
        (pa.array([1.0, 2.0, 3.5]), "row 3: node 3.5 is no whole number below 2^53: give labels as text"),
        (pa.array([1.0, 1e16, 2.0]), "row 2: node 1e+16 is no whole number"),
        (pa.array([1.0, np.nan, 2.0]), "row 2: node nan is no whole number"),
        (
            pa.array([1, 2, 2], pa.timestamp("ns")),
            "column 'node' has type timestamp[ns], and labels are texts",
        ),
        (pa.array([uuid.uuid4().bytes for _ in range(3)], pa.uuid()), "cast it to text, as str() gives it"),
        (pa.array([b"\xff\xfe", b"a", b"a"]), "bytes that are no UTF-8 text: cast it to text; of a UUID, as str()"),
    ],
)
def test_what_is_no_label_is_refused_with_the_fix(tmp_path: Path, nodes: pa.Array, fragment: str) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"node": nodes, "topic": ["x", "x", "x"]})
    pq.write_table(table, path)
    with refused(path, fragment):
        ob.read(path)
    with pytest.raises(ob.BadInput):
        ob.read(table)


def test_whole_floating_point_numbers_are_integers(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"node": [1.0, 1.5e10, 10.0], "topic": [7.0, 7.0, 7.0]}), path)
    assert here(path, {}) == {("1", "7"), ("10", "7"), ("15000000000", "7")}
