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
        "any overlay of stars ÷ GM",
        "A lower bound proves it for every algorithm: topic diameter 2 costs two to three times GM's edges.",
    ),
    (
        "P3.L14",
        "DCBR-M, Algorithm 12 taken literally",
        "Who implements the pseudo-code as printed gets topics that are not connected.",
    ),
    (
        "P3.F10",
        "a factor of 30 is possible",
        "Rings have at most 2|T_v| links a node, so no order of theirs allows the published gain in fan-out.",
    ),
    (
        "P4.MST",
        "relay star",
        "Trees among the brokers concerned cost up to twice a tree with relays: the model excludes the optimum.",
    ),
    (
        "P5.T2",
        "pure forwarders, sparse",
        "Soft links remove most of the messages that pass brokers without a matching subscription.",
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
    "P3.S4A.1": "Edges without contribution change what follows: GM-M and MinMax-ODA are two algorithms, not one.",
    "P3.A3": "As printed edges are taken even if they raise the degree: implement the correction.",
    "P3.S4D.1": "Parts must also exchange which topics they have: without it they cover more topics than DCBR-M does.",
    "P3.F7": "Against a fast GM-M the division saves less time than published.",
    "P3.F10": "Choose DCBR-M over rings for a moderate gain in fan-out, not for a factor of 30.",
    "P3.L5": "Few topics a node do not bound GM-M's degree: with unlucky ties it grows with the logarithm of |V|.",
    "P3.L9": "The threshold η does not bound the degree within parts: budget for a factor that grows with log |V|.",
    "P3.L7": "Do not plan with |V|⁴: the paper's own data structures take time proportional to |V|².",
    "P3.L10": "Twice the parts halve the conquer phase's time, no more: the cube is of an older analysis.",
    "P3.L8": "Random halves rarely come near the worst case: it is a warning, not what to expect.",
    "P3.S4A.2": "Phases of GM-M are no matchings: do not schedule its links as D rounds of disjoint pairs.",
    "P3.S4C.1": "A constant coverage factor divides the load of a focal node, it does not bound it.",
    "P3.S4C.3": "Take the minimum with the number of subscribers, or choosing representatives does not end.",
    "P3.E12": "The formula ignores unequal parts: use the counted share of nodes instead.",
    "P4.T1.2": "No constant ratio is to be expected once capacities bind: it would solve PARTITION.",
    "P4.2A": "Only the tree of the metric closure has the guarantee; trees in which users are leaves have none.",
    "P4.S3.1": "With capacities users who come late find the cheapest broker full: plan for more than the least cost.",
    "P4.S3.2": "The content spaces of groups with equal subscriptions overlap: form cells of equal subscribers.",
    "P4.S3.3": "With capacities the rates decide the assignment, so Algorithm 1 must be given them.",
    "P4.S4.3": "Grown trees put a user on more brokers than stated: do not size broker tables by it.",
    "P4.S4.4": "One spanning tree for all flows can cost a multiple of a tree for each message: price both.",
    "P4.S4.5": "Removing messages that nobody wants can change the best assignment: remove them before optimising.",
    "P4.S4.6": "A broker needs the rates too: the best broker of a user differs with them at equal prices.",
    "P4.S6.1": "The cost of random assignment follows the traffic, not the number of users: plan by traffic.",
    "P4.S6.2": "A cost reduction ratio above 1 says little: assignments that cost more than random ones exist.",
    "P2.L1": "The lemma's count is not exact: rely on its growth, not on the formula.",
    "P2.L2": "Lines 17 to 19 as printed take more than |V|²|T| steps: keep an index of contributions instead.",
    "P2.S3.1": "MinMax-ODA does not add one perfect matching after another, so degrees are not equal while it runs.",
    "P2.S6.5": "A lower bound proves for every algorithm that stars need far more edges than GM's overlays.",
    "P2.F1": "Low-ODA with k = 3 can have a lower maximum degree than MinMax-ODA: it need not be traded for it.",
    "W.TIES": "Report the rule for ties with every result, and run several: on six nodes alone it changes values up to "
    "2.8-fold.",
    "W.HALL": "The constructions of the proofs are not the worst instances of their size.",
}
"""What a refuted claim means to someone who uses the algorithm, in one sentence."""
