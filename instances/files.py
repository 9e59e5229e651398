"""Files that are written whole or not at all, and read with errors that name them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from instances.errors import BadInput


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step.

    Raises
    ------
    BadInput
        If the folder is missing or cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}): choose another place") from None
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}): choose another place") from None
    finally:
        temporary.unlink(missing_ok=True)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file; a missing or unreadable one is bad input."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8: convert the file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}): check the path") from None
