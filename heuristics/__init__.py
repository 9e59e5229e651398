"""Floor 2: polynomial algorithms. An instance in, an overlay out."""

from heuristics.brokers.soft_links import S0_TREE, S1_COMMON, S2_FAR, SH_HYBRID
from heuristics.constant_diameter import CD_ODA, CD_ODA_1, CD_ODA_2
from heuristics.content.clustering import CLUSTERING
from heuristics.content.greedy_packing import GREEDY_PACKING
from heuristics.content.migration import MIGRATION
from heuristics.content.random_assignment import RANDOM_ASSIGNMENT
from heuristics.content.steiner_mixing import STEINER_MIXING
from heuristics.divide_and_conquer import DC_GM, DCB_M, DCBR_M, NAIVE_DC
from heuristics.greedy_merge import GREEDY_MERGE
from heuristics.low_oda import LOW_ODA
from heuristics.minmax_oda import GM_M, MINMAX_ODA
from heuristics.polish import polishing
from heuristics.ring_per_topic import RING_PER_TOPIC
from heuristics.steiner.approximation import MEHLHORN
from heuristics.steiner.search import SHORTEST_PATHS
from heuristics.tie_search import with_extremes
from heuristics.two_diameter import TWO_DIAMETER_ODA
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

HEURISTICS: tuple[Method[TopicInstance, Overlay], ...] = tuple(
    with_extremes(method)
    for method in (
        GREEDY_MERGE,
        RING_PER_TOPIC,
        MINMAX_ODA,
        GM_M,
        LOW_ODA,
        NAIVE_DC,
        DCB_M,
        DCBR_M,
        DC_GM,
        CD_ODA,
        CD_ODA_1,
        CD_ODA_2,
        TWO_DIAMETER_ODA,
    )
)

IMPROVERS: tuple[Method[TopicInstance, Overlay], ...] = (polishing(HEURISTICS),)
BROKER_HEURISTICS: tuple[Method[BrokerNetwork, Dissemination], ...] = (S0_TREE, S1_COMMON, S2_FAR, SH_HYBRID)
CONTENT_HEURISTICS: tuple[Method[ContentInstance, ContentOverlay], ...] = (
    RANDOM_ASSIGNMENT,
    GREEDY_PACKING,
    CLUSTERING,
    STEINER_MIXING,
    MIGRATION,
)
STEINER_HEURISTICS: tuple[Method[SteinerInstance, Overlay], ...] = (MEHLHORN, SHORTEST_PATHS)

__all__ = ["BROKER_HEURISTICS", "CONTENT_HEURISTICS", "HEURISTICS", "IMPROVERS", "STEINER_HEURISTICS"]
