"""Small random instances and overlays for hypothesis."""

from hypothesis import strategies as st

import overlaybench as ob

Case = tuple[ob.TopicInstance, ob.Overlay]
TopicMethod = ob.Method[ob.TopicInstance, ob.Overlay]


@st.composite
def topic_instances(
    draw: st.DrawFn, *, max_nodes: int = 7, max_topics: int = 6, min_nodes: int = 1, min_topics: int = 1
) -> ob.TopicInstance:
    """Any instance of at most this size; topics without a subscriber are dropped."""
    num_nodes = draw(st.integers(min_nodes, max_nodes))
    num_topics = draw(st.integers(min_topics, max_topics))
    topics_of_a_node = st.sets(st.integers(0, num_topics - 1), min_size=1)
    subscriptions = draw(st.lists(topics_of_a_node, min_size=num_nodes, max_size=num_nodes))
    return ob.TopicInstance.from_subscriptions(
        {f"n{node}": [f"t{topic}" for topic in topics] for node, topics in enumerate(subscriptions)}
    )


@st.composite
def overlays(draw: st.DrawFn, num_nodes: int) -> ob.Overlay:
    """Any overlay on this many nodes."""
    pairs = [(u, v) for u in range(num_nodes) for v in range(u + 1, num_nodes)]
    return ob.Overlay.from_edges(num_nodes, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@st.composite
def instances_with_overlays(draw: st.DrawFn, *, max_nodes: int = 7, max_topics: int = 6) -> Case:
    """An instance and any overlay on its nodes."""
    instance = draw(topic_instances(max_nodes=max_nodes, max_topics=max_topics))
    return instance, draw(overlays(instance.num_nodes))
