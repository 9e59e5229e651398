"""Small random content instances for hypothesis: whole numbers, so that every cost is exact."""

import numpy as np
from hypothesis import strategies as st

from overlaybench.instances.content.instance import ContentInstance, metric_closure


@st.composite
def content_instances(
    draw: st.DrawFn, *, max_users: int = 5, max_brokers: int = 3, max_channels: int = 3, tight: bool = False
) -> ContentInstance:
    """Any instance of at most this size, without limits of capacity unless `tight`."""
    users = draw(st.integers(1, max_users))
    brokers = draw(st.integers(1, max_brokers))
    channels = draw(st.integers(1, max_channels))

    def numbers(rows: int, columns: int, most: int) -> np.ndarray:
        row = st.lists(st.integers(0, most), min_size=columns, max_size=columns)
        return np.array(draw(st.lists(row, min_size=rows, max_size=rows)), dtype=float)

    upper = np.triu(numbers(brokers, brokers, 9), 1)
    access, rates = numbers(users, brokers, 9), numbers(users, channels, 5)
    wanted = numbers(users, channels, 1)
    free = ContentInstance(access, metric_closure(upper + upper.T), np.full(brokers, np.inf), rates, wanted)
    if not tight:
        return free
    capacity = draw(st.integers(0, int(free.demands.sum())))
    return ContentInstance(access, free.core, np.full(brokers, float(capacity)), rates, wanted)


@st.composite
def assignments(draw: st.DrawFn, instance: ContentInstance) -> np.ndarray:
    """Any broker for each user."""
    broker = st.integers(0, instance.num_brokers - 1)
    return np.array(draw(st.lists(broker, min_size=instance.num_users, max_size=instance.num_users)), dtype=np.int32)
