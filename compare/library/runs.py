"""A study over the library: its text, which any study file could have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ...instances.contract.errors import BadInput
from ...instances.contract.option import Value
from ..catalogue import method_named
from ..studies.task import writes_proofs
from .table import Entry, Table


def chosen(
    table: Table,
    *,
    names: Sequence[str] = (),
    groups: Sequence[str] = (),
    problems: Sequence[str] = (),
    only_open: bool = False,
) -> list[tuple[Entry, str]]:
    """The pairs of an entry and a problem with these names, groups and problems, all of them where none is given.

    Raises
    ------
    BadInput
        If a name or a group is unknown, or nothing is left.
    """
    for name in names:
        table.entry(name)
    if unknown_groups := set(groups) - {entry.group for entry in table.entries.values()}:
        known = ", ".join(dict.fromkeys(entry.group for entry in table.entries.values()))
        raise BadInput(f"no group '{min(unknown_groups)}' in the library: there are {known}")
    pairs = [
        (entry, problem)
        for entry, problem in table.pairs()
        if (not names or entry.name in names)
        and (not groups or entry.group in groups)
        and (not problems or problem in problems)
        and (not only_open or table.known(entry.name, problem).is_open)
    ]
    if not pairs:
        raise BadInput("the library has no such instances: see `overlaybench library list`")
    return pairs


def present(pairs: Iterable[tuple[Entry, str]]) -> tuple[list[tuple[Entry, str]], list[str]]:
    """The pairs whose instance can be made here, and a sentence for each instance that cannot.

    Only instances that need data of others are tried; the executors make all others.
    """
    reasons: dict[str, str] = {}
    kept = []
    for entry, problem in pairs:
        if entry.name not in reasons:
            reasons[entry.name] = _why_absent(entry)
        if not reasons[entry.name]:
            kept.append((entry, problem))
    return kept, [reason for reason in reasons.values() if reason]


def _why_absent(entry: Entry) -> str:
    if not entry.needs:
        return ""
    try:
        entry.make()
    except BadInput as error:
        return str(error)
    return ""


def study_text(
    pairs: Sequence[tuple[Entry, str]], methods: Sequence[str], *, time_limit: float, memory_limit: int, proof: bool
) -> str:
    """The study (TOML) of methods on instances of the library, each on the problems that it answers.

    Parameters
    ----------
    methods : sequence of str
        Names, with options after spaces: ``low-oda k=8``.
    proof : bool
        Whether methods that can write proofs do.

    Raises
    ------
    BadInput
        If a method is unknown or answers none of the problems.
    """
    variants = [_variant(text) for text in methods]
    lines = [
        "# Written by `overlaybench library run`.",
        'name = "library"',
        f"time_limit = {time_limit:g}",
        f"memory_limit = {memory_limit}",
    ]
    for entry in dict.fromkeys(entry for entry, _ in pairs):
        lines += ["", "[[instances]]", f"family = {_toml(entry.group)}", f"workload = {_toml(entry.workload)}"]
        lines += [f"{name} = {_toml(value)}" for name, value in entry.complete.items()]
        lines.append(f"seeds = [{entry.seed}]")
    used: set[str] = set()
    for problem in dict.fromkeys(problem for _, problem in pairs):
        answering = [(name, options) for name, options in variants if method_named(name).answers(problem)]
        used |= {name for name, _ in answering}
        if answering:
            families = dict.fromkeys(entry.group for entry, each in pairs if each == problem)
            listed = ", ".join(_method(name, options) for name, options in answering)
            lines += ["", "[[runs]]", f"problems = [{_toml(problem)}]", f"methods = [{listed}]"]
            lines.append(f"families = [{', '.join(map(_toml, families))}]")
            if proof and any(writes_proofs(name, problem) for name, _ in answering):
                lines.append("proof = true")
    if unused := [name for name, _ in variants if name not in used]:
        raise BadInput(f"method '{unused[0]}' answers none of the problems of these instances: leave it out")
    return "\n".join([*lines, ""])


def _variant(text: str) -> tuple[str, Mapping[str, str]]:
    name, *words = text.split()
    method, options = method_named(name), {}
    for word in words:
        option, sign, value = word.partition("=")
        if not sign:
            raise BadInput(f"method '{text}': options are name=value after the method's name, not '{word}'")
        options[option] = value
    return method.name, options


def _method(name: str, options: Mapping[str, str]) -> str:
    given = "".join(f", {option} = {_toml(value)}" for option, value in options.items())
    return f"{{ method = {_toml(name)}{given} }}"


def _toml(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)
