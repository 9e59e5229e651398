"""Objects of other people's modules, named as ``module:NAME``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from .errors import BadInput, unknown

_FORM = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")
_beside: ContextVar[Path | None] = ContextVar("beside", default=None)


@contextmanager
def modules_beside(folder: Path) -> Iterator[None]:
    """A context in which modules are also looked for in a folder (that of a study file)."""
    token = _beside.set(folder.resolve())
    try:
        yield
    finally:
        _beside.reset(token)


def object_named(reference: str, noun: str, kind: type) -> object:
    """The object of some type with the name ``module:NAME``; its module is on Python's path or in the current folder.

    The folder where the module is found is appended to Python's path, because it may import others later.

    Parameters
    ----------
    noun : str
        What the object is called in messages.

    Raises
    ------
    BadInput
        If there is no such module or name, the module cannot be imported, or the object has another type.
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
        raise BadInput(f"{noun} '{reference}' is of type {type(found).__name__}, not {kind.__name__}")
    return found


def _module(name: str, what: str) -> ModuleType:
    top = name.partition(".")[0]
    folders = [folder for folder in (_beside.get(), Path.cwd()) if folder is not None]
    holding = next((folder for folder in folders if _holds(folder, top)), None)
    if top in sys.modules:
        _check_loaded(top, what)
    elif holding is not None and find_spec(top) is None:
        sys.path.append(str(holding))
        invalidate_caches()
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            places = ", ".join(map(str, dict.fromkeys(folders)))
            raise BadInput(
                f"{what}: no module '{name}' is in {places} or on Python's path: correct the name, or set PYTHONPATH"
            ) from None
        at = extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__}: {error}"
        raise BadInput(f"{what} cannot be loaded: {at.filename}:{at.lineno}: {raised}") from None


def _holds(folder: Path, top: str) -> bool:
    return (folder / f"{top}.py").is_file() or (folder / top).is_dir()


def _check_loaded(top: str, what: str) -> None:
    """Refuse the module of an earlier study's folder that has the name of one of this study's."""
    folder, file = _beside.get(), getattr(sys.modules[top], "__file__", None)
    if folder is None or file is None or not _holds(folder, top) or "site-packages" in Path(file).parts:
        return
    if not Path(file).resolve().is_relative_to(folder):
        raise BadInput(f"{what}: {file} is loaded under this name already: rename the one in {folder}")
