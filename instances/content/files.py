"""Content instances and overlays in files (content/1 JSON, NPZ arrays), and the kind ``content``."""

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
from .instance import ARRAYS, ContentInstance, Floats, metric_closure
from .problems import ContentOverlay, RoutingTree

FORMAT = "content/1"
_LONGEST_ERROR = 200
_LABELS = ("user_labels", "broker_labels", "channel_labels")


def read_content(path: Path, *, close: bool = False) -> ContentInstance:
    """Read an instance; the format follows from the file's suffix (.json, .npz).

    Users, brokers and channels of a JSON file are numbered in the natural order of their labels (u2 before u10),
    whatever the order of keys. A price between two brokers may be given in one direction or both. A missing rate is 0,
    a capacity of null is infinite.

    Parameters
    ----------
    path : Path
    close : bool
        Replace the prices between brokers by their metric closure; pairs without a price then have no direct link.
        The key ``"close": true`` in a JSON file has the same effect.

    Raises
    ------
    BadInput
        With the file, the location and the fix.
    """
    try:
        if path.suffix == ".json":
            return _from_json(read_json(path, FORMAT), close)
        if path.suffix == ".npz":
            return _instance(_read_arrays(path), close=close)
        raise _unknown_suffix(path)
    except BadInput as error:
        raise error if str(error).startswith(f"{BadInput(str(path))}: ") else BadInput(f"{path}: {error}") from None


def write_content(instance: ContentInstance, path: Path) -> None:
    """Write an instance in the format of the file's suffix; the inverse of :func:`read_content`."""
    if path.suffix == ".json":
        atomic_write(path, _to_json(instance))
    elif path.suffix == ".npz":
        atomic_write(path, lambda file: _write_arrays(instance, file))
    else:
        raise _unknown_suffix(path)


def _unknown_suffix(path: Path) -> BadInput:
    return BadInput(f"{path}: unknown ending '{path.suffix}': use .json or .npz")


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


def _from_json(data: dict[str, Any], close: bool) -> ContentInstance:
    brokers, users, channels = _objects(data, "brokers"), _objects(data, "users"), data.get("channels")
    if not isinstance(channels, list) or not all(isinstance(channel, str) for channel in channels):
        raise BadInput('needs "channels": a list of names')
    if data.get("close") not in (None, True, False):
        raise BadInput('"close" must be true or false')
    numbers: dict[str, dict[str, int]] = {}
    for kind, labels in (("user", list(users)), ("broker", list(brokers)), ("channel", channels)):
        if not labels:
            raise BadInput(f"has no {kind}: give at least one")
        numbers[kind] = {label: number for number, label in enumerate(natural_order(labels)[0])}
    if len(numbers["channel"]) < len(channels):
        raise BadInput("two channels have one name: rename one")
    core = _core(_objects(data, "core") if len(brokers) > 1 or "core" in data else {}, numbers["broker"])
    arguments = {"core": core, "capacities": _capacities(brokers, numbers["broker"]), **_users(users, numbers)}
    arguments |= {f"{kind}_labels": list(labels) for kind, labels in numbers.items()}
    return _instance(arguments, close=close or data.get("close") is True)


def _objects(data: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    objects = data.get(name)
    if not isinstance(objects, dict) or not all(isinstance(entry, dict) for entry in objects.values()):
        raise BadInput(f'needs "{name}": an object of name: {{…}}')
    return objects


def _capacities(brokers: dict[str, dict[str, Any]], numbers: Mapping[str, int]) -> Floats:
    capacities = np.full(len(brokers), np.inf)
    for broker, entry in brokers.items():
        if "capacity" not in entry:
            raise BadInput(f"broker '{broker}' has no \"capacity\": give a number, or null for no limit")
        if entry["capacity"] is not None:
            capacities[numbers[broker]] = _number(entry["capacity"], f"the capacity of broker '{broker}'")
    return capacities


def _core(given: dict[str, dict[str, Any]], numbers: Mapping[str, int]) -> Floats:
    core = np.full((len(numbers), len(numbers)), np.inf)
    np.fill_diagonal(core, 0.0)
    for a, row in given.items():
        for b, price in row.items():
            ends = tuple(index_of(end, numbers, '"core"', "broker") for end in (a, b))
            core[ends] = _number(price, f"the price between brokers '{a}' and '{b}'")
    return np.where(np.isinf(core), core.T, core)


def _users(users: dict[str, dict[str, Any]], numbers: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    brokers, channels = numbers["broker"], numbers["channel"]
    access = np.full((len(users), len(brokers)), np.nan)
    rates = np.zeros((len(users), len(channels)))
    subscriptions = np.zeros((len(users), len(channels)), dtype=np.bool_)
    for user, entry in users.items():
        row, owner = numbers["user"][user], f"user '{user}'"
        _fill(access[row], entry, "access", brokers, owner, "broker")
        if np.isnan(access[row]).any():
            missing = next(b for b, number in brokers.items() if np.isnan(access[row, number]))
            raise BadInput(f"{owner} has no price to broker '{missing}': add it to its \"access\"")
        _fill(rates[row], entry, "rates", channels, owner, "channel")
        subscribed = entry.get("subscriptions", [])
        if not isinstance(subscribed, list):
            raise BadInput(f'{owner}: "subscriptions" must be a list of channels')
        for channel in subscribed:
            subscriptions[row, index_of(channel, channels, owner, "channel")] = True
    return {"access": access, "rates": rates, "subscriptions": subscriptions}


def _fill(row: Floats, entry: dict[str, Any], name: str, numbers: Mapping[str, int], owner: str, kind: str) -> None:
    given = entry.get(name, {})
    if not isinstance(given, dict):
        raise BadInput(f'{owner}: "{name}" must be an object of {kind}: number')
    for label, value in given.items():
        row[index_of(label, numbers, owner, kind)] = _number(value, f"{owner}, \"{name}\" of {kind} '{label}'")


def index_of(label: object, numbers: Mapping[str, int], owner: str, kind: str) -> int:
    """The index of a label, or bad input that names the entry with the unknown label."""
    if not isinstance(label, str) or label not in numbers:
        raise BadInput(f"{owner} names the {kind} '{label}', which does not exist: correct the name")
    return numbers[label]


def _number(value: object, entry: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{entry} is {json.dumps(value, ensure_ascii=False)[:40]}: give a number")
    try:
        number = float(value)
    except OverflowError:
        raise BadInput(f"{entry} is too large: give a finite number") from None
    if not 0 <= number < np.inf:
        raise BadInput(f"{entry} is {number:g}: give a finite number, 0 or more")
    return number


def _to_json(instance: ContentInstance) -> str:
    """One line for each user and broker, so that errors and diffs name single ones."""
    users, brokers, channels = (
        [label(k) for k in range(count)]
        for label, count in (
            (instance.user_label, instance.num_users),
            (instance.broker_label, instance.num_brokers),
            (instance.channel_label, instance.num_channels),
        )
    )
    capacities = [None if limit == np.inf else limit for limit in instance.capacities.tolist()]
    later = {
        label: dict(zip(brokers[b + 1 :], instance.core[b, b + 1 :].tolist(), strict=True))
        for b, label in enumerate(brokers)
    }
    return "\n".join(
        [
            "{",
            f'"format": "{FORMAT}",',
            f'"channels": {_line(channels)},',
            f'"brokers": {_block({b: {"capacity": limit} for b, limit in zip(brokers, capacities, strict=True)})},',
            f'"core": {_block(later)},',
            f'"users": {_block({user: _user(instance, u, brokers, channels) for u, user in enumerate(users)})}',
            "}\n",
        ]
    )


def _user(instance: ContentInstance, user: int, brokers: list[str], channels: list[str]) -> dict[str, object]:
    rates = instance.rates[user]
    return {
        "access": dict(zip(brokers, instance.access[user].tolist(), strict=True)),
        "rates": {channels[c]: float(rates[c]) for c in np.flatnonzero(rates).tolist()},
        "subscriptions": [channels[c] for c in np.flatnonzero(instance.subscriptions[user]).tolist()],
    }


def _block(entries: Mapping[str, object]) -> str:
    return "{\n" + ",\n".join(f" {_line(label)}: {_line(entry)}" for label, entry in entries.items()) + "\n}"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read_arrays(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as data:
            found = {name: data[name] for name in data.files if name in (*ARRAYS, *_LABELS)}
    except MemoryError:
        raise
    except Exception as error:  # numpy, zipfile and zlib have their own errors for damaged files
        message = str(error).partition("\n")[0][:_LONGEST_ERROR]
        raise BadInput(f"cannot be read as NPZ ({message}): check the path or write the file again") from None
    for name in ARRAYS:
        if name not in found:
            raise BadInput(f"has no array '{name}': needs {', '.join(ARRAYS)}")
        if found[name].dtype.kind not in "biuf":
            raise BadInput(f"array '{name}' has type {found[name].dtype}: give numbers")
    return found | {name: [str(label) for label in found[name]] for name in _LABELS if name in found}


def _write_arrays(instance: ContentInstance, file: Path) -> None:
    arrays: dict[str, Any] = {name: getattr(instance, name) for name in ARRAYS}
    arrays |= {name: np.array(labels) for name in _LABELS if (labels := getattr(instance, name)) is not None}
    with file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


ANSWER_FORMAT = "content-overlay/1"


def read_content_overlay(path: Path, instance: ContentInstance) -> ContentOverlay:
    """Read the overlay of an instance; errors are bad input that names the file and the entry, trees from 0."""
    data = read_json(path, ANSWER_FORMAT)
    users = {instance.user_label(u): u for u in range(instance.num_users)}
    brokers = {instance.broker_label(b): b for b in range(instance.num_brokers)}
    channels = {instance.channel_label(c): c for c in range(instance.num_channels)}
    try:
        assigned, trees = data.get("assignment"), data.get("trees", [])
        if not isinstance(assigned, dict):
            raise BadInput('needs "assignment": an object of user: broker')
        if not isinstance(trees, list) or not all(isinstance(tree, dict) for tree in trees):
            raise BadInput('"trees" must be a list of objects')
        assignment = np.full(instance.num_users, -1, dtype=np.int32)
        for user, broker in assigned.items():
            number = index_of(user, users, "the assignment", "user")
            assignment[number] = index_of(broker, brokers, f"user '{user}'", "broker")
        if (assignment < 0).any():
            raise BadInput(f"user '{instance.user_label(int(np.argmin(assignment)))}' has no broker: assign one")
        return ContentOverlay(assignment, tuple(_tree(k, tree, brokers, channels) for k, tree in enumerate(trees)))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def write_content_overlay(overlay: ContentOverlay, instance: ContentInstance, path: Path) -> None:
    """Write an overlay with the labels of its instance; the inverse of :func:`read_content_overlay`."""
    text = json.dumps({"format": ANSWER_FORMAT, **labelled_overlay(overlay, instance)}, ensure_ascii=False)
    atomic_write(path, text + "\n")


def labelled_overlay(overlay: ContentOverlay, instance: ContentInstance) -> dict[str, Any]:
    """The assignment and the trees by label, as in a file."""
    brokers = [instance.broker_label(b) for b in range(instance.num_brokers)]
    trees = []
    for tree in overlay.trees:
        fields: dict[str, Any] = {} if tree.channel is None else {"channel": instance.channel_label(tree.channel)}
        if tree.sources:
            fields["sources"] = [brokers[b] for b in tree.sources]
        trees.append({**fields, "links": [[brokers[a], brokers[b]] for a, b in tree.links]})
    assigned = {instance.user_label(u): brokers[b] for u, b in enumerate(overlay.brokers.tolist())}
    return {"assignment": assigned, "trees": trees}


def _tree(number: int, fields: dict[str, Any], brokers: Mapping[str, int], channels: Mapping[str, int]) -> RoutingTree:
    owner = f"tree {number}"
    links, sources = fields.get("links"), fields.get("sources", [])
    if not isinstance(links, list) or not all(isinstance(link, list) and len(link) == 2 for link in links):
        raise BadInput(f'{owner} needs "links": a list of pairs of brokers')
    if not isinstance(sources, list):
        raise BadInput(f'{owner}: "sources" must be a list of brokers')
    channel = fields.get("channel")
    return RoutingTree.of(
        [(index_of(a, brokers, owner, "broker"), index_of(b, brokers, owner, "broker")) for a, b in links],
        None if channel is None else index_of(channel, channels, owner, "channel"),
        [index_of(source, brokers, owner, "broker") for source in sources],
    )


class Content(Kind[ContentInstance, ContentOverlay]):
    """Users, brokers and channels with rates, subscriptions, prices and capacities (P4 §II)."""

    name, summary = "content", "users, brokers and channels with rates and prices; an answer is a broker for each user"
    instance_type, default_problem = ContentInstance, "content-steiner"
    format, endings, ending = FORMAT, (".npz",), ".npz"
    sizes = ("users", "brokers", "channels")
    measures = ("access", "core", "brokers_used", "largest_load")
    shown = ("assignment", "trees")

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[ContentInstance]:
        return LoadedInstance(read_content(path))

    def write(self, instance: ContentInstance, path: Path) -> None:
        write_content(instance, path)

    def size(self, instance: ContentInstance) -> dict[str, int]:
        return {"users": instance.num_users, "brokers": instance.num_brokers, "channels": instance.num_channels}

    def read_answer(self, path: Path, instance: ContentInstance) -> ContentOverlay:
        return read_content_overlay(path, instance)

    def write_answer(self, answer: ContentOverlay, instance: ContentInstance, path: Path) -> None:
        write_content_overlay(answer, instance, path)

    def labelled(self, answer: ContentOverlay, instance: ContentInstance) -> dict[str, object]:
        return labelled_overlay(answer, instance)

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

    def sample(self, instance: ContentInstance, size: int, seed: int) -> ContentInstance:
        return instance.sample(size, seed)


CONTENT = Content()
