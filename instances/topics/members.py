"""How a text becomes labels: the separator of a list, its members and their copies, and what is suspicious about them.

Lists of sets, cells and columns of tables share these rules (docs/own_data.md).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count

import numpy as np
import numpy.typing as npt

from ..contract.errors import BadInput
from ..contract.files import Coded
from ..contract.terms import said

BLANKS = " "
NAMED = {"comma": ",", "semicolon": ";", "pipe": "|", "tab": "\t", "blank": BLANKS, "blanks": BLANKS, "\\t": "\t"}
"""Names of separators, for those that a command line hides."""
SEPARATORS = (";", "|", "\t", ",")
"""Of several that stand in equally many lists, the first one separates: it is rarest within labels."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_SPECIAL = re.compile(r"[()\[\]{}\"']")
_MISSING = ("-", "na", "n/a", "nan", "null", "none", "nil", "?")
_MANY_MISSING = 2
_WILDCARD = re.compile(r"(?:^|/)(?:[#+]|\*)(?:/|$)")  # of MQTT, and of others


@dataclass(frozen=True)
class Reading:
    """How the labels of a file are read: its columns, the separator of lists ("" to find it), copies, or as they are.

    `copies`: members such as A(2) are copies of one. `as_is`: labels of tables are taken as they stand, and an instance
    whose topics have one subscriber each is meant.
    """

    node: tuple[str, ...] = ("node",)
    topic: tuple[str, ...] = ("topic",)
    separator: str = ""
    copies: bool = False
    as_is: bool = False

    @classmethod
    def of(
        cls,
        node: str | Sequence[str] = "node",
        topic: str | Sequence[str] = "topic",
        separator: str = "",
        copies: bool = False,
        as_is: bool = False,
    ) -> Reading:
        """With columns by name or in lists, and the separator by its sign or name."""
        named = NAMED.get(separator, separator)
        if len(named) > 1 or named.isalnum() or named in ("(", ")", "[", "]", "{", "}", '"'):
            known = ", ".join([*map(repr, SEPARATORS[:2]), "',', tab, blank"])
            raise BadInput(f"separator '{separator}': give one sign, such as {known}")
        return cls(_names(node), _names(topic), named, copies, as_is)


def _names(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of rows, and where the first row with a distinct label stands, by the label's code."""

    coded: Coded
    place: Callable[[int], str]

    @classmethod
    def at(cls, coded: Coded, place_of_row: Callable[[int], str]) -> Labels:
        """The labels of rows, by where each row stands."""
        first_rows = cache(coded.first_rows)
        return cls(coded, lambda code: place_of_row(int(first_rows()[code])))

    def of_rows(self, rows: npt.NDArray[np.int64] | None) -> Labels:
        """The labels of some rows, perhaps repeated; None for all."""
        return self if rows is None else Labels(Coded(self.coded.distinct, self.coded.codes[rows]), self.place)


class LabelRows:
    """Rows of labels as they are read, with the line of each. Each cell and each line take 8 bytes."""

    def __init__(self, width: int, noun: str = "line") -> None:
        self._columns = [(defaultdict[str, int](count().__next__), list[int]()) for _ in range(width)]
        self._lines, self._noun = array("q"), noun

    def add(self, lines: Iterable[int], columns: Iterable[Iterable[str]]) -> None:
        """Add rows that begin on some lines, column by column."""
        self._lines.extend(lines)
        for (code_of, codes), labels in zip(self._columns, columns, strict=True):
            codes.extend(map(code_of.__getitem__, labels))

    def columns(self) -> list[Labels]:
        """The labels of all rows in each column."""
        coded = [Coded(list(code_of), np.array(codes, np.int64)) for code_of, codes in self._columns]
        lines, noun = self._lines, self._noun  # all that is kept
        return [Labels.at(each, lambda row: f"{noun} {lines[row]}") for each in coded]


def parts(text: str, separator: str) -> list[str]:
    """The parts of a list, without blanks around them; parentheses, brackets and quotes protect separators.

    Quotes protect where they enclose a whole part, and are left out. Parentheses that are not balanced protect nothing.
    """
    if not _SPECIAL.search(text):
        return text.split() if separator == BLANKS else [part.strip() for part in text.split(separator)]
    end = r"\s" if separator == BLANKS else re.escape(separator)
    quoted = re.compile(rf"""\s*(?:"((?:[^"]|"")*)"|'([^']*)')\s*(?={end}|$)""")
    found, begin, at, protects = [], 0, 0, is_balanced(text)
    closing: list[str] = []
    while at <= len(text):
        if at == begin and (match := quoted.match(text, at)):
            found.append(match[1].replace('""', '"') if match[1] is not None else match[2])
            at = begin = match.end() + 1
            if match.end() == len(text):
                return found
            continue
        sign = text[at : at + 1]
        if sign and protects and sign in _PAIRS:
            closing.append(_PAIRS[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
        elif not closing and (not sign or sign == separator or (separator == BLANKS and sign.isspace())):
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return [part for part in found if part] if separator == BLANKS else found


def is_balanced(text: str) -> bool:
    """Whether parentheses, brackets and braces are closed in the order in which they are opened."""
    closing: list[str] = []
    for sign in re.findall(r"[()\[\]{}]", text):
        if sign in _PAIRS:
            closing.append(_PAIRS[sign])
        elif not closing or closing.pop() != sign:
            return False
    return not closing


def separator_of(lists: Sequence[str], otherwise: str) -> str:
    """The separator of all lists of a file: the one that most of them have outside parentheses, or `otherwise`."""
    counts = {sign: sum(sign in text and len(parts(text, sign)) > 1 for text in lists) for sign in SEPARATORS}
    best = max(SEPARATORS, key=lambda sign: counts[sign])
    return best if counts[best] else otherwise


_COUNT = r"[0-9]+(?:\s*(?:-|–|\.\.)\s*[0-9]+)?|\?"
_BEHIND = re.compile(rf"(.*?[^\s*×(].*?|[^\s*×(])\s*(?:\(\s*(?P<round>{_COUNT})\s*\)|[*×]\s*(?P<times>{_COUNT}))")
_BEFORE = re.compile(rf"(?P<times>{_COUNT})\s*[*×]\s*(.+)")
_LETTER = re.compile(r"(.*\S)\s*[xX]\s*([0-9]+)|([0-9]+)\s*[xX]\s*(\S.*)")
_NO_COUNT = re.compile(r"\([\d\s.,+\-−–*/?]*\)$|[*×]")


def without_copies(members: Sequence[tuple[str, str]], remarks: Remarks) -> list[str]:
    """Each member without its number of copies: A for A(2), A*2, 2*A, A(0) (not known) and A(1-2).

    Ax2 is a copy of A where A is a member as well, or all members have numbers; a remark says so.

    Parameters
    ----------
    members : sequence of (str, str)
        Each one with where it stands, for errors. Raises BadInput for copies that are none: A(-2), 0*A, (2).
    """
    where_of = dict[str, str]()
    for text, where in members:
        where_of.setdefault(text, where)
    plain = {text: _without_copies(text, where) for text, where in where_of.items()}
    lettered = {text: found for text in plain if plain[text] == text and (found := _LETTER.fullmatch(text))}
    others = {base for text, base in plain.items() if text not in lettered}
    all_counted = all(plain[text] != text or text in lettered for text in plain)
    bases = {text: found[1] or found[4] for text, found in lettered.items()}
    counted = {text for text in lettered if all_counted or bases[text] in others}
    alike = Counter(base for text, base in bases.items() if text not in counted)
    for text in lettered:
        if text in counted:
            plain[text] = bases[text]
            remarks.add("copies with an x", f"'{text}' is read as copies of '{bases[text]}'", where_of[text])
        elif alike[bases[text]] > 1:
            remarks.add("copies with an x", f"'{text}' is no copy of '{bases[text]}': write A(2)", where_of[text])
    return [plain[text] for text, _ in members]


def _without_copies(text: str, where: str) -> str:
    found = _BEHIND.fullmatch(text) or _BEFORE.fullmatch(text)
    base = _counted(text) or text
    never = found is not None and re.fullmatch(r"0+(?:\s*(?:-|–|\.\.)\s*0+)?", found["times"] or "")
    if never or _NO_COUNT.search(base):
        raise BadInput(f"{where}: '{text}' is no member with a number of copies: write A(2), A*2 or 2*A")
    return base


@dataclass
class Remarks:
    """What a user is told of a file before the answer: a line for each kind of thing, with an example and its place."""

    _examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, example: str, where: str) -> None:
        """Add one thing of a kind."""
        self._examples.setdefault(kind, []).append(f"{where}: {example}")

    def lines(self) -> tuple[str, ...]:
        """A line for each kind."""
        return tuple(
            f"{examples[0]}" + (f" ({kind}: {len(examples):,})" if len(examples) > 1 else f" ({kind})")
            for kind, examples in self._examples.items()
        )


def as_members(labels: Labels, reading: Reading, remarks: Remarks) -> tuple[Labels, npt.NDArray[np.int64] | None]:
    """Labels of a table without blanks around them, or the members of lists; and the row of each if there are lists.

    A separator that is stated splits each label. The labels are the same object if nothing changed.
    """
    distinct = labels.coded.distinct
    if not (reading.separator or reading.copies) and distinct == [text.strip() for text in distinct]:
        return labels, None
    if reading.separator:
        members = [_listed(text, reading.separator, labels.place(code)) for code, text in enumerate(distinct)]
    else:
        members = []
        for code, text in enumerate(distinct):
            inner = text.strip()
            if inner != text and len(inner) > 2 and inner[0] == inner[-1] == '"':
                inner = inner[1:-1]  # quotes that do not enclose all of a cell
            if not inner:
                raise BadInput(f"{labels.place(code)}: a label of blanks: name it or remove the row")
            if text != inner:
                example = f"'{text}' is read as '{inner}'"
                remarks.add("blanks around labels do not count", example, labels.place(code))
            members.append([inner])
    if reading.copies:
        flat = iter(
            without_copies([(each, labels.place(code)) for code, own in enumerate(members) for each in own], remarks)
        )
        members = [[next(flat) for _ in own] for own in members]
    if all(own == [text] for own, text in zip(members, distinct, strict=True)):
        return labels, None
    sizes, each_one = np.array([len(own) for own in members]), Coded.of([each for own in members for each in own])
    first = np.repeat(np.arange(len(members)), sizes)[each_one.first_rows()]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    codes = labels.coded.codes
    rows = np.repeat(np.arange(len(codes)), sizes[codes])
    begins = np.cumsum(sizes[codes]) - sizes[codes]
    at = offsets[codes][rows] + np.arange(len(rows)) - begins[rows]
    read = Labels(Coded(each_one.distinct, each_one.codes[at]), lambda code: labels.place(int(first[code])))
    return read, rows if (sizes > 1).any() else None


def _listed(text: str, separator: str, where: str) -> list[str]:
    """The members of a list in a cell, perhaps in brackets or braces."""
    given = text.strip()
    enclosed = given[:1] in ("[", "{") and given[-1:] == _PAIRS.get(given[:1]) and is_balanced(given[1:-1])
    members = parts(given[1:-1] if enclosed else given, separator)
    if members and members[-1] == "":
        members.pop()  # a separator at the end
    if not members or "" in members:
        raise BadInput(f"{where}: '{text}' has a member without a name: name it or remove its separator")
    return members


def judge_labels(
    labels: Labels, noun: str, reading: Reading, separator: str, remarks: Remarks, column: str = ""
) -> None:
    """Add remarks on labels that are probably lists or slips.

    `noun` is what the labels name, `column` where they stand in a table; `separator` is the one of the file's lists, ""
    for a table without lists.
    """
    distinct, nouns = labels.coded.distinct, f"{said(noun)}s"
    signs = "".join(sign for sign in SEPARATORS if sign != separator)
    holding, unclear = re.compile(f"[{re.escape(signs)}]"), re.compile(r"[()\[\]]")
    sizes = np.bincount(labels.coded.codes, minlength=len(distinct))
    code_of = {text: code for code, text in enumerate(distinct)}
    alike, bases = dict[str, str](), dict[str, str]()
    forms = [*map(_form, distinct)]
    times, noted = Counter(forms), re.compile(rf"[{re.escape(signs)}()\[\]*×#+]")
    for code, text in enumerate(distinct):
        if times[forms[code]] == 1 and not noted.search(text) and text.casefold() not in _MISSING:
            continue
        if holding.search(text) and (sign := next((each for each in signs if len(parts(text, each)) > 1), "")):
            fix = "if it is a list, state its separator" if separator else f"--separator '{shown(sign)}' splits lists"
            example = f"'{text}' holds '{shown(sign)}': {fix}"
            remarks.add(f"{nouns} that hold a separator", example, labels.place(code))
        if unclear.search(text) and not is_balanced(text):
            remarks.add(f"{nouns} with unbalanced parentheses", f"'{text}'", labels.place(code))
        if (other := alike.setdefault(forms[code], text)) != text:
            example = f"'{text}' and '{other}' are two"
            remarks.add(f"{nouns} that differ in blanks, case or form", example, labels.place(code))
        if not reading.copies and (base := _counted(text)) and (other := bases.setdefault(base, text)) != text:
            example = f"'{text}' and '{other}' are two: --copies reads them as one"
            remarks.add(f"{nouns} like numbers of copies", example, labels.place(code))
        if noun == "topic" and _WILDCARD.search(text):
            example = f"'{text}' is a topic of its own: wildcards match no others"
            remarks.add(f"{nouns} with wildcards", example, labels.place(code))
        if text.casefold() in _MISSING and sizes[code] >= _MANY_MISSING:
            remarks.add(f"{nouns} like missing ones", f"'{text}' stands in {sizes[code]} rows", labels.place(code))
    for base, text in bases.items():
        if base in code_of:
            example = f"'{text}' and '{base}' are two: --copies reads them as one"
            remarks.add(f"{nouns} like numbers of copies", example, labels.place(code_of[text]))
    if column in code_of:
        example = f"'{column}' is the name of the column: a file without a header needs the line node,topic before it"
        remarks.add(f"{nouns} like a header", example, labels.place(code_of[column]))


def _counted(text: str) -> str:
    """The member of which a label looks like a number of copies, or ""."""
    found = _BEHIND.fullmatch(text) or _BEFORE.fullmatch(text)
    return "" if found is None else (found[1] if found.re is _BEHIND else found[2]).strip()


def shown(sign: str) -> str:
    """A separator as an option names it."""
    return {"\t": "tab", BLANKS: "blank"}.get(sign, sign)


def _form(text: str) -> str:
    """A key that labels share which differ in blanks, case, the form of letters, or as 1 and 1.0."""
    key = "".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold().split())
    return re.sub(r"^([0-9]+)\.0+$", r"\1", key) if ".0" in key else key


def refuse_single_members(nodes: Labels, topics: Labels, reading: Reading, remarks: Remarks) -> None:
    """Raise BadInput if no topic has two subscribers, unless that is meant: lists were probably read as labels."""
    first = topics.coded.first_rows()[topics.coded.codes]
    if reading.as_is or not len(topics.coded) or (nodes.coded.codes[first] != nodes.coded.codes).any():
        return
    ends = topics.coded.distinct[0], nodes.coded.distinct[nodes.coded.codes[0]]
    signs = [sign for text in ends for sign in SEPARATORS if len(parts(text, sign)) > 1]
    example, fix = "{}: '{}' has '{}'".format(topics.place(0), *ends), "state the separator of lists by --separator"
    if signs:
        fix = f"--separator '{shown(signs[0])}' splits lists"
    elif suspicious := remarks.lines():
        example, fix = suspicious[0], "correct the labels"
    raise BadInput(f"{example}, and {said('every topic has one subscriber')}: {fix}, or --as-is if that is meant")


def joined(columns: Sequence[Labels]) -> Labels:
    """One label for each row of several columns: ``a|b``, with a backslash before | and backslashes of a label."""
    if len(columns) == 1:
        return columns[0]
    sizes = [len(one.coded.distinct) for one in columns]
    keys = np.zeros(len(columns[0].coded), np.int64)
    for one, size in zip(columns, sizes, strict=True):
        keys = keys * size + one.coded.codes
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    escaped = [[re.sub(r"([\\|])", r"\\\1", text) for text in one.coded.distinct] for one in columns]
    texts = ["|".join(own[one.coded.codes[row]] for own, one in zip(escaped, columns, strict=True)) for row in first]
    return Labels(Coded(texts, codes), lambda code: columns[0].place(int(columns[0].coded.codes[first[code]])))
