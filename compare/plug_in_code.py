"""The code behind plug-ins: the files of their modules, and a digest of those that a notebook defines."""

from __future__ import annotations

import ast
import hashlib
import inspect
import marshal
import pickle
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from ..instances.runtime.code import OURS, digest_of, is_local, locations, syntax
from ..instances.runtime.compiled import names_in

_SHOWN = ("summary", "source", "guarantee", "cost", "pace")
_NAMED = (FunctionType, type, ModuleType)
_WRAPPED = ("py_func", "__wrapped__", "__func__", "fget")
_NO_CODE = ("__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__firstlineno__", "__annotations__")


def digest_of_main(plug_ins: Mapping[str, Any]) -> str:
    """A digest (12 hexadecimal digits) of plug-ins, by reference, that were defined in ``__main__`` (a notebook).

    It is of the syntax of their functions and the constants of all that they refer to there, and of the modules of the
    user that they name.
    """
    parts = [part for _, item in sorted(plug_ins.items(), key=lambda pair: pair[0]) for part in _parts(item, {})]
    modules = {name for reference, item in plug_ins.items() for name in _modules(reference, item)}
    return hashlib.sha256("\n".join([*parts, digest_of(modules)]).encode()).hexdigest()[:12]


def plug_in_files(plug_ins: Mapping[str, Any]) -> dict[str, Path]:
    """The files that plug-ins need, by their path below a folder on Python's path.

    These are all files of each one's module or package, and of the modules that those import, as far as they are
    neither installed nor Python's own.
    """
    found: dict[str, Path] = {}
    waiting = {name for reference, item in plug_ins.items() for name in _modules(reference, item)}
    seen: set[str] = set()
    while waiting - seen:
        seen.add(top := min(waiting - seen))
        files = dict(_files(top))
        found |= files
        imported = {name for file in files.values() if file.suffix == ".py" for name in _imports(file)}
        waiting |= {name for name in imported - seen if is_local(name)}
    return dict(sorted(found.items()))


def _modules(reference: str, item: Any) -> Iterator[str]:
    if not reference.startswith("__main__:"):
        yield from filter(is_local, [reference.partition(":")[0].partition(".")[0]])
        return
    referred: dict[int, Any] = {}
    list(_parts(item, referred))
    names = {
        value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
        for value in referred.values()
    }
    yield from (top for name in sorted(names) if is_local(top := name.partition(".")[0]))


def _files(top: str) -> Iterator[tuple[str, Path]]:
    for folder, file in locations(top):
        if file is not None:
            yield file.name, file
        else:
            for path in sorted(folder.rglob("*")):
                name = path.relative_to(folder.parent)
                hidden = any(part.startswith(".") or part == "__pycache__" for part in name.parts)
                if path.is_file() and not hidden:
                    yield name.as_posix(), path


def _imports(file: Path) -> Iterator[str]:
    """The top-level names of all absolute imports in a file, wherever in it."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def _parts(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Texts that together determine an object of ``__main__``; `seen` gains what it refers to, by identity."""
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple | set | frozenset):
        parts = [part for each in value for part in _parts(each, seen)]
        yield from sorted(parts) if isinstance(value, set | frozenset) else parts
    elif isinstance(value, bool | int | float | complex | str | bytes | None):
        yield repr(value)
    elif id(value) not in seen:
        seen[id(value)] = value
        yield from _parts_of_object(value, seen)


def _parts_of_object(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    if not isinstance(value, _NAMED):  # behind numba's and functools' wrappers, and those of classes
        value = next((getattr(value, name) for name in _WRAPPED if hasattr(value, name)), value)
    is_ours = getattr(value, "__module__", "") == "__main__"
    if isinstance(value, (*_NAMED, BuiltinFunctionType)):
        yield f"{getattr(value, '__module__', '')}.{value.__name__}"
    if isinstance(value, FunctionType) and is_ours:
        yield _source(value)
        named = sorted({*names_in(value.__code__)} & value.__globals__.keys())
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        yield from _parts((cells, [(name, value.__globals__[name]) for name in named]), seen)
    elif isinstance(value, type) and is_ours:
        body = {name: each for name, each in vars(value).items() if name not in _NO_CODE}
        yield from _parts((value.__bases__, body), seen)
    elif is_dataclass(value) and not isinstance(value, type):
        shown = _SHOWN if type(value).__module__.startswith(f"{OURS}.") else ()
        yield from _parts([type(value), *(getattr(value, f.name) for f in fields(value) if f.name not in shown)], seen)
    elif type(value).__module__ == "__main__":
        yield from _parts((type(value), getattr(value, "__dict__", {})), seen)
    elif not isinstance(value, (*_NAMED, BuiltinFunctionType)):
        yield type(value).__qualname__
        with suppress(Exception):  # some objects cannot be pickled, for many reasons
            yield hashlib.sha256(pickle.dumps(value)).hexdigest()


def _source(function: FunctionType) -> str:
    try:
        return syntax(inspect.getsource(function))
    except (OSError, TypeError):  # as of code that Python reads from its standard input
        return marshal.dumps(function.__code__, 2).hex()
