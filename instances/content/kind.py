"""The kind ``content``: users, brokers and channels; an answer is a broker for each user and routing trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..contract.kind import Kind, LoadedInstance
from .files import FORMAT, read_content, write_content
from .instance import ContentInstance
from .overlay import ContentOverlay, RoutingTree
from .overlay_files import labelled_overlay, read_content_overlay, write_content_overlay


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
