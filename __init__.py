"""Exact and approximate optimisation of publish/subscribe overlays.

>>> import overlaybench as ob
>>> instance = ob.generate("zipf", nodes=12, topics=6, subscriptions=2, seed=1)
>>> result = ob.solve(instance, "min-tco", "gm")
>>> result.value, ob.lower_bound(instance, "min-tco")
(13, 13.0)

`read` and `generate` give an instance; `solve`, `compare`, `lower_bound`, `check` and `draw` take one; `study` runs
thousands on Spark; `problems`, `methods` and `workloads` list what there is; `method` and `workload` make your own.
docs/python.md has the ways in and out. Every name is imported at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compare.catalogue import METHODS
    from .compare.figures.draw import draw
    from .compare.figures.draw_options import DrawOptions
    from .compare.python_api.comparing import Comparison, compare
    from .compare.python_api.instances import generate, read
    from .compare.python_api.listing import methods, problems, workloads
    from .compare.python_api.solving import check, lower_bound, solve
    from .compare.python_api.studies import StudyResults, StudyTable, study
    from .instances.brokers.network import BrokerNetwork
    from .instances.content.instance import ContentInstance
    from .instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
    from .instances.contract.errors import BadInput
    from .instances.contract.kind import Kind
    from .instances.contract.method import Method, Proposal
    from .instances.contract.option import Option
    from .instances.contract.overlay import Overlay
    from .instances.contract.overlay_files import read_overlay, write_overlay
    from .instances.contract.plug_in import method, workload
    from .instances.contract.problem import Problem
    from .instances.contract.result import Result, Status
    from .instances.contract.workload import Workload
    from .instances.steiner.instance import SteinerInstance
    from .instances.topics.files import read_topics, write_topics
    from .instances.topics.instance import TopicInstance
    from .instances.topics.link_costs import LinkCosts
    from .instances.topics.soc import SOC, DegreeFunction, RoutingCost
else:
    _DEFINED_IN = {
        "BadInput": "instances.contract.errors",
        "BrokerNetwork": "instances.brokers.network",
        "Comparison": "compare.python_api.comparing",
        "ContentInstance": "instances.content.instance",
        "DegreeFunction": "instances.topics.soc",
        "DrawOptions": "compare.figures.draw_options",
        "KINDS": "instances.contract.catalogue",
        "Kind": "instances.contract.kind",
        "LinkCosts": "instances.topics.link_costs",
        "METHODS": "compare.catalogue",
        "Method": "instances.contract.method",
        "Option": "instances.contract.option",
        "Overlay": "instances.contract.overlay",
        "PROBLEMS": "instances.contract.catalogue",
        "Problem": "instances.contract.problem",
        "Proposal": "instances.contract.method",
        "Result": "instances.contract.result",
        "RoutingCost": "instances.topics.soc",
        "SOC": "instances.topics.soc",
        "Status": "instances.contract.result",
        "SteinerInstance": "instances.steiner.instance",
        "StudyResults": "compare.python_api.studies",
        "StudyTable": "compare.python_api.studies",
        "TopicInstance": "instances.topics.instance",
        "WORKLOADS": "instances.contract.catalogue",
        "Workload": "instances.contract.workload",
        "check": "compare.python_api.solving",
        "compare": "compare.python_api.comparing",
        "draw": "compare.figures.draw",
        "generate": "compare.python_api.instances",
        "lower_bound": "compare.python_api.solving",
        "method": "instances.contract.plug_in",
        "methods": "compare.python_api.listing",
        "problems": "compare.python_api.listing",
        "read": "compare.python_api.instances",
        "read_overlay": "instances.contract.overlay_files",
        "read_topics": "instances.topics.files",
        "solve": "compare.python_api.solving",
        "study": "compare.python_api.studies",
        "workload": "instances.contract.plug_in",
        "workloads": "compare.python_api.listing",
        "write_overlay": "instances.contract.overlay_files",
        "write_topics": "instances.topics.files",
    }

    def __getattr__(name):
        if name not in _DEFINED_IN:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        value = getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)
        # The import has set "compare" to the package, which can be called like the function.
        return globals().setdefault(name, value)

    def __dir__():
        return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


__all__ = [
    "KINDS",
    "METHODS",
    "PROBLEMS",
    "SOC",
    "WORKLOADS",
    "BadInput",
    "BrokerNetwork",
    "Comparison",
    "ContentInstance",
    "DegreeFunction",
    "DrawOptions",
    "Kind",
    "LinkCosts",
    "Method",
    "Option",
    "Overlay",
    "Problem",
    "Proposal",
    "Result",
    "RoutingCost",
    "Status",
    "SteinerInstance",
    "StudyResults",
    "StudyTable",
    "TopicInstance",
    "Workload",
    "check",
    "compare",
    "draw",
    "generate",
    "lower_bound",
    "method",
    "methods",
    "problems",
    "read",
    "read_overlay",
    "read_topics",
    "solve",
    "study",
    "workload",
    "workloads",
    "write_overlay",
    "write_topics",
]
