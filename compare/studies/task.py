"""One run to be done: an instance, a problem, a method with its options, a seed, and its limits."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from ...instances.option import Value
from ..catalogue import EQUAL_VERSIONS, METHODS, own_part


@dataclass(frozen=True, slots=True)
class Task:
    """A run, keyed by everything that decides its result.

    Attributes
    ----------
    instance : str
        The digest of the instance.
    recipe, family : str
        How the instance is generated (JSON), and the group it belongs to.
    options : str
        All options of the method, defaults included, as JSON with sorted keys.
    time_limit : float
        Seconds for the method.
    memory_limit : int
        MiB for the solver process and its children.
    """

    instance: str
    recipe: str
    family: str
    problem: str
    method: str
    options: str
    seed: int
    time_limit: float
    memory_limit: int
    code_version: str

    @property
    def key(self) -> str:
        """32 hexadecimal digits: the same task has the same key on every machine."""
        parts = asdict(self)
        del parts["recipe"], parts["family"]
        return derived(*(str(parts[name]) for name in sorted(parts)))

    @property
    def earlier_keys(self) -> list[str]:
        """The keys of the same task under the code versions that give equal answers."""
        plug_ins = self.code_version.removeprefix(own_part(self.code_version))
        return [replace(self, code_version=version + plug_ins).key for version in EQUAL_VERSIONS]

    @property
    def exact(self) -> bool:
        """Whether the method proves optimality when given time."""
        return METHODS[self.method].exact

    @property
    def variant(self) -> str:
        """The method with the options that differ from its defaults: ``low-oda k=8``."""
        defaults = METHODS[self.method].complete({}, self.problem)
        chosen = {k: v for k, v in json.loads(self.options).items() if defaults[k] != v}
        return " ".join([self.method, *(f"{name}={value}" for name, value in chosen.items())])


def plain_variant(name: str) -> str:
    """A variant's name with whole numbers as a study file has them: ``low-oda k=8`` for ``low-oda k=8.0``."""
    return re.sub(r"(=-?\d+)\.0(?= |$)", r"\1", name)


def is_key(text: str) -> bool:
    """Whether a text has the form of a task's key."""
    return re.fullmatch(r"[0-9a-f]{32}", text) is not None


def options_json(options: Mapping[str, Value]) -> str:
    """Options as the JSON text that keys and rows use."""
    return json.dumps(dict(sorted(options.items())), ensure_ascii=False)


def derived(*parts: str) -> str:
    """32 hexadecimal digits that depend on every part."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def derived_seed(*parts: str) -> int:
    """A seed below 2^31 (the range every solver takes) that depends on every part."""
    return int(derived(*parts)[:8], 16) % 2**31
