"""The colour, marker and dashes of each method: the same in every figure of every study."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any, Literal, NamedTuple

from ...instances.contract.method import Method
from ..catalogue import METHODS

Dashes = Literal["-", "--", ":", "-."] | tuple[float, tuple[float, ...]]

# Okabe and Ito's and Tol's colours, and a few between them, on white.
_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#CC6677", "#332288", "#117733", "#882255"),
    *("#44AA99", "#999933", "#AA4499", "#6B5B00", "#4477AA", "#EE6677", "#A6761D", "#661100", "#6699CC", "#000000"),
)
_DASHES: tuple[Dashes, ...] = ("-", "--", ":", "-.", (0, (9, 2)), (0, (5, 1, 1, 1, 1, 1)))
# Markers of one shape have equal dashes, so that colours that look alike to some readers need markers of two shapes.
_SHAPES = ("ohHp8", "^>", "Dd", "sX", "v<", "P*")


class Look(NamedTuple):
    """Colour and marker, as matplotlib names them."""

    colour: str
    marker: str


def look(method: str) -> Look:
    """The look of a method by name.

    It is the one that the method names. Of a method that names none, or that is not installed, its name decides, and no
    other method names the same.
    """
    known = METHODS.get(method)
    colours = (known.colour,) if known is not None and known.colour else _COLOURS
    markers = known.marker if known is not None and known.marker else "".join(_SHAPES)
    pairs = [Look(*pair) for pair in itertools.product(colours, markers)]
    taken = {Look(own.colour, own.marker) for own in _named()} if len(pairs) > 1 else set()
    return min((pair for pair in pairs if pair not in taken), key=lambda pair: _rank(method, pair))


def _named() -> list[Method[Any, Any]]:
    return [method for method in METHODS.values() if method.colour and method.marker]


def _rank(method: str, pair: Look) -> bytes:
    """A pseudo-random rank: a method installed beside it does not change a method's look."""
    return hashlib.sha256("\0".join((method, *pair)).encode()).digest()


def dashes(marker: str, variant: int = 0) -> Dashes:
    """The line style of a method by its marker; its variants have the ones that follow."""
    first = next((rank for rank, shape in enumerate(_SHAPES) if marker in shape), 0)
    return _DASHES[(first + variant) % len(_DASHES)]
