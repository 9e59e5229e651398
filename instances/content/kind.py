"""The kind ``content``: users, brokers and channels; an answer is a broker for each user and routing trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..kind import Kind, LoadedInstance
from .files import read_content, write_content
from .instance import ContentInstance
from .overlay import ContentOverlay, RoutingTree
from .overlay_files import labelled_overlay, read_content_overlay, write_content_overlay


class Content(Kind[ContentInstance, ContentOverlay]):
    """Users, brokers and channels with rates, subscriptions, prices and capacities (P4 §II)."""

    name, summary = "content", "users, brokers and channels with rates and prices; an answer is a broker for each user"
    ending = ".npz"
    sizes = ("users", "brokers", "channels")
    measures = ("access", "core", "brokers_used", "largest_load")
    shown = ("assignment", "trees")

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[ContentInstance]:
        """See :func:`.read_content`; there are no columns."""
        return LoadedInstance(read_content(path))

    def write(self, instance: ContentInstance, path: Path) -> None:
        """See :func:`.write_content`."""
        write_content(instance, path)

    def size(self, instance: ContentInstance) -> dict[str, int]:
        """|U|, |B| and |C|."""
        return {"users": instance.num_users, "brokers": instance.num_brokers, "channels": instance.num_channels}

    def read_answer(self, path: Path, instance: ContentInstance) -> ContentOverlay:
        """See :func:`.read_content_overlay`."""
        return read_content_overlay(path, instance)

    def write_answer(self, answer: ContentOverlay, instance: ContentInstance, path: Path) -> None:
        """See :func:`.write_content_overlay`."""
        write_content_overlay(answer, instance, path)

    def labelled(self, answer: ContentOverlay, instance: ContentInstance) -> dict[str, object]:
        """The assignment and the trees by label."""
        return labelled_overlay(answer, instance)

    def pack(self, answer: ContentOverlay) -> npt.NDArray[np.int32]:
        """The number of users, their brokers, and each tree's channel, sources and links, lists with their lengths."""
        numbers = [len(answer.brokers), *answer.brokers.tolist()]
        for tree in answer.trees:
            numbers += [-1 if tree.channel is None else tree.channel, len(tree.sources), *tree.sources]
            numbers += [len(tree.links), *(end for link in tree.links for end in link)]
        return np.array(numbers, dtype=np.int32)

    def unpack(self, packed: npt.NDArray[np.int32], instance: ContentInstance) -> ContentOverlay:
        """See :meth:`.Kind.unpack`."""
        numbers = iter(np.asarray(packed).tolist())
        brokers = [next(numbers) for _ in range(next(numbers))]
        trees = []
        for channel in numbers:
            sources = tuple(next(numbers) for _ in range(next(numbers)))
            links = tuple((next(numbers), next(numbers)) for _ in range(next(numbers)))
            trees.append(RoutingTree(links, None if channel < 0 else channel, sources))
        return ContentOverlay(np.array(brokers, dtype=np.int32), tuple(trees))

    def sample(self, instance: ContentInstance, size: int, seed: int) -> ContentInstance:
        """See :meth:`ContentInstance.sample`."""
        return instance.sample(size, seed)


CONTENT = Content()
