"""Every instance of a size once up to renaming: against all multisets, and against Burnside's count."""

from collections import Counter
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from overlaybench.compare.atlas.every_instance import (
    instance_of,
    instances,
    members_of,
    node_sets,
    number_of_instances,
)

Row = tuple[int, ...]


def rows_of(nodes: int, topics: int, prefix: Row = (), most: int = 7) -> list[Row]:
    return [tuple(row) for rows in instances(nodes, topics, prefix, most=most) for row in rows.tolist()]


def test_every_instance_is_listed_once_up_to_names() -> None:
    sets = node_sets(4).tolist()
    number = {s: k for k, s in enumerate(sets)}
    images = [
        [number[sum(1 << order[v] for v in range(4) if s >> v & 1)] for s in sets] for order in permutations(range(4))
    ]

    def least(row: Row) -> Row:
        return min(tuple(sorted(image[k] for k in row)) for image in images)

    for topics in (1, 2, 3):
        every = {least(row) for row in combinations_with_replacement(range(len(sets)), topics)}
        assert Counter(map(least, rows_of(4, topics))) == dict.fromkeys(every, 1)
        assert rows_of(4, topics) == sorted(every)


@pytest.mark.parametrize(
    ("nodes", "counts"),
    [(5, (4, 19, 91, 436, 1_991, 8_651)), (6, (5, 32, 229, 1_808, 14_819)), (7, (6, 49, 500))],
)
def test_as_many_instances_are_listed_as_burnside_counts(nodes: int, counts: tuple[int, ...]) -> None:
    for topics, count in enumerate(counts, 1):
        assert number_of_instances(nodes, topics) == count
        assert sum(map(len, instances(nodes, topics))) == count


def test_the_extensions_of_all_prefixes_are_all_instances_in_order() -> None:
    for length in range(5):
        prefixes = rows_of(5, length) if length else [()]
        assert [row for prefix in prefixes for row in rows_of(5, 4, prefix)] == rows_of(5, 4, most=10_000)


def test_an_instance_has_the_subscribers_that_its_row_names() -> None:
    row = np.array([0, 5, 10], np.uint8)
    assert members_of(4, row) == ((0, 1), (2, 3), (0, 1, 2, 3))
    made = instance_of(4, members_of(4, row[:1]))
    assert [made.subscribers(t).tolist() for t in range(made.num_topics)] == [[2], [3], [0, 1]]
