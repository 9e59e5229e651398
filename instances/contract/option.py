"""Named parameters of methods and workloads, read from text or TOML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .errors import BadInput, unknown

Value = bool | int | float | str

_KINDS: Mapping[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}


@dataclass(frozen=True)
class Option:
    """A parameter of the type of its default.

    Parameters
    ----------
    name, default, summary
        As shown by ``overlaybench list``.
    choices : tuple of str, or a function without arguments that returns one
        The only values allowed, for a str; a function is called at the first use.
    least, most : float
        The range allowed, for a number.
    unkeyed : bool
        Whether a run at the default is the same run as one of a method without the option, with the same key and seed:
        threads that change no answer, a simulation beside it.
    needs : str
        ``name=value`` of another option without which it must stay at its default; "" for none.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.Option("k", 3, "how often a node may be chosen", least=1).parse("5")
    5
    """

    name: str
    default: Value
    summary: str
    choices: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    least: float = -math.inf
    most: float = math.inf
    unkeyed: bool = False
    needs: str = ""

    @property
    def allowed(self) -> tuple[str, ...]:
        """The only values allowed, for a str; empty if all are."""
        return self.choices() if callable(self.choices) else self.choices

    def parse(self, value: object) -> Value:
        """The value in the type of the option; BadInput for a value of another type or out of range."""
        expected = type(self.default)
        try:
            if expected is bool:
                parsed: Value = {"true": True, "false": False}[str(value).lower()]
            elif isinstance(value, bool):
                raise ValueError
            elif expected is int:
                parsed = int(str(value))
            else:
                parsed = float(str(value)) if expected is float else str(value)
        except (ValueError, KeyError):
            raise BadInput(f"option '{self.name}' takes {_KINDS[expected]}, not '{value}'") from None
        if (allowed := self.allowed) and parsed not in allowed:
            raise unknown(f"value of option '{self.name}'", str(parsed), allowed)
        if not isinstance(parsed, str) and not self.least <= parsed <= self.most:
            raise BadInput(f"option '{self.name}' must {self._range()}, not {parsed}")
        return parsed

    def _range(self) -> str:
        least, most = (f"{limit:.12g}" for limit in (self.least, self.most))
        if math.isinf(self.most):
            return "be a number" if math.isinf(self.least) else f"be at least {least}"
        return f"be at most {most}" if math.isinf(self.least) else f"lie from {least} to {most}"


def complete(options: Iterable[Option], given: Mapping[str, object], owner: str) -> dict[str, Value]:
    """The value of each option, or its default.

    Raises BadInput for a name that is no option of the `owner`, or an option without the option that it needs.
    """
    known = {option.name: option for option in options}
    for name in given:
        if name not in known:
            raise unknown(f"option of {owner}", name, known)
    values = {name: option.parse(given.get(name, option.default)) for name, option in known.items()}
    for name, option in known.items():
        other, _, wanted = option.needs.partition("=")
        if other and values[name] != option.default and values[other] != wanted:
            raise BadInput(f"option '{name}' of {owner} needs {option.needs}: add it")
    return values


def keyed(options: Iterable[Option], values: Mapping[str, Value]) -> dict[str, Value]:
    """The values that are part of a run's key: all but those of `unkeyed` options at their defaults."""
    silent = {option.name for option in options if option.unkeyed and values[option.name] == option.default}
    return {name: value for name, value in values.items() if name not in silent}
