"""The kind ``brokers``: a broker tree with its traffic, answered by soft links and the messages sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..contract.kind import Kind, LoadedInstance
from .dissemination import Dissemination
from .files import FORMAT, labelled_rows, read_brokers, read_dissemination, write_brokers, write_dissemination
from .network import BrokerNetwork


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
