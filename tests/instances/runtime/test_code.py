"""The digest of code: it follows imports, and nothing but the syntax of what is imported changes it."""

import shutil
from pathlib import Path

import pytest

from overlaybench.instances.contract.catalogue import methods_of
from overlaybench.instances.runtime.code import OURS, ROOT, closure, digest_of, syntax

GM, CONTENT = f"{OURS}.heuristics.topics.greedy_merge", f"{OURS}.heuristics.content.migration"
POLISH = f"{OURS}.heuristics.topics.local_search.polish"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the layers that answer."""
    root = tmp_path_factory.mktemp("copy") / OURS
    for layer in ("instances", "heuristics", "models"):
        shutil.copytree(ROOT / layer, root / layer, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def edited(root: Path, module: str, old: str, new: str, *, of: str) -> bool:
    """Whether another text in a module changes the digest of the module `of`; the text is put back."""
    file = root.joinpath(*module.split(".")[1:]).with_suffix(".py")
    text, before = file.read_text(), digest_of([of], root)
    assert old in text
    file.write_text(text.replace(old, new, 1))
    after = digest_of([of], root)
    file.write_text(text)
    assert digest_of([of], root) == before
    return after != before


def test_comments_docstrings_layout_and_code_that_is_not_imported_leave_gms_digest(whole: Path) -> None:
    assert not edited(whole, GM, '"""', '"""In other words: ', of=GM)
    assert not edited(whole, GM, "\n\n\n", "\n\n# a comment\n\n\n\n", of=GM)
    assert not edited(whole, GM, "from ...instances", "from ... instances", of=GM)
    assert not edited(whole, CONTENT, "import heapq", "import heapq as other", of=GM)
    assert not edited(whole, f"{OURS}.models.topics.best", "import", "import os\nimport", of=GM)


def test_a_change_of_a_method_or_of_what_it_imports_at_any_depth_changes_its_digest(whole: Path) -> None:
    files = closure([GM], whole)
    assert GM in files
    assert f"{OURS}.instances.contract.overlay" in files
    before = digest_of([GM], whole)
    for module, file in files.items():
        text = file.read_text()
        file.write_text(f"{text}\nCHANGED = 1\n")
        assert digest_of([GM], whole) != before, module
        file.write_text(text)
    assert edited(whole, CONTENT, "import heapq", "import heapq as other", of=CONTENT)


def test_new_files_count_where_a_text_names_their_package(whole: Path) -> None:
    before = [digest_of([method], whole) for method in (GM, POLISH)]
    (new := whole / "heuristics/topics/new_heuristic.py").write_text('NEW = "a heuristic"\n')
    after = [digest_of([method], whole) for method in (GM, POLISH)]
    new.unlink()
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False]


@pytest.mark.parametrize(
    "line",
    [
        "from .other import name",
        "from . import other",
        "from ..package import other",
        "from ..package.other import name as another",
        "import overlaybench.package.other",
        "def function():\n    from .other import name\n    return name",
        "class A:\n    def method(self):\n        import overlaybench.package.other as other\n        return other",
    ],
)
def test_imports_of_every_form_and_at_every_place_are_followed(line: str, tmp_path: Path) -> None:
    root = tmp_path / OURS
    (root / "package").mkdir(parents=True)
    (root / "package/one.py").write_text(f"import os\n{line}\n")
    (root / "package/other.py").write_text("name = 1\n")
    assert list(closure([f"{OURS}.package.one"], root)) == [f"{OURS}.package.one", f"{OURS}.package.other"]
    first = digest_of([f"{OURS}.package.one"], root)
    (root / "package/other.py").write_text("name = 22\n")
    assert digest_of([f"{OURS}.package.one"], root) != first


def test_what_only_type_checkers_import_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "if TYPE_CHECKING:\n    from .other import Name\nelse:\n    from .third import a\n"
    )
    for name in ("other", "third"):
        (tmp_path / f"{name}.py").write_text("")
    assert list(closure([f"{OURS}.one"], tmp_path)) == [f"{OURS}.one", f"{OURS}.third"]


def test_equal_syntax_is_a_matter_of_neither_layout_nor_docstrings() -> None:
    one = 'def f(a, *, b=1):\n    """Says what."""\n    return {a: b}  # why\n'
    assert syntax(one) == syntax("    def f(\n        a, *, b = 1\n    ):\n        return {a: b}\n")
    others = [one.replace("f(", "g("), one.replace("=1", "=2"), one.replace("*, ", "")]
    assert len({syntax(each) for each in (one, *others, "async " + one)}) == 5
    assert syntax("x = 1") != syntax("x = True") != syntax("x = '1'")


def test_the_home_of_a_method_is_the_module_that_assigns_it() -> None:
    from overlaybench.compare.catalogue import METHODS, version_of
    from overlaybench.instances.contract.catalogue import home_of

    for layer, domain in (("heuristics", "topics"), ("heuristics", "content"), ("models", "topics")):
        package = f"{OURS}.{layer}.{domain}"
        assert all(home_of(method).startswith(package) for method in methods_of(package))
    assert home_of(METHODS["gm"]) == GM
    assert version_of("gm", "min-tco") == digest_of([GM, f"{OURS}.instances.topics.problems"])
    assert version_of("cp-sat", "content-mst") != version_of("cp-sat", "min-tco")
