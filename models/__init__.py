"""Floor 3: exact formulations and lower bounds."""

from instances import Method, Overlay, TopicInstance
from models.ilp import ILP

MODELS: tuple[Method[TopicInstance, Overlay], ...] = (ILP,)

__all__ = ["MODELS"]
