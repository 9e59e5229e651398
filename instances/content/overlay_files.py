"""Content overlays in files: content-overlay/1 JSON, by label."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..contract.errors import BadInput
from ..contract.files import atomic_write, read_json
from .files import index_of
from .instance import ContentInstance
from .overlay import ContentOverlay, RoutingTree

FORMAT = "content-overlay/1"


def read_content_overlay(path: Path, instance: ContentInstance) -> ContentOverlay:
    """Read the overlay of an instance; errors are bad input that names the file and the entry, trees from 0."""
    data = read_json(path, FORMAT)
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
    text = json.dumps({"format": FORMAT, **labelled_overlay(overlay, instance)}, ensure_ascii=False)
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
