"""What the stand-alone checker proves from the multipliers of a bound."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

from overlaybench.instances.topics.files import write_topics
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.engine.proof import ProofFile, Proven
from overlaybench.models.topics.lp_bound import LowerBound
from overlaybench.models.topics.relaxation.cutting_planes import begin_proof, write_case
from overlaybench.models.topics.relaxation.presolve import presolved
from tests.models.checker.tiny import checker


def proven_value(
    instance: TopicInstance,
    problem: str,
    proven: Proven | None,
    bound: Fraction | float = 0,
    *,
    of_degree: bool = False,
) -> float:
    """The bound on the problem's value that a case of these multipliers proves, without presolve."""
    with tempfile.TemporaryDirectory() as folder:
        file, path = Path(folder) / "instance.json", Path(folder) / "proof.gz"
        write_topics(instance, file)
        with ProofFile(path) as proof:
            begin_proof(proof, instance, problem, presolved(instance, implied=False))
            if proven is not None:
                write_case(proof, proven, Fraction(bound), of_degree=of_degree)
            proof.claim(None, None, None)
        value: float = checker().check(str(file), str(path))[2]
    return value


def proven_by(instance: TopicInstance, problem: str, bound: LowerBound) -> float:
    """The bound on the problem's value that the proof of a lower bound proves."""
    return proven_value(instance, problem, bound.proven, bound.value, of_degree=bound.proves_degree)
