"""Content instances and overlays in files (content/1 JSON, NPZ arrays), and the kind ``content``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from ..contract.errors import BadInput, unknown_ending
from ..contract.files import (
    atomic_write,
    errors_in,
    known_index,
    known_indices,
    natural_order,
    read_json,
    unpacked_name,
    write_json,
)
from ..contract.kind import Kind, LoadedInstance
from ..contract.tables import readable
from .instance import AXES, FORMAT, ContentInstance, metric_closure
from .problems import ContentOverlay, RoutingTree

_LONGEST_ERROR = 200
_LABELS = ("user_labels", "broker_labels", "channel_labels")


def _instance(arguments: dict[str, Any], *, close: bool) -> ContentInstance:
    """The instance of the given arrays and labels, in which missing core prices are infinite."""
    core, labels = arguments["core"], arguments.get("broker_labels")
    if close:
        return ContentInstance(**{**arguments, "core": metric_closure(core, labels)})
    if np.isposinf(core).any():
        a, b = (str(i) if labels is None else labels[i] for i in np.argwhere(np.isposinf(core))[0])
        raise BadInput(
            f"there is no price between brokers '{a}' and '{b}': add one, or \"close\": true for the cheapest path"
        )
    return ContentInstance(**arguments)


_Price = Annotated[float, Meta(ge=0, le=sys.float_info.max)]


class _BrokerInFile(Struct):
    capacity: _Price | None


class _UserInFile(Struct):
    access: dict[str, _Price | None]
    rates: dict[str, _Price] = {}
    subscriptions: list[str] = []


class ContentInFile(Struct):
    """Prices, capacities and users by label."""

    channels: Annotated[list[str], Meta(min_length=1)]
    brokers: Annotated[dict[str, _BrokerInFile], Meta(min_length=1)]
    users: Annotated[dict[str, _UserInFile], Meta(min_length=1)]
    core: dict[str, dict[str, _Price]] = {}
    close: bool = False


def content_in_file(data: ContentInFile) -> ContentInstance:
    """The instance of these entries."""
    if len(set(data.channels)) < len(data.channels):
        raise BadInput("two channels have one name: rename one")
    labels = [natural_order(list(names))[0] for names in (data.users, data.brokers, data.channels)]
    users, brokers, channels = ({label: number for number, label in enumerate(each)} for each in labels)
    core = np.full((len(brokers), len(brokers)), np.inf)
    np.fill_diagonal(core, 0.0)
    for a, row in data.core.items():
        one = known_index(a, brokers, "core", "broker")
        for b, price in row.items():
            core[one, known_index(b, brokers, "core", "broker")] = price
    access = np.full((len(users), len(brokers)), np.nan)
    rates = np.zeros((len(users), len(channels)))
    subscriptions = np.zeros((len(users), len(channels)), dtype=np.bool_)
    for user, entry in data.users.items():
        number, where = users[user], f"user '{user}'"
        for broker, access_price in entry.access.items():
            at = number, known_index(broker, brokers, where, "broker")
            access[at] = np.inf if access_price is None else access_price
        for channel, rate in entry.rates.items():
            rates[number, known_index(channel, channels, where, "channel")] = rate
        subscriptions[number, known_indices(entry.subscriptions, channels, where, "channel")] = True
        if (missing := np.flatnonzero(np.isnan(access[number]))).size:
            raise BadInput(
                f"{where} has no price to broker '{labels[1][missing[0]]}': add it to its \"access\", or null"
            )
    limits = {brokers[broker]: entry.capacity for broker, entry in data.brokers.items()}
    arrays = {
        "access": access,
        "core": np.where(np.isinf(core), core.T, core),
        "capacities": np.array([np.inf if limits[b] is None else limits[b] for b in range(len(limits))]),
        "rates": rates,
        "subscriptions": subscriptions,
    }
    return _instance(arrays | dict(zip(_LABELS, labels, strict=True)), close=data.close)


def content_as_json(instance: ContentInstance) -> dict[str, object]:
    """The inverse of :func:`content_in_file`."""
    users, brokers, channels = _labels(instance)
    limits = [None if limit == np.inf else limit for limit in instance.capacities.tolist()]
    later = [dict(zip(brokers[b + 1 :], instance.core[b, b + 1 :].tolist(), strict=True)) for b in range(len(brokers))]
    return {
        "format": FORMAT,
        "channels": channels,
        "brokers": {broker: {"capacity": limit} for broker, limit in zip(brokers, limits, strict=True)},
        "core": dict(zip(brokers, later, strict=True)),
        "users": {
            user: {
                "access": dict(zip(brokers, instance.access[u].tolist(), strict=True)),
                "rates": {channels[c]: float(instance.rates[u, c]) for c in np.flatnonzero(instance.rates[u])},
                "subscriptions": [channels[c] for c in np.flatnonzero(instance.subscriptions[u])],
            }
            for u, user in enumerate(users)
        },
    }


def _labels(instance: ContentInstance) -> tuple[list[str], list[str], list[str]]:
    return (
        [instance.user_label(u) for u in range(instance.num_users)],
        [instance.broker_label(b) for b in range(instance.num_brokers)],
        [instance.channel_label(c) for c in range(instance.num_channels)],
    )


def _read_arrays(path: Path) -> dict[str, Any]:
    try:
        with np.load(readable(path), allow_pickle=False) as data:
            found = {name: data[name] for name in data.files if name in (*AXES, *_LABELS)}
    except MemoryError:
        raise
    except Exception as error:  # numpy, zipfile and zlib have their own errors for damaged files
        message = str(error).partition("\n")[0][:_LONGEST_ERROR]
        raise BadInput(f"cannot be read as NPZ ({message}): check the path or write the file again") from None
    for name in AXES:
        if name not in found:
            raise BadInput(f"has no array '{name}': needs {', '.join(AXES)}")
        if found[name].dtype.kind not in "biuf":
            raise BadInput(f"array '{name}' has type {found[name].dtype}: give numbers")
    return found | {name: [str(label) for label in found[name]] for name in _LABELS if name in found}


def _write_arrays(instance: ContentInstance, file: Path) -> None:
    arrays: dict[str, Any] = {name: getattr(instance, name) for name in AXES}
    arrays |= {name: np.array(labels) for name in _LABELS if (labels := getattr(instance, name)) is not None}
    with file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


class _TreeInFile(Struct):
    links: list[tuple[str, str]]
    channel: str | None = None
    sources: list[str] = []


class OverlayInFile(Struct):
    """The broker of each user, and the trees, by label."""

    assignment: dict[str, str]
    trees: list[_TreeInFile] = []


def overlay_in_file(data: OverlayInFile, instance: ContentInstance) -> ContentOverlay:
    """The overlay of an instance by label; raises BadInput for an unknown label or a user without a broker."""
    users, brokers, channels = ({label: k for k, label in enumerate(labels)} for labels in _labels(instance))
    assignment = np.full(instance.num_users, -1, dtype=np.int32)
    for user, broker in data.assignment.items():
        number = known_index(user, users, "assignment", "user")
        assignment[number] = known_index(broker, brokers, f"user '{user}'", "broker")
    if (assignment < 0).any():
        raise BadInput(f"user '{instance.user_label(int(np.argmin(assignment)))}' has no broker: assign one")
    trees = []
    for number, tree in enumerate(data.trees):
        where = f"tree {number}"
        ends = [known_indices(link, brokers, where, "broker") for link in tree.links]
        channel = None if tree.channel is None else known_index(tree.channel, channels, where, "channel")
        sources = known_indices(tree.sources, brokers, where, "broker")
        trees.append(RoutingTree.of([(a, b) for a, b in ends], channel, sources))
    return ContentOverlay(assignment, tuple(trees))


class Content(Kind[ContentInstance, ContentOverlay]):
    """Users, brokers and channels with rates, subscriptions, prices and capacities (P4 §II)."""

    name, summary = "content", "users, brokers and channels with rates and prices; an answer is a broker for each user"
    instance_type, answer_type, default_problem = ContentInstance, ContentOverlay, "content-steiner"
    format, answer_format, endings, ending = FORMAT, "content-overlay/1", (".npz",), ".npz"
    sizes = ("users", "brokers", "channels")
    example = ("content", "--users 12 --brokers 4 --intervals 4")
    proof_endings = (".json",)
    panels = "compare.figures.panels:ContentOverlays"
    section = "compare.report.domains:CONTENT_SECTION"
    measures = ("access", "core", "brokers_used", "largest_load")
    shown = ("assignment", "trees")

    def read(self, path: Path, columns: Mapping[str, Any]) -> LoadedInstance[ContentInstance]:
        """Read JSON or NPZ.

        Users, brokers and channels of a JSON file are numbered in the natural order of their labels (u2 before u10),
        whatever the order of keys. A price between two brokers may be given in one direction or both; with the key
        ``"close": true`` pairs without a price have no direct link, and prices are replaced by their metric closure.
        A missing rate is 0, a capacity of null is infinite; an access price of null, of a broker that the user does not
        know, becomes a prohibitive one.
        """
        with errors_in(path):
            ending = unpacked_name(path).suffix
            if ending == ".json":
                return LoadedInstance(content_in_file(read_json(path, FORMAT, ContentInFile)))
            if ending == ".npz":
                return LoadedInstance(_instance(_read_arrays(path), close=False))
            raise unknown_ending(path, (".json", ".npz"))

    def write(self, instance: ContentInstance, path: Path) -> None:
        if path.suffix == ".json":
            write_json(path, content_as_json(instance))
        elif path.suffix == ".npz":
            atomic_write(path, lambda file: _write_arrays(instance, file))
        else:
            raise unknown_ending(path, (".json", ".npz"))

    def read_answer(self, path: Path, instance: ContentInstance) -> ContentOverlay:
        self.check_ending(unpacked_name(path))
        data = read_json(path, self.answer_format, OverlayInFile)
        with errors_in(path):
            return overlay_in_file(data, instance)

    def labelled(self, answer: ContentOverlay, instance: ContentInstance) -> dict[str, object]:
        users, brokers, channels = _labels(instance)
        trees = []
        for tree in answer.trees:
            fields: dict[str, Any] = {} if tree.channel is None else {"channel": channels[tree.channel]}
            if tree.sources:
                fields["sources"] = [brokers[b] for b in tree.sources]
            trees.append({**fields, "links": [[brokers[a], brokers[b]] for a, b in tree.links]})
        return {"assignment": {users[u]: brokers[b] for u, b in enumerate(answer.brokers.tolist())}, "trees": trees}

    def pack(self, answer: ContentOverlay) -> npt.NDArray[np.int32]:
        numbers = [len(answer.brokers), *answer.brokers.tolist()]
        for tree in answer.trees:
            numbers += [-1 if tree.channel is None else tree.channel, len(tree.sources), *tree.sources]
            numbers += [len(tree.links), *(end for link in tree.links for end in link)]
        return np.array(numbers, dtype=np.int32)

    def unpack(self, packed: npt.NDArray[np.int32], instance: ContentInstance) -> ContentOverlay:
        try:
            return self._unpacked(iter(np.asarray(packed).tolist()))
        except (StopIteration, RuntimeError):  # which a generator raises for it
            raise ValueError("an answer that ends too early") from None

    def _unpacked(self, numbers: Iterator[int]) -> ContentOverlay:
        brokers = [next(numbers) for _ in range(next(numbers))]
        trees = []
        for channel in numbers:
            sources = tuple(next(numbers) for _ in range(next(numbers)))
            links = tuple((next(numbers), next(numbers)) for _ in range(next(numbers)))
            trees.append(RoutingTree(links, None if channel < 0 else channel, sources))
        return ContentOverlay(np.array(brokers, dtype=np.int32), tuple(trees))


CONTENT = Content()
