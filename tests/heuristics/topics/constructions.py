"""Every named construction, at sizes small enough for the twins in plain Python."""

from __future__ import annotations

from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.topics.constructions import CONSTRUCTIONS, SET_COVER_CONSTRUCTIONS
from overlaybench.instances.topics.instance import TopicInstance

_OTHER_SIZES: dict[str, dict[str, int]] = {
    "greedy-merge-cuboid": {"k": 2, "m": 3},
    "minmax-oda-matchings": {"n": 5},
    "nested-subscriptions": {"n": 12},
    "weighted-nested-subscriptions": {"n": 2},
    "case-seven": {"n": 13},
    "binary-tree-of-topics": {"h": 2},
    "set-cover-single-node": {"elements": 9, "sets": 7},
    "set-cover-duplicated": {"sets": 3},
}
_SIZES = [
    *((workload.name, {}) for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS[:2])),
    *_OTHER_SIZES.items(),
    ("set-cover-repeated", {"copies": 2}),
    ("set-cover-repeated", {"sets": 3, "copies": 4}),
]


def _instance(name: str, parameters: dict[str, int]) -> TopicInstance:
    instance = WORKLOADS[name].generate(seed=3, **parameters)
    assert isinstance(instance, TopicInstance)
    return instance


CONSTRUCTED = {
    " ".join([name, *(f"{key}={value}" for key, value in parameters.items())]): _instance(name, parameters)
    for name, parameters in _SIZES
}
