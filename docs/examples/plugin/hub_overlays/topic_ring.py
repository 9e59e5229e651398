"""The workload ``topic-ring``."""

import overlaybench as ob


@ob.workload(
    "topic-ring",
    parameters=[ob.Option("nodes", 20, "|V|", least=1), ob.Option("topics", 5, "|T|", least=2)],
    source="an example",
)
def topic_ring(*, seed, nodes, topics):
    """Each node subscribes to two topics that follow each other on a ring."""
    wanted = {f"n{v}": [f"t{(v + seed) % topics}", f"t{(v + seed + 1) % topics}"] for v in range(nodes)}
    return ob.TopicInstance.from_subscriptions(wanted)
