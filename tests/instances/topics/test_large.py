"""A million nodes, or ten million rates, in little memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

# A child's ru_maxrss begins with what its parent held, so the high-water mark is read of the new address space itself.
PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
"""

GENERATE = """
from overlaybench.instances.contract.catalogue import WORKLOADS

instance = WORKLOADS["{name}"].generate(nodes=1_000_000, topics=1_000, subscriptions=20, seed=1)
assert (instance.num_nodes, instance.num_topics, instance.num_subscriptions) == (1_000_000, 1_000, 20_000_000)
arrays = [instance.node_offsets, instance.node_topics, instance.topic_offsets, instance.topic_nodes]
print(sum(array.nbytes for array in arrays), peak())
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform", "zipf", "exponential"])
def test_a_million_nodes_are_generated_in_under_two_gigabytes(name: str) -> None:
    script = PEAK + GENERATE.format(name=name)
    child = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    kept, peak = map(int, child.stdout.split())
    assert kept < 300e6
    assert peak < 2e9


CONTENT = """
from overlaybench.instances.contract.catalogue import WORKLOADS

instance = WORKLOADS["content"].generate(users=10_000, brokers=100, intervals=1_000)
assert len(instance.digest) == 64
arrays = [instance.access, instance.core, instance.capacities, instance.rates, instance.subscriptions]
print(sum(array.nbytes for array in arrays), peak())
"""


@pytest.mark.slow
def test_ten_thousand_users_on_a_thousand_channels_are_generated_in_under_half_a_gigabyte() -> None:
    child = subprocess.run([sys.executable, "-c", PEAK + CONTENT], check=True, capture_output=True, text=True)
    kept, peak = map(int, child.stdout.split())
    assert kept < 100e6
    assert peak < 500e6
