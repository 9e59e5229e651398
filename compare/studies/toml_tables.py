"""Reading tables of TOML: each error names the location, what is wrong, and the fix."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...instances.contract.errors import BadInput, unknown

_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put the location before the message of bad input in the context."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def tables(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The tables of ``[[key]]``, at least one."""
    found = data.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(table, dict) for table in found):
        raise BadInput(f"needs at least one [[{key}]] table")
    return found


def check_keys(table: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a key that is not known."""
    for key in table:
        if key not in known:
            raise unknown("key", key, known)


def typed(table: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    """The value of a key, or its default; an integer is taken for a float."""
    value = table.get(key, default)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise BadInput(f"{key} must be {_NAMES[kind]}, not {value!r}")
    return value


def positive(table: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    """A number above 0, or its default."""
    value = typed(table, key, kind, default)
    if not value > 0:
        raise BadInput(f"{key} must be above 0, not {value}")
    return value


def as_list(value: Any) -> list[Any]:
    """A list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]


def grid(lists: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of all keys."""
    for values in itertools.product(*(as_list(value) for value in lists.values())):
        yield dict(zip(lists, values, strict=True))
