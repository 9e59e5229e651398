"""The four plug-ins, found by the names that they are registered under."""

import overlaybench as ob
from overlaybench.compare.claims.register import CLAIMS, judge


def test_a_hub_per_topic_connects_every_topic_of_the_ring():
    instance = ob.WORKLOADS["topic-ring"].generate(seed=2, nodes=12, topics=4)
    for problem in ("min-tco", "least-relays"):
        for hub in ("busiest", "random"):
            result = ob.METHODS["hub-per-topic"].run(instance, ob.PROBLEMS[problem], seed=1, hub=hub)
            assert result.status == "feasible", result.reason


def test_relays_are_the_nodes_with_two_links():
    path = ob.Overlay.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    assert ob.PROBLEMS["least-relays"].value(None, path) == 2


def test_an_instance_without_common_topics_is_skipped():
    apart = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["y"]})
    result = ob.METHODS["hub-per-topic"].run(apart, ob.PROBLEMS["min-tco"])
    assert (result.status, result.reason) == ("skipped", "no topic has two subscribers")


def test_the_claim_holds():
    assert judge(CLAIMS["HUB.1"], quick=True).judgement.verdict == "confirmed"
