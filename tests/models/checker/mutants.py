"""Random changes to proofs and instances, by kind."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.steiner.instance import SteinerInstance
from overlaybench.instances.topics.files import subscriptions
from overlaybench.instances.topics.instance import TopicInstance
from tests.models.checker.tiny import ALL_PROBLEMS, CONTENT_PROBLEMS, TOPIC_PROBLEMS, TRACES, Line, Tiny

_NAN, _INF = float("nan"), float("inf")
_ODD: Any = (0, 1, -1, 2, 7, 10**6, 10**30, 0.5, 1.0, 1e308, _NAN, _INF, True, None, "0", [], [0], {})  # fmt: skip


@dataclass
class Mutant:
    """A proof with its instance. `others` are proofs about other instances of the problem."""

    tiny: Tiny
    lines: list[Any]
    others: Sequence[list[Line]] = ()

    def tagged(self, *tags: str) -> list[int]:
        """The numbers of the lines of these kinds."""
        return [k for k, line in enumerate(self.lines) if isinstance(line, list) and line[:1] and line[0] in tags]


def mutate(draw: random.Random, mutant: Mutant, kind: str) -> None:
    """Change a proof in place; the change may have no effect, as on lines that an earlier one left without form."""
    with suppress(LookupError, TypeError, ValueError, OverflowError):
        KINDS[kind](draw, mutant)


def lift(mutant: Mutant, draw: random.Random) -> None:
    """Let all cases end with a large value or none: they limit what an invalid line could prove."""
    more = draw.choice([None, 1, 2, 40])
    for k in mutant.tagged("end"):
        value = mutant.lines[k][1]
        mutant.lines[k] = ["end", None if value is None or more is None else value + more]
    for k in mutant.tagged("claim"):
        mutant.lines[k] = ["claim", None, mutant.lines[k][-1]]


def _leaf(draw: random.Random, item: Any, choose: Callable[[Any], Any]) -> Any:
    """The item with one of its parts changed at random, at any depth."""
    parts = list(item) if isinstance(item, dict) else list(range(len(item))) if isinstance(item, list) else []
    if not parts or draw.random() < 0.02:
        return choose(item)
    key = draw.choice(parts)
    changed = copy.copy(item)
    if isinstance(item, list) and draw.random() < 0.25:
        action = draw.choice(["drop", "repeat", "swap"])
        other = draw.choice(parts)
        if action == "drop":
            del changed[key]
        elif action == "repeat":
            changed.insert(other, item[key])
        else:
            changed[key], changed[other] = changed[other], changed[key]
        return changed
    changed[key] = _leaf(draw, item[key], choose)
    return changed


def _number(draw: random.Random) -> Callable[[Any], Any]:
    def choose(item: Any) -> Any:
        if isinstance(item, int | float) and not isinstance(item, bool) and draw.random() < 0.8:
            return draw.choice([item + 1, item - 1, item + 1, item - 1, item * 2, -item, item + 0.5])
        return draw.choice(_ODD)

    return choose


def _change(*tags: str) -> Callable[[random.Random, Mutant], None]:
    """Change something in a line of these kinds."""

    def change(draw: random.Random, mutant: Mutant) -> None:
        if found := mutant.tagged(*tags):
            k = draw.choice(found)
            tag, *items = mutant.lines[k]
            changed = _leaf(draw, items, _number(draw))
            mutant.lines[k] = [tag, *changed] if isinstance(changed, list) else [tag, changed]

    return change


def _multiplier(draw: random.Random, mutant: Mutant) -> None:
    if found := [k for k in mutant.tagged("bound", "none", "paths") if len(mutant.lines[k]) > 2 and mutant.lines[k][2]]:
        listed = list(mutant.lines[k := draw.choice(found)][2])
        place = draw.randrange(1, max(2, len(listed)), 2)
        listed[place % len(listed)] = draw.choice([listed[place % len(listed)], 1, 720_720]) * draw.choice([0, 1, 2, 3])
        mutant.lines[k] = [*mutant.lines[k][:2], listed, *mutant.lines[k][3:]]


def _digit(draw: random.Random, mutant: Mutant) -> None:
    k = draw.randrange(len(mutant.lines))
    text = mutant.lines[k] if isinstance(mutant.lines[k], str) else json.dumps(mutant.lines[k])
    if places := [place for place, letter in enumerate(text) if letter.isdigit()]:
        place = draw.choice(places)
        mutant.lines[k] = text[:place] + str(draw.randrange(10)) + text[place + 1 :]


def _drop(draw: random.Random, mutant: Mutant) -> None:
    del mutant.lines[draw.randrange(len(mutant.lines))]


def _swap(draw: random.Random, mutant: Mutant) -> None:
    a, b = (draw.randrange(len(mutant.lines)) for _ in range(2))
    mutant.lines[a], mutant.lines[b] = mutant.lines[b], mutant.lines[a]


def _repeat(draw: random.Random, mutant: Mutant) -> None:
    line = mutant.lines[draw.randrange(len(mutant.lines))]
    mutant.lines.insert(draw.randrange(len(mutant.lines)), line)


def _tag(draw: random.Random, mutant: Mutant) -> None:
    if found := mutant.tagged("bound", "none", "paths"):
        k = draw.choice(found)
        mutant.lines[k] = [draw.choice(["bound", "none", "paths"]), *mutant.lines[k][1:]]


def _foreign(draw: random.Random, mutant: Mutant) -> None:
    """A line of a proof about another instance, in place of one or in addition."""
    other = draw.choice(mutant.others)
    line = draw.choice(other)
    alike = mutant.tagged(line[0])
    if alike and draw.random() < 0.7:
        mutant.lines[draw.choice(alike)] = line
    else:
        mutant.lines.insert(draw.randrange(1, len(mutant.lines)), line)


def _branch(draw: random.Random, mutant: Mutant) -> None:
    """Branches on any columns at any nodes before an end, and bounds that other nodes have at their children."""
    if ends := mutant.tagged("end"):
        bounds = [mutant.lines[k] for k in mutant.tagged("bound", "none", "paths")]
        end = draw.choice(ends)
        first = max([k for k in mutant.tagged("case") if k < end], default=0)
        branched = [mutant.lines[k][1] for k in mutant.tagged("branch") if first < k < end]
        lines: list[Line] = []
        for _ in range(draw.randint(1, 3)):
            leaves = [node for node in range(2 * len(branched) + 1) if node not in branched] or [0]
            branched.append(draw.choice(leaves) if draw.random() < 0.95 else draw.randint(0, 9))
            lines.append(["branch", branched[-1], _column(draw, mutant)])
            for line in draw.choices(bounds, k=draw.randint(0, 3)) if bounds else ():
                lines.append([line[0], 2 * len(branched) - draw.randint(0, 1), *line[2:]])
        mutant.lines[end:end] = lines


def _column(draw: random.Random, mutant: Mutant) -> list[Any]:
    problem, instance = mutant.tiny.problem, mutant.tiny.instance
    if draw.random() < 0.05:
        return [draw.randint(-1, 5) for _ in range(draw.randint(1, 3))]
    if problem == "2d-star" and draw.random() < 0.5:
        node = draw.randrange(instance.num_nodes)
        return [draw.choice(instance.topics_of(node).tolist()), node, 1]
    if problem in TOPIC_PROBLEMS:
        topic = draw.randrange(instance.num_topics)
        members = [v for v in range(instance.num_nodes) if topic in instance.topics_of(v)]
        return sorted(draw.sample(members, 2)) if len(members) > 1 else [0, 1]
    if problem == TRACES:
        return sorted(draw.sample(range(instance.num_nodes), 2))
    if problem == "steiner":
        arc = draw.sample(draw.choice(instance.edges.tolist() or [[0, 1]]), 2)
        return draw.choice([arc, arc[0]])
    brokers = draw.sample(range(instance.num_brokers), 2) if instance.num_brokers > 1 else [0, 0]
    kind = draw.choice("xxdyt" if problem == "content-shared-tree" else "xxdyy")
    last = [kind, draw.randrange(instance.num_users if kind == "x" else 2), brokers[0]]
    return [kind, *sorted(brokers)] if kind == "t" else [kind, draw.randint(0, 1), *brokers] if kind == "y" else last


def _leaf_bound(draw: random.Random, mutant: Mutant) -> None:
    """A leaf without its bound."""
    if found := mutant.tagged("bound", "none", "paths"):
        del mutant.lines[draw.choice(found)]


def _answer(draw: random.Random, mutant: Mutant) -> None:
    """An edge more or less, or another change."""
    claim = mutant.lines[-1] or [None]
    if mutant.tiny.problem in (*CONTENT_PROBLEMS, TRACES) or not isinstance(claim[-1], list) or draw.random() < 0.3:
        _change("claim")(draw, mutant)
        return
    edges = list(claim[-1])
    if edges and draw.random() < 0.5:
        edges.pop(draw.randrange(len(edges)))
    else:
        edges.append(sorted(draw.choices(range(6), k=2)))
    mutant.lines[-1] = [*claim[:-1], edges]


def _end(draw: random.Random, mutant: Mutant) -> None:
    if found := mutant.tagged("end"):
        k = draw.choice(found)
        value = mutant.lines[k][-1]
        near = [] if isinstance(value, str) or not isinstance(value, int) else [value + 1, value - 1, value + 0.5]
        mutant.lines[k] = ["end", draw.choice([*near, None, 0, 1000])]


def _claim(draw: random.Random, mutant: Mutant) -> None:
    claim = mutant.lines[-1]
    if isinstance(claim, list) and claim[:1] == ["claim"]:
        value = claim[1] if isinstance(claim[1], int | float) else draw.randint(0, 9)
        mutant.lines[-1] = ["claim", draw.choice([value + 1, value - 1, value * 1.0001, None]), *claim[2:]]


def _head(draw: random.Random, mutant: Mutant) -> None:
    if not isinstance(mutant.lines[0], list) or mutant.lines[0][:1] != ["proof"]:
        return
    facts = dict(mutant.lines[0][1])
    key = draw.choice(sorted(facts))
    value = facts[key]
    if key == "problem":
        facts[key] = draw.choice(ALL_PROBLEMS)
    elif isinstance(value, list) and value:
        facts[key] = draw.choice([draw.sample(value, len(value)), value[:-1], [*value, value[0]], value[::-1]])
    elif isinstance(value, int):
        facts[key] = draw.choice([1, 2, value + 1, 0, -1])
    mutant.lines[0] = ["proof", facts]


def _instance(draw: random.Random, mutant: Mutant) -> None:
    """A little less or more in the instance; the head is adapted to it, as a forger would, or not."""
    tiny = mutant.tiny
    if tiny.problem == TRACES:
        return
    by_problem = dict.fromkeys(TOPIC_PROBLEMS, _changed_topics) | {"steiner": _changed_steiner}
    changed: Callable[[random.Random, Any], Any] = by_problem.get(tiny.problem, _changed_content)
    try:
        mutant.tiny = replace(tiny, instance=changed(draw, tiny.instance))
    except BadInput:
        return
    head = mutant.lines[0]
    if isinstance(head, list) and head[:1] == ["proof"] and draw.random() < 0.8:
        mutant.lines[0] = ["proof", {**head[1], **mutant.tiny.head()}]


def _changed_topics(draw: random.Random, instance: TopicInstance) -> TopicInstance:
    chosen = subscriptions(instance)
    node = draw.choice(sorted(chosen))
    own = chosen[node]
    if draw.random() < 0.5:
        own.pop(draw.randrange(len(own)))
    else:
        own.append(f"t{draw.randrange(instance.num_topics + 1)}")
    return TopicInstance.from_subscriptions(chosen)


def _changed_steiner(draw: random.Random, instance: SteinerInstance) -> SteinerInstance:
    edges = [(u, v, cost) for (u, v), cost in zip(instance.edges.tolist(), instance.costs.tolist(), strict=True)]
    terminals = instance.terminals.tolist()
    action = draw.choice(["less", "more", "edge", "terminals"]) if edges else "terminals"
    k = draw.randrange(len(edges)) if edges else 0
    if action == "less":
        edges[k] = (*edges[k][:2], max(0, edges[k][2] - 1))
    elif action == "more":
        edges[k] = (*edges[k][:2], edges[k][2] + 1)
    elif action == "edge":
        del edges[k]
    else:
        terminals = draw.choice([terminals[:-1], [*terminals, draw.randrange(instance.num_nodes)]])
    return SteinerInstance.from_edges(instance.num_nodes, edges, terminals)


def _changed_content(draw: random.Random, instance: ContentInstance) -> ContentInstance:
    arrays = {name: getattr(instance, name).copy() for name in ("access", "core", "capacities", "rates")}
    wanted = instance.subscriptions.copy()
    name = draw.choice([*arrays, "subscriptions"])
    if name == "subscriptions":
        u, c = draw.randrange(wanted.shape[0]), draw.randrange(wanted.shape[1])
        wanted[u, c] = not wanted[u, c]
    elif name == "core":
        arrays["core"] *= draw.choice([0.5, 2])
    else:
        flat = arrays[name].reshape(-1)
        k = draw.randrange(len(flat))
        flat[k] = draw.randint(0, 9) if np.isinf(flat[k]) else max(0, flat[k] + draw.choice([-1, 1]))
    return ContentInstance(**arrays, subscriptions=wanted)


def _bounds(mutant: Mutant) -> list[int]:
    """The lines of bounds that have the form of one."""
    found = mutant.tagged("bound", "none", "paths")
    return [k for k in found if len(mutant.lines[k]) > 2 and isinstance(mutant.lines[k][2], list)]


def _duplicate_cut(draw: random.Random, mutant: Mutant) -> None:
    """A row once more, which a bound counts with the same multiplier, in addition or in its place."""
    if (rows := mutant.tagged("row")) and (bounds := _bounds(mutant)):
        k = draw.choice(rows)
        number, at = rows.index(k), draw.choice(bounds)
        tag, node, listed, *rest = mutant.lines[at]
        mutant.lines.insert(k + 1, mutant.lines[k])
        more = [x for r, m in zip(listed[::2], listed[1::2], strict=False) if r == number for x in (r + 1, m)]
        mutant.lines[at + (at > k)] = [tag, node, [*listed, *(more or [number, 2**32])], *rest]


def _missing_branch(draw: random.Random, mutant: Mutant) -> None:
    """A branch without its bounds, or bounds without their branch, or nodes numbered as if it were not there."""
    if found := mutant.tagged("branch"):
        k = draw.choice(found)
        first = 2 * sum(j < k for j in found) + 1
        if draw.random() < 0.5:
            del mutant.lines[k]
        for j in [*_bounds(mutant), *mutant.tagged("branch")]:
            node = mutant.lines[j][1]
            if isinstance(node, int) and node in (first, first + 1) and draw.random() < 0.5:
                mutant.lines[j] = [mutant.lines[j][0], draw.choice([0, node - 1, node + 1]), *mutant.lines[j][2:]]


def _cycle(draw: random.Random, mutant: Mutant) -> None:
    """A node that branches into itself or an ancestor, or a bound that takes rows that come after it."""
    if mutant.tagged("branch") and draw.random() < 0.6:
        k = draw.choice(mutant.tagged("branch"))
        node = draw.choice([0, 2 * len(mutant.tagged("branch")), draw.randrange(9)])
        mutant.lines[k] = ["branch", node, *mutant.lines[k][2:]]
    elif bounds := _bounds(mutant):
        rows, k = mutant.tagged("row"), draw.choice(bounds)
        later = draw.choice([len(rows), len(rows) - 1, -1, len(rows) + 7])
        mutant.lines[k] = [*mutant.lines[k][:2], [*mutant.lines[k][2], later, 2**32], *mutant.lines[k][3:]]


def _from_below(draw: random.Random, mutant: Mutant) -> None:
    """What a node has, for a node above or beside it, before or after the branch: its fixings hold there only."""
    if bounds := _bounds(mutant):
        k = draw.choice(bounds)
        tag, node, *rest = mutant.lines[k]
        at = draw.choice([k, draw.randrange(1, len(mutant.lines))])
        above = draw.choice([0, max(0, node - 1), node + 1, node // 2]) if isinstance(node, int) else 0
        mutant.lines.insert(at, [tag, above, *rest])


def _huge_rational(draw: random.Random, mutant: Mutant) -> None:
    """Multipliers and the unit by a huge factor, all of them or some."""
    factor = draw.choice([2**64, 10**30, 3**400, 2**1100])
    for k in _bounds(mutant):
        if draw.random() < 0.8:
            tag, node, listed, *prices = mutant.lines[k]
            mutant.lines[k] = [tag, node, [x * factor if i % 2 else x for i, x in enumerate(listed)], *prices]
    if isinstance(head := mutant.lines[0], list) and head[:1] == ["proof"] and draw.random() < 0.7:
        unit = head[1].get("unit", 1)
        mutant.lines[0] = ["proof", {**head[1], "unit": unit * factor if isinstance(unit, int) else factor}]


def _swapped_children(draw: random.Random, mutant: Mutant) -> None:
    """The two nodes of a branch exchange all their lines."""
    if found := mutant.tagged("branch"):
        first = 2 * draw.randrange(len(found)) + 1
        other = {first: first + 1, first + 1: first}
        for k in [*_bounds(mutant), *found]:
            tag, node, *rest = mutant.lines[k]
            mutant.lines[k] = [tag, other.get(node, node) if isinstance(node, int) else node, *rest]


def _cutoff(draw: random.Random, mutant: Mutant) -> None:
    """A smaller value that answers must beat, so that more is fixed, or another cap; the claim stays or follows."""
    if (ends := mutant.tagged("end")) and draw.random() < 0.7:
        k = draw.choice(ends)
        value = mutant.lines[k][-1]
        if isinstance(value, int | float) and not isinstance(value, bool):
            mutant.lines[k] = ["end", value - draw.choice([1, 2, 3])]
    elif cases := mutant.tagged("case"):
        k = draw.choice(cases)
        facts = mutant.lines[k][1]
        if isinstance(facts, dict) and "cap" in facts:
            mutant.lines[k] = ["case", {**facts, "cap": draw.choice([None, 0, 1, 2, (facts["cap"] or 0) + 1])}]


KINDS: dict[str, Callable[[random.Random, Mutant], None]] = {
    "duplicate cut": _duplicate_cut,
    "missing branch": _missing_branch,
    "cycle": _cycle,
    "fixings from below": _from_below,
    "huge rationals": _huge_rational,
    "swapped children": _swapped_children,
    "cutoff": _cutoff,
    "a multiplier": _multiplier,
    "bound": _change("bound", "none", "paths"),
    "row": _change("row"),
    "snapshot": _change("snapshot"),
    "dropped line": _drop,
    "swapped lines": _swap,
    "repeated line": _repeat,
    "kind of bound": _tag,
    "foreign line": _foreign,
    "branch": _branch,
    "case": _change("case"),
    "reduction": _change("node", "edge", "leaf"),
    "other column": _change("branch"),
    "leaf without bound": _leaf_bound,
    "answer": _answer,
    "end": _end,
    "claim": _claim,
    "head": _head,
    "instance": _instance,
    "digit": _digit,
}
