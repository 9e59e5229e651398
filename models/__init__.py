"""Floor 3: exact formulations and lower bounds."""

from instances import Method, Overlay, SteinerInstance, TopicInstance
from models.branch_and_cut import BRANCH_AND_CUT
from models.cp_sat import CP_SAT
from models.ilp import ILP
from models.lp_bound import LP_BOUND
from models.steiner_branch_and_cut import STEINER_BRANCH_AND_CUT

MODELS: tuple[Method[TopicInstance, Overlay], ...] = (ILP, CP_SAT, BRANCH_AND_CUT, LP_BOUND)

STEINER_MODELS: tuple[Method[SteinerInstance, Overlay], ...] = (STEINER_BRANCH_AND_CUT,)

__all__ = ["MODELS", "STEINER_MODELS"]
