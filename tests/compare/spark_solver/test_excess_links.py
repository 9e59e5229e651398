"""The bound on Spark by links in which topics must be united, against all pairs and brute force."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.spark_solver.excess_links import DROPPED, count_excess_links
from tests.properties import property_test
from tests.topic_brute_force import optimum
from tests.topic_strategies import topic_instances

wants = st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=6), min_size=1, max_size=12)


def counted(wanted: list[list[int]], topics: int, most: int, steps: int = 10**9) -> npt.NDArray[np.int64]:
    rows = sorted((t, topics_of) for topics_of in wanted for t in topics_of[: max(0, len(topics_of) - most)])
    first = np.array([t for t, _ in rows], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(listed) for _, listed in rows], dtype=np.int64)])
    ranks = np.array([t for _, listed in rows for t in listed], np.int32)
    links = np.zeros(topics, np.int64)
    count_excess_links(first, offsets, ranks, most, steps, links)
    return links


@property_test(200, wants, st.integers(1, 4), quick=50)
def test_every_pair_with_too_many_common_topics_is_counted_once(chosen: list[set[int]], most: int) -> None:
    links = np.zeros(8, np.int64)
    for one, other in combinations(chosen, 2):
        links[sorted(one & other)[most:]] += 1
    assert counted([sorted(topics) for topics in chosen], 8, most).tolist() == links.tolist()


def test_a_topic_that_takes_too_many_comparisons_leaves_the_bound() -> None:
    wanted = [[0, 1, 2]] * 5
    assert counted(wanted, 3, 1, steps=10)[0] == DROPPED
    assert counted(wanted, 3, 1).tolist() == [0, 10, 10]


@property_test(100, topic_instances(min_nodes=2, max_nodes=6, max_topics=5), st.integers(1, 3), quick=30)
def test_the_bound_is_at_most_the_fewest_edges(instance: ob.TopicInstance, most: int) -> None:
    sizes = np.diff(instance.topic_offsets)
    rank = np.argsort(np.argsort(sizes, kind="stable"))
    wanted = [sorted(rank[instance.topics_of(v)].tolist()) for v in range(instance.num_nodes)]
    links = counted(wanted, instance.num_topics, most)[rank]
    total = int(np.maximum(0, sizes - 1 - links).sum())
    assert -(-total // most) <= optimum(instance, "min-tco")
