"""Text for Markdown pages whose lines have at most 120 characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

WIDTH = 120


def wrapped(text: str, bullet: str = "") -> str:
    """A paragraph, or the item of a list with this bullet, in lines of at most 120 characters.

    No line starts with a character that would begin a list, a heading, a quotation or a table.
    """
    kept = re.sub(r" (?=([-+*#>|]|\d+[.)])( |$))", "\0", escaped(text))
    lines = fill(bullet + kept, WIDTH, subsequent_indent=" " * len(bullet), break_on_hyphens=False)
    return lines.replace("\0", " ")


def escaped(text: str) -> str:
    """The text with ``<`` and the brackets of code, which are no links and no HTML, made literal."""
    return re.sub(r"<(?=[a-zA-Z/!])", r"\\<", text)


def row(cells: Iterable[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def cell(text: str) -> str:
    """A text as the content of a cell."""
    return escaped(text.replace("\n", " ")).replace("|", "\\|")


def shortened(text: str, most: int) -> str:
    """A cell of at most so many characters: whole words of the text, and … if any is left out."""
    if len(cell(text)) <= most:
        return cell(text)
    words = text.split(" ")
    while len(words) > 1 and len(cell(" ".join(words))) > most - 2:
        words.pop()
    return cell(" ".join(words).rstrip(",;:")[: most - 2]) + " …"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; the first column is shortened where a row would be longer than 120 characters."""
    yield row(heads)
    yield row("---" for _ in heads)
    for first, *others in rows:
        rest = [cell(other) for other in others]
        yield row([shortened(first, WIDTH - len(row(["", *rest]))), *rest])
