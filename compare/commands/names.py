"""Parameters that are names of methods, problems, workloads or claims, which a shell completes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem


class Name(click.ParamType[str]):
    """A name, as it is given; shells complete those that are known, in half a second.

    Parameters
    ----------
    *nouns : {"methods", "problems", "workloads", "kinds", "claims", "instances"}
        What it may be the name of.
    words : tuple of str
        Further words that it may be.
    """

    name = "name"

    def __init__(self, *nouns: str, words: tuple[str, ...] = ()) -> None:
        self._nouns, self._words = nouns, words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The known names that start with what is typed; methods are those that answer the problem, where it is given.

        Colons are not completed: they separate words in some shells.
        """
        problem = ctx.params.get("problem") if param.name != "problem" else None
        known = dict.fromkeys(self._words, "")
        for noun in self._nouns:
            known |= dict(_known(noun, problem))
        return [CompletionItem(name, help=text) for name, text in known.items() if name.startswith(incomplete)]


def _known(noun: str, problem: str | None) -> Iterator[tuple[str, str]]:
    if noun == "claims":
        yield from _claims().items()
        return
    if noun == "instances":
        from ..library.table import read_table

        yield from ((entry.name, entry.sizes) for entry in read_table().entries.values())
        return
    from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
    from ..catalogue import METHODS

    if noun == "methods":
        answering = (each for each in METHODS.values() if problem is None or each.answers(problem))
        yield from ((method.name, method.summary) for method in answering)
        return
    catalogues: Mapping[str, Mapping[str, Any]] = {"problems": PROBLEMS, "workloads": WORKLOADS, "kinds": KINDS}
    for item in catalogues[noun].values():
        yield item.name, item.summary


def _claims() -> Mapping[str, str]:
    """The claims on record: to load the claims themselves takes seconds."""
    from ..claims.register import RECORD

    return {outcome["id"]: "" for outcome in json.loads(RECORD.read_text(encoding="utf-8"))}


METHOD, PROBLEM_NAME, WORKLOAD = Name("methods"), Name("problems"), Name("workloads")
CLAIM, LIBRARY_INSTANCE = Name("claims"), Name("instances")
ANY_NAME = Name(
    "methods",
    "problems",
    "workloads",
    "kinds",
    "claims",
    words=("problems", "methods", "workloads", "kinds", "claims", "all"),
)
