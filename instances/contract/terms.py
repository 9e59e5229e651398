"""The words of a trade for nodes, topics and edges: in messages, drawings and reports, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import unknown

_HYPERGRAPH = {"subscription": "incidence", "subscriber": "member"}
TERMS: Mapping[str, Mapping[str, str]] = {
    "topics": {},
    "semantic-map": {"node": "sense", "topic": "word", "edge": "link", "overlay": "map", **_HYPERGRAPH},
    "oligomers": {"node": "subunit", "topic": "oligomer", "edge": "contact", "overlay": "contact map", **_HYPERGRAPH},
    "hypergraph": {"node": "vertex", "topic": "hyperedge", "overlay": "support", **_HYPERGRAPH},
}
"""The word that stands for each of ours, by trade; ours stay where none is named."""

_OURS = re.compile(r"\b(?:(an?)( ))?(node|topic|edge|overlay|subscription|subscriber)(s?)\b", re.IGNORECASE)
_PLURALS = {"vertex": "vertices"}
_current: ContextVar[Mapping[str, str]] = ContextVar("terms", default=TERMS["topics"])


@contextmanager
def terms(trade: str) -> Iterator[None]:
    """A context in which messages and drawings have the words of a trade: senses and words, subunits and oligomers.

    Keys of JSON, columns of tables and names of problems stay what they are. Raises BadInput if the trade is unknown.

    Parameters
    ----------
    trade : {"topics", "semantic-map", "oligomers", "hypergraph"}

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"AIR": ["anima"], "SOUL": ["anima"]})
    >>> with ob.terms("semantic-map"):
    ...     ob.check(instance, ob.Overlay.from_edges(2, []), "min-tco")
    ["word 'anima' has 2 components"]
    """
    if trade not in TERMS:
        raise unknown("trade", trade, TERMS)
    token = _current.set(TERMS[trade])
    try:
        yield
    finally:
        _current.reset(token)


def said(text: str) -> str:
    """A text of ours, without labels of an instance in it, in the words of the current trade."""
    words = _current.get()
    return _OURS.sub(lambda found: _said(found, words), text) if words else text


def _said(found: re.Match[str], words: Mapping[str, str]) -> str:
    article, blank, ours, plural = found.groups(default="")
    word = words.get(ours.lower())
    if word is None:
        return found[0]
    given = _PLURALS.get(word, word + "s") if plural else word
    given = given.capitalize() if ours[0].isupper() else given
    return (article and article[0] + ("n" if word[0] in "aeiou" else "")) + blank + given
