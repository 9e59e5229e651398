"""Certificates as text, to be stored with a result, and the bound on a problem's value that they prove."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ....instances.contract.option import Option
from ....instances.topics.instance import TopicInstance
from ..rows.topic_rows import TopicRows
from .certificate import Certificate

CERTIFICATE = Option("certificate", False, f"add a proof of the bound to the counters, for {__name__}")
_FORMAT = "certificate/1"
_PROBLEMS = ("min-tco", "minmax-tco", "low-tco", "weighted-tco", "k-tco", "2d-star", "2d-true")


def packed(certificates: Iterable[Certificate]) -> str:
    """Certificates as text: base64 of zlib of JSON.

    The JSON has ``format`` and ``proofs``; a proof has ``unit``, ``node_duals`` (empty if all are 0) and ``rows``, each
    of them [topic, kind, right-hand side, dual, labels] as in :mod:`.topic_rows`.
    """
    text = json.dumps({"format": _FORMAT, "proofs": [_listed(each) for each in certificates]}, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> list[Certificate]:
    """The certificates in a text of :func:`packed`.

    Raises
    ------
    ValueError
        If the text is not of this format.
    """
    try:
        document = json.loads(zlib.decompress(base64.b64decode(text, validate=True)))
        if document["format"] != _FORMAT:
            raise ValueError(f"format {document['format']!r} where {_FORMAT!r} is expected")
        return [_certificate(**proof) for proof in document["proofs"]]
    except (zlib.error, KeyError, TypeError) as error:
        raise ValueError(f"not a certificate: {error}") from error


def proven_value(instance: TopicInstance, problem: str, text: str) -> int:
    """The lower bound on a problem's value that packed certificates prove, all in Python's integers.

    Parameters
    ----------
    problem : str
        A topic problem.

    Raises
    ------
    ValueError
        If the text is no certificate, or one of its steps is false.

    Notes
    -----
    Besides the bounds of :meth:`.Certificate.check`: degrees add up to twice the edges, and three subscribers of a
    topic cannot all have degree 1. Time O(Σ_rows |V_t|²), in Python.
    """
    if problem not in _PROBLEMS:
        raise ValueError(f"problem {problem!r} where one of {', '.join(_PROBLEMS)} is expected")
    edges, degree = 0, 2 if max(len(instance.subscribers(t)) for t in range(instance.num_topics)) > 2 else 0
    for certificate in unpacked(text):
        bound = math.ceil(
            certificate.check(
                instance,
                diameter_two=problem.startswith("2d-"),
                weighted=problem == "weighted-tco",
                fault_tolerant=problem == "k-tco",
            )
        )
        if certificate.of_degree:
            degree = max(degree, bound)
        else:
            edges = max(edges, bound)
    degree = max(degree, math.ceil(Fraction(2 * edges, instance.num_nodes)))
    return {"minmax-tco": degree, "low-tco": edges * degree}.get(problem, edges)


def _listed(certificate: Certificate) -> dict[str, object]:
    rows = certificate.rows
    labels = np.split(rows.label, rows.offsets[1:-1])
    columns = (rows.topic.tolist(), rows.kind.tolist(), rows.rhs.tolist(), certificate.duals, labels)
    return {
        "unit": certificate.unit,
        "node_duals": certificate.node_duals if certificate.of_degree else (),
        "rows": [(*row, label.tolist()) for *row, label in zip(*columns, strict=False)],
    }


def _certificate(unit: int, node_duals: list[int], rows: list[tuple[int, int, int, int, list[int]]]) -> Certificate:
    topic, kind, rhs, duals, labels = zip(*rows, strict=True) if rows else ((),) * 5
    offsets = np.concatenate([[0], np.cumsum([len(label) for label in labels])]).astype(np.int64)
    label = np.array([name for names in labels for name in names], np.int32)
    read = TopicRows(np.array(topic, np.int32), np.array(kind, np.int32), np.array(rhs, np.int32), offsets, label)
    return Certificate(read, duals, tuple(node_duals), unit)
