"""Broker networks and disseminations in files (brokers/1 and dissemination/1 JSON), and the kind ``brokers``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from ..contract.errors import BadInput, check_ending
from ..contract.files import (
    Label,
    errors_in,
    known_index,
    known_indices,
    natural_order,
    read_json,
    unpacked_name,
    write_json,
)
from ..contract.kind import Kind, LoadedInstance
from .network import DELAY, FORMAT, UNCAPPED, BrokerNetwork, BrokerTree
from .predicates import HIGHEST, LOWEST, Publications, Subscriptions
from .problems import Dissemination

_Count = Annotated[int, Meta(ge=0, le=HIGHEST)]
_Bound = Annotated[int, Meta(ge=LOWEST + 1, le=HIGHEST - 1)]


class _BrokerInFile(Struct, forbid_unknown_fields=True):
    uplink: _Count = UNCAPPED


class _LinkInFile(Struct, array_like=True, forbid_unknown_fields=True):
    broker: str
    other: str
    delay: _Count = DELAY


class _BrokersInFile(Struct):
    radius: Annotated[int, Meta(ge=1, le=HIGHEST)]
    fanout: _Count
    brokers: Annotated[dict[Label, _BrokerInFile], Meta(min_length=1)]
    attributes: list[str]
    links: list[_LinkInFile]
    subscriptions: list[tuple[str, dict[str, tuple[_Bound | None, _Bound | None]]]]
    publications: list[tuple[Annotated[int, Meta(ge=0, le=2**62)], str, list[_Bound]]]


class _DisseminationInFile(Struct):
    soft_links: list[tuple[str, str]]
    messages: list[tuple[int, str, str]]


def _tree(data: _BrokersInFile, ids: dict[str, int]) -> BrokerTree:
    links: dict[tuple[int, int], int] = {}
    for number, link in enumerate(data.links):
        u, v = known_indices((link.broker, link.other), ids, f"link {number}", "broker")
        if u == v or (min(u, v), max(u, v)) in links:
            raise BadInput(f"link {number}: '{link.broker}'-'{link.other}' is a loop or a repetition: remove it")
        links[min(u, v), max(u, v)] = link.delay
    uplinks = [broker.uplink for broker in data.brokers.values()]
    return BrokerTree.of(len(ids), links, delays=links.values(), uplinks=uplinks, labels=list(ids))


def _subscriptions(data: _BrokersInFile, ids: dict[str, int]) -> Subscriptions:
    indices = {name: number for number, name in enumerate(data.attributes)}
    shape = (len(data.subscriptions), len(indices))
    lows, highs = np.full(shape, LOWEST, dtype=np.int32), np.full(shape, HIGHEST, dtype=np.int32)
    brokers = np.zeros(len(lows), dtype=np.int32)
    for number, (broker, predicates) in enumerate(data.subscriptions):
        where = f"subscription {number}"
        brokers[number] = known_index(broker, ids, where, "broker")
        for name, (low, high) in predicates.items():
            at = number, known_index(name, indices, where, "attribute")
            lows[at], highs[at] = LOWEST if low is None else low, HIGHEST if high is None else high
            if lows[at] > highs[at]:
                raise BadInput(f"{where}: predicate on '{name}' from {low} to {high}: swap its bounds")
    order = np.argsort(brokers, kind="stable")
    return Subscriptions(brokers[order], lows[order], highs[order])


def _publications(data: _BrokersInFile, ids: dict[str, int]) -> Publications:
    for number, (time, _, values) in enumerate(data.publications):
        if number and time < data.publications[number - 1][0]:
            raise BadInput(f"publication {number} is earlier than the one before it: sort them by time")
        if len(values) != len(data.attributes):
            raise BadInput(f"publication {number}: give {len(data.attributes)} values, one for each attribute")
    times = np.array([time for time, _, _ in data.publications], dtype=np.int64)
    sources = [known_index(row[1], ids, f"publication {k}", "broker") for k, row in enumerate(data.publications)]
    points = np.array([values for _, _, values in data.publications], dtype=np.int32)
    return Publications(times, np.array(sources, np.int32), points.reshape(len(times), len(data.attributes)))


class Brokers(Kind[BrokerNetwork, Dissemination]):
    """Broker networks and their disseminations."""

    name, summary = "brokers", "a broker tree with subscriptions and publications; answered by soft links and messages"
    instance_type, answer_type, default_problem = BrokerNetwork, Dissemination, "soft-links"
    format, answer_format = FORMAT, "dissemination/1"
    sizes = ("brokers", "subscriptions", "publications")
    example = ("brokers-sparse", "--brokers 10 --subscriptions 40 --publications 30 --spread 3 --hosts 5 --fanout 4")
    panels = "compare.figures.panels:BrokerTrees"
    section = "compare.report.domains:BROKER_SECTION"
    measures = ("deliveries", "pure_forwarders", "yield", "average_hops", "max_hops", "soft_links")
    shown = ("soft_links", "messages")

    def read(self, path: Path, columns: Mapping[str, Any]) -> LoadedInstance[BrokerNetwork]:
        """Read a network.

        ``radius`` and ``fanout`` are numbers; ``brokers`` gives each label its ``uplink`` in publications a second
        (absent: no cap); ``links`` are [a, b] or [a, b, microseconds]; ``attributes`` are names; ``subscriptions`` are
        [broker, {attribute: [low, high]}], with null for no bound; ``publications`` [microseconds, broker, [values]].
        """
        data = read_json(path, FORMAT, _BrokersInFile)
        with errors_in(path):
            if len(set(data.attributes)) < len(data.attributes):
                raise BadInput('"attributes" has a name twice: rename one')
            natural_order([*data.brokers, *data.attributes])  # rejects labels that are no Unicode text
            ids = {name: number for number, name in enumerate(data.brokers)}
            tree, traffic = _tree(data, ids), (_subscriptions(data, ids), _publications(data, ids))
            return LoadedInstance(BrokerNetwork(tree, *traffic, data.radius, data.fanout, tuple(data.attributes)))

    def write(self, instance: BrokerNetwork, path: Path) -> None:
        check_ending(path, (".json",))
        tree, subs, pubs = instance.tree, instance.subscriptions, instance.publications
        names = [tree.label(v) for v in range(tree.num_brokers)]

        def columns(*arrays: npt.NDArray[Any]) -> Iterator[tuple[Any, ...]]:
            return zip(*(array.tolist() for array in arrays), strict=True)

        def predicates(lows: list[int], highs: list[int]) -> dict[str, list[int | None]]:
            bounds = zip(instance.attributes, lows, highs, strict=True)
            ends = {name: [None if each in (LOWEST, HIGHEST) else each for each in pair] for name, *pair in bounds}
            return {name: pair for name, pair in ends.items() if pair != [None, None]}

        document = {
            "format": FORMAT,
            "radius": instance.radius,
            "fanout": instance.fanout,
            "attributes": list(instance.attributes),
            "brokers": {
                name: {"uplink": cap} if cap else {} for name, (cap,) in zip(names, columns(tree.uplinks), strict=True)
            },
            "links": [[names[u], names[v], delay] for (u, v), delay in columns(tree.links, tree.delays)],
            "subscriptions": [
                [names[broker], predicates(low, high)]
                for broker, low, high in columns(subs.brokers, subs.lows, subs.highs)
            ],
            "publications": [
                [time, names[broker], values] for time, broker, values in columns(pubs.times, pubs.sources, pubs.values)
            ],
        }
        write_json(path, document)

    def read_answer(self, path: Path, instance: BrokerNetwork) -> Dissemination:
        """Read soft links [sender, receiver] and messages [publication, sender, receiver].

        Publications are numbered from 0 in the order of the network's file.
        """
        self.check_ending(unpacked_name(path))
        data = read_json(path, self.answer_format, _DisseminationInFile)
        ids = {instance.tree.label(v): v for v in range(instance.num_brokers)}
        with errors_in(path):
            links = [known_indices(ends, ids, f"soft link {k}", "broker") for k, ends in enumerate(data.soft_links)]
            messages = []
            for number, (publication, *ends) in enumerate(data.messages):
                if not 0 <= publication < len(instance.publications):
                    raise BadInput(f"message {number}: unknown publication {publication}: count from 0")
                messages.append([publication, *known_indices(ends, ids, f"message {number}", "broker")])
        return Dissemination.of(np.array(links, dtype=np.int64), np.array(messages, dtype=np.int64))

    def labelled(self, answer: Dissemination, instance: BrokerNetwork) -> dict[str, object]:
        name = instance.tree.label
        links = [[name(u), name(v)] for u, v in answer.soft_links.tolist()]
        return {"soft_links": links, "messages": [[p, name(u), name(v)] for p, u, v in answer.messages.tolist()]}

    def pack(self, answer: Dissemination) -> npt.NDArray[np.int32]:
        """The number of soft links, then their rows, then the rows of the messages."""
        count = np.array([len(answer.soft_links)], dtype=np.int32)
        return np.concatenate([count, answer.soft_links.ravel(), answer.messages.ravel()])

    def unpack(self, packed: npt.NDArray[np.int32], instance: BrokerNetwork) -> Dissemination:
        links, messages = np.split(packed[1:], [2 * int(packed[0])])
        return Dissemination(links.reshape(-1, 2), messages.reshape(-1, 3))


BROKERS = Brokers()
