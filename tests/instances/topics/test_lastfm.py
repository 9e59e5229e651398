"""The real subscriptions: listeners of Last.fm and the artists they play."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from overlaybench.instances.contract.kind import LoadedInstance
from overlaybench.instances.topics.files import read_topics, write_topics
from overlaybench.instances.topics.instance import TopicInstance

FILE = Path(__file__).parents[3].parent / "shared" / "data" / "lastfm" / "user_artists.dat"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="the Last.fm data is not beside the repository")


@pytest.fixture(scope="module")
def read() -> LoadedInstance[TopicInstance]:
    return read_topics(FILE, node_column="userID", topic_column="artistID")


def test_the_counts_are_those_published_with_the_data(read: LoadedInstance[TopicInstance]) -> None:
    instance = read.instance
    assert (instance.num_nodes, instance.num_topics, instance.num_subscriptions) == (1892, 17632, 92834)
    assert read.duplicates == 0
    assert np.diff(instance.node_offsets).max() == 50
    assert (np.diff(instance.topic_offsets) == 1).sum() == 10679


def test_the_subscriptions_are_those_a_plain_reader_finds(read: LoadedInstance[TopicInstance]) -> None:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [(row["userID"], row["artistID"]) for row in csv.DictReader(file, delimiter="\t")]
    instance = read.instance
    nodes = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    found = [
        (instance.node_label(v), instance.topic_label(t))
        for v, t in zip(nodes.tolist(), instance.node_topics.tolist(), strict=True)
    ]
    assert Counter(found) == Counter(rows)
    assert instance.node_labels == tuple(sorted({node for node, _ in rows}, key=int))
    assert instance.topic_labels == tuple(sorted({topic for _, topic in rows}, key=int))


@pytest.mark.parametrize("ending", [".json", ".csv", ".parquet"])
def test_the_data_and_its_samples_keep_their_digest_through_a_file(
    read: LoadedInstance[TopicInstance], ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a{ending}"
    instances: list[TopicInstance] = [read.instance, read.instance.sample(60, seed=4)]
    for instance in instances:
        write_topics(instance, path)
        back = read_topics(path).instance
        assert (back.digest, back.node_labels, back.topic_labels) == (
            instance.digest,
            instance.node_labels,
            instance.topic_labels,
        )


def test_a_sample_keeps_whole_listeners(read: LoadedInstance[TopicInstance]) -> None:
    whole = read.instance
    place = {whole.node_label(v): v for v in range(whole.num_nodes)}
    sample = whole.sample(100, seed=1)
    for v in range(100):
        kept = {sample.topic_label(int(t)) for t in sample.topics_of(v)}
        assert kept == {whole.topic_label(int(t)) for t in whole.topics_of(place[sample.node_label(v)])}
