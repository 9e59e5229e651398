"""What several commands share: arguments and options, how shells complete them, and how tables are printed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import wraps
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import click
from click.shell_completion import CompletionItem

from ...instances.contract.errors import BadInput
from ...instances.contract.files import STANDARD_INPUT, reading_as
from ...instances.contract.numbers import plain
from ...instances.contract.terms import TERMS, said, terms
from ..printable import cell, printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ...instances.contract.kind import Kind, LoadedInstance
    from ...instances.contract.problem import Problem

_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}


def example(words: str) -> str:
    """What ends the help of a command: a command line."""
    return f"\b\nExample:\n  overlaybench {words}"


class Name(click.ParamType[str]):
    """A name, as it is given; shells complete those that are known of some nouns, and further words.

    Methods are completed by those that answer the problem, where it is given. Colons separate words in some shells.
    """

    name = "name"

    def __init__(self, *nouns: str, words: tuple[str, ...] = ()) -> None:
        self._nouns, self._words = nouns, words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        problem = ctx.params.get("problem") if param.name != "problem" else None
        known = dict.fromkeys(self._words, "")
        for noun in self._nouns:
            known |= _known(noun, problem)
        return [CompletionItem(name, help=text) for name, text in known.items() if name.startswith(incomplete)]


class Positive(click.FloatRange):
    """A number above 0 and at most `most`; "nan", which Python reads as a number, is none."""

    name = "number"

    def __init__(self, most: float = 1e9) -> None:
        super().__init__(0, min_open=True)
        self._most = most

    def _describe_range(self) -> str:
        return "above 0" if self._most == 1e9 else f"above 0, at most {self._most:g}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        given = click.FLOAT.convert(value, param, ctx)
        return given if 0 < given <= self._most else self.fail(f"{value} is not above 0, at most {self._most:g}", param)


def _known(noun: str, problem: str | None) -> dict[str, str]:
    """The names of a noun, each with what it is."""
    if noun == "instances":
        from ..library.table import read_table

        return {entry.name: entry.sizes for entry in read_table().entries.values()}
    from ...instances.contract import catalogue
    from ..catalogue import METHODS, named_part

    if noun == "claims":
        return {id_: one.statement for id_, one in named_part("compare.claims.statements:statements")().items()}

    items: Any = METHODS if noun == "methods" else getattr(catalogue, noun.upper())
    answering = [item for item in items.values() if noun != "methods" or not problem or item.answers(problem)]
    return {item.name: item.summary for item in answering}


METHOD, PROBLEM_NAME, WORKLOAD = Name("methods"), Name("problems"), Name("workloads")
CLAIM, LIBRARY_INSTANCE = Name("claims"), Name("instances")
NOUNS = ("problems", "methods", "workloads", "kinds", "claims")
ANY_NAME = Name(*NOUNS, words=(*NOUNS, "all"))

FILE = click.Path(path_type=Path)
PROBLEM_OF_KIND = click.option(
    "--problem", type=PROBLEM_NAME, help="See `overlaybench list problems`.  [default: that of the file's kind]"
)
OPTIONS = click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="Of the method; repeatable.")
TIME_LIMIT = click.option("--time-limit", type=Positive(), help="Seconds a method.")
SEED = click.option("--seed", default=0, show_default=True, help="The same seed gives the same answer.")
WHERE = click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value; repeatable.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
MASTER = click.option(
    "--master", "--remote", "master", default="local[*]", show_default=True, help="Spark master, or sc://HOST:PORT."
)
ARCHIVE = click.option("--archive", type=FILE, help="The code for a cluster's workers (see `overlaybench archive`).")
QUIET = click.option("--quiet", is_flag=True, help="Show no progress.")


_TABLE = "In tables of topics; repeatable: several are one key.  [default: {}]"
_PRICES = {
    "costs": ("FILE", "A table of pairs of nodes, the first two columns, and of what their links cost."),
    "cost_column": ("NAME", "Of --costs: numbers above 0, for weighted-tco.  [default: cost]"),
    "score_column": ("NAME", "Of --costs, in place of costs: numbers of which more is better."),
}
_KEYS = ("node", "topic")
_SEPARATOR = "Of lists of members in lines or cells: a sign, tab or blank.  [default: in lists of sets it is found]"
_SETTINGS = (
    click.option("--separator", metavar="SIGN", help=_SEPARATOR),
    click.option("--copies", is_flag=True, default=None, help="A(2), A*2 and 2*A are copies of one, as in .oligomers."),
    click.option("--as-is", is_flag=True, default=None, help="Topics of one subscriber each are meant, and blanks."),
)


def column_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how FILE is read, ``--costs`` with its columns, and ``--as``.

    It gets those that were given, but for the format, as ``columns``.
    """

    @wraps(command)
    def with_columns(file: Path, form: str | None, **given: Any) -> None:
        keys = {name: given.pop(f"{name}_column") for name in _KEYS}
        columns: dict[str, Any] = {name: own[0] if len(own) == 1 else list(own) for name, own in keys.items() if own}
        named = {name: given.pop(name) for name in (*_PRICES, "separator", "copies", "as_is")}
        columns |= {name: value for name, value in named.items() if value is not None}
        others = [*given.values(), *given.get("answers", ())]
        piped = STANDARD_INPUT if STANDARD_INPUT in others else file
        with reading_as(piped, form) if form else nullcontext():
            command(file=file, columns=columns, **given)

    for name, (metavar, text) in reversed(_PRICES.items()):
        with_columns = click.option(f"--{name.replace('_', '-')}", metavar=metavar, help=text)(with_columns)
    for option in reversed(_SETTINGS):
        with_columns = option(with_columns)
    for name in reversed(_KEYS):
        flag, text = f"--{name}-column", _TABLE.format(name)
        with_columns = click.option(flag, multiple=True, metavar="NAME", help=text)(with_columns)
    text = "Of FILE whatever its ending, and of - (standard input): csv, sets, json, csv.gz and so on."
    return trade_option(click.option("--format", "form", metavar="ENDING", help=text)(with_columns))


def trade_option(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--as``, whose words its messages and drawings have."""

    @wraps(command)
    def in_its_words(trade: str, **others: Any) -> None:
        with terms(trade):
            command(**others)

    text = "The words of texts and drawings: senses and words, subunits and oligomers, vertices and hyperedges."
    option = click.option("--as", "trade", type=click.Choice(list(TERMS)), default="topics", help=text)
    return option(in_its_words)


_FONT = "Of figures: serif, one that is installed, or the FILE of one; repeatable."


def figure_options(command: Callable[..., None], *, formats: bool = True) -> Callable[..., None]:
    """Give a command ``--width``, ``--font``, ``--font-size`` and ``--formats``, as `figure_options`.

    Without `formats` the last is left out: for a command whose output names its format.
    """

    @wraps(command)
    def with_options(
        width: str | None, fonts: tuple[str, ...], font_size: float | None, formats: str | None = None, **others: Any
    ) -> None:
        from ..figures.style import DEFAULT_OPTIONS, FigureOptions

        given = FigureOptions(
            width=inches(width) if width else DEFAULT_OPTIONS.width,
            font=",".join(fonts),
            font_size=font_size or DEFAULT_OPTIONS.font_size,
            formats=tuple(dict.fromkeys(formats.split(","))) if formats else DEFAULT_OPTIONS.formats,
        )
        given.settings()  # before anything long begins
        command(figure_options=given, **others)

    several = click.option("--formats", metavar="LIST", help="Of svg, pdf, png, with commas.  [default: svg,pdf]")
    for option in (
        *((several,) if formats else ()),
        click.option("--font-size", type=float, metavar="POINTS", help="Of labels in figures.  [default: 7]"),
        click.option("--font", "fonts", multiple=True, metavar="NAME", help=_FONT),
        click.option("--width", metavar="LENGTH", help="Of figures: 3.4in, 84mm, 252pt (as TeX shows \\columnwidth)."),
    ):
        with_options = option(with_options)
    return with_options


def inches(length: str) -> float:
    """A length such as ``3.4in``, ``84mm``, ``8.4cm`` or ``252pt`` (TeX's points) in inches."""
    if match := re.fullmatch(rf"\s*(\d+\.?\d*|\.\d+)\s*({'|'.join(_INCHES)})\s*", length):
        return float(match[1]) * _INCHES[match[2]]
    raise BadInput(f"--width {length}: write a number and its unit, one of {', '.join(_INCHES)}, such as 3.4in")


def problem_asked(file: Path, name: str | None, columns: Mapping[str, Any]) -> Problem[Any, Any]:
    """The problem of that name; without a name the one by default for the kind of the instance in a file.

    Of an instance of the library it is the first one that the library poses on it.

    With ``costs`` among the `columns`, it is the one about costs.
    """
    from ..catalogue import problem_named
    from ..studies.library_entries import library_entry

    if name is not None:
        return problem_named(name)
    kind, entry = kind_asked(file), library_entry(file)
    by_default = kind.default_problem if entry is None else entry.problems[0]
    return problem_named(("costs" in columns and kind.priced_problem) or by_default)


def kind_asked(file: Path) -> Kind[Any, Any]:
    """The kind of the instance in a file, or of that of the library which ``@NAME`` names."""
    from ...instances.contract.catalogue import kind_of_file
    from ..catalogue import kind_named
    from ..studies.library_entries import library_entry

    entry = library_entry(file)
    return kind_of_file(file) if entry is None else kind_named(entry.kind)


def load_instance(file: Path, problem: Problem[Any, Any], columns: Mapping[str, Any]) -> Any:
    """The instance in a file or of the library, of the kind that a problem asks for; remarks go to stderr."""
    return load(file, problem, columns).instance


def load(file: Path, problem: Problem[Any, Any], columns: Mapping[str, Any]) -> LoadedInstance[Any]:
    """What :func:`load_instance` reads, with what is known of the file."""
    from ...instances.contract.kind import LoadedInstance
    from ..catalogue import kind_named
    from ..studies.isolation import memory_bounded
    from ..studies.library_entries import library_entry

    kind = kind_named(problem.kind)
    prices = {name: columns[name] for name in _PRICES if name in columns}
    columns = {name: column for name, column in columns.items() if name not in prices}
    if prices and ("costs" not in prices or kind.name != "topics"):
        raise BadInput(f"--cost-column and --score-column are of a file --costs, for topics: {file} has {kind.name}")
    if foreign := [name for name in columns if name not in (*kind.columns, *kind.settings)]:
        flag = f"--{foreign[0]}-column" if foreign[0] in _KEYS else f"--{foreign[0].replace('_', '-')}"
        raise BadInput(f"{flag}: instances of the kind '{kind.name}' have no use for it: leave it out")
    entry = library_entry(file)
    if entry is not None and (entry.kind != kind.name or columns):
        raise BadInput(f"{file}: has {entry.kind}, without columns: name a problem of {entry.kind}, and no columns")
    with memory_bounded(str(file)):
        read = kind.read(file, columns) if entry is None else LoadedInstance(entry.make())
    remark(*(f"{file}: {each}" for each in read.remarks))
    if not prices:
        return read
    from ...instances.topics.evidence import priced

    cost = prices.get("cost_column", "" if "score_column" in prices else "cost")
    given = priced(read.instance, Path(prices["costs"]), cost=cost, score=prices.get("score_column", ""))
    return replace(read, instance=given, is_plain=False)


def remark(*texts: str) -> None:
    """Print what is no output of a command to stderr, a line each."""
    for text in texts:
        click.echo(f"overlaybench: {printable(text)}", err=True)


def echo_written(instance: Any, kind: Kind[Any, Any], file: Path) -> None:
    """Print that an instance was written to a file, and its sizes."""
    sizes = ", ".join(f"{count:,} {name}" for name, count in kind.size(instance).items())
    remark(f"wrote an instance of {sizes} to {file}")


def key_values(words: tuple[str, ...], flag: str = "--option") -> dict[str, str]:
    """The values in ``key=value`` words that were given with a flag."""
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise BadInput(f"{flag} {word}: write it as KEY=VALUE")
        if name in given:
            raise BadInput(f"{flag} {word}: {name} is given twice: leave one out")
        given[name] = value
    return given


_NUMBER = re.compile(r"[-+−]?[\d,.]+(e[-+]?\d+)?( ?%| MiB)?|–|inf|nan|")
_LEAST, _NAMES = 10, 20  # letters of a column of texts, and from which on the first one is narrowed last
_IN_TITLE = ("problem", "family")


def table(title: str, rows: Iterable[Mapping[str, Any]], if_room: Sequence[str] = (), *, pipe: int = 100) -> Table:
    """A table that :func:`show` prints: a column a key, numbers to the right. A problem that all rows share is above.

    The keys `if_room` are left out, the last one first, where the terminal is too narrow for them; then texts are
    wrapped, between words and at hyphens. In a file or pipe the width is `pipe` characters.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    names = list(rows[0]) if rows else []
    for name in _IN_TITLE:
        if name in names[1:] and len(rows) > 1 and len({row[name] for row in rows}) == 1:
            title = f"{title}, {name} {rows[0][name]}" if title else f"{name} {rows[0][name]}"
            names.remove(name)
    terminal = sys.stdout.isatty()
    texts = {name: [cell(name, row[name]) for row in rows] for name in names}
    heads = {name: name.replace("_", "\n" if terminal else " ") for name in names}
    widths = {name: max(map(len, [*heads[name].split("\n"), *texts[name]])) for name in names}
    room = Console().width if terminal else pipe
    for name in reversed([name for name in if_room if name in widths]):
        if sum(width + 2 for width in widths.values()) > room:
            del widths[name]
    numbers = {name for name in widths if all(map(_NUMBER.fullmatch, texts[name]))}
    while terminal and sum(width + 2 for width in widths.values()) > room:
        wide = [name for name in widths if name not in numbers and widths[name] > _LEAST]
        if not wide:
            break
        widths[max(wide, key=lambda name: (name != names[0] and widths[name] > _NAMES, widths[name]))] -= 1
    made = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="")
    for name, width in widths.items():
        side: Literal["right", "left"] = "right" if name in numbers else "left"
        fixed, least = name in numbers or name == names[0], width if name in numbers else None
        made.add_column(heads[name], justify=side, overflow="fold", no_wrap=fixed, min_width=least)
        texts[name] = ["\n".join(wrap(each, width)) if len(each) > width else each for each in texts[name]]
    for line in zip(*(texts[name] for name in widths), strict=True):
        made.add_row(*map(Text, line))
    return made


def show(*parts: RenderableType) -> None:
    """Print tables and texts within the terminal; in a file or pipe every row is one line, without rules."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    parts = tuple(each for part in parts for each in (Text(getattr(part, "title", None) or "", "bold"), part) if each)
    for part in parts:
        if isinstance(part, Table):
            part.title = None  # the table would wrap it at its own width
    if sys.stdout.isatty():
        for part in parts:
            whole = bool(getattr(part, "no_wrap", False))  # a command line is copied whole
            Console().print(part, highlight=False, soft_wrap=whole)
        return
    wide = Console(width=100_000, highlight=False)
    for part in parts:
        if isinstance(part, Table):
            part.box = None
    with wide.capture() as printed:
        for part in parts:
            wide.print(part)
    click.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))  # at once: a full disk is no success


def in_parentheses(measures: Mapping[str, float]) -> str:
    """Measures as ``" (edges 3, max degree 2)"``; empty where there are none."""
    if not measures:
        return ""
    return said(" (" + ", ".join(f"{name.replace('_', ' ')} {plain(value)}" for name, value in measures.items()) + ")")
