"""Problems, workloads, kinds and methods by name, found in the files that define them and in installed packages."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from functools import cache, cached_property
from importlib import import_module, invalidate_caches, metadata
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from traceback import walk_tb
from types import ModuleType
from typing import Any, Protocol, TypeVar

from ..runtime.code import assigned_in
from ..runtime.run import setting
from .errors import BadInput, unknown, unknown_ending
from .files import start_of_json, unpacked_name
from .kind import Kind
from .method import Method
from .problem import Problem, family_of
from .workload import Workload

_LAYER = Path(__file__).parents[1]
_FIRST, _SHARED = ("topics", "brokers", "content", "steiner"), ("contract", "runtime")
DOMAINS = (*_FIRST, *sorted({file.parent.name for file in _LAYER.glob("*/__init__.py")}.difference(_FIRST, _SHARED)))
"""The folders of each layer: the core's, and those that are found beside them."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Item = TypeVar("Item", bound=_Named)


class Catalogue(Mapping[str, Item]):
    """Items by name: the project's own, and plug-ins of others. A name loads its own files, a list loads all.

    Installed packages register plug-ins as entry points; any other is named as ``module:NAME``, once, and is known by
    its own name from then on.

    `noun`, `kind`: what an item is called in messages, and its type. `load`: takes a name and returns the project's
    own items of that name (it may return others too), or all for "". `group`: the entry-point group under which
    packages register items; "" for none. `join`, callable, optional: combines two items of one name, or raises
    ValueError. Without it, names must be distinct.
    """

    def __init__(
        self,
        noun: str,
        load: Callable[[str], Iterable[Item]],
        *,
        group: str = "",
        kind: type[Any] = object,
        join: Callable[[Item, Item], Item] | None = None,
    ) -> None:
        self._noun, self._load, self._group, self._kind, self._join = noun, load, group, kind, join
        self._own: dict[str, Item] = {}
        self._variants: dict[str, Item] = {}
        self._errors: dict[str, BadInput] = {}
        self._plug_ins: dict[str, Item] = {}
        self._others: dict[str, Item] = {}
        self._is_searched, self._is_searching, self._lock = not group, False, RLock()

    def _own_named(self, name: str) -> Item | None:
        if name not in self._own:
            found: dict[str, Item] = {}
            for item in self._load(name):
                if item.name == name:
                    self._add(found, item)
            if name in found:  # whole at once: another thread may look up the same name
                self._own.setdefault(name, found[name])
        return self._own.get(name)

    @cached_property
    def _all_own(self) -> dict[str, Item]:
        items: dict[str, Item] = {}
        for item in self._load(""):
            self._add(items, item)
        # An item that was looked up by its name before stays the same object.
        return {name: self._own.setdefault(name, item) for name, item in items.items()}

    def _add(self, items: dict[str, Item], item: Item) -> None:
        if (earlier := items.setdefault(item.name, item)) is not item:
            if self._join is None:
                raise ValueError(f"there is another {self._noun} '{item.name}'")
            items[item.name] = self._join(earlier, item)

    def _know(self, plug_ins: dict[str, Item]) -> None:
        """Know these plug-ins and no others, each combined with the project's own item of its name."""
        others: dict[str, Item] = {}
        for item in plug_ins.values():
            if item.name not in others and (own := self._own_named(item.name)) is not None:
                others[item.name] = own
            self._add(others, item)
        self._plug_ins, self._others = plug_ins, others

    def _search(self) -> None:
        if self._is_searched:
            return
        with self._lock:
            if self._is_searching:  # what is loaded looks something up
                return
            self._is_searching = True
            self._load_entry_points()
            self._is_searched = True

    def _load_entry_points(self) -> None:
        for entry in sorted(metadata.entry_points(group=self._group), key=lambda entry: entry.name):
            try:
                registered: Any = entry.load()
                if not isinstance(registered, self._kind):
                    raise TypeError(f"it is a {type(registered).__name__}, not a {self._kind.__name__}")
                self._know({**self._plug_ins, entry.value: registered})
            except Exception as error:
                package = entry.dist.name if entry.dist else entry.value
                self._errors[entry.name] = BadInput(
                    f"package '{package}': its {self._noun} '{entry.name}' cannot be loaded "
                    f"({type(error).__name__}: {error}): correct or uninstall the package"
                )

    @property
    def errors(self) -> tuple[BadInput, ...]:
        """An error for each registered item that cannot be loaded; all others are in the catalogue."""
        self._search()
        return tuple(self._errors.values())

    @property
    def plug_ins(self) -> Mapping[str, Item]:
        """The plug-ins known so far, by reference (``module:NAME``)."""
        self._search()
        return dict(self._plug_ins)

    def register(self, reference: str, item: Item) -> None:
        """Know a plug-in by its name, instead of an earlier one of the same reference.

        Raises BadInput if its name is that of another item.
        """
        with self._lock:
            if any(item is each for each in self.plug_ins.values()):
                return
            # In a notebook, a cell that is changed and run again replaces its plug-in.
            is_main = reference.startswith("__main__:")
            kept = {
                at: one
                for at, one in self._plug_ins.items()
                if not (is_main and at.startswith("__main__:") and one.name == item.name)
            }
            try:
                self._know({**kept, reference: item})
            except ValueError as error:
                raise BadInput(f"{self._noun} '{reference}': {error}: give it another name") from None

    def __repr__(self) -> str:
        return f"Catalogue({', '.join(self)})"

    def __getitem__(self, name: str) -> Item:
        self._search()
        if (item := self._others.get(name) or self._own_named(name)) is not None:
            return item
        try:
            return self._variant(name)
        except BadInput:
            raise KeyError(name) from None

    def _variant(self, name: str) -> Item:
        """A problem with limits, made at its first use; KeyError for an unknown family, BadInput for other limits."""
        if name not in self._variants:
            family: Any = None if family_of(name) == name else self.get(family_of(name))
            if not isinstance(family, Problem):
                raise KeyError(name)
            if family.limits_by:
                family = self[family.limits_by]
            variant: Any = family.variant(name)
            self._variants[name] = self._variants.setdefault(variant.name, variant)
        return self._variants[name]

    def __iter__(self) -> Iterator[str]:
        self._search()
        return iter({**self._all_own, **self._others})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def named(self, name: str | Item) -> Item:
        """The item of that name, or that a reference ``module:NAME`` leads to; an item itself is returned as it is.

        Raises BadInput if the name is unknown (it suggests the nearest), or the reference or what is given is no such
        item.
        """
        if not isinstance(name, str):
            given: Item = name
            if not isinstance(name, self._kind):
                raise BadInput(f"{name!r:.60} is no {self._noun}: give its name")
            return given
        if name in self:
            return self[name]
        if ":" in name:
            item: Any = object_named(name, self._noun, self._kind)
            self.register(name, item)
            return self[item.name]
        with suppress(KeyError):
            self._variant(name)
        raise self._errors.get(name) or unknown(self._noun, name, self)


@cache
def defined_in(package: str, kind: type, name: str = "") -> tuple[Any, ...]:
    """Every object of a type that a file of a package defines, alone or in a tuple, by file and then as defined.

    Names that are imported or start with an underscore are skipped, and so are subpackages that the package does not
    name as its `FAMILIES`.

    `name`: import only the files that contain this text in double quotes: those that define an item of this name
    do.
    """
    objects: dict[int, Any] = {}
    for module, text in _texts(package).items():
        if not name or f'"{name}"' in text:
            loaded = import_module(module)
            own = assigned_in(Path(str(loaded.__file__)))
            for value in (value for key, value in vars(loaded).items() if key in own and not key.startswith("_")):
                each = value if isinstance(value, tuple) else (value,)
                found = {id(item): item for item in each if isinstance(item, kind)}
                objects |= found
                _HOMES.update(dict.fromkeys(found, module))
    return tuple(objects.values())


_HOMES: dict[int, str] = {}
"""The module that defines an item, by its identity: modules keep their items."""


def home_of(item: object) -> str:
    """The module that defines an item of the project's own; "" for any other."""
    return _HOMES.get(id(item), "")


@cache
def _texts(package: str) -> dict[str, str]:
    whole = import_module(package)
    files = (file for folder in whole.__path__ for file in sorted(Path(folder).glob("*.py")))
    texts = {f"{package}.{file.stem}": file.read_text("utf-8") for file in files if file.stem != "__init__"}
    families = (f"{package}.{family}" for family in getattr(whole, "FAMILIES", ()))
    return texts | {module: text for family in families for module, text in _texts(family).items()}


@cache
def methods_of(package: str, name: str = "") -> tuple[Method[Any, Any], ...]:
    """The methods that files of a package such as ``overlaybench.heuristics.topics`` define, from fast to slow.

    With a name, only the files that contain it are imported (see :func:`defined_in`).
    """
    return tuple(sorted(defined_in(package, Method, name), key=lambda method: (method.pace, method.name)))


def _instances_define(kind: type) -> Callable[[str], Iterator[Any]]:
    layer = __package__.rpartition(".")[0]
    return lambda name: (item for domain in DOMAINS for item in defined_in(f"{layer}.{domain}", kind, name))


PROBLEMS: Catalogue[Problem[Any, Any]] = Catalogue(
    "problem", _instances_define(Problem), group="overlaybench.problems", kind=Problem
)
KINDS: Catalogue[Kind[Any, Any]] = Catalogue("kind", _instances_define(Kind), kind=Kind)
WORKLOADS: Catalogue[Workload[Any]] = Catalogue(
    "workload", _instances_define(Workload), group="overlaybench.workloads", kind=Workload
)


def kind_of(instance: object) -> Kind[Any, Any]:
    """The kind of an instance; anything else is bad input."""
    for base in type(instance).__mro__:
        # The class of a kind's instances stands in a folder of kinds, most often one that has the kind's name.
        package, _, _ = base.__module__.rpartition(".")
        if (folder := package.rpartition(".")[2]) in DOMAINS:
            if (named := KINDS.get(folder)) is not None and named.instance_type is base:
                return named
            kinds: tuple[Kind[Any, Any], ...] = defined_in(package, Kind)
            if found := [kind for kind in kinds if kind.instance_type is base]:
                return found[0]
    raise BadInput(f"an object of type {type(instance).__name__} is no instance: read or generate one")


def kind_of_file(path: Path) -> Kind[Any, Any]:
    """The kind of the instance in a file, by its ending or, for JSON, by its key ``format`` in the first 64 KiB.

    That key also decides between kinds of one ending. JSON of other programs, without a known format, is known by its
    first key. Raises BadInput if the ending or the format is unknown, or the file cannot be read.
    """
    plain = unpacked_name(path)
    if plain.suffix != ".json":
        known = [(ending, kind) for kind in KINDS.values() for ending in (*kind.endings, *kind.only_read)]
        fitting = [(ending, kind) for ending, kind in known if plain.name.endswith(ending)]
        longest = max((len(ending) for ending, _ in fitting), default=0)
        kinds = {kind.name: kind for ending, kind in fitting if len(ending) == longest}
        if kinds:
            first = next(iter(kinds.values()))
            return kinds.get(start_of_json(path)[0].partition("/")[0], first) if len(kinds) > 1 else first
        raise unknown_ending(path, (".json", *dict(known)))
    named, first_key = start_of_json(path)
    kind_named = KINDS.get(named.partition("/")[0])
    if kind_named is not None and kind_named.format == named:
        return kind_named
    if others := [kind for kind in KINDS.values() if first_key in kind.first_keys]:
        return others[0]
    formats = ", ".join(kind.format for kind in KINDS.values() if kind.format)
    found = f"'{named}' is no format of instances" if named else 'no "format" at the top'
    raise BadInput(f"{path}: {found}: give one of {formats}, or name the problem")


_FORM = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")
_beside: ContextVar[Path | None] = ContextVar("beside", default=None)


def modules_beside(folder: Path) -> AbstractContextManager[object]:
    """A context in which modules are also looked for in a folder (that of a study file)."""
    return setting(_beside, folder.resolve())


def object_named(reference: str, noun: str, kind: type) -> object:
    """The object of some type with the name ``module:NAME``; its module is on Python's path or in the current folder.

    The folder where the module is found is appended to Python's path, because it may import others later. Messages call
    the object by a noun; a module or name that does not exist, or an object of another type, is bad input.
    """
    if not _FORM.fullmatch(reference):
        raise BadInput(f"{noun} '{reference}': write it as module:NAME")
    module_name, _, name = reference.partition(":")
    module = _module(module_name, f"{noun} '{reference}'")
    if name not in vars(module):
        known = [other for other, value in vars(module).items() if isinstance(value, kind)]
        raise unknown(f"{noun} of module {module_name}", name, known)
    found = vars(module)[name]
    if not isinstance(found, kind):
        what = "a class" if isinstance(found, type) else f"of type {type(found).__name__}"
        raise BadInput(f"{noun} '{reference}' is {what}: name an object of type {kind.__name__}")
    return found


def _module(name: str, what: str) -> ModuleType:
    top, beside = name.partition(".")[0], _beside.get()
    folders = [folder for folder in (beside, Path.cwd()) if folder is not None]
    holding = next((folder for folder in folders if _holds(folder, top)), None)
    if top not in sys.modules:
        if holding is not None and find_spec(top) is None:
            sys.path.append(str(holding))
            invalidate_caches()
    elif beside is not None and _holds(beside, top):
        # Another study's folder may have a module of this name.
        file = Path(getattr(sys.modules[top], "__file__", None) or beside)
        if "site-packages" not in file.parts and not file.resolve().is_relative_to(beside):
            raise BadInput(f"{what}: {file} is loaded under this name already: rename the one in {beside}")
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            places = ", ".join(map(str, dict.fromkeys(folders)))
            raise BadInput(
                f"{what}: no module '{name}' is in {places} or on Python's path: correct the name, or set PYTHONPATH"
            ) from None
        lines = [
            f"{frame.f_code.co_filename}:{line}"
            for frame, line in walk_tb(error.__traceback__)
            if str(frame.f_globals.get("__name__")).partition(".")[0] == top
        ]
        at = lines[-1] if lines else name  # of a file whose syntax is wrong, the message has the line
        raised = f"{type(error).__name__}: {error}"
        raise BadInput(f"{what} cannot be loaded: {at}: {raised}") from None


def _holds(folder: Path, top: str) -> bool:
    return (folder / f"{top}.py").is_file() or (folder / top).is_dir()
