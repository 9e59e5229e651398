"""Floor 3: exact formulations, lower bounds, and searches that these guide."""

from instances import (
    BrokerNetwork,
    ContentInstance,
    ContentOverlay,
    Dissemination,
    Method,
    Overlay,
    SteinerInstance,
    TopicInstance,
)
from models.best import BEST
from models.branch_and_cut import BRANCH_AND_CUT
from models.brokers.exact import LEAST_MESSAGES, SOFT_CP_SAT, SOFT_ILP
from models.content.branch_and_cut import CONTENT_BRANCH_AND_CUT
from models.content.cp_sat import CONTENT_CP_SAT
from models.content.ilp import CONTENT_ILP
from models.cp_sat import CP_SAT
from models.ilp import ILP
from models.lp_bound import LP_BOUND
from models.steiner.branch_and_cut import STEINER_BRANCH_AND_CUT

MODELS: tuple[Method[TopicInstance, Overlay], ...] = (ILP, CP_SAT, BRANCH_AND_CUT, LP_BOUND, BEST)

BROKER_MODELS: tuple[Method[BrokerNetwork, Dissemination], ...] = (SOFT_ILP, SOFT_CP_SAT, LEAST_MESSAGES)

CONTENT_MODELS: tuple[Method[ContentInstance, ContentOverlay], ...] = (
    CONTENT_ILP,
    CONTENT_CP_SAT,
    CONTENT_BRANCH_AND_CUT,
)
STEINER_MODELS: tuple[Method[SteinerInstance, Overlay], ...] = (STEINER_BRANCH_AND_CUT,)

__all__ = ["BROKER_MODELS", "CONTENT_MODELS", "MODELS", "STEINER_MODELS"]
