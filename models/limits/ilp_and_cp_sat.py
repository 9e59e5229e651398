"""Methods `ilp` and `cp-sat` under a limit on degrees (:mod:`.degree_limits`)."""

from __future__ import annotations

from typing import Any

from ...heuristics.limits.degree_limits import starts_within
from ...instances.limits.problems import PartialTCO
from ...instances.topics.objective import CONNECTED
from ...instances.topics.problems import AnyTopicProblem
from ..engine.integer_model import minimise_with_cp_sat, minimise_with_ilp
from ..topics.ilp_and_cp_sat import CP_SAT as CONNECTED_BY_CP_SAT
from ..topics.ilp_and_cp_sat import ILP as CONNECTED_BY_ILP
from ..topics.ilp_and_cp_sat import Limits, compact_method
from .degree_limits import INFEASIBLE, limited_model


def _least(problem: AnyTopicProblem, edges: int, degree: int) -> int:
    """A partial overlay may lack nothing."""
    return 0 if isinstance(problem, PartialTCO) else int(CONNECTED.value(edges, degree))


_SHARED: dict[str, Any] = {
    "problems": ("capped-tco", "partial-tco"),
    "limits": Limits(starts_within, limited_model, INFEASIBLE, _least),
}
CP_SAT = compact_method(
    "cp-sat",
    minimise_with_cp_sat,
    summary="under a limit on degrees: the same, with rows of the limit, and forests of partial overlays",
    guarantee=CONNECTED_BY_CP_SAT.guarantee,
    options=CONNECTED_BY_CP_SAT.options,
    **_SHARED,
)
ILP = compact_method(
    "ilp",
    minimise_with_ilp,
    summary="under a limit on degrees: the same, with rows of the limit, and forests of partial overlays",
    guarantee=CONNECTED_BY_ILP.guarantee,
    options=CONNECTED_BY_ILP.options,
    inputs=CONNECTED_BY_ILP.inputs,
    **_SHARED,
)
