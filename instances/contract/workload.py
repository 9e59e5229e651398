"""Workloads: named families of seeded instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from .errors import BadInput
from .option import Option, Value, complete
from .problem import Instance


@dataclass(frozen=True)
class Workload(Generic[Instance]):
    """A named family of seeded instances.

    Attributes
    ----------
    name, summary, source
        As listed; `source` names paper and section.
    parameters : tuple of Option
        With their defaults.
    build : callable
        Takes the parameters and `seed` as keywords and returns an instance.
    kind : str
        The kind of its instances.
    needs : str
        What it needs of the machine, such as a file of other software; "" for nothing.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.WORKLOADS["zipf"].generate(nodes=20, topics=5, subscriptions=2, seed=1)
    TopicInstance(20 nodes, 5 topics, 40 subscriptions, ...)
    """

    name: str
    summary: str
    source: str
    parameters: tuple[Option, ...]
    build: Callable[..., Instance]
    kind: str = "topics"
    needs: str = ""

    def __repr__(self) -> str:
        return f"Workload({self.name}: {self.summary})"

    def complete(self, given: dict[str, object]) -> dict[str, Value]:
        """All parameters with their values; an unknown one is bad input."""
        return complete(self.parameters, given, f"workload '{self.name}'")

    def generate(self, *, seed: int = 0, **given: object) -> Instance:
        """The instance for a seed (0 … 2^63 − 1) and parameters."""
        if not 0 <= seed < 2**63:
            raise BadInput(f"seed {seed} must lie from 0 to 2^63 - 1")
        return self.build(seed=seed, **self.complete(given))
