"""The command ``list``, and what is known of a method, workload, problem, kind or claim, also for the documentation."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, object_named
from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.kind import Kind
from ...instances.contract.method import Method
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ...instances.contract.workload import Workload
from ..catalogue import METHODS, named_part
from .options import ANY_NAME, remark, show, table

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDE = 100_000
"""A list has every column in a pipe."""


@click.command("list")
@click.argument("what", default="", metavar="[WHAT]", type=ANY_NAME)
def list_(what: str) -> None:
    """List methods, problems, workloads, kinds or claims, or explain one.

    WHAT is one of these words, "all", or the name of a method, problem, workload, kind of instances or claim. Without
    WHAT, the names of all are printed on one screen.
    """
    if what in ("", *LISTS, "all"):
        if what:
            show(*(part for name in LISTS if what in (name, "all") for part in _listed(name)))
        else:
            click.echo("\n".join(_index()))
        for name, catalogue in (("methods", METHODS), ("workloads", WORKLOADS)):
            if what in ("", name, "all"):
                remark(*map(str, catalogue.errors))
        each = "" if what else "`overlaybench list methods` describes each in a line, "
        remark(f"{each}`overlaybench list NAME` explains any of these")
    else:
        show(*_explained(what))


def _index() -> Iterator[str]:
    """The lines of an index: the names of each list by kind of instances, and how many claims each paper has."""
    width = min(80, get_terminal_size().columns)
    for name in ("problems", "methods", "workloads"):
        by_kind: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        for one in (each for entry in LISTS[name][0]() for each in explain(entry)):
            problems = [PROBLEMS[of] for of in one.facts.get("answers", "").split(", ") if of in PROBLEMS]
            for kind in {of.kind for of in problems} if name == "methods" else (one.facts["instances"],):
                by_kind[kind][one.name] = f"{one.name}*" if one.noun.startswith("exact") else one.name
        yield f"{name.capitalize()} by kind of instances{' (* exact)' if name == 'methods' else ''}"
        for kind, names in by_kind.items():
            line = f"  {kind:9}{', '.join(names.values())}"
            yield from wrap(line, width, subsequent_indent=" " * 11, break_on_hyphens=False)
    papers = Counter(id_.partition(".")[0] for id_ in _of_claims("statements:statements")())
    yield f"Claims: {', '.join(f'{number} of {paper}' for paper, number in papers.items())}"


def _of_claims(name: str) -> Any:
    """A part of the annex of claims, which take seconds to load, as ``module:NAME``."""
    return named_part(f"compare.claims.{name}")


LISTS: Mapping[str, tuple[Callable[[], Iterable[object]], tuple[str, ...], tuple[str, ...]]] = {
    "problems": (PROBLEMS.values, ("instances",), ("source",)),
    "methods": (METHODS.values, (), ("answers", "options", "source")),
    "workloads": (WORKLOADS.values, ("instances",), ("options", "source")),
    "kinds": (KINDS.values, ("default problem",), ("sizes", "measures")),
    "claims": (lambda: _of_claims("register:CLAIMS").values(), ("verdict",), ("place",)),
}
"""What each list has: its entries, the facts that it shows, and those that it shows where there is room."""


def _listed(name: str, problem: str = "", kind: str = "") -> Iterator[RenderableType]:
    """The table of a list, or of those of its entries that answer a problem or are of a kind; methods by problems."""
    entries, facts, if_room = LISTS[name]
    groups: dict[str, list[Mapping[str, str]]] = {}
    for one in (each for entry in entries() for each in explain(entry)):
        answers, of_kind = one.facts.get("answers", ""), one.facts.get("instances", "")
        if (not problem or problem in answers.split(", ")) and kind in ("", of_kind):
            row = {name[:-1]: f"{one.name} (exact)" if one.noun.startswith("exact") else one.name}
            row |= {"what it is": one.summary, **{about: one.facts.get(about, "") for about in (*facts, *if_room)}}
            if "options" in row:
                row["options"] = " ".join(f"{option.name}={option.default}" for option in one.options)
            groups.setdefault(problem or answers, []).append(row)
    for group, rows in groups.items():
        yield table(f"{name.capitalize()}{f' for {group}' if group else ''}", rows, if_room, pipe=_WIDE)


def _explained(name: str) -> Iterator[RenderableType]:
    """What the name stands for; for a problem also what answers it."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    found = explanations(name)
    if not found:
        known = [*LISTS, "all", *PROBLEMS, *KINDS, *METHODS, *WORKLOADS, *_of_claims("register:CLAIMS")]
        raise unknown("name", name, known)
    for one in found:
        yield Text.assemble((one.name, "bold"), f" ({one.noun}): {one.summary}")
        facts = Table.grid(padding=(0, 2))
        for about, text in one.facts.items():
            if text:
                facts.add_row(Text(about), Text(with_papers(text) if about == "source" else text))
        yield Padding(facts, (1, 0, 0, 2))
        if one.options:
            words = "Parameters" if one.noun == "workload" else "Options"
            rows = (
                {"name": each.name, "default": str(each.default), "values": values_of(each), "meaning": each.summary}
                for each in one.options
            )
            yield table(f"\n{words}", rows, pipe=_WIDE)
        if one.examples:
            yield Text("\nExample" if len(one.examples) == 1 else "\nExamples", style="bold")
            lines = "\n".join(f"  {line}" for line in one.examples)
            yield Text(f"{lines}\n", no_wrap=True, overflow="ignore")
    if name in PROBLEMS:
        yield from (*_listed("methods", problem=name), *_listed("workloads", kind=PROBLEMS[name].kind))


@dataclass(frozen=True)
class Explanation:
    """An entry of a catalogue in words: its facts, "" for none, and command lines that work one by one."""

    name: str
    noun: str
    summary: str
    facts: Mapping[str, str]
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()


def explanations(name: str) -> list[Explanation]:
    """All that has this name, which may be ``module:NAME``; empty if nothing has it.

    A method of several kinds of problems has one explanation for each.
    """
    if ":" in name:
        return [_with_reference(one, name) for one in explain(object_named(name, "plug-in", object))]
    found = [
        one
        for catalogue in (PROBLEMS, KINDS, METHODS, WORKLOADS)
        if name in catalogue
        for one in explain(catalogue[name])
    ]
    if not found and re.match(r"[A-Z]\w*\.", name):
        claims = _of_claims("register:CLAIMS")
        found += explain(claims[name]) if name in claims else []
    return found


def _with_reference(explanation: Explanation, reference: str) -> Explanation:
    """The explanation with examples that name a plug-in by its reference."""
    own_name = rf"(?<= ){re.escape(explanation.name)}(?= |$)"
    return replace(explanation, examples=tuple(re.sub(own_name, reference, line) for line in explanation.examples))


def explain(item: object) -> list[Explanation]:
    """Explain an entry of a catalogue, a method by its members; anything else is bad input."""
    if isinstance(item, Method):
        return [_method(one) for one in item.members or (item,)]
    for kind, explained in _EXPLAINED.items():
        if isinstance(item, kind):
            return [explained(item)]
    if isinstance(item, _of_claims("claim:Claim")):
        return [_of_claims("pages:explained")(item)]
    raise BadInput(f"an object of type {type(item).__name__} is no method, workload, problem or claim: name one")


def _method(one: Method[Any, Any]) -> Explanation:
    problem, seed = PROBLEMS.get(one.problems[0]), "changes the answer"
    if not one.random:
        has_ties = any(option.name == "ties" for option in one.options)
        seed = "changes the answer with ties=random only" if has_ties else ""
    facts = {
        "answers": ", ".join(dict.fromkeys([*one.problems, *filter(one.answers, PROBLEMS)])),
        "guarantee": one.guarantee,
        "cost": one.cost,
        "time limit": "returns its incumbent when the limit or Ctrl-C ends it"
        if one.anytime
        else "has no answer before its last step: the limit makes the run fail",
        "seed": seed,
        "further inputs": ", ".join(_INPUTS[name] for name in one.inputs if name in _INPUTS),
        "source": one.source,
    }
    limit = " --time-limit 10" if one.exact else ""
    examples = _examples(problem, f"--method {one.name}{limit}") if problem else ()
    noun = "exact method" if one.exact else "method"
    return Explanation(one.name, noun, one.summary, facts, one.options, examples)


_INPUTS = {
    "overlay": "an answer to start from (--start FILE)",
    "mapper": "Spark for its parts (--master MASTER)",
    "trace": "its choices in order (--step)",
}


def _workload(workload: Workload[Any]) -> Explanation:
    given = " ".join(f"--{option.name.replace('_', '-')} {option.default}" for option in workload.parameters[:3])
    example = f"overlaybench generate {workload.name} {given} -o {_file(workload.kind)}"
    facts = {"instances": workload.kind, "needs": workload.needs, "source": workload.source}
    return Explanation(workload.name, "workload", workload.summary, facts, workload.parameters, (example,))


def _problem(problem: Problem[Any, Any]) -> Explanation:
    facts = {
        "instances": problem.kind,
        "also measured": ", ".join(name.replace("_", " ") for name in KINDS[problem.kind].measures),
        "default method": problem.default_method,
        "source": problem.source,
    }
    answering = (method.name for method in METHODS.values() if method.answers(problem))
    chosen = problem.default_method or next(answering, "")
    method = f"--method {chosen} " if chosen else ""
    examples = _examples(problem, f"{method}--time-limit 10") if chosen else ()
    return Explanation(problem.name, "problem", f"minimise: {problem.summary}", facts, (), examples)


def _kind(kind: Kind[Any, Any]) -> Explanation:
    problems = [problem for problem in PROBLEMS.values() if problem.kind == kind.name]
    facts = {
        "files": ", ".join(dict.fromkeys((f".json ({kind.format})", *kind.endings) if kind.format else kind.endings)),
        "files that are only read": ", ".join(kind.only_read),
        "columns of tables": ", ".join(kind.columns),
        "default problem": kind.default_problem,
        "sizes": ", ".join(kind.sizes),
        "measures": ", ".join(name.replace("_", " ") for name in kind.measures),
        "answer in --json": ", ".join(kind.shown),
        "problems": ", ".join(problem.name for problem in problems),
        "workloads": ", ".join(workload.name for workload in WORKLOADS.values() if workload.kind == kind.name),
    }
    example = _examples(PROBLEMS[kind.default_problem], "")[:1]
    return Explanation(kind.name, "kind of instances", kind.summary, facts, (), example)


_EXPLAINED: Mapping[type, Callable[[Any], Explanation]] = {Workload: _workload, Problem: _problem, Kind: _kind}


def values_of(option: Option) -> str:
    """The values that an option takes, in words."""
    if option.allowed:
        return ", ".join(option.allowed)
    if isinstance(option.default, bool):
        return "true, false"
    if isinstance(option.default, str):
        return ""
    bounds = [f"from {option.least:,.10g}"] if option.least > -math.inf else []
    bounds += [f"to {option.most:,.10g}"] if option.most < 2**31 - 1 else []
    return " ".join(bounds) or "a number"


def _examples(problem: Problem[Any, Any], how: str) -> tuple[str, ...]:
    """Generate a small instance of the problem's kind, and solve it."""
    workload, parameters = KINDS[problem.kind].example
    file = _file(problem.kind)
    return (
        f"overlaybench generate {workload} {parameters} -o {file}",
        f"overlaybench solve {file} --problem {problem.name} {how}",
    )


def _file(kind: str) -> str:
    written = KINDS.get(kind)
    return f"{kind}{'.json' if written is None or written.format else written.ending}"


def with_papers(source: str) -> str:
    """A source with the full names of the papers in it."""
    short, papers = dict.fromkeys(re.findall(r"\bP[1-5]\b", source)), _of_claims("statements:papers")()
    return "\n".join([source, *(f"{name}: {papers[name].title}" for name in short if name in papers)])
