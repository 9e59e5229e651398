"""Broker networks and disseminations in files (brokers/1 and dissemination/1 JSON), and the kind ``brokers``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..contract.errors import BadInput
from ..contract.files import atomic_write, natural_order, read_json
from ..contract.kind import Kind, LoadedInstance
from .network import DELAY, UNCAPPED, BrokerNetwork, BrokerTree
from .predicates import HIGHEST, LOWEST, Publications, Subscriptions
from .problems import Dissemination

FORMAT = "brokers/1"
ANSWER_FORMAT = "dissemination/1"


def read_brokers(path: Path) -> BrokerNetwork:
    """Read a network.

    ``radius`` and ``fanout`` are numbers; ``brokers`` gives each label its ``uplink`` in publications a second (absent:
    no cap); ``links`` are [a, b] or [a, b, microseconds]; ``attributes`` are names; ``subscriptions`` are
    [broker, {attribute: [low, high]}]; ``publications`` are [microseconds, broker, [values]].

    Raises
    ------
    BadInput
        Naming file and location: no tree, a fanout below the primary degree, Δ below 1, swapped bounds…
    """
    data = read_json(path, FORMAT)
    try:
        return _network(data)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def write_brokers(network: BrokerNetwork, path: Path) -> None:
    """Write a network; the inverse of :func:`read_brokers`."""
    tree, subscriptions, publications = network.tree, network.subscriptions, network.publications
    names = [tree.label(v) for v in range(tree.num_brokers)]

    def bound(value: int) -> int | None:
        return None if value in (LOWEST, HIGHEST) else value

    def predicates(low: list[int], high: list[int]) -> dict[str, list[int | None]]:
        pairs = zip(network.attributes, low, high, strict=True)
        return {name: [bound(a), bound(b)] for name, a, b in pairs if (a, b) != (LOWEST, HIGHEST)}

    def columns(*arrays: npt.NDArray[Any]) -> Iterator[tuple[Any, ...]]:
        return zip(*(array.tolist() for array in arrays), strict=True)

    sections = {
        "brokers": [
            f"{_text(name)}: {_text({'uplink': cap} if cap else {})}"
            for name, cap in zip(names, tree.uplinks.tolist(), strict=True)
        ],
        "links": [_text([names[u], names[v], delay]) for (u, v), delay in columns(tree.links, tree.delays)],
        "subscriptions": [
            _text([names[broker], predicates(low, high)])
            for broker, low, high in columns(subscriptions.brokers, subscriptions.lows, subscriptions.highs)
        ],
        "publications": [
            _text([time, names[broker], values])
            for time, broker, values in columns(publications.times, publications.sources, publications.values)
        ],
    }
    head = [("format", FORMAT), ("radius", network.radius), ("fanout", network.fanout)]
    parts = [f'"{key}": {_text(value)}' for key, value in [*head, ("attributes", list(network.attributes))]]
    for key, rows in sections.items():
        opening, closing = "{}" if key == "brokers" else "[]"
        parts.append(f'"{key}": {opening}' + ",".join(f"\n  {row}" for row in rows) + f"\n {closing}")
    atomic_write(path, "{" + ",\n ".join(parts) + "}\n")


def read_dissemination(path: Path, network: BrokerNetwork) -> Dissemination:
    """Read an answer: ``soft_links`` are [sender, receiver], ``messages`` are [publication, sender, receiver].

    Publications are numbered from 0 in the order of the network's file.

    Raises
    ------
    BadInput
        Naming file and location.
    """
    data = read_json(path, ANSWER_FORMAT)
    ids = {network.tree.label(v): v for v in range(network.num_brokers)}
    last = len(network.publications) - 1
    links, messages = [], []
    try:
        for number, row in enumerate(_rows(data, "soft_links", 2, "[sender, receiver]")):
            links.append([_broker(end, ids, f"soft link {number}") for end in row])
        for number, (p, *ends) in enumerate(_rows(data, "messages", 3, "[publication, sender, receiver]")):
            where = f"message {number}"
            publication = _number(p, 0, last, f"{where}: publication")
            messages.append([publication, *(_broker(end, ids, where) for end in ends)])
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    return Dissemination.of(np.array(links, dtype=np.int64), np.array(messages, dtype=np.int64))


def write_dissemination(answer: Dissemination, network: BrokerNetwork, path: Path) -> None:
    """Write an answer with the broker labels of its network; the inverse of :func:`read_dissemination`."""
    text = _text({"format": ANSWER_FORMAT, **labelled_rows(answer, network)})
    atomic_write(path, text + "\n")


def labelled_rows(answer: Dissemination, network: BrokerNetwork) -> dict[str, object]:
    """Soft links and messages by broker label, as the file has them."""
    name = network.tree.label
    links = [[name(u), name(v)] for u, v in answer.soft_links.tolist()]
    return {"soft_links": links, "messages": [[p, name(u), name(v)] for p, u, v in answer.messages.tolist()]}


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _network(data: dict[str, Any]) -> BrokerNetwork:
    brokers, attributes = data.get("brokers"), data.get("attributes")
    if not isinstance(brokers, dict) or not brokers or "" in brokers:
        raise BadInput('needs "brokers": an object of label: {} or label: {"uplink": publications a second}')
    if not isinstance(attributes, list) or not all(isinstance(name, str) for name in attributes):
        raise BadInput('needs "attributes": a list of names')
    if len(set(attributes)) < len(attributes):
        raise BadInput('"attributes" has a name twice: rename one')
    natural_order([*brokers, *attributes])  # rejects labels that are no Unicode text
    ids = {name: number for number, name in enumerate(brokers)}
    indices = {name: number for number, name in enumerate(attributes)}
    return BrokerNetwork(
        _tree(brokers, _rows(data, "links", (2, 3), "[broker, broker] or [broker, broker, microseconds]"), ids),
        _subscriptions(_rows(data, "subscriptions", 2, "[broker, {attribute: [low, high]}]"), ids, indices),
        _publications(_rows(data, "publications", 3, "[microseconds, broker, [values]]"), ids, len(indices)),
        _number(data.get("radius"), 1, HIGHEST, "radius"),
        _number(data.get("fanout"), 0, HIGHEST, "fanout"),
        tuple(attributes),
    )


def _tree(brokers: dict[str, Any], rows: list[list[Any]], ids: dict[str, int]) -> BrokerTree:
    uplinks = []
    for name, properties in brokers.items():
        if not isinstance(properties, dict) or not set(properties) <= {"uplink"}:
            raise BadInput(f"broker '{name}': give {{}} or {{\"uplink\": publications a second}}")
        uplinks.append(_number(properties.get("uplink", UNCAPPED), 0, HIGHEST, f"uplink of broker '{name}'"))
    links, delays, seen = [], [], set()
    for number, row in enumerate(rows):
        u, v = (_broker(end, ids, f"link {number}") for end in row[:2])
        if u == v or (min(u, v), max(u, v)) in seen:
            raise BadInput(f"link {number}: '{row[0]}'-'{row[1]}' is a loop or a repetition: remove it")
        seen.add((min(u, v), max(u, v)))
        links.append((u, v))
        delays.append(_number(row[2] if len(row) == 3 else DELAY, 0, HIGHEST, f"delay of link {number}"))
    return BrokerTree.of(len(ids), links, delays=delays, uplinks=uplinks, labels=list(ids))


def _subscriptions(rows: list[list[Any]], ids: dict[str, int], indices: dict[str, int]) -> Subscriptions:
    lows = np.full((len(rows), len(indices)), LOWEST, dtype=np.int64)
    highs = np.full((len(rows), len(indices)), HIGHEST, dtype=np.int64)
    brokers = np.zeros(len(rows), dtype=np.int64)
    for number, (broker, predicates) in enumerate(rows):
        where = f"subscription {number}"
        brokers[number] = _broker(broker, ids, where)
        if not isinstance(predicates, dict):
            raise BadInput(f"{where}: its predicates must be an object of attribute: [low, high]")
        for name, bounds in predicates.items():
            if name not in indices:
                raise BadInput(f"{where}: unknown attribute '{name}': name one of \"attributes\"")
            if not isinstance(bounds, list) or len(bounds) != 2:
                raise BadInput(f"{where}: predicate on '{name}' must be a pair of whole numbers, null for no bound")
            low, high = (
                unbounded if bound is None else _value(bound, f"{where}: a bound on '{name}'")
                for bound, unbounded in zip(bounds, (LOWEST, HIGHEST), strict=True)
            )
            if low > high:
                raise BadInput(f"{where}: predicate on '{name}' from {low} to {high}: swap its bounds")
            lows[number, indices[name]], highs[number, indices[name]] = low, high
    order = np.argsort(brokers, kind="stable")
    return Subscriptions(brokers[order].astype(np.int32), lows[order].astype(np.int32), highs[order].astype(np.int32))


def _publications(rows: list[list[Any]], ids: dict[str, int], width: int) -> Publications:
    values = np.zeros((len(rows), width), dtype=np.int64)
    times, sources = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    for number, (time, broker, point) in enumerate(rows):
        where = f"publication {number}"
        times[number] = _number(time, 0, 2**62, f"time of {where}")
        if number and times[number] < times[number - 1]:
            raise BadInput(f"{where} is earlier than the one before it: sort them by time")
        sources[number] = _broker(broker, ids, where)
        if not isinstance(point, list) or len(point) != width:
            raise BadInput(f"{where}: its values must be a list of {width}, one for each attribute")
        values[number] = [_value(value, f"{where}: a value") for value in point]
    return Publications(times, sources.astype(np.int32), values.astype(np.int32))


def _rows(data: dict[str, Any], key: str, widths: int | tuple[int, ...], shape: str) -> list[list[Any]]:
    rows = data.get(key)
    allowed = widths if isinstance(widths, tuple) else (widths,)
    if not isinstance(rows, list):
        raise BadInput(f'needs "{key}": a list of {shape}')
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) not in allowed:
            raise BadInput(f'"{key}" row {number} must be {shape}: correct or remove it')
    return rows


def _broker(name: object, ids: dict[str, int], where: str) -> int:
    if not isinstance(name, str) or name not in ids:
        raise BadInput(f"{where}: unknown broker '{name}': name one of \"brokers\"")
    return ids[name]


def _value(value: object, what: str) -> int:
    return _number(value, LOWEST + 1, HIGHEST - 1, what)


def _number(value: object, least: int, most: int, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadInput(f"{what} is {_text(value)}: give a whole number from {least} to {most}")
    return value


class Brokers(Kind[BrokerNetwork, Dissemination]):
    """Broker networks and their disseminations."""

    name, summary = "brokers", "a broker tree with subscriptions and publications; answered by soft links and messages"
    instance_type, default_problem, format = BrokerNetwork, "soft-links", FORMAT
    sizes = ("brokers", "subscriptions", "publications")
    measures = ("deliveries", "pure_forwarders", "yield", "average_hops", "max_hops", "soft_links")
    shown = ("soft_links", "messages")

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[BrokerNetwork]:
        return LoadedInstance(read_brokers(path))

    def write(self, instance: BrokerNetwork, path: Path) -> None:
        write_brokers(instance, path)

    def size(self, instance: BrokerNetwork) -> dict[str, int]:
        counts = (instance.num_brokers, len(instance.subscriptions), len(instance.publications))
        return dict(zip(self.sizes, counts, strict=True))

    def read_answer(self, path: Path, instance: BrokerNetwork) -> Dissemination:
        return read_dissemination(path, instance)

    def write_answer(self, answer: Dissemination, instance: BrokerNetwork, path: Path) -> None:
        write_dissemination(answer, instance, path)

    def labelled(self, answer: Dissemination, instance: BrokerNetwork) -> dict[str, object]:
        return labelled_rows(answer, instance)

    def pack(self, answer: Dissemination) -> npt.NDArray[np.int32]:
        """The number of soft links, then their rows, then the rows of the messages."""
        count = np.array([len(answer.soft_links)], dtype=np.int32)
        return np.concatenate([count, answer.soft_links.ravel(), answer.messages.ravel()])

    def unpack(self, packed: npt.NDArray[np.int32], instance: BrokerNetwork) -> Dissemination:
        links, messages = np.split(packed[1:], [2 * int(packed[0])])
        return Dissemination(links.reshape(-1, 2), messages.reshape(-1, 3))


BROKERS = Brokers()
