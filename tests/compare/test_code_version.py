"""The code version changes with the source that decides answers, and only with it."""

from __future__ import annotations

from pathlib import Path

from overlaybench.compare.catalogue import code_version


def version(folder: Path, code: str = "LIMIT = 3\n", name: str = "models/search.py") -> str:
    file = folder / str(len(list(folder.iterdir()))) / name
    file.parent.mkdir(parents=True)
    file.write_text(code)
    return code_version(file.parents[1])


def test_the_text_and_the_path_of_a_file_change_it(tmp_path: Path) -> None:
    assert version(tmp_path) == version(tmp_path)
    assert len({version(tmp_path), version(tmp_path, "LIMIT = 4\n"), version(tmp_path, name="models/other.py")}) == 3


def test_code_of_other_folders_does_not_change_it(tmp_path: Path) -> None:
    assert version(tmp_path, name="compare/a.py") == version(tmp_path, "LIMIT = 4\n", name="compare/a.py")
