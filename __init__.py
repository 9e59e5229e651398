"""Exact and approximate optimisation of publish/subscribe overlays.

Every name is imported at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compare.catalogue import METHODS
    from .instances.brokers.network import BrokerNetwork
    from .instances.catalogue import KINDS, PROBLEMS, WORKLOADS
    from .instances.content.instance import ContentInstance
    from .instances.errors import BadInput
    from .instances.kind import Kind
    from .instances.method import Method, Proposal
    from .instances.option import Option
    from .instances.overlay import Overlay
    from .instances.overlay_files import read_overlay, write_overlay
    from .instances.plug_in import method, workload
    from .instances.problem import Problem
    from .instances.result import Result, Status
    from .instances.steiner.instance import SteinerInstance
    from .instances.topics.files import read_topics, write_topics
    from .instances.topics.instance import TopicInstance
    from .instances.workload import Workload
else:
    _DEFINED_IN = {
        "BadInput": "instances.errors",
        "BrokerNetwork": "instances.brokers.network",
        "ContentInstance": "instances.content.instance",
        "KINDS": "instances.catalogue",
        "Kind": "instances.kind",
        "METHODS": "compare.catalogue",
        "Method": "instances.method",
        "Option": "instances.option",
        "Overlay": "instances.overlay",
        "PROBLEMS": "instances.catalogue",
        "Problem": "instances.problem",
        "Proposal": "instances.method",
        "Result": "instances.result",
        "Status": "instances.result",
        "SteinerInstance": "instances.steiner.instance",
        "TopicInstance": "instances.topics.instance",
        "WORKLOADS": "instances.catalogue",
        "Workload": "instances.workload",
        "method": "instances.plug_in",
        "read_overlay": "instances.overlay_files",
        "read_topics": "instances.topics.files",
        "workload": "instances.plug_in",
        "write_overlay": "instances.overlay_files",
        "write_topics": "instances.topics.files",
    }

    def __getattr__(name):
        if name not in _DEFINED_IN:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        value = getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "KINDS",
    "METHODS",
    "PROBLEMS",
    "WORKLOADS",
    "BadInput",
    "BrokerNetwork",
    "ContentInstance",
    "Kind",
    "Method",
    "Option",
    "Overlay",
    "Problem",
    "Proposal",
    "Result",
    "Status",
    "SteinerInstance",
    "TopicInstance",
    "Workload",
    "method",
    "read_overlay",
    "read_topics",
    "workload",
    "write_overlay",
    "write_topics",
]
