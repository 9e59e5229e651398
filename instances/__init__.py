"""Floor 1: what is given, what is asked, and what counts as an answer."""

from instances.errors import BadInput
from instances.method import Found, Method, Option
from instances.overlay import Overlay
from instances.problem import Problem
from instances.result import Result, Status
from instances.topic_instance import TopicInstance
from instances.topic_problems import TOPIC_PROBLEMS, TopicProblem

PROBLEMS: dict[str, TopicProblem] = {problem.name: problem for problem in TOPIC_PROBLEMS}

__all__ = [
    "PROBLEMS",
    "TOPIC_PROBLEMS",
    "BadInput",
    "Found",
    "Method",
    "Option",
    "Overlay",
    "Problem",
    "Result",
    "Status",
    "TopicInstance",
    "TopicProblem",
]
