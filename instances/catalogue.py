"""What can be named: problems, workloads, kinds and methods, found in the files that define them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module, metadata
from pkgutil import iter_modules
from typing import Any, Protocol, TypeVar

from .errors import unknown
from .kind import Kind
from .method import Method
from .problem import Problem
from .workload import Workload

ROOMS = ("topics", "brokers", "content", "steiner")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Item = TypeVar("Item", bound=_Named)


class Catalogue(Mapping[str, Item]):
    """Items by name, loaded when the first of them is asked for.

    Parameters
    ----------
    noun : str
        What an item is called in messages.
    load : callable
        Returns all items; their names differ.
    """

    def __init__(self, noun: str, load: Callable[[], Iterable[Item]]) -> None:
        self._noun = noun
        self._items: Callable[[], dict[str, Item]] = cache(lambda: {item.name: item for item in load()})

    def __getitem__(self, name: str) -> Item:
        return self._items()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())

    def __len__(self) -> int:
        return len(self._items())

    def named(self, name: str) -> Item:
        """The item of that name; an unknown one is bad input that names the nearest."""
        if name not in self:
            raise unknown(self._noun, name, self)
        return self[name]


@cache
def defined_in(package: str, kind: type) -> tuple[Any, ...]:
    """Every object of a type that a file of a package defines, alone or in a tuple, by file and then as defined.

    Files in folders of the package are not looked at, and a name that starts with an underscore is not public.
    """
    found: dict[int, Any] = {}
    for file in iter_modules(import_module(package).__path__, f"{package}."):
        if not file.ispkg:
            public = (value for name, value in vars(import_module(file.name)).items() if not name.startswith("_"))
            for value in public:
                each = value if isinstance(value, tuple) else (value,)
                found |= {id(item): item for item in each if isinstance(item, kind)}
    return tuple(found.values())


@cache
def methods_of(package: str) -> tuple[Method[Any, Any], ...]:
    """The methods defined in the files of a package such as ``overlaybench.heuristics.topics``, from fast to slow."""
    return tuple(sorted(defined_in(package, Method), key=lambda method: (method.pace, method.name)))


def registered(group: str, kind: type) -> Iterator[Any]:
    """What installed packages register under an entry-point group, by name.

    Raises
    ------
    TypeError
        If an entry point is of another type.
    """
    for entry in sorted(metadata.entry_points(group=group), key=lambda entry: entry.name):
        found = entry.load()
        if not isinstance(found, kind):
            raise TypeError(f"entry point {entry.name} of {group} is a {type(found).__name__}, not a {kind.__name__}")
        yield found


def _of_all_rooms(kind: type) -> Iterator[Any]:
    for room in ROOMS:
        yield from defined_in(f"{__package__}.{room}", kind)


PROBLEMS: Catalogue[Problem[Any, Any]] = Catalogue("problem", lambda: _of_all_rooms(Problem))
KINDS: Catalogue[Kind[Any, Any]] = Catalogue("kind", lambda: _of_all_rooms(Kind))
WORKLOADS: Catalogue[Workload[Any]] = Catalogue(
    "workload", lambda: (*_of_all_rooms(Workload), *registered("overlaybench.workloads", Workload))
)
