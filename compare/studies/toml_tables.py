"""Reading tables of TOML into msgspec structs: each error names the location, what is wrong, and the fix."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.files import refused

Table = TypeVar("Table", bound=msgspec.Struct)
Value = TypeVar("Value")

_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){64}""")

_SAID = {
    " | null`": "`",
    "Expected ": "give ",
    ", got ": ", not ",
    "Object missing required field": "add the key",
    "Object contains unknown field": "leave out the unknown key",
    "`int`": "a whole number",
    "`float`": "a number",
    "`str`": "a text",
    "`array`": "a list",
    "`object`": "a table",
    "`bool`": "true or false",
}
"""How the errors of msgspec are said as a fix."""


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put the location before the message of bad input in the context."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def parsed(text: str) -> dict[str, Any]:
    """The data of a text in TOML; bad input names the line."""
    if _DEEP_KEY.search(text):  # for a key of n parts tomllib takes n² of time and memory
        raise BadInput("has a name with more than 64 dots: see the README for what a study looks like")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{error}: correct the TOML there") from None
    except ValueError:  # of int(), which bounds the digits
        raise BadInput("has a number of too many digits: give it fewer") from None
    except RecursionError:
        raise BadInput("is nested too deeply: see the README for what a study looks like") from None


def checked(table: Mapping[str, Any], kind: type[Table]) -> Table:
    """A table as a struct; an unknown key, a value of another type or out of range is bad input that names the key."""
    for key in table:
        if key not in kind.__struct_fields__:
            raise unknown("key", key, kind.__struct_fields__)
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        what, where = refused(str(error), table, kind, 1)  # as for tables
        for word, said in _SAID.items():
            what = what.replace(word, said)
        raise BadInput(f"{where}: {what}".removeprefix(": ")) from None


def as_list(value: Value | list[Value]) -> list[Value]:
    """A list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]


def grid(lists: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of all keys; BadInput for a list without any."""
    choices: list[list[Any]] = [as_list(value) for value in lists.values()]
    if empty := [key for key, values in zip(lists, choices, strict=True) if not values]:
        raise BadInput(f"{empty[0]}: the list is empty: give it a value, or leave the key out")
    for values in itertools.product(*choices):
        yield dict(zip(lists, values, strict=True))
