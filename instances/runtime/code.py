"""The code that an answer depends on: the syntax of modules and their imports, without docstrings and comments.

One digest tells runs, verdicts and plug-ins of different code apart. A comment, a docstring, or a change of a module
that is not imported leaves it as it is.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

OURS = __name__.partition(".")[0]
ROOT = Path(__file__).resolve().parents[2]
_OMITTED = ("ctx", "kind", "type_comment", "lineno", "col_offset", "end_lineno", "end_col_offset")
_PACKAGE = re.compile(rf"{OURS}(\.\w+)+")


def digest_of(modules: Iterable[str], root: Path = ROOT) -> str:
    """A digest (12 hexadecimal digits) of the syntax of modules and of their :func:`closure`."""
    sha = hashlib.sha256()
    for name, file in closure(modules, root).items():
        sha.update(f"{name}\n{_scanned(file).digest}\n".encode())
    return sha.hexdigest()[:12]


def closure(modules: Iterable[str], root: Path = ROOT) -> dict[str, Path]:
    """The files of modules and of all that these import anywhere in them, by module name.

    Python's own and installed modules are left out, and what only type checkers import. A package of ours whose name
    stands in a text, as for :func:`.methods_of`, is imported with all modules in it. `root` is the folder of our
    package.
    """
    found: dict[str, Path] = {}
    waiting = [*modules]
    while waiting:
        name = waiting.pop()
        if name not in found and (file := _file_of(name, root)) is not None:
            found[name] = file
            waiting += _imported(name, file, root)
    return dict(sorted(found.items()))


def syntax(source: str | bytes) -> str:
    """A digest of the syntax of Python code; of its bytes if that is not valid by itself, as of a lambda's line."""
    text = dedent(source if isinstance(source, str) else source.decode())
    try:
        return _normal(ast.parse(text)).digest
    except SyntaxError:
        return hashlib.sha256(text.encode()).hexdigest()


def assigned_in(file: Path) -> frozenset[str]:
    """The names that the top level of a file defines, without imported names."""
    return frozenset(name for each in ast.parse(file.read_bytes()).body for name in _defined(each))


class _Syntax(NamedTuple):
    digest: str
    imports: tuple[tuple[int, str, str], ...]  # level, module and name, as in ``from ..module import name``
    named: tuple[str, ...]  # packages of ours that stand in a text


def _scanned(file: Path) -> _Syntax:
    state = file.stat()
    return _scan(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4096)
def _scan(file: Path, changed: int, size: int) -> _Syntax:
    return _normal(ast.parse(file.read_bytes()))


def _normal(tree: ast.Module) -> _Syntax:
    parts: list[str] = []
    imports: list[tuple[int, str, str]] = []
    named: dict[str, None] = {}
    roots: set[str] = set()
    _walk(tree, parts, imports, named, roots)
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()
    return _Syntax(digest, tuple(imports), tuple(named))


def _walk(
    node: Any, parts: list[str], imports: list[tuple[int, str, str]], named: dict[str, None], roots: set[str]
) -> None:
    """List the parts of a tree in order, without texts that are statements of their own, such as docstrings."""
    if isinstance(node, list):
        parts.append("[")
        for each in node:
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):
                _walk(each, parts, imports, named, roots)
        parts.append("]")
        return
    if not isinstance(node, ast.AST):
        parts.append(repr(node))
        if isinstance(node, str) and _PACKAGE.fullmatch(node):
            named[node] = None
        return
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        _walk(node.orelse, parts, imports, named, roots)
        return
    if isinstance(node, ast.Import):
        imports += [(0, alias.name, "") for alias in node.names]
        roots |= {alias.asname or alias.name for alias in node.names if alias.name == OURS}
    elif isinstance(node, ast.ImportFrom):
        imports += [(node.level, node.module or "", alias.name) for alias in node.names]
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in roots:
        imports.append((0, OURS, node.attr))
    parts.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if name not in _OMITTED and value is not None and value != []:
            parts.append(name)
            _walk(value, parts, imports, named, roots)


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    for target in statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]:
        yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name)) if target is not None else ()


def _imported(name: str, file: Path, root: Path) -> Iterator[str]:
    """The modules that a module imports, and packages above them, as far as they may have files here."""
    own, scanned = name.split("."), _scanned(file)
    package = own if file.stem == "__init__" else own[:-1]
    for level, module, member in scanned.imports:
        base = [*package[: len(package) - level + 1], *filter(None, [module])] if level else [module]
        found = ".".join(base)
        if found == OURS:  # which of ours only `plot` asks, for a drawing
            yield from () if own[0] == OURS else [public_names(root).get(member, f"{OURS}.{member}")]
            continue
        yield found
        if member:
            yield f"{found}.{member}"
    for named in scanned.named:
        yield named
        folder = root.joinpath(*named.split(".")[1:])
        inside = (file.relative_to(root).with_suffix("") for file in sorted(folder.rglob("*.py")))
        yield from (".".join([OURS, *each.parts]) for each in inside)
    if own[0] != OURS:  # whose packages compute nothing
        yield from (".".join(own[:depth]) for depth in range(1, len(own)))


def public_names(root: Path = ROOT) -> Mapping[str, str]:
    """The module of each name of ``import overlaybench as ob``."""
    stub = root / "__init__.pyi"
    return _public_names(stub, stub.stat().st_mtime_ns) if stub.is_file() else {}


@lru_cache(maxsize=8)
def _public_names(stub: Path, changed: int) -> Mapping[str, str]:
    lines = re.findall(r"^from \.([\w.]+) import (\w+) as", stub.read_text("utf-8"), re.MULTILINE)
    return {name: f"{OURS}.{module}" for module, name in lines}


def _file_of(module: str, root: Path) -> Path | None:
    """The file of a module of ours or of the user's own; None for any other, and for what is no module."""
    top, *below = module.split(".")
    if top == OURS:
        bases = [root]
    elif is_local(top):
        folder, file = locations(top)[0]
        if file is not None:
            return None if below else file
        bases = [folder]
    else:
        return None
    for path in (base.joinpath(*below) for base in bases):
        if below and (file := path.with_suffix(".py")).is_file():
            return file
        if (file := path / "__init__.py").is_file() and top != OURS:
            return file
    return None


def locations(top: str) -> list[tuple[Path, Path | None]]:
    """Where a top-level module is: the folders of a package (and None), or a file and its folder."""
    spec = None
    with suppress(ValueError, ImportError):
        spec = find_spec(top)
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [(Path(folder), None) for folder in spec.submodule_search_locations]
    return [(Path(spec.origin).parent, Path(spec.origin))] if spec.has_location and spec.origin else []


def is_local(top: str) -> bool:
    """Whether a top-level module is a user's own: not Python's, not ours, and not in a folder of installed packages."""
    if top in sys.stdlib_module_names or top in (OURS, "__main__", ""):
        return False
    roots = [folder if file is not None else folder.parent for folder, file in locations(top)]
    return bool(roots) and not any(_is_of_packages(root) for root in roots)


@cache
def _is_of_packages(folder: Path) -> bool:
    return folder.name in ("site-packages", "dist-packages") or any(folder.glob("*.dist-info"))
