#!/usr/bin/env bash
# aiokafka==0.14.0, beside kafka-python==3.0.12.
# The sticky assignor promises to keep as many partitions as it can where they are. aiokafka's keeps "what this consumer
# had" as an attribute of the class, so consumers of one process all report the partitions of the one that was assigned
# last, and the next assignment moves partitions although nothing changed (issue 1175 of aiokafka describes it).
# Seen: 12 partitions, 3 consumers: of one process, all 12 move at a rebalance without any change; with a class for each
# consumer, as in processes of their own, none moves, and with kafka-python, whose assignor keeps it by object, none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install aiokafka==0.14.0 kafka-python==3.0.12
"$folder/env/bin/python" - 2>"$folder/log" <<'PYTHON' || { tail "$folder/log"; exit 1; }
from types import SimpleNamespace

from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor as OfClass
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor as OfObject

cluster = SimpleNamespace(topics=lambda: {"news"}, partitions_for_topic=lambda topic: set(range(12)))
members = ["c1", "c2", "c3"]


def moved(before, after):
    owned = [{name: set(one.partitions()) for name, one in each.items()} for each in (before, after)]
    assert all(sum(map(len, each.values())) == 12 for each in owned)
    return sum(len(owned[0][name] - owned[1][name]) for name in members)


def by_class(assignors):
    before = OfClass.assign(cluster, {name: assignors[name].metadata(["news"]) for name in members})
    for name in members:
        assignors[name].on_assignment(before[name])
        assignors[name].on_generation_assignment(1)
    return moved(before, OfClass.assign(cluster, {name: assignors[name].metadata(["news"]) for name in members}))


def by_object():
    assignors = {name: OfObject() for name in members}

    def assignment():
        metadata = [SimpleNamespace(member_id=name, metadata=one.metadata(["news"])) for name, one in assignors.items()]
        return OfObject().assign(cluster, metadata)

    before = assignment()
    for name in members:
        assignors[name].on_assignment(before[name], 1)
    return moved(before, assignment())


apart = by_class({name: type(name, (OfClass,), {}) for name in members})
together = by_class(dict.fromkeys(members, OfClass))
print("moved: aiokafka in one process", together, "in processes of their own", apart, "kafka-python", by_object())
assert (together, apart, by_object()) == (12, 0, 0)
PYTHON
