"""Pages of the documentation that are made when it is built: from the code, the catalogues and the README."""

from __future__ import annotations

import inspect
import os
import posixpath
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import overlaybench as ob
from overlaybench.compare.claims.pages import pages as claim_pages
from overlaybench.compare.claims.register import record
from overlaybench.compare.command_line import COMMANDS, cli
from overlaybench.compare.commands.listing import Explanation, explain, values_of, with_papers
from overlaybench.compare.library.archive import answer_file
from overlaybench.compare.library.table import read_table, with_table
from overlaybench.compare.studies.library_entries import TABLE, Entry
from overlaybench.docs.drawn_constructions import DRAWN, construction_drawing
from overlaybench.docs.library_pages import instance_page, page_of, table_page

_ROOT = Path(__file__).resolve().parents[1]
_OF_THE_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)]*)?\)")
_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data):(<code>)[.~]*")
_LOADERS = re.compile(r'<!-- Load mathjax -->.*<script type="module">.*?</script>', re.DOTALL)
_NO_DESCRIPTION = re.compile(r'–\s*<div class="doc-md-description">\s*</div>')
_SHORT_CODE = re.compile(r"<code>(?=[^<]{1,32}</code>)")
_TOGETHER = re.compile(r"^( +)([*\w]+), ([*\w, ]+)((?: : .*)?\n(?:\1 {4}.*\n)+)", re.MULTILINE)
_SHIM, _WORKER = "https://unpkg.com/iframe-worker/shim", "search_worker.js"
_staging = tempfile.TemporaryDirectory(prefix="overlaybench-docs-")


def _apart(together: re.Match[str]) -> str:
    return "".join(f"{together[1]}{name}{together[4]}" for name in (together[2], *together[3].split(", ")))


@event_priority(100)  # before mkdocstrings reads its settings
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let mkdocstrings read a copy of the package, without the rest of the checkout; quiet the notebooks' kernels."""
    settings = Path(_staging.name) / "profile_default" / "ipython_kernel_config.py"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("c.IPKernelApp.log_level = 40\n")  # of the notebooks' kernels: no warnings about ports
    os.environ["IPYTHONDIR"] = _staging.name
    package = Path(_staging.name) / "overlaybench"
    for layer in ("instances", "heuristics", "models", "compare"):
        shutil.copytree(
            _ROOT / layer, package / layer, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
        )
    shutil.copy(_ROOT / "__init__.py", package)
    for file in package.rglob("*.py"):  # parameters described together are shown with the default of the first
        file.write_text(_TOGETHER.sub(_apart, file.read_text(encoding="utf-8")), encoding="utf-8")
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_staging.name]
    asked = subprocess.run(["git", "remote", "get-url", "origin"], cwd=_ROOT, capture_output=True, text=True)
    if address := repository_page(asked.stdout.strip()):
        config.repo_url, config.repo_name = address, address.rpartition("/")[2]
    return config


def repository_page(remote: str) -> str:
    """The page of a git remote, which the site links to; "" for a folder or none: a dead link helps nobody."""
    remote = re.sub(r"^(?:ssh://)?git@([^/:]+)[:/]", r"https://\1/", remote)
    page = re.sub(r"^https://[^/@]*@", "https://", remote).removesuffix("/").removesuffix(".git")
    return page if page.startswith("https://") else ""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from code."""
    for path, text in _pages().items():
        files.append(File.generated(config, path, content=text))
    for drawn in _drawings():
        path = f"constructions/{drawn.name}.svg"
        if (stored := files.get_file_from_path(path)) is not None:
            files.remove(stored)
        files.append(File.generated(config, path, content=drawn.files["svg"]))
    for path, text in _library_pages():
        files.append(File.generated(config, path, content=text))
    for page in sorted(_ROOT.glob("docs/*.md")):
        for workload, trade in _DRAWN.findall(page.read_text(encoding="utf-8")):
            if svg := _optimum(workload, trade)[1]:
                files.append(File.generated(config, f"drawn/{workload}.svg", content=svg))
    return files


_DRAWN = re.compile(r"<!-- drawn: (\S+) (\S+) -->")


_MOST_DRAWN = 100


def _library_pages() -> Iterator[tuple[str, str]]:
    """The table of the library's instances with its script, a page for each, and drawings."""
    table = read_table()
    yield "instances.md", table_page(table)
    yield "tables.js", (_ROOT / "compare" / "report" / "tables.js").read_text(encoding="utf-8")
    for entry in table.entries.values():
        svg, about = _drawn_entry(entry)
        if svg:
            yield f"instances/{entry.name}.svg", svg
        drawing = f"![{about}]({entry.name}.svg)" if svg else about
        yield page_of(entry.name), instance_page(table, entry, drawing)


def _drawn_entry(entry: Entry) -> tuple[str, str]:
    """A drawing of an instance, or of an answer that was submitted, and its text; "" with the reason if it has none."""
    size = int(entry.sizes.partition("=")[2].split()[0]) if entry.sizes else 0
    if entry.needs or not 0 < size <= _MOST_DRAWN:
        return "", "Not drawn: data of others." if entry.needs else f"Not drawn: more than {_MOST_DRAWN} nodes."
    instance, kind = entry.make(), ob.KINDS[entry.kind]
    submitted = [answer_file(TABLE, entry.name, problem) for problem in entry.problems]
    answers = [kind.read_answer(file, instance) for file in submitted if file.is_file()][:1]
    about = "An answer that was submitted" if answers else "The instance"
    options = ob.DrawOptions(names=(about,) * len(answers))
    if kind.name == "trace" and not answers:
        answers = [ob.solve(instance, kind.default_problem, "gm-incremental")]
        about = "The overlay of `gm-incremental` after the last event"
    return ob.draw(instance, *answers, options=options)._repr_svg_(), about


@cache
def _optimum(workload: str, trade: str) -> tuple[str, str]:
    """An optimum of a workload: its outcome in words and its drawing, "" where the data are absent."""
    try:
        instance = ob.generate(workload)
    except ob.BadInput as absent:
        return f"Not drawn where this page was built: {absent}", ""
    with ob.terms(trade):
        result = ob.solve(instance)
        figure = ob.draw(instance, result)
    return f"`{workload}`: {result.status}, {result.value:g} of at least {result.lower_bound:g}.", figure._repr_svg_()


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to pages of the site; a link to a source file becomes its name; fill in drawings of optima."""

    def drawn(mark: re.Match[str]) -> str:
        words, svg = _optimum(mark[1], mark[2])
        return words + (f"\n\n![An optimum of {mark[1]}](drawn/{mark[1]}.svg)" if svg else "")

    if page.is_homepage:  # the only page of its tab
        page.meta["hide"] = ["navigation"]
    markdown = _DRAWN.sub(drawn, markdown)
    if page.file.src_uri == "library.md":
        markdown = with_table(markdown, read_table(), listed=False)
        markdown = re.sub(r"\d+ (s|of \d+)(?= \|)", lambda cell: cell[0].replace(" ", "\xa0"), markdown)
    return _LINK.sub(lambda link: _led(link, page.file.src_uri), markdown)


def on_page_content(html: str, page: Page, files: Files, **_: Any) -> str:
    """Show the roles of docstrings as code, short code in one line; in notebooks lead links, drop network scripts."""
    if not page.file.src_uri.endswith(".ipynb"):
        html = _NO_DESCRIPTION.sub("", _ROLE.sub(r"\1", html))
        return _SHORT_CODE.sub('<code class="short">', html)

    def led(link: re.Match[str]) -> str:
        target = files.get_file_from_path(posixpath.normpath(f"{posixpath.dirname(page.file.src_uri)}/{link[1]}"))
        return f'href="{target.url_relative_to(page.file)}' if target else link[0]

    return _LOADERS.sub("", re.sub(r'href="([^":]+\.md)', led, html))


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Take the script that makes the search work without a server from the site, not from the network."""
    return output.replace(_SHIM, "../" * page.file.url.count("/") + _WORKER)


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for the page of addresses that do not exist."""
    return output_content.replace(_SHIM, _WORKER)


def _led(link: re.Match[str], page: str) -> str:
    target, anchor = link["target"], link["anchor"] or ""
    if ":" in target:
        return link[0]
    source = _ROOT if page in _OF_THE_ROOT.values() else (_ROOT / "docs" / page).parent
    path = (source / target).resolve()
    if not path.is_relative_to(_ROOT) or not path.exists():
        return link[0]
    if path.is_dir():  # its first page
        path = next(iter([*path.glob("README.md"), *sorted(path.glob("*.ipynb")), path]))
    name = path.relative_to(_ROOT).as_posix()
    if name in _OF_THE_ROOT or name.startswith("docs/"):
        up = "../" * page.count("/")
        return f"{link['image']}[{link['text']}]({up}{_OF_THE_ROOT.get(name, name.removeprefix('docs/'))}{anchor})"
    return f"`{name}`"


def _pages() -> dict[str, str]:
    pages = {page: (_ROOT / name).read_text(encoding="utf-8") for name, page in _OF_THE_ROOT.items()}
    made: Mapping[str, Callable[[], Iterator[str]]] = {
        "reference/commands.md": _commands,
        "reference/python.md": _python,
        "reference/problems.md": lambda: _entries("Problems", [*ob.KINDS.values(), *ob.PROBLEMS.values()]),
        "reference/methods.md": _methods,
        "reference/workloads.md": lambda: _entries(
            "Workloads and constructions", (each for _, each in sorted(ob.WORKLOADS.items()))
        ),
    }
    return pages | claim_pages(record()) | {path: "\n".join(lines()) + "\n" for path, lines in made.items()}


def _commands() -> Iterator[str]:
    yield "# Commands\n\nEvery command prints this with `--help`; `overlaybench completion` completes them.\n"
    for name in COMMANDS:
        context = click.Context(cli, info_name="overlaybench")
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield f"## {name}\n\n{_prose(inspect.cleandoc(command.help or ''))}\n"
        yield f"```\n{command.get_usage(inner).removeprefix('Usage: ')}\n```\n"
        options = [each for each in command.params if isinstance(each, click.Option)]
        records = [record for each in options if (record := each.get_help_record(inner))]
        if isinstance(command, click.Group):
            yield from _table(("command", "meaning"), [_inner(each, inner) for each in command.commands.values()])
        yield from _table(("option", "meaning"), [(f"`{flags}`", _cell(text)) for flags, text in records])
        yield f"Example:\n\n```\n{COMMANDS[name].example}\n```\n"


def _inner(command: click.Command, parent: click.Context) -> tuple[str, str]:
    """The usage of a command within a group, and what it does."""
    usage = command.get_usage(click.Context(command, info_name=command.name, parent=parent))
    return f"`{usage.removeprefix('Usage: overlaybench ')}`", _cell(command.get_short_help_str(200))


def _python() -> Iterator[str]:
    yield "# Python\n\nThe names of `import overlaybench as ob`. Each is imported at its first use.\n"
    for title, chosen in (("Functions", str.islower), ("Types", lambda name: not (name.islower() or name.isupper()))):
        yield f"## {title}\n"
        yield from (f"::: {getattr(ob, name).__module__}.{name}\n" for name in dir(ob) if chosen(name))
    yield "## Catalogues\n\n`METHODS`, `PROBLEMS`, `WORKLOADS` and `KINDS` map names to what is listed under "
    yield "[methods](methods.md), [problems and kinds](problems.md) and [workloads](workloads.md).\n"


def _methods() -> Iterator[str]:
    yield "# Methods\n\nWhat each answers, guarantees and costs, by the kind of instances that it takes; "
    yield "`overlaybench list NAME` prints the same.\n"
    for kind in ob.KINDS.values():
        yield f"## {kind.name}\n\nInstances: {_cell(kind.summary)}.\n"
        for _, method in sorted(ob.METHODS.items()):
            of_kind = [
                one
                for one, member in zip(explain(method), method.members or (method,), strict=True)
                if ob.PROBLEMS[member.problems[0]].kind == kind.name
            ]
            for number, one in enumerate(of_kind):
                yield from _entry(replace(one, name=f"{one.name}: {one.facts['answers']}") if number else one, "###")


def _entries(title: str, entries: Iterable[object]) -> Iterator[str]:
    yield f"# {title}\n\nWhat each is, with its source and an example; `overlaybench list NAME` prints the same.\n"
    for entry in entries:
        for one in explain(entry):
            yield from _entry(one)


def _entry(one: Explanation, level: str = "##") -> Iterator[str]:
    yield f"{level} {one.name}\n\n*{one.noun}*: {_cell(one.summary)}.\n"
    source = re.sub(r"\bdocs/(\w+\.md)", r"[docs/\1](../\1)", with_papers(one.facts.get("source", "")))
    facts = {**one.facts, "source": source}
    yield "\n".join(f"* **{about}**: {_cell(text)}" for about, text in facts.items() if text) + "\n"
    options = [(f"`{each.name}`", f"`{each.default}`", values_of(each), _cell(each.summary)) for each in one.options]
    yield from _table(("parameter" if one.noun == "workload" else "option", "default", "values", "meaning"), options)
    yield "```\n" + "\n".join(one.examples) + "\n```\n"


@cache
def _drawings() -> list[Any]:
    return [construction_drawing(name) for name in DRAWN]


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if lines:
        yield "\n".join([f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *lines, ""])


def _cell(text: str) -> str:
    return re.sub(r"([|*])", r"\\\1", text.replace("<", "&lt;")).replace("\n", "<br>")


def _prose(text: str) -> str:
    """The text of a help page, whose marked paragraphs are shown as they are."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(f"```\n{each[2:]}\n```" if each.startswith("\b\n") else each for each in paragraphs)
