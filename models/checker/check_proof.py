"""Check a proof file against an instance: ``python check_proof.py INSTANCE PROOF [RULES]`` (docs/proof_format.md).

This file imports nothing but the standard library, and nothing imports it; RULES is the reader's own file, with classes
for problems that have rows of their own. All numbers are Python's integers and fractions. It prints what is proven and
exits with 0, or prints the first wrong line and exits with 1.

A proof has cases; a case has a tree of nodes, each with some columns fixed to 0 or 1. Rows are inequalities
Σ coefficient·x ≥ rhs that every answer satisfies: which ones are valid, each class below decides by itself. Rows with
multipliers prove a bound by weak duality: an answer within the node's fixings costs at least

    Σ multiplier·rhs + Σ over columns of min{reduced cost · x : x is 0 or 1}

where the reduced cost is the cost less Σ multiplier·coefficient. A column whose other value would raise this to what
is no better than the answer known is fixed for the node and all below it. The least bound of the leaves is the case's.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from collections import deque
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from io import BufferedReader
from itertools import count

from cases import Case, NoInstance, Wrong, need
from content import ContentRules
from rows import Rows
from steiner import SteinerRules
from topics import TopicRules
from traces import TraceRules

KINDS = (TopicRules, SteinerRules, ContentRules, TraceRules)
# Bytes of a line, its lists, and bytes of all: so many, and more for each byte of the file.
LONGEST, LISTS, MOST = (2**22, 8), (2**16, 0.5), (2**24, 32)
END = b'["end"'


def lines_of(path):
    """The lines of a proof as bytes, with their numbers; a small file unpacks to no more than it should."""
    size, read = os.path.getsize(path), 0
    longest, lists, most = (base + int(more * size) for base, more in (LONGEST, LISTS, MOST))
    with gzip.open(path) as unpacked, BufferedReader(unpacked, 2**18) as file:
        for number in count(1):
            if not (line := file.readline(longest + 1)):
                return
            read += len(line)
            if len(line) > longest:
                raise Wrong(f"line {number} has more than {longest:,} bytes")
            if len(line) > lists and line.count(b"[") > lists:
                raise Wrong(f"line {number} has more than {lists:,} lists")
            if read > most:
                raise Wrong(f"the proof has more than {most:,} bytes")
            yield number, line


def ends_of(path):
    """The values at which the cases of a proof end: a case fixes columns by its own."""
    for number, line in lines_of(path):
        if line.startswith(END):
            need(len(line) < 200, f"line {number} is too long for an end")
            yield json.loads(line)[1]


def check(instance, proof):
    """Check a proof; returns the problem, the answer's value (None without one), the bound that is proven, and whether
    they meet.

    Raises Wrong with the line and the reason.
    """
    return outcome(*examine(instance, proof))


def outcome(model, cases, value, proven, claim):
    """As :func:`check`, of what :func:`examine` returns."""
    return model.title, value, proven, value is not None and value * (1 - model.slack) <= proven


def examine(instance, proof, own=()):
    """Check a proof, with classes of the reader's `own`.

    Returns the model, the cases as (facts, bound), the answer's value, the bound and the claim.
    """
    number = 0
    try:
        reading = ProofReading(instance, deque(ends_of(proof)), own)
        for number, line in lines_of(proof):  # noqa: B007, an error names it
            reading.take(line)
        return reading.concluded()
    except (NoInstance, MemoryError):
        raise
    except Wrong as error:
        raise Wrong(f"line {number}: {error}") from None
    except Exception as error:  # whatever a line or a damaged file leads to
        raise Wrong(f"line {number}: {type(error).__name__}: {error}") from None


class ProofReading:
    """A proof as far as it is read; a table has what each kind of line does."""

    def __init__(self, instance, ends, own):
        self.instance, self.ends, self.model, self.rules, self.rows = instance, ends, None, None, None
        self.own = own
        self.case, self.facts, self.cases, self.trees, self.claim = None, None, [], [], None

    def take(self, line):
        """Judge the next line."""
        tag, *items = json.loads(str(line, "utf-8"))
        need(self.claim is None, "nothing may follow the claim")
        need(tag == "proof" or self.model is not None, "the first line is no head")
        if tag in WITHIN:
            if self.case is None:
                raise Wrong(f"{tag!r} outside a case")
            if tag == "row":
                self.rows.add(line, items)
            else:
                WITHIN[tag](self, tag, *items)
        else:
            need(tag in OUTSIDE, f"no such line as {tag!r}")
            need(self.case is None, f"{tag!r} within a case")
            OUTSIDE[tag](self, tag, *items)

    def head(self, _, facts):
        need(self.model is None, "a second head")
        need(facts["format"] == "overlaybench-proof/1", "another format")
        problem, base = facts["problem"], facts.get("base")
        kind = next((kind for kind in KINDS if kind.poses(problem if base is None else base)), None)
        need(kind is not None, f"no such problem as {problem if base is None else base!r}")
        if base is not None:
            need(kind is TopicRules and re.fullmatch(r"[^\W_][\w@=.+-]*", problem), "no problem of others is stated so")
            need(not any(each.poses(problem) for each in KINDS), f"{problem} is no problem of others")
            kind = next((each for each in self.own if each.poses(problem.partition("@")[0])), kind)
        self.model = self.rules = kind(self.instance, facts)
        self.rows = Rows(self.rules)

    def snapshot(self, _, *items):
        self.rules, self.cases = self.model.section(self.cases, *items), []
        self.rows = Rows(self.rules)

    def begin(self, _, facts):
        need(self.ends, "a case without an end")
        self.facts = self.rules.begin(facts)
        self.case = Case(self.rules, self.ends.popleft(), self.rows)

    def reduction(self, tag, *items):
        need(not self.cases, "a reduction after the first case")
        getattr(self.rules, tag)(*items)

    def last(self, _, *claim):
        self.claim = claim

    def bound(self, tag, node, listed, priced=()):
        numbers = [0, *listed, *priced]
        need(set(map(type, numbers)) == {int} and min(numbers) >= 0, "negative multipliers")
        need(not (len(listed) | len(priced)) % 2, "a number lacks its multiplier")
        self.case.bound(node, listed, dict(zip(priced[::2], priced[1::2], strict=True)), tag)

    def weigh(self, _):
        self.case.trees(self.rules.weight_of(self.trees))
        self.trees = []

    def end(self, *_):
        need(not self.trees, "trees whose weight nothing asks for")
        self.cases.append((self.facts, self.case.proven()))
        self.rules.learn(self.case)
        self.case = None

    def concluded(self):
        """What :func:`examine` returns."""
        need(self.claim is not None, "the proof ends without a claim")
        model, (bound, answer) = self.model, self.claim
        value = None if answer is None else model.value(answer)
        proven = model.conclude(self.cases)
        need(bound is None or bound * (1 - model.slack) <= proven, f"{bound} is claimed, {float(proven)} proven")
        need(value is None or proven <= value, f"{proven} is proven, yet the answer has {value}: a row must be wrong")
        return model, self.cases, value, proven, self.claim


WITHIN = dict.fromkeys(("bound", "none", "paths"), ProofReading.bound) | {
    "row": None,
    "drop": lambda reading, _, *numbers: reading.rows.drop(numbers),
    "tree": lambda reading, _, *items: reading.trees.append(reading.rules.tree(*items)),
    "trees": ProofReading.weigh,
    "branch": lambda reading, _, node, column: reading.case.branch(node, column),
    "end": ProofReading.end,
}
OUTSIDE = dict.fromkeys(("node", "edge", "leaf"), ProofReading.reduction) | {
    "proof": ProofReading.head,
    "snapshot": ProofReading.snapshot,
    "case": ProofReading.begin,
    "seen": lambda reading, _, answer: reading.rules.see(answer),
    "claim": ProofReading.last,
}


def shown(number, rounding):
    """A number as text; a fraction as a decimal, rounded to the side on which it stays true."""
    if not isinstance(number, Fraction):
        return str(number)
    digits = Context(prec=9, rounding=rounding)
    return f"{digits.divide(Decimal(number.numerator), Decimal(number.denominator)):f}"


def classes_of(path):
    """The classes of rules that a file of Python defines."""
    import runpy

    try:
        names = runpy.run_path(path, run_name="rules").values()
    except Exception as error:  # whatever a file of others leads to
        raise NoInstance(f"{path}: {type(error).__name__}: {error}: correct the file of rules") from None
    return [each for each in names if isinstance(each, type) and each.__module__ == "rules"]


def main(arguments):
    """Check the files, print the outcome; the exit status: 0 proven, 1 wrong, 2 not checked."""
    if len(arguments) not in (2, 3):
        print("usage: python check_proof.py INSTANCE PROOF [RULES]", file=sys.stderr)
        return 2
    try:
        found = examine(*arguments[:2], own=[each for path in arguments[2:] for each in classes_of(path)])
        problem, value, bound, is_optimal = outcome(*found)
    except (NoInstance, MemoryError) as error:
        print(str(error) or "not checked: out of memory", file=sys.stderr)
        return 2
    except Wrong as error:
        print(f"wrong: {arguments[1]}: {error}")
        return 1
    if said := found[0].stated() or found[0].shared():
        print(said)
    if is_optimal:
        print(f"proven: {problem} {shown(value, ROUND_CEILING)} is optimal")
    else:
        answer = "no answer" if value is None else f"an answer of {shown(value, ROUND_CEILING)}"
        print(f"proven: {problem} is at least {shown(bound, ROUND_FLOOR)}; the proof has {answer}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
