"""Labels of nodes and topics: distinct, and in natural order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

_LONGEST = 2**63


def natural_order(labels: Sequence[str] | pa.Array) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The distinct labels in natural order (n2 before n10), and each label's rank in that order.

    A label sorts by its runs of ASCII digits, as numbers, and of other characters, by code point; labels that
    differ only in leading zeros sort by code point.

    Parameters
    ----------
    labels : sequence of str, or array of strings without nulls
        An Arrow array, as tables are read, needs no Python object for each row.

    Raises
    ------
    BadInput
        If a label is not a Unicode text.
    """
    if hasattr(labels, "dictionary_encode"):
        encoded = labels.dictionary_encode()
        distinct, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    else:
        code_of = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        distinct, codes = list(code_of), np.fromiter(map(code_of.__getitem__, labels), np.int64, len(labels))
        _check_text(labels, distinct)
    order = sorted(range(len(distinct)), key=lambda code: _natural_key(distinct[code]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [distinct[code] for code in order], rank[codes]


def _check_text(labels: Sequence[str], distinct: list[str]) -> None:
    for label in distinct:
        if not isinstance(label, str):
            problem = "has no label: give one" if label is None else f"has the label {label!r}: put it in quotes"
            raise BadInput(f"row {labels.index(label)} {problem}")
        try:
            label.encode()
        except UnicodeEncodeError:
            raise BadInput(f"label '{label}' is not Unicode text: rename it") from None


def _natural_key(label: str) -> tuple[list[tuple[int, str]], str]:
    """Digits compare as numbers: by length, then digit by digit. Every other part sorts after all numbers."""
    key = []
    for digits, other in re.findall(r"0*([0-9]+)|([^0-9]+)", label):
        key.append((len(digits), digits) if digits else (_LONGEST, other))
    return key, label


def sort_key(label: str) -> bytes:
    """A text whose order by bytes is the natural order of labels, for sorting by other programs."""
    parts, whole = _natural_key(label)
    key = b""
    for length, part in parts:
        if length == _LONGEST:
            key += b"\2" + part.encode().replace(b"\0", b"\0\1") + b"\0\0"
        else:
            key += b"\1" + length.to_bytes(8, "big") + part.encode()
    return key + b"\0" + whole.encode()


def distinct_labels(labels: Sequence[str] | None, size: int, kind: str) -> tuple[str, ...] | None:
    """The labels as a tuple, or None; empty or repeated ones, or not `size` of them, are bad input."""
    if labels is None:
        return None
    if len(labels) != size:
        raise BadInput(f"{len(labels)} {kind} labels for {size} {kind}s: give one each")
    if "" in labels:
        raise BadInput(f"a {kind} has an empty label: name it")
    if len(set(labels)) < size:
        twice, _ = Counter(labels).most_common(1)[0]
        raise BadInput(f"two {kind}s have the label '{twice}': rename one")
    return tuple(labels)
