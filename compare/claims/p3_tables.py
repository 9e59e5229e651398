"""Tables II to IV of Chen et al. (P3): our runs against every printed number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ..intervals import RESAMPLES
from ..papers.bench import Bench, Experiment, together
from ..papers.grids import GRIDS
from ..papers.grids_p3 import TABLE_LAWS
from ..papers.rows_p3 import chosen, labelled
from ..papers.tables_p3 import PRINTED, RUNS, Printed, samples
from .claim import Claim, Finding, Interval, Verdict
from .evidence import all_of, at_least, at_most, mean_of, over_ties
from .on_grids import figure_claim
from .on_p3_grids import FITTED, TIMINGS, found, in_fitted_laws, rises

_LEVEL = 0.05
_MUCH_LESS, _CLOSE = 0.25, 0.1
_SAME = 10
_READING = {"uniform": "numbers of topics uniform on 10 to 90, drawn one by one", **FITTED}
_GROUPS = {
    "maximum degrees": ("D_GMM", "D_DCB", "D_DCBR"),
    "average degrees": ("d_GMM", "d_DCB", "d_DCBR"),
    "|R|/|L|": ("|R|/|L|",),
}


def _table(bench: Bench, table: str) -> Iterable[Finding]:
    rows, laws = labelled(bench.rows), f"{table} laws"
    own = rows[rows["family"] != laws]
    kernels = chosen(own)
    for subject, names in _GROUPS.items():
        yield _means(kernels, table, subject, names)
    yield _spreads(kernels[kernels["ties"] == "lowest"], table)
    yield _few_representatives(kernels, table)
    yield from _times(own, table)
    yield _one_law(rows, table)


def _means(rows: pd.DataFrame, table: str, subject: str, names: tuple[str, ...]) -> Finding:
    """Whether printed means agree with ours: otherwise the order of the methods decides.

    A law that was fitted to the table decides nothing by its numbers, nor does |R| ÷ |L|, which depends on how p is
    chosen, while no law and choice of p explain all numbers.
    """
    printed = {name: PRINTED[table][name] for name in names if name in PRINTED[table]}
    law = TABLE_LAWS[table]
    verdicts, intervals, texts = dict[str, Verdict](), list[Interval](), list[str]()
    for rule, of_rule in rows.groupby("ties", sort=False):
        ours = samples(of_rule)
        agreeing = {name: agreement(ours[name], line, len(printed)) for name, line in printed.items()}
        apart = [name for name, one in agreeing.items() if one is Verdict.REFUTED]
        verdict = _ranked(ours, printed) if apart else all_of(agreeing.values())
        undecided = (law != "uniform" and verdict is Verdict.ORDER) or (apart and len(printed) == 1)
        verdicts[str(rule)] = Verdict.OPEN if undecided else verdict
        intervals += [
            mean_of(f"{name}, ties {rule}", ours[name], line.mean, together=len(printed))
            for name, line in printed.items()
        ]
        texts.append(f"ties {rule}: {', '.join(apart) or 'none'}")
    verdict, differ = over_ties(verdicts)
    text = f"Means that differ significantly from the printed ones (Welch), {'; '.join(texts)}.{differ}"
    text += "" if law == "uniform" else " A fitted law decides only in favour."
    others = rows[rows["ties"] != "lowest"]["instance"].nunique()
    reading = f"{_READING[law]}; {others} instances with ties highest and random"
    return found(rows, table, subject, verdict, text, intervals, reading=reading)


def agreement(sample: pd.Series, line: Printed, together: int = 1) -> Verdict:
    """Whether our mean is the printed one: by the 95% interval of their difference (Welch).

    ``refuted`` if it does not contain 0, ``open here`` if it does but is wider than a tenth of the printed mean on
    either side, otherwise ``holds``.
    """
    ours, theirs = float(sample.var(ddof=1)) / len(sample), line.variance / RUNS
    error = math.sqrt(ours + theirs)
    freedom = (ours + theirs) ** 2 / (ours**2 / (len(sample) - 1) + theirs**2 / (RUNS - 1))
    half = float(stats.t.ppf(1 - _LEVEL / (2 * together), freedom)) * error
    if abs(float(sample.mean()) - line.mean) > half:
        return Verdict.REFUTED
    return Verdict.HOLDS if half <= _CLOSE * line.mean else Verdict.OPEN


def _ranked(ours: Mapping[str, pd.Series], printed: Mapping[str, Printed]) -> Verdict:
    """``order holds`` if every pair of printed means that differ significantly differs in the same direction here."""
    verdicts = [Verdict.HOLDS]
    for one, other in combinations(printed, 2):
        apart = printed[one].mean - printed[other].mean
        error = math.sqrt((printed[one].variance + printed[other].variance) / RUNS)
        if abs(apart) > float(stats.norm.ppf(1 - _LEVEL / 2)) * error:
            paired = (ours[one] - ours[other]).dropna() * np.sign(apart)
            verdicts.append(rises(mean_of("", paired)))
    worst = all_of(verdicts)
    return Verdict.ORDER if worst is Verdict.HOLDS else worst


def _spreads(rows: pd.DataFrame, table: str) -> Finding:
    """Whether the printed ranges and variances are those of a sample of the same law as ours."""
    ours, law = samples(rows), TABLE_LAWS[table]
    names = [name for name in PRINTED[table] if name[0] in "Dd|" and name in ours]
    lines, apart = [], []
    for name in names:
        sample, line = ours[name], PRINTED[table][name]
        varied = name[0] != "D" and variance_differs(sample, line.variance, len(names))
        outside = max(int((sample > line.most).sum()), int((sample < line.least).sum()))
        beyond = chance_outside(outside, len(sample)) * 2 * len(names) < _LEVEL
        apart += [name] if varied or beyond else []
        lines.append(
            {
                "number": name,
                **{f"printed {key}": value for key, value in line._asdict().items()},
                "mean": float(sample.mean()),
                "least": float(sample.min()),
                "most": float(sample.max()),
                "variance": float(sample.var(ddof=1)),
                "variances differ": varied,
                "outside the printed range": int(((sample > line.most) | (sample < line.least)).sum()),
            }
        )
    verdict = Verdict.HOLDS if not apart else Verdict.REFUTED if law == "uniform" else Verdict.OPEN
    text = (
        "Range or variance differs significantly (variance, not of D: bootstrap; range: more of our runs beyond its "
        f"end than 400 runs of one law leave): {', '.join(apart) or 'none'} of {', '.join(names)}."
    )
    whole = found(rows, table, "minimum, maximum and variance", verdict, text, reading=_READING[law])
    means = [mean_of(name, ours[name], PRINTED[table][name].mean) for name in names]
    return Finding(whole.subject, verdict, text, whole.runs, lines, whole.scope, means)


def variance_differs(sample: pd.Series, printed: float, together: int = 1) -> bool:
    """Whether a printed variance of 400 runs is not one of our sample's law, by a bootstrap test of the log ratio."""
    rng, own = np.random.default_rng(0), sample.to_numpy(float)
    ours, theirs = (_log_variance(rng.choice(own, (RESAMPLES, size))) for size in (len(own), RUNS))
    at = float(np.mean(ours - theirs <= _log_variance(own) - math.log(printed)))
    return 2 * min(at, 1 - at) * together < _LEVEL


def _log_variance(samples: npt.NDArray[np.float64]) -> Any:
    return np.log(np.maximum(samples.var(axis=-1, ddof=1), 1e-12))


def chance_outside(outside: int, runs: int) -> float:
    """The probability that so many of our runs lie beyond the greatest of 400 runs of the same law."""
    return math.prod((runs - i) / (runs + RUNS - i) for i in range(outside))


def _few_representatives(rows: pd.DataFrame, table: str) -> Finding:
    shares = rows[(rows["method"] == "dcbr-m") & (rows["ties"] == "lowest")]
    interval = mean_of("|R| ÷ |L|", shares["share"], PRINTED[table]["|R|/|L|"].mean)
    verdict = at_most(interval, _MUCH_LESS)
    if verdict is Verdict.REFUTED and TABLE_LAWS[table] != "uniform":
        verdict = Verdict.OPEN
    text = f"|R| is {interval.mean:.1%} of |L| on average with λ = 3. A fitted law decides only in favour."
    reading = f"at most a quarter is much less; {_READING[TABLE_LAWS[table]]}"
    return found(shares, table, "|R| ≪ |L|", verdict, text, [interval], reading=reading)


def _times(rows: pd.DataFrame, table: str) -> Iterator[Finding]:
    """The time ratios under every reading of running time."""
    names = ("T_DCBR/T_GMM", "T_DCB/T_GMM")
    for reading, data, measure, aim in TIMINGS:
        used = chosen(rows, data, aim)
        used = used[(used["ties"] == "lowest") & used[measure].notna()]
        ours = samples(used.assign(cpu=used[measure]))
        if not set(names) <= set(ours) or min(len(ours[name]) for name in names) < 2:
            continue
        intervals = [mean_of(name, ours[name], PRINTED[table][name].mean, together=2) for name in names]
        equal = all_of(agreement(ours[name], PRINTED[table][name], 2) for name in names)
        saving = at_most(mean_of("", (ours[names[0]] - ours[names[1]]).dropna()), 0)
        faster = all_of([saving, *(at_most(one, 1) for one in intervals)])
        ordered = Verdict.ORDER if faster is Verdict.HOLDS else faster
        verdict = equal if equal is Verdict.HOLDS else ordered
        shown = ", ".join(f"{one.mean:.3f} (printed {one.claimed:.3f})" for one in intervals)
        text = f"{' and '.join(names)}: {shown}. Claimed besides: DCBR-M takes less than DCB-M, and DCB-M than GM-M."
        yield in_fitted_laws(found(used, table, f"time ratios: {reading}", verdict, text, intervals, reading=reading))


def _one_law(rows: pd.DataFrame, table: str) -> Finding:
    """Which printed means one law explains together, with p by our aim and by Lemma 16's."""
    lowest = rows[(rows["ties"] == "lowest") & (rows["data"] == "rows")]
    names = [name for name in PRINTED[table] if name[0] in "Dd|"]
    lines = []
    for (recipe_of, aim), own in _by_law(lowest):
        ours = samples(own)
        agreeing = [name for name in names if agreement(ours[name], PRINTED[table][name], len(names)) is Verdict.HOLDS]
        lines.append({"law": recipe_of, "p by": aim, "explains": ", ".join(agreeing), "of": len(names)} | {
            name: float(ours[name].mean()) for name in names
        })  # fmt: skip
    best = max(lines, key=lambda line: str(line["explains"]).count(",") + bool(line["explains"]))
    complete = any(line["explains"] == ", ".join(names) for line in lines)
    text = (
        f"Of {len(lines)} combinations of a law with a choice of p, {best['law']} with p by {best['p by']} explains "
        f"most: {best['explains'] or 'nothing'}, of {', '.join(names)}."
    )
    verdict = Verdict.HOLDS if complete else Verdict.OPEN
    reading = f"the law and the choice of p are readings; each is tried on {_SAME} instances"
    means = [
        mean_of(f"{name}, our law", sample, PRINTED[table][name].mean) for name, sample in _of(lowest, table, names)
    ]
    whole = found(lowest, table, "one law explains all means", verdict, text, reading=reading)
    return Finding(whole.subject, verdict, text, whole.runs, lines, whole.scope, means)


def _of(rows: pd.DataFrame, table: str, names: Iterable[str]) -> Iterator[tuple[str, pd.Series]]:
    ours = samples(chosen(rows[rows["family"] != f"{table} laws"]))
    yield from ((name, ours[name]) for name in names)


def _by_law(rows: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    shapes = [column for column in ("p_alpha", "p_top_decile") if column in rows]
    for law, own in rows.groupby(["workload", *shapes], dropna=False):
        name = " ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in law if value == value)
        both = own[own["aim"] == "lemma-16"].sort_values("recipe")["instance"].unique()[:_SAME]
        few = own[own["instance"].isin(both)]
        for aim, used in (("candidate pairs", chosen(few)), ("Lemma 16", chosen(few, aim="lemma-16"))):
            yield (name, aim), used


def _three_tables(quick: bool) -> Experiment:
    return together([GRIDS[table](quick) for table in TABLE_LAWS])


def _fluctuation(bench: Bench) -> Iterable[Finding]:
    rows = labelled(bench.rows)
    rows = chosen(rows[rows["law"].notna() & ~rows["family"].str.endswith("laws") & (rows["ties"] == "lowest")])
    values = {law: samples(of_law) for law, of_law in rows.groupby("law")}
    for skewed in ("zipf", "exponential"):
        used = rows[rows["law"].isin(["uniform", skewed])]
        for what, names in (("maximum degrees", ("D_DCBR", "D_GMM")), ("average degrees", ("d_DCBR", "d_GMM"))):
            intervals = [
                _variance_ratio(f"var {name}, {skewed} ÷ uniform", values[skewed][name], values["uniform"][name])
                for name in names
            ]
            verdict = all_of(at_least(one, 1) for one in intervals)
            text = "; ".join(f"{one.of} {one.mean:.3g}" for one in intervals) + " (bootstrap over instances)."
            subject = f"{what} vary more under {skewed} than uniform"
            reading = "the laws of Tables II to IV"
            yield in_fitted_laws(found(used, "P3.T2", subject, verdict, text, intervals, reading=reading))
    yield _printed_variances(rows)


def _variance_ratio(of: str, one: pd.Series, other: pd.Series) -> Interval:
    """A ratio of the variances of two samples, with its bootstrap interval; one of two that a verdict uses."""
    rng, both = np.random.default_rng(0), [sample.to_numpy(float) for sample in (one, other)]
    drawn = [_log_variance(rng.choice(own, (RESAMPLES, len(own)))) for own in both]
    low, high = np.exp(np.quantile(drawn[0] - drawn[1], [_LEVEL / 4, 1 - _LEVEL / 4]))
    ratio = math.exp(_log_variance(both[0]) - _log_variance(both[1]))
    return Interval(of, ratio, float(low), float(high), min(map(len, both)))


def _printed_variances(rows: pd.DataFrame) -> Finding:
    """Whether the paper's own Tables II and IV say that all values vary less under the less skewed law."""
    uniform, skewed = PRINTED["P3.T2"], PRINTED["P3.T4"]
    tail = stats.f(RUNS - 1, RUNS - 1)
    intervals = []
    for name, line in uniform.items():
        if name[0] != "D":
            ratio = skewed[name].variance / line.variance
            ends = (ratio / float(tail.ppf(1 - _LEVEL / 4)), ratio / float(tail.ppf(_LEVEL / 4)))
            intervals.append(Interval(f"printed var {name}, exponential ÷ uniform", ratio, *ends, RUNS))
    less = [one.of.split()[2].rstrip(",") for one in intervals if at_least(one, 1) is Verdict.REFUTED]
    text = f"In the printed tables {', '.join(less) or 'nothing'} varies significantly less under the exponential law."
    subject = "all values vary less under less skewed laws, by the printed tables"
    reading = "Tables II and IV as printed; values but D, of which two or three occur, taken as normal"
    verdict = all_of(at_least(one, 1) for one in intervals)
    return found(rows, "P3.T2", subject, verdict, text, intervals, reading=reading)


CLAIMS_P3_TABLES: tuple[Claim, ...] = (
    *(
        figure_claim(
            f"P3.T{n}",
            f"Table {name}: {law}",
            partial(_table, table=f"P3.T{n}"),
            f"P3 Table {name}",
        )
        for n, name, law in ((2, "II", "uniform"), (3, "III", "Zipf"), (4, "IV", "exponential"))
    ),
    Claim(
        "P3.S6.1",
        "maximum degrees fluctuate more under skewed popularity than under uniform",
        "P3 §VI.A, §VI.C",
        _fluctuation,
        _three_tables,
    ),
)
