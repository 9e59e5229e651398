"""The worst cases that P1, P2 and P3 construct, as they are told there."""

from __future__ import annotations

from instances import TopicInstance


def greedy_merge_lower_bound(k: int, m: int) -> TopicInstance:
    """P1, Lemma 6.6: a cuboid of 2 × (2^k - 1) × m topics, its planes, and k slabs of doubling width.

    Nodes 0, 1 are Stwo_1 and Stwo_2, then Sk_1…Sk_k, then Sm_1…Sm_m.
    """
    width = 2**k - 1
    cuboid = [(plane, column, row) for plane in range(2) for column in range(width) for row in range(m)]
    slabs = {i: range(2 ** (i - 1) - 1, 2**i - 1) for i in range(1, k + 1)}
    wants = {f"n0-two-{plane}": [t for t in cuboid if t[0] == plane] for plane in range(2)}
    wants |= {f"n1-slab-{i}": [t for t in cuboid if t[1] in slabs[i]] for i in range(1, k + 1)}
    wants |= {f"n2-row-{j}": [t for t in cuboid if t[2] == j] for j in range(m)}
    return _named(wants)


def minmax_oda_lower_bound(n: int) -> TopicInstance:
    """P2, Lemma 1: v1 wants all of n² topics t(i, j); any other v_i wants t(i, j) and t(j, i) for every j."""
    numbers = range(1, n + 1)
    wants = {"n1": [(i, j) for i in numbers for j in numbers]}
    wants |= {f"n{i}": sorted({(i, j) for j in numbers} | {(j, i) for j in numbers}) for i in numbers[1:]}
    return _named(wants)


def cd_oda_lower_bound(n: int) -> TopicInstance:
    """P2, Lemma 5: v_i wants t_1…t_i."""
    return TopicInstance.from_subscriptions({f"n{i}": [f"t{j}" for j in range(1, i + 1)] for i in range(1, n + 1)})


def cd_oda_1_lower_bound(n: int) -> TopicInstance:
    """P2, Lemma 6: v_i wants t_1…t_i and the n³(n - i + 1) topics of S_i, which u_i wants too; v before u."""
    sets = {i: [f"s{i}-{j}" for j in range(n**3 * (n - i + 1))] for i in range(1, n + 1)}
    wants = {f"a-v{i}": [f"t{j}" for j in range(1, i + 1)] + sets[i] for i in range(1, n + 1)}
    wants |= {f"b-u{i}": sets[i] for i in range(1, n + 1)}
    return TopicInstance.from_subscriptions(wants)


def case_seven(n: int) -> TopicInstance:
    """P2, Case VII, on n nodes; in this order v1, v2, w, u_1…u_{n-3}."""
    xs = [f"x{i}" for i in range(1, n + 1)]
    wants = {"a-v1": [*xs, "z"], "a-v2": xs, "b-w": ["z"]}
    wants |= {f"c-u{i}": ["x1", "y"] for i in range(1, n - 2)}
    return TopicInstance.from_subscriptions(wants)


def naive_division_lower_bound(h: int) -> TopicInstance:
    """P3, Lemma 8: level i has 2^i nodes, the j-th of which wants topics (j - 1)·2^(h-i) + 1 … j·2^(h-i)."""
    wants = {
        f"n{i}-{j}": [f"t{k}" for k in range((j - 1) * 2 ** (h - i) + 1, j * 2 ** (h - i) + 1)]
        for i in range(h + 1)
        for j in range(1, 2**i + 1)
    }
    return TopicInstance.from_subscriptions(wants)


def _named(wants: dict[str, list[tuple[int, ...]]]) -> TopicInstance:
    return TopicInstance.from_subscriptions(
        {node: ["-".join(map(str, topic)) for topic in topics] for node, topics in wants.items()}
    )
