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
    from .compare.workbench.comparing import Comparison, compare
    from .compare.workbench.instances import generate, read
    from .compare.workbench.listing import methods, problems, workloads
    from .compare.workbench.solving import check, lower_bound, solve
    from .compare.workbench.studies import StudyResults, StudyTable, study
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
    from .instances.topics.link_costs import LinkCosts
    from .instances.topics.soc import SOC, DegreeFunction, RoutingCost
    from .instances.workload import Workload
else:
    _DEFINED_IN = {
        "BadInput": "instances.errors",
        "BrokerNetwork": "instances.brokers.network",
        "Comparison": "compare.workbench.comparing",
        "ContentInstance": "instances.content.instance",
        "DegreeFunction": "instances.topics.soc",
        "DrawOptions": "compare.figures.draw_options",
        "KINDS": "instances.catalogue",
        "Kind": "instances.kind",
        "LinkCosts": "instances.topics.link_costs",
        "METHODS": "compare.catalogue",
        "Method": "instances.method",
        "Option": "instances.option",
        "Overlay": "instances.overlay",
        "PROBLEMS": "instances.catalogue",
        "Problem": "instances.problem",
        "Proposal": "instances.method",
        "Result": "instances.result",
        "RoutingCost": "instances.topics.soc",
        "SOC": "instances.topics.soc",
        "Status": "instances.result",
        "SteinerInstance": "instances.steiner.instance",
        "StudyResults": "compare.workbench.studies",
        "StudyTable": "compare.workbench.studies",
        "TopicInstance": "instances.topics.instance",
        "WORKLOADS": "instances.catalogue",
        "Workload": "instances.workload",
        "check": "compare.workbench.solving",
        "compare": "compare.workbench.comparing",
        "draw": "compare.figures.draw",
        "generate": "compare.workbench.instances",
        "lower_bound": "compare.workbench.solving",
        "method": "instances.plug_in",
        "methods": "compare.workbench.listing",
        "problems": "compare.workbench.listing",
        "read": "compare.workbench.instances",
        "read_overlay": "instances.overlay_files",
        "read_topics": "instances.topics.files",
        "solve": "compare.workbench.solving",
        "study": "compare.workbench.studies",
        "workload": "instances.plug_in",
        "workloads": "compare.workbench.listing",
        "write_overlay": "instances.overlay_files",
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
