"""The grids of P3's figures and tables, and the sizes that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..studies.recipe import Recipe
from .bench import LAWS, Experiment, Sizes, grid, runs

P3_WORKLOADS = {"uniform": "uniform-varying", "zipf": "zipf-fitted", "exponential": "exponential-fitted"}
TIES = ("lowest", "highest", "random")
TABLE_LAWS = {"P3.T2": "uniform", "P3.T3": "zipf", "P3.T4": "exponential"}
OTHER_LAWS: Mapping[str, tuple[tuple[str, Mapping[str, float]], ...]] = {
    "P3.T2": (("zipf-fitted", {"alpha": 0.0}),),
    "P3.T3": (("zipf-varying", {"alpha": 2.0}), ("zipf-varying", {"alpha": 2.5}), ("zipf-fitted", {"alpha": 2.0})),
    "P3.T4": (("exponential-varying", {"top_decile": 0.55}), ("exponential-varying", {"top_decile": 0.8647})),
}
"""Further laws that a reader of P3 §VI could mean; all with α = 0 are uniform."""
EVERY = 2**31 - 1
"""More parts than nodes: one for each lightweight node."""
_PARTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600, EVERY)
_TIMED_PARTS = (1, 3, 5, 8, 10, 12, 20, 40, 100, 300, EVERY)
_DIVIDED = ("gm-m", "dcb-m", "dcbr-m")
_TIMED_NODES = 4000


def p3_default(family: str, law: str, seeds: int, **shape: Any) -> tuple[Recipe, ...]:
    """P3 §VI: 10 to 90 topics per node, |T| = 200 by default; the laws that fit its tables best."""
    return grid(family, P3_WORKLOADS[law], seeds, **{"nodes": 1000, "topics": 200, **shape})


def with_rules(*methods: str | tuple[str, Mapping[str, Any]], rules: Sequence[str] = TIES) -> Iterator[tuple[str, Any]]:
    """Every method under every rule for ties."""
    for method in methods:
        name, options = (method, {}) if isinstance(method, str) else (method[0], dict(method[1]))
        yield from ((name, options | {"ties": rule} if rule != "lowest" else options) for rule in rules)


def by_the_paper(*methods: str, **options: Any) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Methods by Algorithms 3 to 6 of the paper; DCBR-M also with p by the minimiser of Lemma 16."""
    plain = tuple((name, {"data": "table", **(options if name != "gm-m" else {})}) for name in methods)
    return (*plain, ("dcbr-m", {"data": "table", "aim": "lemma-16", **options}))


def p3_grid(
    figure: str,
    methods: Sequence[Any],
    shapes: Sequence[Mapping[str, int]],
    *,
    laws: Sequence[str] = ("uniform",),
    seeds: int,
    timed: Sequence[Any] = (),
    timed_seeds: int = 1,
    timed_if: Callable[[str, Mapping[str, int]], bool] = lambda law, shape: True,
) -> Experiment:
    """A figure: methods on `seeds` instances of every law and shape; `timed` ones on a few of them.

    Algorithms 3 to 6 take about ten times as long as our kernels, so they run on the first `timed_seeds` instances of
    the laws and shapes for which `timed_if` is true.
    """
    rest, every = f"{figure} untimed", list[Recipe]()
    for law in laws:
        for shape in shapes:
            number = timed_seeds if timed and timed_if(law, shape) else 0
            own = p3_default(figure, law, seeds, **shape)
            every += [one if rank < number else replace(one, family=rest) for rank, one in enumerate(own)]
    families = sorted({recipe.family for recipe in every})
    own_runs = [runs("minmax-tco", *methods, families=families, time_limit=1200.0)]
    own_runs += [runs("minmax-tco", *timed, families=[figure], time_limit=1200.0)] if timed else []
    return Experiment(tuple(every), tuple(own_runs))


def table(quick: bool, figure: str) -> Experiment:
    """Tables II to IV: the paper's 400 instances with ties lowest, 12 with the other rules; 6 of each further law."""
    law = TABLE_LAWS[figure]
    every = p3_default(figure, law, 10 if quick else 400)
    timed, others = (2, 4) if quick else (4, 12)
    renamed = [replace(one, family=_family(figure, rank, timed, others)) for rank, one in enumerate(every)]
    laws = f"{figure} laws"
    further = (
        recipe
        for workload, shape in OTHER_LAWS[figure]
        for recipe in grid(laws, workload, 2 if quick else 6, nodes=1000, topics=200, **shape)
    )
    chosen = ("dcbr-m", {"aim": "lemma-16"})
    some = [figure, f"{figure} ties"]
    return Experiment(
        (*renamed, *further),
        (
            runs("minmax-tco", *_DIVIDED, families=[*some, f"{figure} lowest", laws]),
            runs("minmax-tco", chosen, families=[*some, laws]),
            runs("minmax-tco", *with_rules(*_DIVIDED, rules=TIES[1:]), families=some),
            runs("minmax-tco", *by_the_paper(*_DIVIDED), families=[figure]),
        ),
    )


def _family(figure: str, rank: int, timed: int, others: int) -> str:
    return figure if rank < timed else f"{figure} ties" if rank < others else f"{figure} lowest"


def parts(quick: bool) -> Experiment:
    """Figure 4: p from 1 to |L|, DCB-M and DCBR-M."""
    shape = {"nodes": 300, "topics": 100} if quick else {"nodes": 1000, "topics": 200}
    given = [{"partitions": p} for p in (_PARTS[::3] if quick else _PARTS)]
    divided = [(name, one) for name in ("dcb-m", "dcbr-m") for one in given]
    timed = [("dcbr-m", {"data": "table", **one}) for one in given if quick or one["partitions"] in _TIMED_PARTS]
    timed += [("dcb-m", {"data": "table", **one}) for one in given[:: 2 if quick else 5]]
    return p3_grid(
        "P3.F4",
        [*with_rules("gm-m", *divided), "dcbr-m", ("dcbr-m", {"aim": "lemma-16"})],
        [shape],
        seeds=3 if quick else 6,
        timed=[*timed, *by_the_paper("gm-m", "dcbr-m")],
        timed_seeds=1 if quick else 3,
    )


def coverages(quick: bool) -> Experiment:
    """Figure 5: λ from 1 to 4, |V| = 2,000, |T| from 500 to 1,000."""
    nodes, topics = (400, (100, 200)) if quick else (2000, range(500, 1001, 100))
    covered = [("dcbr-m", {"coverage": coverage}) for coverage in range(1, 5)]
    timed = [("gm-m", {"data": "table"}), *(("dcbr-m", {**own, "data": "table"}) for _, own in covered)]
    return p3_grid(
        "P3.F5",
        [*with_rules(*covered), "gm-m"],
        [{"nodes": nodes, "topics": t} for t in topics],
        seeds=3 if quick else 6,
        timed=timed,
        timed_seeds=1 if quick else 2,
    )


def laws(quick: bool) -> Experiment:
    """Figure 6: |V| from 1,000 to 8,000 under the three laws."""
    return p3_grid(
        "P3.F6",
        [*with_rules("gm-m", "dcbr-m"), ("dcbr-m", {"aim": "lemma-16"})],
        [{"nodes": n} for n in ((250, 500, 1000) if quick else (1000, 2000, 4000, 8000))],
        laws=LAWS,
        seeds=2 if quick else 4,
        timed_seeds=1 if quick else 2,
        timed=by_the_paper("gm-m", "dcbr-m"),
        timed_if=lambda law, shape: shape["nodes"] <= (_TIMED_NODES if law == "uniform" else 2000),
    )


def in_nodes(quick: bool) -> Experiment:
    """Figure 7: |V| from 1,000 to 8,000, |T| = 100."""
    return p3_grid(
        "P3.F7",
        [*with_rules(*_DIVIDED)],
        [{"nodes": n, "topics": 100} for n in ((250, 500, 1000) if quick else (1000, 2000, 4000, 8000))],
        seeds=2 if quick else 4,
        timed_seeds=1 if quick else 2,
        timed=by_the_paper(*_DIVIDED),
        timed_if=lambda law, shape: shape["nodes"] <= _TIMED_NODES,
    )


def in_topics(quick: bool) -> Experiment:
    """Figure 8: |T| from 100 to 1,000 at |V| = 4,000 under the three laws."""
    return p3_grid(
        "P3.F8",
        [*with_rules(*_DIVIDED)],
        [{"nodes": 400 if quick else 4000, "topics": t} for t in ((100, 150, 200, 300) if quick else (100, 400, 1000))],
        laws=LAWS,
        seeds=2 if quick else 4,
        timed_seeds=1 if quick else 2,
        timed=by_the_paper("gm-m", "dcbr-m"),
        timed_if=lambda law, shape: law == "uniform" and shape["topics"] != 400,
    )


def in_sizes(quick: bool) -> Experiment:
    """Figure 9: 50 to 150 topics a node on average, ± 40, at |T| = 400."""
    return p3_grid(
        "P3.F9",
        [*with_rules(*_DIVIDED)],
        [
            {"nodes": 300 if quick else 1000, "topics": 400, "least": mean - 40, "most": mean + 40}
            for mean in ((50, 100, 150) if quick else range(50, 151, 25))
        ],
        seeds=2 if quick else 6,
        timed=by_the_paper(*_DIVIDED),
    )


def rings(quick: bool) -> Experiment:
    """Figure 10: RingPT under every order of its nodes, on the instances of Figure 7."""
    orders = [("ring-per-topic", {"order": order}) for order in ("number", "random", "random-per-topic")]
    return p3_grid(
        "P3.F10",
        [*orders, *with_rules("gm-m", "dcbr-m")],
        [{"nodes": n, "topics": 100} for n in ((250, 500, 1000) if quick else (1000, 2000, 4000, 8000))],
        seeds=2 if quick else 4,
    )


def known_algorithms(quick: bool) -> Experiment:
    """§VI: GM-M and the algorithms known then, on the default workload at |V| = 1,000 under the three laws."""
    shape = {"nodes": 300 if quick else 1000}
    known = ("gm", ("low-oda", {"k": 3.0}), "ring-per-topic")
    return p3_grid("P3.S6.4", [*with_rules("gm-m", "minmax-oda"), *known], [shape], laws=LAWS, seeds=2 if quick else 6)


GRIDS_P3: Mapping[str, Callable[[bool], Experiment]] = {
    "P3.T2": lambda quick: table(quick, "P3.T2"),
    "P3.T3": lambda quick: table(quick, "P3.T3"),
    "P3.T4": lambda quick: table(quick, "P3.T4"),
    "P3.F4": parts,
    "P3.F5": coverages,
    "P3.F6": laws,
    "P3.F7": in_nodes,
    "P3.F8": in_topics,
    "P3.F9": in_sizes,
    "P3.F10": rings,
}
_DEFAULT: Sizes = {"|V|": (4000,), "|T|": (200,), "mean |T_v|": (50,)}
SIZES_P3: Mapping[str, Sizes] = {
    **{name: {**_DEFAULT, "|V|": (1000,), "law": (law,), "samples": (400,)} for name, law in TABLE_LAWS.items()},
    "P3.F4": {**_DEFAULT, "|V|": (1000,), "p": tuple(range(1, 801))},
    "P3.F5": {**_DEFAULT, "|V|": (2000,), "|T|": (500, 1000), "λ": (1, 2, 3, 4), "law": ("uniform",)},
    "P3.F6": {**_DEFAULT, "|V|": (1000, 8000), "law": LAWS},
    "P3.F7": {"|V|": (1000, 8000), "|T|": (100,), "mean |T_v|": (50,), "law": ("uniform",)},
    "P3.F8": {**_DEFAULT, "|T|": (100, 1000), "law": LAWS},
    "P3.F9": {"|V|": (1000,), "|T|": (400,), "mean |T_v|": (50, 150), "law": ("uniform",)},
    "P3.F10": {"|T|": (100,)},
    "P3.S6.4": {"|V|": (1000, 8000), "|T|": (100, 1000)},
}
"""§VI's ranges by their ends; "p" is every number of parts up to |L|."""
