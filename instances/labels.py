"""Labels of nodes and topics: distinct, and in natural order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .errors import BadInput

_LONGEST = 2**63


def natural_order(labels: Sequence[str] | pa.Array) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The distinct labels in natural order (n2 before n10), and each label's place in that order.

    A label sorts by its runs of ASCII digits, as numbers, and of other characters, by code point; labels that
    differ in leading zeros only sort by code point. A label that is no Unicode text is bad input.
    """
    try:
        encoded = pa.array(labels, pa.string()).dictionary_encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"label '{error.object}' is not Unicode text: rename it") from None
    except pa.ArrowTypeError as error:
        raise BadInput(f"a label is no text ({error}): give strings") from None
    if encoded.null_count:
        raise BadInput(f"row {encoded.is_null().index(True).as_py()} has no label: give one")
    distinct: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(distinct)), key=lambda i: _natural_key(distinct[i]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [distinct[i] for i in order], rank[encoded.indices.to_numpy()]


def _natural_key(label: str) -> tuple[list[tuple[int, str]], str]:
    """Digits compare as numbers: by length, then by digit. Every other part is longer than any number."""
    key = []
    for digits, other in re.findall(r"0*([0-9]+)|([^0-9]+)", label):
        key.append((len(digits), digits) if digits else (_LONGEST, other))
    return key, label


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
