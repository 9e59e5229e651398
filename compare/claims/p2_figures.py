"""The figures of Onus and Richa (P2): their grids, and the claims about them as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from operator import itemgetter

import numpy as np
import pandas as pd

from ..intervals import mean_interval
from ..studies.recipe import Recipe
from .bench import TIES, Bench
from .claim import FALLS, RISES, Claim, Judgement, Line, Verdict, about, all_of, at_least, at_most, exact
from .claim import verdict_of as verdict
from .figures import Curve, Figure, Panel
from .grids import Grid, Sheet
from .p2_constructed import independent_subscriptions, star_bound
from .rows import Part, on_rows

NODES, TOPICS, SUBSCRIPTIONS = (tuple(range(100, 1001, 100)), tuple(range(100, 501, 100)), tuple(range(10, 51, 10)))
K = tuple(float(k) for k in range(1, 9))
_STRICTER = 1e-6  # less than k: e1 must weigh more than w(e2)/k instead of at least as much, as weights are whole
_MINMAX = ("minmax-oda", "gm-m")
STARS = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")
_ZIPF = {"topics": 100, "subscriptions": 10}
_BOUND_SECONDS, _BOUND_STEPS = 60.0, 400


def _low(ks: tuple[float, ...]) -> tuple[str, Mapping[str, tuple[float, ...]]]:
    """Low-ODA with these k, with ≥ and with > in line 10 (k = 1 with > is GM)."""
    return "low-oda", {"k": (*ks, *(k - _STRICTER for k in ks if k > 1))}


BY_NODES = Grid(
    "p2-nodes",
    (
        Sheet(
            "zipf", {"nodes": NODES, **_ZIPF}, "low-tco", ("gm", *_MINMAX, _low((3.0,))),
            seeds=(5, 10), ties=TIES, quick={"nodes": (100, 300)},
        ),
    ),
    paper={"p_nodes": NODES},
)  # fmt: skip
BY_K = Grid(
    "p2-k",
    (Sheet("zipf", {"nodes": 100, **_ZIPF}, "low-tco", ("gm", *_MINMAX, _low(K)), seeds=(10, 30), ties=TIES),),
    paper={"p_nodes": (100,), "o_k": K},
)
_SHAPES = (
    ({"nodes": NODES, "topics": 100, "subscriptions": 10}, {"nodes": (100, 400)}),
    ({"nodes": 100, "topics": TOPICS, "subscriptions": 20}, {"topics": TOPICS[::2]}),
    ({"nodes": 100, "topics": 100, "subscriptions": SUBSCRIPTIONS}, {"subscriptions": SUBSCRIPTIONS[::2]}),
)
DIAMETER_2 = Grid(
    "p2-stars",
    (
        *(Sheet("uniform", shape, "min-tco", ("gm", *STARS), seeds=(5, 10), ties=TIES, quick=quick)
          for shape, quick in _SHAPES),
        Sheet("uniform", {"nodes": 100, **_ZIPF}, "2d-star", ("branch-and-cut",), seeds=(0, 5),
              time_limit=_BOUND_SECONDS),
    ),
)  # fmt: skip


def lines_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the columns line (gm, minmax-oda, k=1 …), rule of line 10 (≥, >), and zeros (with, without).

    A copy of the rows for each reading: with > and k = 1 Low-ODA is GM; MinMax-ODA without edges of weight 0 is GM-M.
    """
    copies = []
    k = rows["o_k"].round(3) if "o_k" in rows else pd.Series(np.nan, rows.index)
    low = rows["method"] == "low-oda"
    strict = low & (rows["o_k"] < k)
    named = rows["method"].mask(low, "k=" + k.map("{:g}".format))
    for rule, zeros in product(("≥", ">"), ("with", "without")):
        kept = ~low | (strict if rule == ">" else ~strict)
        minmax = "minmax-oda" if zeros == "with" else "gm-m"
        own = rows.assign(line=named.mask(rows["method"] == minmax, "minmax"), rule=rule, zeros=zeros)[kept]
        copies += [own, own[own["method"] == "gm"].assign(line="k=1")] if rule == ">" else [own]
    return pd.concat(copies, ignore_index=True)


def _reading(rule: str = "≥", zeros: str = "with", ties: str = "lowest") -> str:
    return f"rule == '{rule}' and zeros == '{zeros}' and ties == '{ties}'"


_READINGS = {
    "line 10 with >, as in the prose": _reading(rule=">"),
    "edges of weight 0 left out": _reading(zeros="without"),
    **{f"ties {ties}": _reading(ties=ties) for ties in TIES[1:]},
}
_on_lines = partial(on_rows, where=_reading(), vary=_READINGS, prepare=lines_of)
_LARGEST, _AVERAGE = (partial(Part, measure=name, across="line") for name in ("max_degree", "average_degree"))


def _quotient(method: str, of: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: table[method] / table[of]


def _saved(method: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: 1 - table[method] / table["cd-oda"]


def also(claim: Claim, more: Callable[[Bench, Judgement], Judgement]) -> Claim:
    """A claim on rows whose judgement is extended by what is no mean of rows."""
    return replace(claim, judge=lambda bench: more(bench, claim.judge(bench)))


def _degrees_by_rule(bench: Bench, found: Judgement) -> Judgement:
    """GM's maximum degree by rule for ties, at the largest size."""
    rows = bench.on("p2-nodes")
    last = rows[(rows["method"] == "gm") & (rows["p_nodes"] == rows["p_nodes"].max())]
    means = ", ".join(f"ties {rule} {mean:.1f}" for rule, mean in last.groupby("ties")["max_degree"].mean().items())
    text = f"GM's maximum degree at |V| = {rows['p_nodes'].max():g}: {means}"
    return replace(found, details=[*found.details, text])


F1 = also(
    _on_lines(
        "P2.F1", "p2-nodes",
        _LARGEST("Low-ODA's less MinMax-ODA's maximum degree", lambda d: d["k=3"] - d["minmax"], at_least(-0.5)),
        _LARGEST("Low-ODA's less GM's", lambda d: d["k=3"] - d["gm"], at_most(0)),
    ),
    _degrees_by_rule,
)  # fmt: skip
F2 = _on_lines(
    "P2.F2",
    "p2-nodes",
    _AVERAGE("Low-ODA's average degree ÷ GM's", lambda d: d["k=3"] / d["gm"], at_least(1)),
    _AVERAGE("Low-ODA's less MinMax-ODA's", lambda d: d["k=3"] - d["minmax"], at_most(0)),
)
S5_1 = _on_lines(
    "P2.S5.1",
    "p2-nodes",
    _AVERAGE("average degree ÷ GM's", lambda d: d["k=3"] / d["gm"], at_most(1.1)),
    _LARGEST("maximum degree ÷ MinMax-ODA's", lambda d: d["k=3"] / d["minmax"], at_most(1.1)),
)
F3 = _on_lines(
    "P2.F3",
    "p2-k",
    _LARGEST("k = 1 ÷ GM", lambda d: d["k=1"] / d["gm"], about(1), published=1),
    _LARGEST("k = 8 ÷ MinMax-ODA", lambda d: d["k=8"] / d["minmax"], about(1), published=1),
    _LARGEST("change from k = 1 to 8", lambda d: d["k=8"] - d["k=1"], FALLS),
    *(_LARGEST(f"k = {k:g}", itemgetter(f"k={k:g}")) for k in K),
    depends="line 10",
)
F4 = _on_lines(
    "P2.F4",
    "p2-k",
    _AVERAGE("k = 8 ÷ MinMax-ODA", lambda d: d["k=8"] / d["minmax"], about(1), published=1),
    _AVERAGE("k = 1 ÷ GM", lambda d: d["k=1"] / d["gm"], about(1), published=1),
    _AVERAGE("change from k = 1 to 8", lambda d: d["k=8"] - d["k=1"], RISES),
    *(_AVERAGE(f"k = {k:g}", itemgetter(f"k={k:g}")) for k in K),
    depends="edges of weight 0",
)


def _work(rows: pd.DataFrame) -> pd.DataFrame:
    """The subscriptions that Low-ODA compared ÷ (|V|²|T|), and logarithms."""
    own = rows[(rows["method"] == "low-oda") & (rows["o_k"] == 3)]
    nodes = own["p_nodes"].astype(float)
    share = own["c_counted"].astype(float) / (nodes**2 * own["p_topics"])
    return own.assign(share=share, log_share=np.log(share), log_nodes=np.log(nodes))


L2 = on_rows(
    "P2.L2",
    "p2-nodes",
    Part("largest share of |V|²|T|", lambda d: d["low-oda"], at_most(1), measure="share", extreme="max"),
    Part("exponent of |V| of the share", lambda d: d["low-oda"], at_most(0.1), measure="log_share", along="log_nodes"),
    vary={f"ties {ties}": f"ties == '{ties}'" for ties in TIES[1:]},
    prepare=_work,
)

_EDGES = partial(Part, measure="edges")
_OF_STARS = "method != 'branch-and-cut'"
_FIGURES = {
    "P2.F8": ("p_topics == 100 and p_subscriptions == 10", "p_nodes", FALLS),
    "P2.F9": ("p_nodes == 100 and p_subscriptions == 20", "p_topics", RISES),
    "P2.F10": ("p_nodes == 100 and p_topics == 100", "p_subscriptions", FALLS),
}
_PUBLISHED = {
    "P2.F8": (1.09, 2.04, 2.06),
    "P2.F9": (1.07, 1.96, 2.0),
    "P2.F10": (1.1, 1.94, 2.23),
    "P2.S6.5": (1.1, 2.0, 2.1),
}


def _factors(id_: str) -> tuple[Part, ...]:
    """2D-ODA against GM and the CD-ODA family against 2D-ODA, as the paper has them."""
    most, second, others = _PUBLISHED[id_]
    gm = _EDGES("largest 2D-ODA ÷ GM", lambda d: d["2d-oda"] / d["gm"], at_most(most), extreme="max", published=most)
    mean = _EDGES("mean 2D-ODA ÷ GM", lambda d: d["2d-oda"] / d["gm"])
    family = tuple(
        _EDGES(f"{name} ÷ 2D-ODA", _quotient(m, "2d-oda"), about(f), at_least(1), published=f)
        for name, m, f in (("CD-ODA-II", "cd-oda-2", second), ("CD-ODA", "cd-oda", others),
                           ("CD-ODA-I", "cd-oda-1", others))
    )  # fmt: skip
    return (*family, gm, mean) if id_ == "P2.S6.5" else (gm, mean, *family)


def _on_stars(id_: str) -> Claim:
    where = f"{_FIGURES[id_][0]} and {_OF_STARS}" if id_ in _FIGURES else _OF_STARS
    vary = {f"ties {ties}": f"{where} and ties == '{ties}'" for ties in TIES[1:]}
    found = on_rows(id_, "p2-stars", *_factors(id_), where=f"{where} and ties == 'lowest'", vary=vary)
    return found if id_ == "P2.S6.5" else also(found, partial(_of_any_stars, id_))


def _of_any_stars(id_: str, bench: Bench, found: Judgement) -> Judgement:
    """What holds of every overlay of stars, by proven bounds; the other readings of the law and of “times more”."""
    limit = _PUBLISHED[id_][0]
    rows = bench.on("p2-stars").query(f"{_FIGURES[id_][0]} and ties == 'lowest'")
    gm = rows[rows["method"] == "gm"].drop_duplicates("instance")
    sizes = ["p_nodes", "p_topics", "p_subscriptions"]
    first = gm.groupby(sizes).head(1 if bench.quick else 3)
    bounds = [star_bound(Recipe.from_json(one).make()) for one in first["recipe"]]
    ratio = (pd.Series(bounds, first.index) / first["edges"]).groupby([first[size] for size in sizes]).mean()
    lines = []
    for name, one in (("least", ratio.min()), ("most", ratio.max())):
        held = Verdict.CONTRADICTED if one > limit else Verdict.NOT_DECIDED
        text = f"any overlay of stars, a lower bound ÷ GM, the {name} at a point"
        lines.append(Line(text, exact(float(one), len(first)), held))
    if found.number:
        held = verdict(found.number, at_most(1 + limit))
        lines.append(Line(f"“{limit:g} times more” read as 1 + {limit:g}", found.number, held))
    lines.append(_independent(bench, limit, *map(int, next(iter(ratio.index)))))
    details = [*found.details, *(_best_known(rows, bench.quick) if id_ == "P2.F8" else ())]
    return replace(found, sensitivity=[*found.sensitivity, *lines], details=details)


def _independent(bench: Bench, limit: float, nodes: int, topics: int, subscriptions: int) -> Line:
    """2D-ODA ÷ GM where each node subscribes to each topic by itself."""
    ratios = []
    for seed in range(3 if bench.quick else 10):
        shape = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions}
        instance = independent_subscriptions(seed=seed, **shape)
        ratios.append(bench.value("2d-oda", instance, "min-tco") / bench.value("gm", instance, "min-tco"))
    number = mean_interval(ratios)
    return Line(f"topics drawn independently, |V| = {nodes}, |T| = {topics}", number, verdict(number, at_most(limit)))


def _best_known(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """At |V| = 100, for each seed: the best known lower bound on the edges of any overlay of stars, and GM's edges."""
    solved = rows[rows["method"] == "branch-and-cut"].set_index("instance")
    every = rows[(rows["method"] == "gm") & (rows["p_nodes"] == 100)].drop_duplicates("instance")
    own = every[every["instance"].isin(solved.index)] if len(solved) else every.head(2)
    for number, gm in enumerate(own.itertuples()):
        bound, built = float(star_bound(Recipe.from_json(gm.recipe).make(), 20 if quick else _BOUND_STEPS)), ""
        if gm.instance in solved.index:
            run = solved.loc[gm.instance]
            bound, built = max(bound, float(run["lower_bound"])), f", best known {run['value']:g}"
        text = f"|V| = 100, seed {number}: stars need at least {bound:g} edges{built}, GM has {gm.edges:g}"
        yield f"{text}: {bound / gm.edges:.2f} times"


F8, F9, F10, S6_5 = map(_on_stars, (*_FIGURES, "P2.S6.5"))


def _trend(id_: str, figure: str) -> Claim:
    """How the average degree of each algorithm changes with a size: from each value to the next, and over all."""
    where, column, must = _FIGURES[figure]

    def judge(bench: Bench) -> Judgement:
        rows = bench.on("p2-stars").query(f"{where} and {_OF_STARS} and ties == 'lowest'")
        rows = rows.drop_duplicates(["instance", "method"])
        number = rows.groupby(["method", column]).cumcount()
        every = rows.assign(number=number).pivot_table("average_degree", ["method", "number"], column).dropna()
        ends, steps, lines, details = [], [], [], []
        for method in ("2d-oda", "gm", *STARS[:-1]):
            wide = every.loc[method]
            whole = mean_interval(wide.iloc[:, -1] - wide.iloc[:, 0], together=5)
            changes = [
                mean_interval(step, together=5 * (wide.shape[1] - 1)) for step in wide.diff(axis=1).iloc[:, 1:].T.values
            ]
            ends.append(verdict(whole, must))
            steps += [verdict(change, must) for change in changes]
            lines.append(Line(f"{method}, from the first to the last", whole, ends[-1]))
            details.append(f"{method}: {', '.join(f'{mean:.2f}' for mean in wide.mean())}")
        found = all_of(ends)
        if found is Verdict.CONFIRMED and Verdict.CONTRADICTED in steps:
            found = Verdict.ORDER
        wrong = [
            line.varied.partition(",")[0] for line, one in zip(lines, ends, strict=True) if one is not Verdict.CONFIRMED
        ]
        text = f"not for {', '.join(wrong)}" if wrong else "from the first size to the last for all five"
        text += "" if found is not Verdict.ORDER else ", not from each size to the next"
        return Judgement(found, text, lines[0].number, lines, details, runs=len(rows))

    return Claim(id_, judge, ("p2-stars",))


S6_5_1, S6_5_2, S6_5_3 = (_trend(f"P2.S6.5.{i}", figure) for i, figure in enumerate(_FIGURES, 1))

S6_1 = on_rows(
    "P2.S6.1",
    "p2-stars",
    *(
        _EDGES(f"{name} improves on CD-ODA by", _saved(m), about(0.2), at_least(0),
               published=0.2)
        for name, m in (("CD-ODA-II", "cd-oda-2"), ("CD-ODA-I", "cd-oda-1"))
    ),
    _EDGES("CD-ODA-II ÷ CD-ODA-I", lambda d: d["cd-oda-2"] / d["cd-oda-1"], at_most(1)),
    where=f"{_OF_STARS} and ties == 'lowest'",
    vary={f"ties {ties}": f"{_OF_STARS} and ties == '{ties}'" for ties in TIES[1:]},
)  # fmt: skip


def _flat(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of Figures 3 and 4, where GM and MinMax-ODA have a value at every k."""
    read, low = lines_of(rows), lines_of(rows)["line"].str.startswith("k=")
    level = [read[~low].assign(k=k) for k in K]
    return pd.concat([read[low].assign(k=read["line"][low].str[2:].astype(float)), *level], ignore_index=True)


def _three(**reading: str) -> tuple[Curve, ...]:
    """GM, MinMax-ODA and Low-ODA under a reading."""
    where = _reading(**reading)
    lines = {"GM": "line == 'gm'", "MinMax-ODA": "line == 'minmax'", "Low-ODA": "line.str.startswith('k=')"}
    return tuple(Curve(name, f"{line} and {where}") for name, line in lines.items())


_X, _X_K = ("p_nodes", "number of nodes |V|"), ("k", "parameter k")
_MORE = {
    "line 10 with >": _three(rule=">"),
    "edges of weight 0 left out": _three(zeros="without"),
    **{f"ties {ties}": _three(ties=ties) for ties in TIES[1:]},
}
_MAXIMUM, _MEAN = (Panel("max_degree", "maximum degree"),), (Panel("average_degree", "average degree"),)
FIGURE_1 = Figure("P2.F1", "p2-nodes", _X, _MAXIMUM, _three(), _MORE, prepare=lines_of)
FIGURE_2 = Figure("P2.F2", "p2-nodes", _X, _MEAN, _three(), _MORE, prepare=lines_of)
FIGURE_3 = Figure("P2.F3", "p2-k", _X_K, _MAXIMUM, _three(), _MORE, prepare=_flat)
FIGURE_4 = Figure("P2.F4", "p2-k", _X_K, _MEAN, _three(), _MORE, prepare=_flat)
_NAMES = {"gm": "GM", "cd-oda": "CD-ODA", "cd-oda-1": "CD-ODA-I", "cd-oda-2": "CD-ODA-II", "2d-oda": "2D-ODA"}


def _stars(id_: str, label: str, values: tuple[int, ...]) -> Figure:
    """Five average degrees, and the factors that the text gives, each for all sizes together."""
    where, column, _ = _FIGURES[id_]
    most, second, others = _PUBLISHED[id_]

    def of(method: str, ties: str = "lowest") -> str:
        return f"method == '{method}' and ties == '{ties}' and {where}"

    factors = {("2d-oda", "gm"): most, ("cd-oda-2", "2d-oda"): second}
    factors |= {(method, "2d-oda"): others for method in ("cd-oda", "cd-oda-1")}
    curves = tuple(Curve(f"{_NAMES[a]} ÷ {_NAMES[b]}", of(a), over=of(b)) for a, b in factors)
    marks = {c.label: dict.fromkeys(map(float, values), f) for c, f in zip(curves, factors.values(), strict=True)}
    return Figure(
        id_,
        "p2-stars",
        (column, label),
        (*_MEAN, Panel("edges", "ratio of edges", marks, curves)),
        tuple(Curve(name, of(method)) for method, name in _NAMES.items()),
        more={f"ties {t}": tuple(Curve(name, of(method, t)) for method, name in _NAMES.items()) for t in TIES[1:]},
    )


FIGURE_8 = _stars("P2.F8", _X[1], NODES)
FIGURE_9 = _stars("P2.F9", "number of topics |T|", TOPICS)
FIGURE_10 = _stars("P2.F10", "topics a node", SUBSCRIPTIONS)
