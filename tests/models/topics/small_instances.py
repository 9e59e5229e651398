"""Random instances that the brute force can solve, and larger ones that no compact model solves in a second."""

from __future__ import annotations

import random

from overlaybench.instances.topics.instance import TopicInstance


def small_instance(seed):
    """At most 6 nodes and 4 topics; sparse ones and dense ones."""
    draw = random.Random(seed)
    nodes, topics, density = draw.randint(1, 6), draw.randint(1, 4), draw.choice([0.3, 0.5, 0.7])
    wanted = [[t for t in range(topics) if draw.random() < density] or [draw.randrange(topics)] for _ in range(nodes)]
    return TopicInstance.from_subscriptions({f"n{v}": [f"t{t}" for t in wanted[v]] for v in range(nodes)})


def uniform_instance(nodes, topics, size, seed=0):
    """`size` distinct topics a node, all equally likely."""
    draw = random.Random(seed)
    return TopicInstance.from_subscriptions(
        {f"n{v}": [f"t{t}" for t in draw.sample(range(topics), size)] for v in range(nodes)}
    )


def renumbered(instance, seed):
    """The same subscriptions with the nodes and the topics in another order."""
    draw = random.Random(seed)
    nodes, topics = list(range(instance.num_nodes)), list(range(instance.num_topics))
    draw.shuffle(nodes)
    draw.shuffle(topics)
    return TopicInstance.from_subscriptions(
        {f"n{nodes[v]}": [f"t{topics[t]}" for t in instance.topics_of(v)] for v in range(instance.num_nodes)}
    )
