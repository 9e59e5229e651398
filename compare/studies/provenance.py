"""The machine of a run, and the versions of the solvers and libraries."""

from __future__ import annotations

import json
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

_SOLVING = ("numpy", "numba", "scipy", "networkx", "highspy", "ortools", "PuLP", "PySCIPOpt")


@cache
def library_versions() -> str:
    """Python's version and those of the solvers and libraries, as JSON with sorted keys.

    A library that is not installed as a package (it came in an archive without its metadata) is left out.
    """
    found = {"python": platform.python_version()}
    for name in _SOLVING:
        try:
            found[name.lower()] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return json.dumps(found, sort_keys=True)


@cache
def machine() -> str:
    """Processor, cores that may be used, memory (MiB), system and host name, as JSON with sorted keys."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    found = {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": memory,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": platform.node(),
    }
    return json.dumps(found, sort_keys=True)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
