"""The code version changes with the code that is executed, and only with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlaybench.compare.catalogue import EQUAL_VERSIONS, code_version

CODE = '''"""Module."""
LIMIT = 3
"""Of something."""
class Search:
    """Class."""
    def run(self, steps=2):
        """Function."""
        return steps + LIMIT  # comment
'''


def version(folder: Path, code: str = CODE, name: str = "models/search.py") -> str:
    file = folder / str(len(list(folder.iterdir()))) / name
    file.parent.mkdir(parents=True)
    file.write_text(code)
    return code_version(file.parents[1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # comment", ""),
        ('    """Class."""\n', ""),
        ('"""Of something."""', '"""Of another thing."""'),
        ("steps + LIMIT", "(steps  +  LIMIT)"),
        ("LIMIT = 3\n", "LIMIT = 3\n\n\n"),
    ],
)
def test_comments_docstrings_and_layout_do_not_change_it(tmp_path: Path, old: str, new: str) -> None:
    assert old in CODE
    assert version(tmp_path, CODE.replace(old, new)) == version(tmp_path)


@pytest.mark.parametrize(("old", "new"), [("LIMIT = 3", "LIMIT = 4"), ("steps=2", "steps=3"), ("run", "go")])
def test_a_statement_a_default_and_a_name_change_it(tmp_path: Path, old: str, new: str) -> None:
    assert version(tmp_path, CODE.replace(old, new)) != version(tmp_path)


def test_the_path_of_a_file_changes_it(tmp_path: Path) -> None:
    assert version(tmp_path, name="models/other.py") != version(tmp_path)


def test_code_of_other_folders_does_not_change_it(tmp_path: Path) -> None:
    assert version(tmp_path, name="compare/a.py") == version(tmp_path, CODE + "more = 1", name="compare/a.py")


def test_the_earlier_versions_with_equal_answers_are_not_the_present_one() -> None:
    assert code_version() not in EQUAL_VERSIONS
    assert EQUAL_VERSIONS == ()
