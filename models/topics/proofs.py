"""What proofs of all topic methods share: the first line of the file, and the cases of certificates."""

from __future__ import annotations

import math
from fractions import Fraction

from ...instances.contract.arrays import Ids
from ...instances.topics.instance import TopicInstance
from ..engine.integer_bound import UNIT
from ..engine.proof import ProofFile
from .bounds.certificate import Certificate


def begin_proof(
    file: ProofFile, instance: TopicInstance, problem: str, kept: Ids | None = None, leaves: Ids | None = None
) -> None:
    """Write the first line, and those of the steps of :func:`.attach_leaves`.

    Rows speak of the topics in `kept` by their position there, of all topics by default, and then of those of leaves.
    """
    if not file.is_written:
        return
    nodes = [instance.node_label(v) for v in range(instance.num_nodes)]
    topics = [instance.topic_label(t) for t in range(instance.num_topics)]
    implied = {} if kept is None else {"kept": kept.tolist()}
    file.head(problem=problem, instance=instance.digest, unit=UNIT, nodes=nodes, topics=topics, **implied)
    for step in () if leaves is None else leaves.tolist():
        file.line("leaf", *step)


def write_certificate(file: ProofFile, certificate: Certificate, bound: Fraction) -> None:
    """Write the case of a certificate: that of a bound on the edges, or that no overlay has degrees below the bound."""
    if certificate.of_degree and bound <= 0:
        return
    case = file.case(cap=math.ceil(bound) - 1 if certificate.of_degree else None)
    case.bound(0, certificate)
    case.end(math.inf)
