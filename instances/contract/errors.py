"""Errors in user input: one line that names the location and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_FEW = 8
PACKED = (".gz", ".zst", ".zip")
"""The endings of packed files, which every reader unpacks; a .zip holds one file."""


class BadInput(ValueError):
    """Input that cannot be used. The message is one line; the command line exits with status 2.

    Line breaks and lone surrogates, which labels and paths may contain, are escaped.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.generate("zip")
    Traceback (most recent call last):
    overlaybench.instances.contract.errors.BadInput: unknown workload 'zip': did you mean 'zipf'?
    """

    def __init__(self, message: str) -> None:
        shown = (c.encode("unicode_escape").decode() if c.splitlines() == [""] else c for c in message)
        super().__init__(storable("".join(shown)))


def storable(text: str) -> str:
    """A text whose lone surrogates, which no file in UTF-8 can hold, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def not_utf8(where: str, data: bytes | bytearray) -> BadInput:
    """The error for a text that is not UTF-8 and begins with `data`."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return BadInput(f"{where} is UTF-16: save the file as UTF-8 (Excel: CSV UTF-8), or iconv -f UTF-16 -t UTF-8")
    return BadInput(f"{where} is not UTF-8: convert the file")


def unknown_ending(path: Path, known: Iterable[str]) -> BadInput:
    """The error for a file whose suffix says no known format."""
    if str(path) == "-":
        return BadInput("-: standard input has no ending: state its format, as in --format csv")
    ending = "".join(path.suffixes[-2:]) if path.suffix in PACKED else path.suffix
    return BadInput(f"{path}: unknown ending '{ending}': use {', '.join(known)}")


def check_ending(path: Path, known: Iterable[str]) -> None:
    """Raise BadInput unless a path ends with one of the endings `known`: a file of another one is never written."""
    if not path.name.endswith(tuple(known)):
        raise unknown_ending(path, known)


def unknown(kind: str, name: str, known: Iterable[str], *, nearest: int = 1) -> BadInput:
    """The error for a `name` of some `kind` ("option of method 'gm'") that is not `known`.

    It suggests the one that differs by a slip (or as many as `nearest`), or the nearest three.
    """
    from difflib import get_close_matches

    names, (noun, of, owner) = sorted(known), kind.partition(" of ")
    slips = get_close_matches(name, names, n=nearest, cutoff=0.8) or get_close_matches(name, names, n=3, cutoff=0.5)
    if slips:
        hint = "did you mean " + " or ".join(f"'{one}'" for one in slips) + "?"
    elif len(names) <= _FEW:
        hint = f"known: {', '.join(names) or 'none'}"
    else:
        hint = f"of {len(names)} the nearest are {', '.join(get_close_matches(name, names, n=3, cutoff=0.0))}"
    return BadInput(f"unknown {noun} '{name}'{of}{owner}: {hint}")


_EXTRAS = {
    "studies": ("pyspark", "pyarrow", "pandas", "altair", "vl_convert", "jinja2", "markupsafe", "packaging", "simpy"),
    "solvers": ("ortools", "pulp"),
    "figures": ("matplotlib",),
    "hypergraph": ("hypernetx", "xgi"),
}
"""The modules that a small installation lacks, by the extra that brings them."""


def missing_extra(error: ModuleNotFoundError) -> Exception:
    """The bad input that names the extra which brings a missing module; the error itself for any other module."""
    module = (error.name or "").partition(".")[0]
    extra = next((name for name, modules in _EXTRAS.items() if module in modules), "")
    fix = f"install it by pip install 'overlaybench[{extra}]'"
    return BadInput(f"this needs {module}, which is not installed: {fix}") if extra else error
