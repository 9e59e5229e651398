"""The kernels that the heuristics share, and their compilation."""

import heapq
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.heap import pop, push
from overlaybench.heuristics.topics.greedy_merge import GREEDY_MERGE
from overlaybench.heuristics.topics.kernels.common_topics import (
    MOST_COMMON,
    block_of,
    pairs_by_common_topics,
    pairs_sharing,
    sharing,
)
from overlaybench.heuristics.topics.kernels.partial_overlay import PartialOverlay
from overlaybench.heuristics.topics.tie_breaking.ties import candidate_of, rank_of, tie_order
from overlaybench.instances.runtime.compiled import cache_folder
from tests.heuristics.topics import twins
from tests.outcomes import answer_of
from tests.properties import property_test
from tests.topic_strategies import topic_instances


@property_test(
    100, st.integers(0, 2**62 - 1), st.sampled_from(["lowest", "highest", "random"]), st.integers(-(2**70), 2**70)
)
def test_a_rank_has_one_candidate(candidate: int, ties: str, seed: int) -> None:
    order = tie_order(ties, seed)
    rank = rank_of(candidate, order)
    assert 0 <= rank < 2**63
    assert candidate_of(rank, order) == candidate


def test_subscriptions_compared_64_at_a_time_are_counted_one_by_one() -> None:
    instance = ob.WORKLOADS["zipf"].generate(seed=0, nodes=300, topics=200, subscriptions=8)
    partial = PartialOverlay(instance, tie_order("lowest", 0))
    assert 2 <= partial.add_frequent() <= 8
    sizes = np.diff(instance.topic_offsets)
    assert partial.counters()["counted"] == (sizes * (sizes - 1) // 2).sum()
    assert partial.counters()["evaluations"] >= len(partial.edges) > 0


@property_test(
    200, topic_instances(max_nodes=9), st.randoms(use_true_random=False), st.integers(1, 5), st.integers(1, 4)
)
def test_pairs_with_common_topics_are_listed(instance: ob.TopicInstance, random: Random, least: int, size: int) -> None:
    relation = instance.node_offsets, instance.node_topics, instance.num_topics
    listed = np.array([random.random() < 0.7 for _ in range(instance.num_nodes)])
    nodes = np.flatnonzero(listed).astype(np.int32)
    found: list[tuple[int, int]] = []
    for at in range(0, len(nodes), size):
        found += zip(*pairs_sharing(least, nodes[at : at + size], listed, *relation), strict=True)
    wants = twins.interest_of(instance)
    pairs = [(u, v) for u, v in combinations(range(len(listed)), 2) if listed[u] or listed[v]]
    common = [len(wants[u] & wants[v]) for u, v in pairs]
    keys = [u * len(listed) + v for u, v in pairs]
    assert sorted(found) == [(key, shared) for key, shared in zip(keys, common, strict=True) if shared >= least]
    table = instance.topic_offsets, instance.topic_nodes, *relation[:2]
    counts = pairs_by_common_topics(np.arange(len(listed), dtype=np.int32), listed, size, *table)
    assert counts[1:].tolist() == [sum(min(each, size) == c for each in common) for c in range(1, size + 1)]


@pytest.mark.parametrize(
    ("nodes", "least", "every"),
    [(1, 1, 1), (63, 2, 1), (64, 1, 1), (64, 3, 1), (65, 7, 1), (700, 2, 1), (3000, 1, 150), (3000, 3, 150)],
)
def test_nodes_of_a_block_that_share_topics_are_found_in_lists_and_bytes(nodes: int, least: int, every: int) -> None:
    random = Random(nodes * 10 + least)
    # Topic t has a subscriber in 2^t nodes, so that some are lists and some bytes; one is left out. If few nodes
    # subscribe to anything, all are lists.
    wants = [[t if t != 3 else -1 for t in range(9) if random.random() < 0.5**t] for _ in range(nodes)]
    wants = [topics if v % every == 0 else [] for v, topics in enumerate(wants)]
    offsets = np.concatenate([[0], np.cumsum([len(topics) for topics in wants])])
    topics = np.array([t for some in wants for t in some], np.int32)
    offsets.flags.writeable = topics.flags.writeable = False  # as those of an instance, for which it is compiled
    block = block_of(np.arange(nodes, dtype=np.int32), offsets, topics, 9)
    assert (len(block.masks) == 0) == (every > 1)
    found = np.empty(nodes + 1, np.int32)
    for _ in range(30):
        mine = np.array([t if t != 3 else -1 for t in range(9) if random.random() < 0.7], np.int32)
        mine.flags.writeable = False
        many, own = sharing(mine, least, block, found), set(mine.tolist()) - {-1}
        assert sorted(found[:many].tolist()) == [v for v in range(nodes) if len(own & set(wants[v])) >= least]


def test_topics_in_common_are_counted_up_to_a_number_and_pairs_with_more_of_them_are_added_first() -> None:
    two, three = ([f"{name}{t}" for t in range(MOST_COMMON + more)] for name, more in (("two", 9), ("three", 5)))
    instance = ob.TopicInstance.from_subscriptions({"u": two, "v": two + three, "w": three, "x": three})
    relation = instance.node_offsets, instance.node_topics, instance.num_topics
    nodes = np.arange(4, dtype=np.int32)
    pairs, common = pairs_sharing(MOST_COMMON, nodes, np.ones(4, np.bool_), *relation)
    assert dict(zip(pairs.tolist(), common.tolist(), strict=True)) == dict.fromkeys([1, 6, 7, 11], MOST_COMMON)
    partial = PartialOverlay(instance, tie_order("lowest", 0))
    partial.add_frequent()
    assert partial.edges.tolist()[:2] == [1, 6]


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
@pytest.mark.parametrize("law", ["uniform", "zipf"])
def test_threads_change_neither_edges_nor_counters(law: str, ties: str) -> None:
    instance: ob.TopicInstance = ob.WORKLOADS[law].generate(seed=4, nodes=400, topics=30, subscriptions=6)
    one, three = (GREEDY_MERGE.run(instance, ob.PROBLEMS["min-tco"], ties=ties, threads=threads) for threads in (1, 3))
    assert answer_of(one).edges.tolist() == answer_of(three).edges.tolist()
    assert one.counters == three.counters
    assert float(one.counters["evaluations"]) >= float(one.counters["steps"]) - instance.num_topics


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(20))
def test_items_come_out_by_key_while_others_enter(seed: int) -> None:
    draw, heap, entries = Random(seed), np.zeros((1 + 60, 2), np.int64), list[tuple[int, int]]()
    for item in range(60):
        key = draw.randint(-3, 3)
        push(heap, key, item)
        heapq.heappush(entries, (key, item))
        while entries and draw.random() < 0.4:
            key, taken = pop(heap)
            assert key == entries[0][0]
            entries.remove((key, taken))
            heapq.heapify(entries)
    assert heap[0, 0] == len(entries)


def run_python(program: str, *arguments: str, environment: dict[str, str] | None = None) -> str:
    """Run a program in another process; returns what it wrote to stderr."""
    command = [sys.executable, "-c", program, *arguments]
    environment = os.environ | (environment or {})
    return subprocess.run(command, check=True, env=environment, capture_output=True, text=True, timeout=250).stderr


COMPILING = "compiling kernels, once a machine (exact methods: a minute or two)\n"
KERNELS = """
import numpy as np
from overlaybench.instances.runtime.compiled import kernel

STEP = 1

@kernel
def first(x: int) -> int:
    return x + STEP

@kernel
def second(x: int) -> int:
    return first(x) + 1

@kernel
def apart(x: int) -> int:
    return x - 1

@kernel
def rising(x: int) -> int:
    values = np.arange(60 * x)[::-1].copy()
    values.sort()
    return values[x]

@kernel
def order(x: int) -> int:
    return np.argsort(np.arange(60 * x)[::-1].copy())[x]
"""
CALL_KERNELS = """
import sys
sys.path.insert(0, sys.argv[1])
import kernels_here
assert "numba" not in sys.modules
print(*(getattr(kernels_here, name)(1) for name in sys.argv[2:]), file=sys.stderr)
"""


@pytest.mark.slow
def test_a_kernel_is_compiled_once_a_machine_and_again_when_what_it_calls_changes(tmp_path: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "caches"), "PYTHONDONTWRITEBYTECODE": "1"}

    def called(folder: str, source: str, *names: str) -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "kernels_here.py").write_text(source)
        return run_python(CALL_KERNELS, str(tmp_path / folder), *names, environment=environment)

    assert called("one", KERNELS, "second", "apart") == f"{COMPILING}3 0\n"
    assert called("one", KERNELS, "second", "apart") == "3 0\n"
    assert called("another", f"# moved\n{KERNELS}", "second", "apart") == "3 0\n"
    changed = KERNELS.replace("STEP = 1", "STEP = 5")
    assert called("one", changed, "apart") == "0\n"
    assert called("one", changed, "second") == f"{COMPILING}7\n"


@pytest.mark.slow
def test_kernels_that_two_processes_compiled_do_not_call_what_is_in_each_other(tmp_path: Path) -> None:
    """Both call a function of one name, and each process numbers it in the same way if it begins at 1."""
    (tmp_path / "kernels_here.py").write_text(KERNELS)
    for names, found in (("rising", "1"), ("order", "58"), ("rising order", "1 58")):
        printed = run_python(
            CALL_KERNELS, str(tmp_path), *names.split(), environment={"NUMBA_CACHE_DIR": str(tmp_path)}
        )
        assert printed.removeprefix(COMPILING) == f"{found}\n"


def test_kernels_are_compiled_where_the_disk_takes_none(tmp_path: Path) -> None:
    """The largest size of a file stands for a full disk."""
    (tmp_path / "kernels_here.py").write_text(KERNELS)
    full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n{CALL_KERNELS}"
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    printed = run_python(full, str(tmp_path), "second", "apart", environment=environment)
    assert printed == f"{COMPILING}3 0\n"


def test_kernels_that_nothing_loads_for_a_month_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = tmp_path / "kernels"
    old, recent = kernels / "ab" / "kernel-ab1", kernels / "ab" / "kernel-ab2"
    for folder in (old, recent):
        folder.mkdir(parents=True)
        (folder / "file").write_text("")
    os.utime(old, (0, 0))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert cache_folder.__wrapped__() == kernels
    assert recent.is_dir()
    assert not old.exists()
