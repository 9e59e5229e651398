"""Floor 2: polynomial algorithms. An instance in, an overlay out."""

from heuristics.greedy_merge import GREEDY_MERGE
from heuristics.ring_per_topic import RING_PER_TOPIC
from heuristics.two_diameter import TWO_DIAMETER_ODA
from instances import Method, Overlay, TopicInstance

HEURISTICS: tuple[Method[TopicInstance, Overlay], ...] = (
    GREEDY_MERGE,
    RING_PER_TOPIC,
    TWO_DIAMETER_ODA,
)

__all__ = ["HEURISTICS"]
