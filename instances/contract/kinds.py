"""The kind of an instance in memory or in a file, where nobody names it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .catalogue import KINDS
from .errors import BadInput
from .files import read_start
from .kind import Kind

_FORMAT = re.compile(r'"format"\s*:\s*"([^"]*)"')
_SEARCHED = 2**16


def kind_of(instance: object) -> Kind[Any, Any]:
    """The kind of an instance; anything else is bad input."""
    for kind in KINDS.values():
        if isinstance(instance, kind.instance_type):
            return kind
    raise BadInput(f"an object of type {type(instance).__name__} is no instance: read or generate one")


def kind_of_file(path: Path) -> Kind[Any, Any]:
    """The kind of the instance in a file, by its ending or, for JSON, by its key ``format`` in the first 64 KiB.

    Raises
    ------
    BadInput
        If the ending or the format is unknown, or the file cannot be read.
    """
    if path.suffix != ".json":
        for kind in KINDS.values():
            if path.suffix in kind.endings:
                return kind
        known = ", ".join([".json", *(ending for kind in KINDS.values() for ending in kind.endings)])
        raise BadInput(f"{path}: unknown ending '{path.suffix}': use {known}")
    named = _FORMAT.search(read_start(path, _SEARCHED))
    for kind in KINDS.values():
        if named and kind.format == named[1]:
            return kind
    formats = ", ".join(kind.format for kind in KINDS.values() if kind.format)
    found = f"'{named[1]}' is no format of instances" if named else 'no "format" at the top'
    raise BadInput(f"{path}: {found}: give one of {formats}, or name the problem")
