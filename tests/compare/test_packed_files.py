"""Packed and piped files, and endings that nobody knows."""

import gzip
import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import overlaybench as ob
from overlaybench.instances.contract.files import opened, read_text, reading_as, unpacked_name
from tests.compare.conftest import Run
from tests.instances.topics.test_bad_files import refused, written

TABLE = "node,topic\nann,a\nbob,a\nbob,b\ncid,b\n"
SUBSCRIBED = ob.TopicInstance.from_subscriptions({"ann": ["a"], "bob": ["a", "b"], "cid": ["b"]})


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def zipped(*names: str) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in names:
                archive.writestr(each, data)
        return packed.getvalue()

    return pack


@pytest.mark.parametrize("ending", [".json", ".csv", ".tsv", ".parquet", ".sets", ".oligomers", ".hif.json"])
@pytest.mark.parametrize(
    ("packing", "pack"), [(".gz", gzip.compress), (".zst", zstd), (".zip", zipped("inner", "__MACOSX/._inner"))]
)
def test_packed_files_are_read_as_what_they_hold(
    tmp_path: Path, ending: str, packing: str, pack: Callable[[bytes], bytes]
) -> None:
    plain = tmp_path / f"plain{ending}"
    ob.write_topics(SUBSCRIBED, plain)
    named_within = zipped(f"deep/rows{ending}")(plain.read_bytes())
    for name, packed in ((f"rows{ending}{packing}", pack(plain.read_bytes())), ("rows.zip", named_within)):
        assert ob.read(path := written(tmp_path / name, packed)) == SUBSCRIBED
        assert ob.read_topics(path).instance == SUBSCRIBED


def test_several_compressed_parts_in_one_file_are_one_text(tmp_path: Path) -> None:
    first, second = TABLE[:20].encode(), TABLE[20:].encode()
    for name, pack in (("a.csv.gz", gzip.compress), ("a.csv.zst", zstd)):
        assert read_text(written(tmp_path / name, pack(first) + pack(second))) == TABLE


@pytest.mark.parametrize(
    ("name", "data", "fragment"),
    [
        ("a.csv.gz", TABLE.encode(), "cannot be unpacked"),
        ("a.csv.gz", gzip.compress(TABLE.encode())[:-9], "cannot be unpacked"),
        ("a.csv.zip", TABLE.encode(), "cannot be unpacked"),
        ("a.csv.zst", TABLE.encode(), "cannot be"),
        ("a.csv.zst", zstd(TABLE.encode() * 99)[:-20], "cannot be"),
        ("a.xml.gz", gzip.compress(b"<a/>"), "unknown ending '.xml.gz'"),
        ("a.csv.zip", zipped("one.csv", "two.csv")(TABLE.encode()), "holds 2 files: pack one"),
    ],
    ids=["no gzip", "cut gzip", "no zip", "no zstd", "cut zstd", "unknown ending", "two files"],  # packing has the time
)
def test_what_cannot_be_unpacked_is_one_line(tmp_path: Path, name: str, data: bytes, fragment: str) -> None:
    path = written(tmp_path / name, data)
    with refused(path, fragment):
        ob.read_topics(path)


def test_packed_answers_costs_and_traces_are_read(tmp_path: Path, run: Run) -> None:
    rows = written(tmp_path / "rows.csv.gz", gzip.compress(TABLE.encode()))
    edges = json.dumps({"format": "overlay/1", "edges": [["ann", "bob"], ["bob", "cid"]]})
    answer = written(tmp_path / "o.json.zst", zstd(edges.encode()))
    status, out, _ = run("check", rows, answer, "--problem", "min-tco")
    assert (status, out.split(",")[0]) == (0, "valid for min-tco")
    costs = written(tmp_path / "c.csv.gz", gzip.compress(b"u,v,cost\nann,bob,2\nbob,cid,3\n"))
    _, out, _ = run("solve", rows, "--costs", costs, "--json")
    assert json.loads(out)["value"] == 5
    trace = b"time,node,topic,subscribe\n0,a,x,1\n1,b,x,1\n"
    plain, packed = written(tmp_path / "t.trace.csv", trace), tmp_path / "t.trace.csv.gz"
    assert ob.read(written(packed, gzip.compress(trace))).digest == ob.read(plain).digest


def test_standard_input_and_pipes_are_read_with_a_stated_format(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solved(data: bytes, *words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        return run("solve", "-", "--method", "gm", "--json", *words)

    for form, data in (("csv", TABLE.encode()), ("csv.gz", gzip.compress(TABLE.encode())), ("sets", b"a b\nb c\n")):
        assert json.loads(solved(data, "--format", form)[1])["value"] == 2
    status, out, err = solved(TABLE.encode())
    assert (status, out, "state its format, as in --format csv" in err) == (2, "", True)
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    writer = subprocess.Popen(["sh", "-c", f"printf 'a b\nb c\n' > {fifo}"])
    assert ob.read(fifo, format="sets").num_topics == 2
    assert writer.wait() == 0


def test_a_stated_format_counts_whatever_the_ending(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.dump", TABLE)
    assert ob.read(path, format="csv") == SUBSCRIBED
    with reading_as(path, "csv"), opened(path) as file:
        assert file.read() == TABLE.encode()
    assert unpacked_name(path) == path
