"""Bad input files: one line each, that starts with the file and names the location and the fix."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import overlaybench as ob
from overlaybench.instances.contract import tables

INSTANCE = ob.TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a"], "n2": ["a"]})


@contextmanager
def refused(path: Path, fragment: str) -> Iterator[None]:
    """A file is refused in a line that begins with its path and has the fragment."""
    with pytest.raises(ob.BadInput, match=re.escape(fragment)) as caught:
        yield
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


LONG_GOOD_START = "node,topic\n" + "n0,a\n" * 300_000  # more than one of the blocks that a file is read in

SEPARATED: list[tuple[str, str | bytes, str]] = [
    ("empty", "", "is empty: give it a header line"),
    ("blank lines only", "\n\r\n\n", "is empty: give it a header line"),
    ("header only", "node,topic\n", "has no rows under its header: give it"),
    ("missing column", "node,subject\nn0,a\n", "no column 'topic' among 'node', 'subject': name the"),
    ("no header", "n0,a\nn1,a\n", "no column 'node' among 'n0', 'a': name the"),
    ("column twice", "node,topic,node\nn0,a,b\n", "column 'node' stands twice in the header: rename one"),
    ("short row", "node,topic\nn0,a\nn1\n", "line 3: 1 values under a header of 2: correct the line"),
    ("long row", "node,topic\nn0,a\nn1,a,b\nn2,a\n", "line 3: 3 values under a header of 2: correct the line"),
    ("long row after blank lines", "\nnode,topic\n\nn0,a\n\n\nn1,a,b\n", "line 7: 3 values"),
    ("long row after a quoted line break", 'node,topic\n"n\n0",a\nn1,a,b\n', "line 4: 3 values"),
    ("long row in a later block", LONG_GOOD_START + "n1,a,b\n", "line 300002: 3 values"),
    ("empty node", "node,topic\nn0,a\n,b\n", "line 3: an empty node: name it or remove the line"),
    ("empty topic", "node,topic\nn0,\n", "line 2: an empty topic: name it or remove the line"),
    ("empty topic after blank lines", "node,topic\n\nn0,a\n\nn1,\n", "line 5: an empty topic"),
    ("empty topic after a header after a blank line", "\nnode,topic\nn0,\n", "line 3: an empty topic"),
    ("quote never closed in the header", '\n"node,topic\nn0,a\n', "line 2: unexpected end of data"),
    ("blanks on a line", "node,topic\nn0,a\n  \nn1,a\n", "line 3: 1 values under a header of 2"),
    ("quote never closed", 'node,topic\nn0,a\nn1,"b\nn2,c\n', "line 3: unexpected end of data: correct its quotes"),
    ("two quotes that swallow a line", 'node,topic\nn0,"b\nn1,"c\nn2,d\n', "line 2: ',' expected after '\"': correct"),
    ("swallowed in another column", 'node,topic,note\nn0,a,"x\nn1,b,y\nn2,c,z\n', "line 2: unexpected end of data"),
    ("not UTF-8", b"node,topic\nn0,a\nn1,\xe9t\xe9\n", "line 3 is not UTF-8: convert the file"),
    ("UTF-16", "node,topic\nn0,a\n".encode("utf-16"), "line 1 is UTF-16: save the file as UTF-8"),
]

PARQUET: list[tuple[str, pa.Table | bytes, str]] = [
    ("empty", b"", "give a complete file"),
    ("no rows", pa.table({"node": pa.array([], pa.string()), "topic": pa.array([], pa.string())}), "at least one node"),
    ("missing column", pa.table({"node": ["a"], "subject": ["b"]}), "no column 'topic' among 'node', 'subject': name"),
    ("column twice", pa.table([["a"], ["b"], ["c"]], names=["node", "topic", "node"]), "'node' stands twice"),
    ("null node", pa.table({"node": ["a", None], "topic": ["x", "y"]}), "row 2: an empty node: name it or remove"),
    ("empty topic", pa.table({"node": ["a", "b"], "topic": ["x", ""]}), "row 2: an empty topic: name it or remove"),
    ("lists", pa.table({"node": ["a"], "topic": [["x", "y"]]}), "column 'topic' has type list<element: string>, and"),
    ("no text", pa.table({"node": (bad := pa.array([b"a", b"\xff"]).view(pa.string())), "topic": bad}), "UTF"),
    ("bytes", pa.table({"node": ["a"], "topic": [b"\xff"]}), "column 'topic' has bytes that are no UTF-8 text: cast"),
]


def table(cases: Sequence[tuple[str, object, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("content", "fragment"),
        [(content, fragment) for _, content, fragment in cases],
        ids=[name.replace(" ", "_") for name, _, _ in cases],
    )


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@table(SEPARATED)
def test_bad_separated_files(tmp_path: Path, content: str | bytes, fragment: str) -> None:
    path = written(tmp_path / "topics.csv", content)
    with refused(path, fragment):
        ob.read_topics(path)


@pytest.mark.parametrize("at_once", [1, 2, 3, 256])
@pytest.mark.parametrize("bad", ["n2;a;x", "n2", 'n2;"a"b', 'n2;"a', ";a"])
def test_an_error_names_its_line_behind_rows_of_several_lines_and_lines_without_rows(
    tmp_path: Path, at_once: int, bad: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_AT_ONCE", at_once)
    before = ["# comment", "node;topic", "---;---", "n0;a", "", '"n', '1";a', "node;topic", "n0;b"]
    for first in (3, 4, 5, 7, 8, 9):
        path = written(tmp_path / "topics.csv", "\n".join([*before[:first], "n1;a", bad, "n3;a"]))
        with refused(path, f"line {first + 2}: "):
            ob.read_topics(path)


@table(PARQUET)
def test_bad_parquet_files(tmp_path: Path, content: pa.Table | bytes, fragment: str) -> None:
    path = tmp_path / "topics.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pq.write_table(content, path)
    with refused(path, fragment):
        ob.read_topics(path)


@pytest.mark.parametrize(("ending", "place"), [(".csv", "line 4"), (".parquet", "row 3")])
def test_a_bad_list_is_placed_by_its_first_row(tmp_path: Path, ending: str, place: str) -> None:
    topics = ["x", "x;y", "x;;y", "z", "x;;y"]
    path = written(tmp_path / "topics.csv", "node,topic\n" + "".join(f"n{i},{each}\n" for i, each in enumerate(topics)))
    if ending == ".parquet":
        path = path.with_suffix(ending)
        pq.write_table(pa.table({"node": [f"n{i}" for i in range(5)], "topic": topics}), path)
    with refused(path, f"{place}: 'x;;y' has a member without a name"):
        ob.read_topics(path, separator=";")


@pytest.mark.parametrize("ending", [".json", ".csv", ".tsv", ".parquet"])
def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path, ending: str) -> None:
    missing, folder = tmp_path / f"missing{ending}", tmp_path / f"folder{ending}"
    folder.mkdir()
    for path, fragment in ((missing, "No such file or directory"), (folder, "Is a directory")):
        for read in (ob.read_topics, lambda path: ob.read_overlay(path, INSTANCE)):
            folder_of_parts = path == folder and ending == ".parquet"
            expected = "without Parquet files" if folder_of_parts else f"cannot be read ({fragment}): check the path"
            with refused(path, expected):
                read(path)


@pytest.mark.parametrize("name", ["topics", "topics.xml", "topics.CSV", "u"])
def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, "node,topic\nn0,a\n")
    for act in (lambda: ob.read_topics(path), lambda: ob.write_topics(INSTANCE, path.with_name(f"new-{name}"))):
        with pytest.raises(ob.BadInput, match=r"unknown ending '.*': use \.json, \.parquet, \.csv, \.tsv"):
            act()
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_one_column_cannot_be_both_nodes_and_topics(tmp_path: Path) -> None:
    path = tmp_path / "topics.csv"
    ob.write_topics(INSTANCE, path)
    with refused(path, "column 'node' is named twice: name one for"):
        ob.read_topics(path, node_column="node", topic_column="node")


@pytest.mark.parametrize("ending", [".json", ".csv", ".parquet"])
def test_a_path_that_cannot_be_written_is_refused_and_nothing_is_left(tmp_path: Path, ending: str) -> None:
    (tmp_path / "file").write_text("kept")
    taken = tmp_path / f"folder{ending}"
    taken.mkdir()
    for path in (tmp_path / "absent" / f"a{ending}", tmp_path / "file" / f"a{ending}", taken):
        writers: list[Callable[[Path], None]] = [
            lambda path: ob.write_topics(INSTANCE, path),
            lambda path: ob.write_overlay(ob.Overlay.from_edges(3, []), INSTANCE, path),
        ]
        for write in writers:
            with refused(path, "choose another path"):
                write(path)
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["file", taken.name]
