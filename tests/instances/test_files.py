"""Files appear whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.files import atomic_write, read_json, read_text


@pytest.mark.parametrize(
    "error", [RuntimeError("a bug"), KeyboardInterrupt(), UnicodeEncodeError("utf-8", "", 0, 1, "")]
)
@pytest.mark.parametrize("before", [None, "old"])
def test_a_writer_that_raises_leaves_things_as_they_were(
    tmp_path: Path, error: BaseException, before: str | None
) -> None:
    path = tmp_path / "a.json"
    if before is not None:
        path.write_text(before)

    def write(file: Path) -> None:
        file.write_text("half")
        raise error

    with pytest.raises(type(error)):
        atomic_write(path, write)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == (
        {} if before is None else {"a.json": before}
    )


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError("of pyarrow, without a number")])
def test_a_full_disk_is_bad_input_that_names_the_file_and_leaves_nothing(tmp_path: Path, error: OSError) -> None:
    path = tmp_path / "a.json"

    def write(file: Path) -> None:
        file.write_text("half")
        raise error

    with pytest.raises(BadInput) as caught:
        atomic_write(path, write)
    reason = error.strerror or str(error)
    assert str(caught.value) == f"{path}: cannot be written ({reason}): choose another path"
    assert list(tmp_path.iterdir()) == []


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
    with pytest.raises(BadInput, match="not a regular file: choose another path"):
        atomic_write(pipe, lambda file: file.write_text("text"))
    assert pipe.is_fifo()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read any file")
def test_a_file_without_the_right_to_read_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    path.chmod(0)
    with pytest.raises(BadInput, match=r"cannot be read \(Permission denied\): check the path"):
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
    with pytest.raises(BadInput, match="'k199999' stands twice"):
        read_json(path, "f/1", dict[str, Any])
