"""A kind of instance and its answers: reading, writing, sizes and packing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from .errors import BadInput, check_ending
from .files import write_json
from .problem import Answer, Instance
from .terms import said


@dataclass(frozen=True)
class LoadedInstance(Generic[Instance]):
    """An instance read from a file, and the number of rows that repeat an earlier row; each counts once.

    `notes` are lines on what is suspicious in a file. `is_plain` says that the checker of proofs reads the file as it
    is: a format of this package, or a table in CSV or TSV whose labels are taken as they stand.
    """

    instance: Instance
    duplicates: int = 0
    notes: tuple[str, ...] = ()
    is_plain: bool = True

    @property
    def remarks(self) -> tuple[str, ...]:
        """Lines about the file that a user sees before any answer."""
        twice = said(f"{self.duplicates} duplicate (node, topic) rows, each counted once")
        return (*self.notes, *([twice] if self.duplicates else []))


AS_STORED: Mapping[str, Any] = {"as_is": True}


class Kind(ABC, Generic[Instance, Answer]):
    """The operations of the commands, studies and result files on one kind of instance.

    An instance of any kind is immutable and has a ``digest``, a text that depends only on its content.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.KINDS["topics"].size(ob.read({"ann": ["news"], "bob": ["news"]}))
    {'nodes': 2, 'topics': 1, 'subscriptions': 2}
    """

    name: str  # topics, content, …, as problems and workloads refer to it
    summary: str  # one line
    instance_type: type
    answer_type: type
    default_problem: str  # solved where none is named, by its default method
    priced_problem: str = ""  # the one where costs of links are given; "" for none
    format: str = ""  # what the key "format" of a JSON file names, such as topics/1; "" if it has no JSON
    answer_format: str  # the same of a file with an answer
    answer_endings: tuple[str, ...] = ()  # the suffixes of files with an answer that are not JSON
    first_keys: tuple[str, ...] = ()  # with which JSON files of other programs may begin that `read` reads
    endings: tuple[str, ...] = ()  # the suffixes of files that can only be of this kind
    only_read: tuple[str, ...] = ()  # those of other programs' files, which are not written
    columns: tuple[str, ...] = ()  # of a table that may have other names in a file; empty if no table is read
    settings: tuple[str, ...] = ()  # further things to say of how a file is read
    ending: str = ".json"  # the suffix of the file in which a study stores an instance
    example: tuple[str, str] = ("", "")  # a workload and options of the command line for a small instance
    proof_endings: tuple[str, ...] = ()  # of the instance files that the checker of proofs reads; "" if it knows none
    panels: str = ""  # ``module:NAME`` in this package of what draws it, of what a report says of it, and of what
    section: str = ""  # writes a page of answers over time; "" for none
    replay: str = ""
    between: str = ""  # of what makes an instance of an earlier and a later one of topics
    sizes: tuple[str, ...]  # the keys of `size`; the first is the x-axis of plots
    measures: tuple[str, ...] = ()  # the keys of the measures of every problem of the kind
    shown: tuple[str, ...]  # the keys of `labelled`

    @abstractmethod
    def read(self, path: Path, columns: Mapping[str, Any]) -> LoadedInstance[Instance]:
        """Read an instance; `columns` maps some of :attr:`columns` to their names in the file, and of :attr:`settings`.

        :data:`AS_STORED` are the columns of a file that :meth:`write` wrote.
        """

    @abstractmethod
    def write(self, instance: Instance, path: Path) -> None:
        """Write an instance in the format that the suffix determines; the inverse of :meth:`read`."""

    def size(self, instance: Instance) -> dict[str, int]:
        """The sizes of an instance, by :attr:`sizes`."""
        given: Any = instance
        return dict(given.size)

    @abstractmethod
    def read_answer(self, path: Path, instance: Instance) -> Answer:
        """Read an answer to an instance."""

    def write_answer(self, answer: Answer, instance: Instance, path: Path) -> None:
        """Write an answer with the labels of its instance; the inverse of :meth:`read_answer`."""
        self.check_ending(path)
        write_json(path, {"format": self.answer_format, **self.labelled(answer, instance)})

    def check_ending(self, path: Path) -> None:
        """Raise BadInput if answers have no format with the suffix of `path`; a name without suffix is JSON."""
        if path.suffix:
            check_ending(path, (".json", *self.answer_endings))

    @abstractmethod
    def labelled(self, answer: Answer, instance: Instance) -> dict[str, object]:
        """An answer in labels of the instance, as printed in JSON: ``{"edges": …}``."""

    @abstractmethod
    def pack(self, answer: Answer) -> npt.NDArray[np.int32]:
        """An answer as one array of shape (k,)."""

    @abstractmethod
    def unpack(self, packed: npt.NDArray[np.int32], instance: Instance) -> Answer:
        """The inverse of :meth:`pack`."""

    def sample(self, instance: Instance, size: int, seed: int) -> Instance:
        """A seeded sample of `size` nodes (users, …); bad input if the kind has no samples."""
        given: Any = instance
        if not hasattr(given, "sample"):
            raise BadInput(f"instances of the kind '{self.name}' cannot be sampled: leave out sample")
        sample: Instance = given.sample(size, seed)
        return sample
