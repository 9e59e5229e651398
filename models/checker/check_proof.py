"""Check a proof file against an instance: ``python check_proof.py INSTANCE PROOF`` (docs/proof_format.md).

This file imports nothing but the standard library, and nothing imports it. All numbers are Python's integers and
fractions. It prints what is proven and exits with 0, or prints the first wrong line and exits with 1.

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
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from cases import Case, NoInstance, Wrong, is_count, need
from content import ContentRules
from steiner import SteinerRules
from topics import TopicRules
from traces import TraceRules

KINDS = (TopicRules, SteinerRules, ContentRules, TraceRules)
LONGEST, MOST = 2**26, 2**30  # characters of a line, and of all: a small file may unpack to any number


def lines_of(path, word=""):
    """The lines of a proof that have a word, with their numbers."""
    number, read = 0, 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        while line := file.readline(LONGEST + 1):
            number, read = number + 1, read + len(line)
            need(len(line) <= LONGEST, f"line {number} has more than {LONGEST:,} characters")
            need(read <= MOST, f"the proof has more than {MOST:,} characters")
            if word in line:
                yield number, json.loads(line)


def check(instance, proof):
    """Check a proof; returns the problem, the answer's value (None without one), the bound that is proven, and whether
    they meet.

    Raises Wrong with the line and the reason.
    """
    return outcome(*examine(instance, proof))


def outcome(model, cases, value, proven, claim):
    """As :func:`check`, of what :func:`examine` returns."""
    return model.problem, value, proven, value is not None and value * (1 - model.slack) <= proven


def examine(instance, proof):
    """Check a proof; returns the model, the cases as (facts, bound), the answer's value, the bound and the claim."""
    number = 0
    try:
        ends = [line[1] for _, line in lines_of(proof, '"end"') if line[0] == "end"]
        model, rules, case, cases, rows, claim = None, None, None, [], [], None
        for number, (tag, *items) in lines_of(proof):  # noqa: B007, an error names it
            need(claim is None, "nothing may follow the claim")
            if tag == "proof":
                need(model is None, "a second head")
                need(items[0]["format"] == "overlaybench-proof/1", "another format")
                kind = next((kind for kind in KINDS if kind.poses(items[0]["problem"])), None)
                need(kind is not None, f"no such problem as {items[0]['problem']!r}")
                model = rules = kind(instance, items[0])
            elif tag == "snapshot":
                need(case is None, "a section within a case")
                rules, cases, rows = model.section(cases, *items), [], []
            elif tag == "row":
                need(case is not None, "a row outside a case")
                rows.append(rules.row(*items))
            elif tag == "case":
                need(case is None and ends, "a case without an end")
                facts = rules.begin(items[0])
                case = Case(rules, ends.pop(0))
            elif tag in ("node", "edge", "leaf"):
                need(case is None and not cases, "a reduction after the first case")
                getattr(rules, tag)(*items)
            elif tag in ("bound", "none", "paths"):
                node, listed, *prices = items
                priced = prices[0] if prices else []
                factors, charged = listed[1::2], priced[1::2]
                need(
                    all(map(is_count, listed + priced)) and not (len(listed) | len(priced)) % 2, "negative multipliers"
                )
                given = [(*rows[row], factor) for row, factor in zip(listed[::2], factors, strict=True)]
                case.bound(node, given, dict(zip(priced[::2], charged, strict=True)), tag == "none")
                if tag == "paths":
                    case.exclude(node)
            elif tag == "trees":
                case.trees(rules.trees(items))
            elif tag == "branch":
                case.branch(*items)
            elif tag == "seen":
                need(case is None, "an answer within a case")
                rules.see(items[0])
            elif tag == "end":
                cases.append((facts, case.proven()))
                rules.learn(case)
                case = None
            elif tag == "claim":
                need(case is None, "a claim within a case")
                claim = items
            else:
                need(False, f"no such line as {tag!r}")
        need(claim is not None, "the proof ends without a claim")
        bound, answer = claim
        value = None if answer is None else model.value(answer)
        proven = model.conclude(cases)
        need(bound is None or bound * (1 - model.slack) <= proven, f"{bound} is claimed, {float(proven)} proven")
        need(value is None or proven <= value, f"{proven} is proven, yet the answer has {value}: a row must be wrong")
        return model, cases, value, proven, claim
    except (NoInstance, MemoryError):
        raise
    except Wrong as error:
        raise Wrong(f"line {number}: {error}") from None
    except Exception as error:  # whatever a line or a damaged file leads to
        raise Wrong(f"line {number}: {type(error).__name__}: {error}") from None


def shown(number, rounding):
    """A number as text; a fraction as a decimal, rounded to the side on which it stays true."""
    if not isinstance(number, Fraction):
        return str(number)
    digits = Context(prec=9, rounding=rounding)
    return f"{digits.divide(Decimal(number.numerator), Decimal(number.denominator)):f}"


def main(arguments):
    """Check the two files, print the outcome; the exit status: 0 proven, 1 wrong, 2 not checked."""
    if len(arguments) != 2:
        print("usage: python check_proof.py INSTANCE PROOF", file=sys.stderr)
        return 2
    try:
        found = examine(*arguments)
        problem, value, bound, is_optimal = outcome(*found)
    except (NoInstance, MemoryError) as error:
        print(str(error) or "not checked: out of memory", file=sys.stderr)
        return 2
    except Wrong as error:
        print(f"wrong: {arguments[1]}: {error}")
        return 1
    if shared := found[0].shared():
        print(shared)
    if is_optimal:
        print(f"proven: {problem} {shown(value, ROUND_CEILING)} is optimal")
    else:
        answer = "no answer" if value is None else f"an answer of {shown(value, ROUND_CEILING)}"
        print(f"proven: {problem} is at least {shown(bound, ROUND_FLOOR)}; the proof has {answer}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
