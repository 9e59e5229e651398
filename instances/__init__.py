"""Floor 1: what is given, what is asked, and what counts as an answer."""

from typing import Any

from instances.constructions import CONSTRUCTIONS
from instances.content_instance import ContentInstance
from instances.content_overlay import ContentOverlay, RoutingTree
from instances.content_problems import CONTENT_PROBLEMS, ContentProblem
from instances.errors import BadInput
from instances.kind import Kind
from instances.method import Found, Method
from instances.option import Option
from instances.overlay import Overlay
from instances.problem import Problem
from instances.result import Result, Status
from instances.set_cover import SET_COVER_CONSTRUCTIONS
from instances.topic_instance import TopicInstance
from instances.topic_problems import TOPIC_PROBLEMS, TopicProblem
from instances.topics import TOPICS
from instances.workload import Workload
from instances.workloads import TOPIC_WORKLOADS

KINDS: dict[str, Kind[Any, Any]] = {kind.name: kind for kind in (TOPICS,)}
PROBLEMS: dict[str, Problem[Any, Any]] = {problem.name: problem for problem in TOPIC_PROBLEMS}
WORKLOADS: dict[str, Workload[Any]] = {
    workload.name: workload for workload in (*TOPIC_WORKLOADS, *CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS)
}

__all__ = [
    "CONTENT_PROBLEMS",
    "KINDS",
    "PROBLEMS",
    "TOPIC_PROBLEMS",
    "WORKLOADS",
    "BadInput",
    "ContentInstance",
    "ContentOverlay",
    "ContentProblem",
    "Found",
    "Kind",
    "Method",
    "Option",
    "Overlay",
    "Problem",
    "Result",
    "RoutingTree",
    "Status",
    "TopicInstance",
    "TopicProblem",
    "Workload",
]
