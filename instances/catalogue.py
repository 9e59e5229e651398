"""Problems, workloads, kinds and methods by name, found in the files that define them and in installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module, metadata
from pkgutil import iter_modules
from typing import Any, Protocol, TypeVar

from .errors import BadInput, unknown
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
    """Items by name, loaded at the first access: the project's own and those that installed packages register.

    Parameters
    ----------
    noun : str
        What an item is called in messages.
    load : callable
        Returns the project's own items.
    group : str
        The entry-point group under which packages register items; "" for none.
    kind : type
        The type of a registered item.
    join : callable, optional
        Combines two items of one name, or raises ValueError. Without it, names must be distinct.
    """

    def __init__(
        self,
        noun: str,
        load: Callable[[], Iterable[Item]],
        *,
        group: str = "",
        kind: type[Any] = object,
        join: Callable[[Item, Item], Item] | None = None,
    ) -> None:
        self._noun, self._load, self._group, self._kind, self._join = noun, load, group, kind, join
        self._errors: dict[str, BadInput] = {}

    @cached_property
    def _items(self) -> dict[str, Item]:
        items: dict[str, Item] = {}
        for item in self._load():
            self._add(item, items)
        entries = metadata.entry_points(group=self._group) if self._group else ()
        for entry in sorted(entries, key=lambda entry: entry.name):
            try:
                registered: Any = entry.load()
                if not isinstance(registered, self._kind):
                    raise TypeError(f"it is a {type(registered).__name__}, not a {self._kind.__name__}")
                self._add(registered, items)
            except Exception as error:
                package = entry.dist.name if entry.dist else entry.value
                self._errors[entry.name] = BadInput(
                    f"package '{package}': its {self._noun} '{entry.name}' cannot be loaded "
                    f"({type(error).__name__}: {error}): correct or uninstall the package"
                )
        return items

    def _add(self, item: Item, items: dict[str, Item]) -> None:
        if items.setdefault(item.name, item) is item:
            return
        if self._join is None:
            raise ValueError(f"there is another {self._noun} '{item.name}'")
        items[item.name] = self._join(items[item.name], item)

    @property
    def errors(self) -> tuple[BadInput, ...]:
        """An error for each registered item that cannot be loaded; all others are in the catalogue."""
        return tuple(self._errors.values()) if len(self) else ()

    def __getitem__(self, name: str) -> Item:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def named(self, name: str) -> Item:
        """The item of that name; an unknown one is bad input that names the nearest."""
        if name in self:
            return self[name]
        raise self._errors.get(name) or unknown(self._noun, name, self)


@cache
def defined_in(package: str, kind: type) -> tuple[Any, ...]:
    """Every object of a type that a file of a package defines, alone or in a tuple, by file and then as defined.

    Subpackages and names that start with an underscore are skipped.
    """
    objects: dict[int, Any] = {}
    for file in iter_modules(import_module(package).__path__, f"{package}."):
        if not file.ispkg:
            public = (value for name, value in vars(import_module(file.name)).items() if not name.startswith("_"))
            for value in public:
                each = value if isinstance(value, tuple) else (value,)
                objects |= {id(item): item for item in each if isinstance(item, kind)}
    return tuple(objects.values())


@cache
def methods_of(package: str) -> tuple[Method[Any, Any], ...]:
    """The methods defined in the files of a package such as ``overlaybench.heuristics.topics``, from fast to slow."""
    return tuple(sorted(defined_in(package, Method), key=lambda method: (method.pace, method.name)))


def _of_all_rooms(kind: type) -> Iterator[Any]:
    for room in ROOMS:
        yield from defined_in(f"{__package__}.{room}", kind)


PROBLEMS: Catalogue[Problem[Any, Any]] = Catalogue("problem", lambda: _of_all_rooms(Problem))
KINDS: Catalogue[Kind[Any, Any]] = Catalogue("kind", lambda: _of_all_rooms(Kind))
WORKLOADS: Catalogue[Workload[Any]] = Catalogue(
    "workload", lambda: _of_all_rooms(Workload), group="overlaybench.workloads", kind=Workload
)
