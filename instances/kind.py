"""A kind of instance with its answers: how both are read, written, counted and packed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

import numpy as np
import numpy.typing as npt

from .errors import BadInput
from .problem import Answer, Instance


@dataclass(frozen=True)
class LoadedInstance(Generic[Instance]):
    """An instance read from a file, and what its reader should be told (duplicate rows), or ""."""

    instance: Instance
    remark: str = ""


class Kind(ABC, Generic[Instance, Answer]):
    """What the commands, studies and result files need to know of one kind of instance.

    An instance of any kind is immutable and has a ``digest``: text that depends on its content alone, the same on
    every machine.

    Attributes
    ----------
    name : str
        ``topics``, ``content``, …: what problems and workloads name.
    summary : str
        What is given, in one line.
    columns : tuple of str
        The columns of a table of rows that may be named otherwise; empty where no table is read.
    ending : str
        Of the file in which a study keeps an instance.
    sizes : tuple of str
        The names of :meth:`size`, the one that plots run along first.
    measures : tuple of str
        What every problem of the kind says of an answer beside its value.
    shown : tuple of str
        The keys of :meth:`labelled`.
    """

    name: str
    summary: str
    columns: tuple[str, ...] = ()
    ending: str = ".json"
    sizes: tuple[str, ...]
    measures: tuple[str, ...] = ()
    shown: tuple[str, ...]

    @abstractmethod
    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[Instance]:
        """An instance from a file; `columns` maps some of :attr:`columns` to their names there."""

    @abstractmethod
    def write(self, instance: Instance, path: Path) -> None:
        """Write an instance in the format that the name's ending tells; the inverse of :meth:`read`."""

    @abstractmethod
    def size(self, instance: Instance) -> dict[str, int]:
        """How large an instance is, by :attr:`sizes`."""

    @abstractmethod
    def read_answer(self, path: Path, instance: Instance) -> Answer:
        """An answer to an instance from a file."""

    @abstractmethod
    def write_answer(self, answer: Answer, instance: Instance, path: Path) -> None:
        """Write an answer with the labels of its instance; the inverse of :meth:`read_answer`."""

    @abstractmethod
    def labelled(self, answer: Answer, instance: Instance) -> dict[str, object]:
        """An answer by the instance's labels, as JSON shows it: ``{"edges": …}``."""

    @abstractmethod
    def pack(self, answer: Answer) -> npt.NDArray[np.int32]:
        """An answer as one array of shape (k,)."""

    @abstractmethod
    def unpack(self, packed: npt.NDArray[np.int32], instance: Instance) -> Answer:
        """The answer that :meth:`pack` packed."""

    def sample(self, instance: Instance, size: int, seed: int) -> Instance:
        """A seeded sample of `size` nodes (users, …); bad input where the kind has none."""
        raise BadInput(f"instances of the kind '{self.name}' cannot be sampled: leave out sample")
