"""The documentation: its commands parse, its walk-throughs and notebooks run as written, and its site stands alone."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import click
import pytest

from overlaybench.compare.command_line import cli
from overlaybench.docs import branch_and_cut_run as of_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
WALKS = ["../README", "introduction", "start", "own_data", "semantic_maps", "oligomers", "hypergraphs", "ethereum"]


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """Each code block of a page: its language, its text, and the line of prose before it."""
    text = page.read_text(encoding="utf-8")
    for before, language, code in re.findall(r"([^\n]*)\n+```(\w*)\n(.*?)```", text, re.DOTALL):
        yield language, code, before


def commands_of(page: Path) -> list[str]:
    codes = (code for language, code, _ in blocks(page) if language in ("", "sh", "console"))
    return [line for code in codes for line in commands_in(code)]


def commands_in(code: str) -> list[str]:
    """The commands of a block, those of several lines as one."""
    lines = (line.strip() for line in re.sub(r"\\\n\s*", " ", code).splitlines())
    return [line for line in lines if line.startswith("overlaybench ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_every_command_line_of_a_page_parses(page: Path) -> None:
    for line in commands_of(page):
        words = shlex.split(re.split(r"\s(?:>|\||&&)\s|\s{3,}", line)[0], comments=True)[1:]
        while words and "…" in words:
            words.remove("…")
        command = cli.get_command(click.Context(cli), words[0])
        assert command is not None, line
        try:
            command.make_context(words[0], words[1:], resilient_parsing="[" in line)
        except click.exceptions.Exit:
            continue
        except click.UsageError as error:
            pytest.fail(f"{line}: {error}")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", WALKS)
def test_a_walk_through_runs_as_written(name: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / f"{name}.md"
    for language, code, before in blocks(page):
        if saved := re.search(r"[Ss]ave this as `([^`]+)`", before):
            (tmp_path / saved[1]).write_text(code)
        elif language == "python":
            subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
        elif language == "":
            for line in commands_in(code):
                words = [sys.executable, "-m", "overlaybench.compare", *shlex.split(line, comments=True)[1:]]
                done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
                if "does not exist: get" in done.stderr:
                    pytest.skip(done.stderr)
                assert done.returncode == 0, (line, done.stdout, done.stderr)


@pytest.mark.slow
def test_the_page_on_branch_and_cut_is_of_the_run_whose_proof_it_adds_up(tmp_path: Path) -> None:
    run = of_run.SmallRun(tmp_path)
    root, *leaves = run.nodes()
    assert len(root.fixed) == run.fixed_at_root
    assert root.bound <= run.value - 1 < min(leaf.bound for leaf in leaves)
    assert of_run.page(run) == of_run.PAGE.read_text(encoding="utf-8"), "python -m overlaybench.docs.branch_and_cut_run"
    assert of_run.PICTURE.read_bytes() == of_run.picture(run)


@pytest.mark.parametrize("remote", ["https://x:secret@git.example/a/b.git", "git@git.example:a/b", "../b", ""])
def test_the_site_links_to_the_page_of_the_git_remote_without_its_credentials(remote: str) -> None:
    hooks = import_module("overlaybench.docs.hooks")
    assert hooks.repository_page(remote) == ("https://git.example/a/b" if "@" in remote else "")


class Links(HTMLParser):
    """The addresses that a page links to, those that it loads, and the anchors that it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.linked: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.linked.append(given["href"])
        elif tag in ("img", "script", "iframe", "source") and "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Links]:
    """The pages of the site, built as `make docs` does, but for running the notebooks."""
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "EXECUTE_NOTEBOOKS": "false"}
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return {page.resolve(): Links(page) for page in folder.rglob("*.html")}


@pytest.mark.slow
def test_the_site_loads_nothing_from_the_network(site: dict[Path, Links]) -> None:
    assert len(site) > 20
    loaded = {address for links in site.values() for address in links.loaded}
    assert [address for address in loaded if urlsplit(address).netloc] == []
    assert [page.name for page in site if re.search(r"import\(\"https?:", page.read_text(encoding="utf-8"))] == []
    styles = next(iter(site)).parent.rglob("*.css")
    assert [style for style in styles if re.search(r"(?:url|@import)\s*\(?[\"']?https?:", style.read_text())] == []


@pytest.mark.slow
def test_every_link_and_every_file_of_the_site_exists(site: dict[Path, Links]) -> None:
    broken = []
    for page, links in site.items():
        if page.name == "404.html":
            continue
        for address in (*links.linked, *links.loaded):
            target = urlsplit(address)
            if target.scheme or target.netloc:
                continue
            file = (page.parent / unquote(target.path)).resolve() if target.path else page
            file = file / "index.html" if file.is_dir() else file
            anchored = file not in site or target.fragment in ("", *site[file].anchors, unquote(target.fragment))
            if not file.exists() or not anchored:
                broken.append(f"{page.name}: {address}")
    assert broken == []


@pytest.mark.slow
def test_the_search_works_without_a_server(site: dict[Path, Links], browser: Browser) -> None:
    page = browser.new_page()
    page.goto(next(page for page in site if page.name == "methods.html").as_uri())
    page.locator("input.md-search__input").press_sequentially("RingPT", delay=200)  # its script may start meanwhile
    page.wait_for_selector(".md-search-result__item")
    assert "ring-per-topic" in page.locator(".md-search-result__list").inner_text().lower()


@pytest.mark.slow
def test_the_table_of_the_library_sorts_and_filters(site: dict[Path, Links], browser: Browser) -> None:
    (table,) = (page for page in site if page.name == "instances.html")
    assert len(list((table.parent / "instances").glob("*.html"))) > 200
    page = browser.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(table.as_uri())
    shown = ".scroll tbody tr:not([hidden])"
    every = page.locator(shown).count()
    count: dict[str, int] = {}
    for status in ("easy", "hard", "open"):
        page.click(f"button[value={status}]")
        others = f"{shown} td:nth-child(3):not(:empty)"
        page.wait_for_function(
            f"[...document.querySelectorAll('{others}')].every((cell) => cell.textContent === '{status}')"
        )
        count[status] = page.locator(shown).count()
        assert set(page.locator(f"{shown} td:nth-child(3)").all_inner_texts()) == {status}
    assert sum(count.values()) == every
    page.fill("#filter", "")
    heads = page.locator(".scroll th").all_inner_texts()
    column = [head.split()[0] for head in heads].index("value") + 1
    page.click(f".scroll th:nth-child({column}) button")
    texts = page.locator(f".scroll tbody td:nth-child({column})").all_inner_texts()
    values = [float(text.replace(",", "")) for text in texts if text != "–"]
    assert values == sorted(values)
    assert failures == []


nbformat: Any = import_module("nbformat")
NOTEBOOKS = sorted((ROOT / "docs").glob("**/*.ipynb"))


def stored_notebook(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs_in_short_cells_and_imports_names_that_exist(path: Path) -> None:
    for cell in stored_notebook(path).cells:
        assert len(cell.source.splitlines()) <= 25
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
        for node in ast.walk(ast.parse(cell.source if cell.cell_type == "code" else "")):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("overlaybench"):
                assert all(hasattr(import_module(node.module or ""), each.name) for each in node.names), node.module


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_no_array(path: Path, tmp_path: Path) -> None:
    from nbclient import NotebookClient

    notebook = stored_notebook(path)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output for output in outputs if output.output_type in ("execute_result", "display_data")]
    assert any("image/svg+xml" in output.data or "image/png" in output.data for output in shown)
    for output in outputs:
        texts = [
            output.get("text", ""),
            *(output.get("data", {}).get(kind, "") for kind in ("text/plain", "text/html")),
        ]
        for text in texts:
            assert not re.search(r"\barray\(|object at 0x", text), text
            assert "Warning" not in text, text


@pytest.mark.slow
def test_a_notebook_shows_progress_and_then_takes_it_away() -> None:
    from nbclient import NotebookClient

    code = (
        "import overlaybench as ob\nfrom overlaybench.compare.python_api.solving import tracked\n"
        "for item in tracked([1, 2], ['gm', 'low-oda']):\n    if item == 2: raise KeyboardInterrupt"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    seen: list[str] = []

    class Watching(NotebookClient):
        def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
            seen.append(str(msg["content"].get("data", {}).get("text/html", "")))
            return super().process_message(msg, cell, cell_index)

    Watching(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    bars = [html for html in seen if "<progress" in html]
    assert ["gm, 1 of 2" in bars[0], "low-oda, 2 of 2" in bars[1]] == [True, True]
    assert notebook.cells[0].outputs[0].data["text/html"] == ""
