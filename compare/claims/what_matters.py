"""The findings that matter most, and what a refuted claim means to someone who uses the algorithm."""

from __future__ import annotations

from collections.abc import Mapping

FOREMOST: tuple[tuple[str, str, str], ...] = (
    (
        "P1.L6.5",
        "GM",
        "GM stays far below its logarithmic guarantee on solved instances, so it is a safe default for few edges.",
    ),
    (
        "P1.L6.6",
        "GM",
        "The lower bound on GM's ratio is real whatever the ties: a rule for ties does not repair GM.",
    ),
    (
        "P1.L5.1",
        "reduction to TCO as defined (|E| ≤ k)",
        "The proof of NP-hardness bounds degrees instead of edges: it shows another problem to be hard.",
    ),
    (
        "P2.L5",
        "CD-ODA",
        "The bad case of CD-ODA is one of bad ties: the opposite rule builds the optimum on the same instances.",
    ),
    (
        "P2.L6",
        "CD-ODA-II",
        "The lemma names two algorithms and its count is wrong for one: CD-ODA-II has no such bad case there.",
    ),
    (
        "P2.F8",
        "2D-ODA ÷ GM",
        "Topic diameter 2 costs far more edges than published: plan with two to three times GM's average degree.",
    ),
    (
        "P3.L14",
        "DCBR-M, Algorithm 12 taken literally",
        "Who implements the pseudo-code as printed gets topics that are not connected.",
    ),
    (
        "P3.F10",
        "RingPT's maximum degree ÷ DCBR-M's",
        "Against rings the gain in fan-out is real, and much smaller than published.",
    ),
    (
        "P4.MST",
        "relay star",
        "Trees among the brokers concerned cost up to twice a tree with relays: the model excludes the optimum.",
    ),
    (
        "P5.T2",
        "pure forwarders",
        "Soft links save at least what was published: most messages through uninterested brokers go away.",
    ),
)
"""Claim, subject of its finding, and why it matters; the verdict comes from the record."""

MATTERS: Mapping[str, str] = {
    "P1.L6.6": "The example stays a worst case; only the proof's order of edges is not the algorithm's.",
    "P1.L5.1": "Do not cite the lemma for the hardness of fewest edges: it bounds every degree.",
    "P1.F3": "GM's cost depends on the law of popularity: budget for up to 20 times the published share.",
    "P1.F4b": "Rings for twice the topics cost less than twice the links where few topics make rings share edges.",
    "P2.L6": "CD-ODA-II need not be avoided for this construction's sake.",
    "P2.F3": "Low-ODA with k = 1 is no GM: it already bounds the degrees.",
    "P2.F4": "Low-ODA with k = 8 still saves edges against MinMax-ODA.",
    "P2.F8": "Overlays of topic diameter 2 need two to three times GM's edges, not a tenth more.",
    "P2.F9": "The same with more topics: the published factors cannot be planned with.",
    "P2.F10": "The same with more topics a node; 2D-ODA is not twice as good as the simpler CD-ODA rules.",
    "P3.L14": "Let bulk nodes' topics count as outward too, as `dcbr-m` does, or topics fall apart.",
    "P3.T2": "The shares of representatives follow from a law of sizes that the paper does not state.",
    "P3.T3": "The shares of representatives follow from a law of sizes that the paper does not state.",
    "P3.T4": "The shares of representatives follow from a law of sizes that the paper does not state.",
    "P3.F4": "With a fast GM-M the best number of parts is smaller than the published 10: measure before setting it.",
    "P3.F5": "Coverage above 3 still lowers the maximum degree.",
    "P3.F6": "Expect a larger loss in degree from DCBR-M than published.",
    "P3.F8": "The loss in degree from DCBR-M depends on the law of popularity.",
    "P4.T1": "The reduction needs a broker at every node: with brokers at Steiner nodes only the optima differ.",
    "P4.MST": "Let messages pass brokers without subscribers (`content-steiner`): it saves up to half the core cost.",
    "P4.F9": "The simple greedy packing is the method to use: neither clustering nor mixing beats it here.",
    "P4.F10": "Cheap core links do not make up for a poor assignment of users.",
    "P5.F14": "Under scarce uplinks the simple S1 can deliver more than SH when interests are sparse.",
    "W.TIES": "Report the rule for ties with every result, and run several: it changes values by up to a factor of 2.",
    "W.HALL": "The constructions of the proofs are not the worst instances of their size.",
}
"""What a refuted claim means to someone who uses the algorithm, in one sentence."""
