"""Files appear whole or not at all, and no reader holds more of one than its bound."""

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import overlaybench as ob
from overlaybench.instances.contract.files import atomic_write, read_json, read_text

FULL = OSError(28, "No space left on device"), OSError("of pyarrow, without a number")


@pytest.mark.parametrize(
    "error", [RuntimeError("a bug"), KeyboardInterrupt(), UnicodeEncodeError("utf-8", "", 0, 1, ""), *FULL]
)
@pytest.mark.parametrize("before", [{}, {"a.json": "old"}])
def test_a_writer_that_raises_changes_nothing_and_a_full_disk_is_bad_input(
    tmp_path: Path, error: BaseException, before: dict[str, str]
) -> None:
    path = tmp_path / "a.json"
    for text in before.values():
        path.write_text(text)

    def write(file: Path) -> None:
        file.write_text("half")
        raise error

    with pytest.raises(ob.BadInput if isinstance(error, OSError) else type(error)) as caught:
        atomic_write(path, write)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == before
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        fix = "free some space and run the command again" if error.errno == 28 else "choose another path"
        assert str(caught.value) == f"{path}: cannot be written ({reason}): {fix}"


def test_a_process_that_dies_while_it_writes_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    script = (
        "import os, sys; from pathlib import Path; from overlaybench.instances.contract.files import atomic_write\n"
        "atomic_write(Path(sys.argv[1]), lambda file: (file.write_text('half'), os._exit(9)))"
    )
    assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == 9
    assert path.read_text() == "old"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_file_has_the_rights_that_the_umask_leaves(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        atomic_write(tmp_path / "a", lambda file: file.write_text("text"))
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ob.BadInput, match="not a regular file: choose another path"):
        atomic_write(pipe, lambda file: file.write_text("text"))
    assert pipe.is_fifo()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read any file")
def test_a_file_without_the_right_to_read_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    path.chmod(0)
    with pytest.raises(ob.BadInput, match=r"cannot be read \(Permission denied\): check the path"):
        read_text(path)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes('\ufeff{"format": "f/1", "é": 1}'.encode())
    assert read_text(path)[0] == "{"
    assert read_json(path, "f/1", dict[str, Any]) == {"format": "f/1", "é": 1}


def test_a_key_that_stands_twice_among_very_many_is_found_in_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    keys = ", ".join(f'"k{i}": 0' for i in range(200_000))
    path.write_text(f'{{"format": "f/1", {keys}, "k199999": 1}}')
    with pytest.raises(ob.BadInput, match="'k199999' stands twice"):
        read_json(path, "f/1", dict[str, Any])


READERS: dict[str, Callable[[Path], object]] = {
    "topics.json": ob.read_topics,
    "topics.csv": ob.read_topics,
    "content.json": lambda path: ob.KINDS["content"].read(path, {}),
    "tree.stp": lambda path: ob.KINDS["steiner"].read(path, {}),
}


def peak_rise(act: Callable[[], object]) -> tuple[float, str]:
    """The growth of the peak resident size in MiB while `act` raised BadInput, and the message."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ob.BadInput) as error:
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
    with pytest.raises(ob.BadInput, match="larger than 4 MiB"):
        read_text(pipe, 2**22)
    writer.join(10)
    assert not writer.is_alive()


def test_a_parquet_file_of_many_rows_is_refused_by_its_footer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.instances.contract.tables._MOST_ROWS", 2**22)
    file = tmp_path / "bomb.parquet"
    labels = pa.DictionaryArray.from_arrays(pa.array(bytes(2**22 + 1), pa.int8()), ["n"])
    pq.write_table(pa.table({"node": labels, "topic": labels}), file, compression="zstd")
    assert file.stat().st_size < 2**16
    rise, said = peak_rise(lambda: ob.read_topics(file))
    assert rise < 20
    assert "more than 4,194,304 rows" in said
