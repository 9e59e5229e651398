"""The method ``hub-per-topic``."""

import random

import overlaybench as ob


def _skipped(instance, problem):
    """Why the method does not apply, or nothing: such a run is stored as skipped, with this reason."""
    alone = sum(len(instance.subscribers(topic)) < 2 for topic in range(instance.num_topics))
    return "no topic has two subscribers" if alone == instance.num_topics else ""


@ob.method(
    "hub-per-topic",
    problems=["min-tco", "least-relays"],
    options=[ob.Option("hub", "busiest", "the node amid the star of a topic", choices=("busiest", "random"))],
    skip=_skipped,
    source="an example",
    cost="time O(Σ|T_v|)",
    random=False,
)
def hub_per_topic(instance, *, hub, seed):
    """Connect all subscribers of a topic to one of them, its hub."""
    generator = random.Random(seed)
    for topic in range(instance.num_topics):
        subscribers = instance.subscribers(topic).tolist()
        if hub == "random":
            centre = generator.choice(subscribers)
        else:
            centre = max(subscribers, key=lambda node: len(instance.topics_of(node)))
        yield from ((centre, other) for other in subscribers if other != centre)
