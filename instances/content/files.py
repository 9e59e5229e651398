"""Content instances in files: content/1 JSON, by label, or NPZ arrays for large ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput
from ..files import atomic_write, read_json
from ..labels import natural_order
from .core_prices import closed
from .instance import ContentInstance, Floats

FORMAT = "content/1"
_LONGEST = 200
_ARRAYS = ("access", "core", "capacities", "rates", "subscriptions")
_LABELS = ("user_labels", "broker_labels", "channel_labels")


def read_content(path: Path, *, close: bool = False) -> ContentInstance:
    """Read an instance; the name's ending tells the format (.json, .npz).

    Users, brokers and channels of a JSON file are numbered in the natural order of their labels (u2 before u10), so
    the order of keys does not matter. A price between two brokers may stand on one side or on both; a rate that is
    missing is 0, a capacity that is null has no limit.

    Parameters
    ----------
    path : Path
    close : bool
        Replace the prices between brokers by those of the cheapest ways, so that they are a metric; pairs without a
        price have no direct link then. The key ``"close": true`` in a JSON file says the same.

    Raises
    ------
    BadInput
        With the file, the place and the mend, for whatever is wrong with it.
    """
    try:
        if path.suffix == ".json":
            return _from_json(read_json(path, FORMAT), close)
        if path.suffix == ".npz":
            return _from_arrays(path, close)
        raise _unknown_ending(path)
    except BadInput as error:
        raise error if str(error).startswith(f"{BadInput(str(path))}: ") else BadInput(f"{path}: {error}") from None


def write_content(instance: ContentInstance, path: Path) -> None:
    """Write an instance in the format that the name's ending tells; the inverse of :func:`read_content`."""
    if path.suffix == ".json":
        atomic_write(path, lambda file: file.write_text(_to_json(instance), encoding="utf-8"))
    elif path.suffix == ".npz":
        atomic_write(path, lambda file: _to_arrays(instance, file))
    else:
        raise _unknown_ending(path)


def _unknown_ending(path: Path) -> BadInput:
    return BadInput(f"{path}: unknown ending '{path.suffix}': use .json or .npz")


def _from_json(data: dict[str, Any], close: bool) -> ContentInstance:
    brokers, users = _objects(data, "brokers"), _objects(data, "users")
    channels = data.get("channels")
    if not isinstance(channels, list) or not all(isinstance(channel, str) for channel in channels):
        raise BadInput('needs "channels": a list of names')
    if data.get("close") not in (None, True, False):
        raise BadInput('"close" must be true or false')
    for names, kind in ((users, "user"), (brokers, "broker"), (channels, "channel")):
        if not names:
            raise BadInput(f"has no {kind}: give at least one")
    user_places, broker_places, channel_places = (_places(names) for names in (users, brokers, channels))
    if len(channel_places) < len(channels):
        raise BadInput("two channels have one name: rename one")
    capacities = np.empty(len(brokers))
    for broker, entry in brokers.items():
        if "capacity" not in entry:
            raise BadInput(f"broker '{broker}' has no \"capacity\": give a number, or null for no limit")
        limit = entry["capacity"]
        capacities[broker_places[broker]] = (
            np.inf if limit is None else _number(limit, f"the capacity of broker '{broker}'")
        )
    access = np.full((len(users), len(brokers)), np.nan)
    rates = np.zeros((len(users), len(channels)))
    subscriptions = np.zeros((len(users), len(channels)), dtype=np.bool_)
    for user, entry in users.items():
        row, owner = user_places[user], f"user '{user}'"
        _fill(access[row], entry, "access", broker_places, owner, "broker")
        if np.isnan(access[row]).any():
            missing = next(b for b in brokers if np.isnan(access[row, broker_places[b]]))
            raise BadInput(f"{owner} has no price to broker '{missing}': add it to its \"access\"")
        _fill(rates[row], entry, "rates", channel_places, owner, "channel")
        wanted = entry.get("subscriptions", [])
        if not isinstance(wanted, list):
            raise BadInput(f'{owner}: "subscriptions" must be a list of channels')
        for channel in wanted:
            subscriptions[row, _place(channel, channel_places, owner, "channel")] = True
    core = _core(_objects(data, "core") if len(brokers) > 1 or "core" in data else {}, broker_places)
    return _instance(
        access, core, capacities, rates, subscriptions, user_places, broker_places, channel_places,
        close=close or data.get("close") is True,
    )  # fmt: skip


def _instance(
    access: Floats, core: Floats, capacities: Floats, rates: Floats, subscriptions: Any,
    users: Iterable[str] | None, brokers: Iterable[str] | None, channels: Iterable[str] | None, *, close: bool,
) -> ContentInstance:  # fmt: skip
    names = [None if labels is None else list(labels) for labels in (users, brokers, channels)]
    if close:
        core = closed(core, names[1])
    elif np.isposinf(core).any():
        a, b = (str(i) if names[1] is None else names[1][i] for i in np.argwhere(np.isposinf(core))[0])
        raise BadInput(
            f"there is no price between brokers '{a}' and '{b}': add one, or \"close\": true for a way round"
        )
    return ContentInstance(access, core, capacities, rates, subscriptions, *names)


def _objects(data: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    found = data.get(name)
    if not isinstance(found, dict) or not all(isinstance(entry, dict) for entry in found.values()):
        raise BadInput(f'needs "{name}": an object of name: {{…}}')
    return found


def _places(labels: Iterable[str]) -> dict[str, int]:
    return {label: place for place, label in enumerate(natural_order(list(labels))[0])}


def _core(given: dict[str, dict[str, Any]], places: Mapping[str, int]) -> Floats:
    core = np.full((len(places), len(places)), np.inf)
    np.fill_diagonal(core, 0.0)
    for a, row in given.items():
        for b, price in row.items():
            ends = tuple(_place(end, places, '"core"', "broker") for end in (a, b))
            core[ends] = _number(price, f"the price between brokers '{a}' and '{b}'")
    return np.where(np.isinf(core), core.T, core)


def _fill(row: Floats, entry: dict[str, Any], name: str, places: Mapping[str, int], owner: str, kind: str) -> None:
    given = entry.get(name, {})
    if not isinstance(given, dict):
        raise BadInput(f'{owner}: "{name}" must be an object of {kind}: number')
    for label, value in given.items():
        row[_place(label, places, owner, kind)] = _number(value, f"{owner}, \"{name}\" of {kind} '{label}'")


def _place(label: object, places: Mapping[str, int], owner: str, kind: str) -> int:
    if not isinstance(label, str) or label not in places:
        raise BadInput(f"{owner} names the {kind} '{label}', which is not listed: add it or mend the name")
    return places[label]


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{place} is {json.dumps(value, ensure_ascii=False)[:40]}: give a number")
    try:
        number = float(value)
    except OverflowError:
        raise BadInput(f"{place} is too large: give a finite number") from None
    if not 0 <= number < np.inf:
        raise BadInput(f"{place} is {number:g}: give a finite number, 0 or more")
    return number


def _to_json(instance: ContentInstance) -> str:
    """One line a user and broker, so that a line of an error or a diff is one of them."""
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


def _from_arrays(path: Path, close: bool) -> ContentInstance:
    try:
        with np.load(path, allow_pickle=False) as data:
            found = {name: data[name] for name in data.files if name in (*_ARRAYS, *_LABELS)}
    except MemoryError:
        raise
    except Exception as error:  # numpy, zipfile and zlib each have errors of their own for damaged bytes
        said = str(error).partition("\n")[0][:_LONGEST]
        raise BadInput(f"cannot be read as NPZ ({said}): check the path or write it anew") from None
    for name in _ARRAYS:
        if name not in found:
            raise BadInput(f"has no array '{name}': needs {', '.join(_ARRAYS)}")
        if found[name].dtype.kind not in "biuf":
            raise BadInput(f"array '{name}' has type {found[name].dtype}: give numbers")
    labels = [[str(label) for label in found[name]] if name in found else None for name in _LABELS]
    return _instance(*(found[name] for name in _ARRAYS), *labels, close=close)


def _to_arrays(instance: ContentInstance, file: Path) -> None:
    arrays: dict[str, Any] = {name: getattr(instance, name) for name in _ARRAYS}
    arrays |= {name: np.array(labels) for name in _LABELS if (labels := getattr(instance, name)) is not None}
    with file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
