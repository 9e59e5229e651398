"""No reader holds more of a file than its bound: larger files are refused by their metadata, or read in blocks."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from overlaybench.instances.content.files import read_content
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.files import read_text
from overlaybench.instances.steiner.files import read_stp
from overlaybench.instances.topics.files import read_topics

READERS: dict[str, Callable[[Path], object]] = {
    "topics.json": read_topics,
    "topics.csv": read_topics,
    "content.json": read_content,
    "tree.stp": read_stp,
}


def peak_rise(act: Callable[[], object]) -> tuple[float, str]:
    """The growth of the peak resident size in MiB while `act` raised BadInput, and the message."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadInput) as error:
        act()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, str(error.value)


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_one_line_and_a_gigabyte_is_refused_unread(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    with file.open("wb") as hole:
        hole.truncate(2**30)
    rise, said = peak_rise(lambda: READERS[name](file))
    assert rise < 100
    assert "larger than 512 MiB" in said or "more than 1,048,576 characters" in said


def test_an_endless_pipe_is_refused_at_the_bound(tmp_path: Path) -> None:
    pipe = tmp_path / "endless.json"
    os.mkfifo(pipe)

    def fill() -> None:
        with pipe.open("wb") as end:
            try:
                while True:
                    end.write(b"[" * 2**16)
            except BrokenPipeError:
                pass

    writer = threading.Thread(target=fill)
    writer.start()
    with pytest.raises(BadInput, match="larger than 4 MiB"):
        read_text(pipe, 2**22)
    writer.join(10)
    assert not writer.is_alive()


def test_a_small_parquet_file_that_unfolds_to_many_rows_is_refused_by_its_footer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlaybench.instances.contract.files._MOST_ROWS", 2**22)
    file = tmp_path / "bomb.parquet"
    labels = pa.DictionaryArray.from_arrays(pa.array(bytes(2**22 + 1), pa.int8()), ["n"])
    pq.write_table(pa.table({"node": labels, "topic": labels}), file, compression="zstd")
    assert file.stat().st_size < 2**16
    rise, said = peak_rise(lambda: read_topics(file))
    assert rise < 20
    assert "more than 4,194,304 rows" in said
