"""Floor 1: what is given, what is asked, and what counts as an answer."""

from typing import Any

from instances.brokers.dissemination import Dissemination
from instances.brokers.kind import BROKERS
from instances.brokers.network import BrokerNetwork
from instances.brokers.problems import BROKER_PROBLEMS
from instances.brokers.workloads import BROKER_WORKLOADS
from instances.constructions import CONSTRUCTIONS
from instances.content.constructions import CONTENT_CONSTRUCTIONS
from instances.content.instance import ContentInstance
from instances.content.kind import CONTENT
from instances.content.overlay import ContentOverlay, RoutingTree
from instances.content.problems import CONTENT_PROBLEMS, ContentProblem
from instances.content.workloads import CONTENT_WORKLOADS
from instances.errors import BadInput
from instances.kind import Kind
from instances.method import Found, Method
from instances.option import Option
from instances.overlay import Overlay
from instances.problem import Problem
from instances.result import Result, Status
from instances.set_cover import SET_COVER_CONSTRUCTIONS
from instances.steiner.instance import SteinerInstance
from instances.steiner.kind import STEINER
from instances.steiner.problem import STEINER_PROBLEMS
from instances.steiner.workloads import STEINER_WORKLOADS
from instances.topic_instance import TopicInstance
from instances.topic_problems import TOPIC_PROBLEMS, TopicProblem
from instances.topics import TOPICS
from instances.workload import Workload
from instances.workloads import TOPIC_WORKLOADS

_KINDS: tuple[Kind[Any, Any], ...] = (TOPICS, BROKERS, CONTENT, STEINER)
_PROBLEMS: tuple[Problem[Any, Any], ...] = (*TOPIC_PROBLEMS, *BROKER_PROBLEMS, *CONTENT_PROBLEMS, *STEINER_PROBLEMS)
_WORKLOADS: tuple[Workload[Any], ...] = (
    *TOPIC_WORKLOADS,
    *CONSTRUCTIONS,
    *SET_COVER_CONSTRUCTIONS,
    *BROKER_WORKLOADS,
    *CONTENT_WORKLOADS,
    *CONTENT_CONSTRUCTIONS,
    *STEINER_WORKLOADS,
)

KINDS: dict[str, Kind[Any, Any]] = {kind.name: kind for kind in _KINDS}
PROBLEMS: dict[str, Problem[Any, Any]] = {problem.name: problem for problem in _PROBLEMS}
WORKLOADS: dict[str, Workload[Any]] = {workload.name: workload for workload in _WORKLOADS}

__all__ = [
    "BROKER_PROBLEMS",
    "CONTENT_PROBLEMS",
    "KINDS",
    "PROBLEMS",
    "STEINER_PROBLEMS",
    "TOPIC_PROBLEMS",
    "WORKLOADS",
    "BadInput",
    "BrokerNetwork",
    "ContentInstance",
    "ContentOverlay",
    "ContentProblem",
    "Dissemination",
    "Found",
    "Kind",
    "Method",
    "Option",
    "Overlay",
    "Problem",
    "Result",
    "RoutingTree",
    "Status",
    "SteinerInstance",
    "TopicInstance",
    "TopicProblem",
    "Workload",
]
