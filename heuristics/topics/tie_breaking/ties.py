"""Rules for ties: which of several equally good candidates a greedy method takes.

A candidate is an edge, a node, or a node with a topic, encoded as one number below 2^62 in lexicographic order. A rule
for ties maps it to a rank, one to one, and the candidate of lowest rank is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.errors import unknown
from ....instances.contract.option import Option
from ....instances.runtime.compiled import kernel, wrapping_kernel

RULES = ("lowest", "highest", "random")
TIES = Option(
    "ties",
    "lowest",
    "the candidate taken among equally good ones: lexicographically lowest, highest, or random by the seed",
    choices=RULES,
)

LOWEST, HIGHEST, RANDOM = range(3)
_LAST = 2**63 - 1
_BITS = np.uint64(_LAST)
# The multipliers of splitmix64 (Steele, Lea, Flood 2014), cut to 63 bits so that ranks are not negative.
_FIRST = np.uint64(0xBF58476D1CE4E5B9 & _LAST)
_SECOND = np.uint64(0x94D049BB133111EB & _LAST)
_FIRST_INVERSE = np.uint64(pow(int(_FIRST), -1, 2**63))
_SECOND_INVERSE = np.uint64(pow(int(_SECOND), -1, 2**63))
_27, _30, _31, _54, _60, _62 = (np.uint64(shift) for shift in (27, 30, 31, 54, 60, 62))
_GOLDEN = 0x9E3779B97F4A7C15


class TieOrder(NamedTuple):
    """A rule for ties as kernels take it: `rule` is the index in RULES, `salt` comes from the seed."""

    rule: int
    salt: int


def tie_order(ties: str, seed: int) -> TieOrder:
    """The order of candidates under a rule, of which only ``random`` depends on the seed; BadInput if it is unknown."""
    if ties not in RULES:
        raise unknown("value of option 'ties'", ties, RULES)
    return TieOrder(RULES.index(ties), int(scrambled((seed + 1) * _GOLDEN & _LAST)) if ties == "random" else 0)


@kernel
def rank_of(candidate: int, order: TieOrder) -> int:
    """The candidate's rank, from 0 to 2^63 - 1: the lowest is taken first."""
    if order.rule == LOWEST:
        return candidate
    if order.rule == HIGHEST:
        return _LAST - candidate
    return scrambled(candidate ^ order.salt)


@kernel
def ranks_of(candidates: npt.NDArray[np.int64], order: TieOrder) -> npt.NDArray[np.int64]:
    """The rank of each candidate."""
    ranks = np.empty_like(candidates)
    for k in range(len(candidates)):
        ranks[k] = rank_of(candidates[k], order)
    return ranks


@kernel
def candidate_of(rank: int, order: TieOrder) -> int:
    """The candidate of a rank."""
    if order.rule == LOWEST:
        return rank
    if order.rule == HIGHEST:
        return _LAST - rank
    return _unscrambled(rank) ^ order.salt


@wrapping_kernel
def scrambled(number: int) -> int:
    """A pseudo-random permutation of 0…2^63 - 1: the last steps of splitmix64 on 63 bits."""
    # Unsigned throughout: the compiler assumes that signed products do not overflow.
    x = np.uint64(number)
    x ^= x >> _30
    x = (x * _FIRST) & _BITS
    x ^= x >> _27
    x = (x * _SECOND) & _BITS
    x ^= x >> _31
    return int(np.int64(x))


@wrapping_kernel
def _unscrambled(number: int) -> int:
    x = np.uint64(number)
    x ^= (x >> _31) ^ (x >> _62)
    x = (x * _SECOND_INVERSE) & _BITS
    x ^= (x >> _27) ^ (x >> _54)
    x = (x * _FIRST_INVERSE) & _BITS
    x ^= (x >> _30) ^ (x >> _60)
    return int(np.int64(x))
