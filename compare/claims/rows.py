"""Claims about runs on a grid, as data: a number of each instance, what its mean must be, and what is varied."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..intervals import LEVEL, Interval, mean_interval, share_interval
from .bench import Bench
from .claim import Claim, Judgement, Limit, Line, Verdict, all_of, exact, verdict_of
from .grids import scale_of

_NAMED = re.compile(r"`([^`]+)`|\b[a-z]\w*")
_OPEN, _MOST_WANTED = {Verdict.NOT_DECIDED}, 10_000


@dataclass(frozen=True)
class Part:
    """One sentence of a claim: a number of each instance, and what its mean must be.

    `of` is an expression of pandas ("`dcbr-m` - `gm-m`") in the columns of the wide table, which gives a number of each
    instance; truth values are judged as a share. The table has the means of `measure` on the rows of the query `where`:
    a row for each value of the column `each` (``draw`` pairs instances of different shapes) and a column for each value
    of the column, or columns, `across`; also least, most, mean and last of the row's values, and at_least, the column
    of the least. `must` is what the claim says, without which the number is only shown, and `nearly` what suffices for
    ``confirmed in order``. With `along`, a size, the number is the slope along it, of a doubling if `doubling`; with
    `extreme` (``max``, ``min``) that of all instances, not their mean, as a claimed maximum is one number; with `log2`
    its logarithm.
    """

    name: str
    of: str
    must: Limit | None = None
    nearly: Limit | None = None
    where: str = ""
    measure: str = "max_degree"
    across: str | list[str] = "method"
    each: str = "instance"
    along: str = ""
    doubling: bool = False
    extreme: str = ""
    log2: bool = False
    published: float | None = None

    def number(self, rows: pd.DataFrame) -> Interval | None:
        """The number with its interval; None where no instance has it."""
        own = rows.query(self.where) if self.where else rows
        own = own[own[self.measure].notna()]
        if own.empty:
            return None
        table = wide(own, self.measure, self.across, self.each)
        used = {name[1] or name[0] for name in _NAMED.finditer(self.of)}
        try:
            table = table.dropna(subset=[one for one in table if one in used])
            sample: pd.Series = table.eval(self.of, engine="python")
        except NameError:  # a method that these rows lack
            return None
        sample = np.log2(sample) if self.log2 else sample
        if sample.empty:
            return None
        if self.along:
            at = own.groupby(self.each)[self.along].first().astype(float).loc[sample.index]
            return slope(np.log2(at) if self.doubling else at, sample)
        if sample.dtype == bool:
            return share_interval(int(sample.sum()), len(sample))
        return exact(float(getattr(sample, self.extreme)()), len(sample)) if self.extreme else mean_interval(sample)


def wide(rows: pd.DataFrame, measure: str, across: str | list[str] = "method", each: str = "instance") -> pd.DataFrame:
    """A row for each instance, a column for each value of `across`: means over seeds; and of each row without gaps."""
    table = rows.pivot_table(index=each, columns=across, values=measure, aggfunc="mean")
    whole = table.dropna()
    of_row = {"least": whole.min(axis=1), "most": whole.max(axis=1), "mean": whole.mean(axis=1)}
    of_row |= {"last": whole.iloc[:, -1]}
    if pd.api.types.is_numeric_dtype(table.columns) and len(whole):
        of_row["at_least"] = whole.idxmin(axis=1).astype(float)
    table.columns = pd.Index([" ".join(map(_label, one if isinstance(one, tuple) else (one,))) for one in table])
    return table.assign(**of_row)


def _label(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"


def slope(x: Sequence[float] | pd.Series, y: Sequence[float] | pd.Series) -> Interval:
    """The slope of a line through points, with its 95% interval; none without spread in x."""
    at, values = np.asarray(x, float), np.asarray(y, float)
    if len(at) < 3 or np.ptp(at) == 0:
        return Interval(math.nan, math.nan, math.nan, len(at))
    from scipy import stats

    line = stats.linregress(at, values)
    half = float(stats.t.ppf(1 - LEVEL / 2, len(at) - 2)) * float(line.stderr)
    return Interval(float(line.slope), float(line.slope) - half, float(line.slope) + half, len(at))


def on_rows(
    id_: str,
    grid: str,
    *parts: Part,
    where: str = "ties == 'lowest'",
    vary: Mapping[str, str] | None = None,
    depends: str = "",
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows,
    paper: Mapping[str, Any] | None = None,
) -> Claim:
    """A claim about the runs on a grid.

    The first part's number is the claim's; the verdict is the gravest of all. `where` is the principal reading, a
    pandas query on the rows, and `vary` has others by name, the lines of the sensitivity. `depends` is a choice that
    the paper leaves open, say "ties": where a line whose name begins with it is confirmed and the principal reading
    contradicted, or the other way round, the verdict is ``depends``. `prepare` adds columns to the rows; `paper` is
    that of `Grid`.
    """

    def judge(bench: Bench) -> Judgement:
        rows = prepare(bench.on(grid))
        principal = judge_parts(parts, rows.query(where) if where else rows)
        lines, sides = [], {principal.verdict}
        for varied, query in (vary or {}).items():
            one = judge_parts(parts, rows.query(query))
            if one.number is not None:
                lines.append(Line(varied, one.number, one.verdict))
                sides |= {one.verdict} if depends and varied.startswith(depends) else set()
        scale = scale_of(paper or {}, rows.query(where) if where else rows)
        found = replace(principal, sensitivity=tuple(lines), scale=scale, runs=len(rows))
        if Verdict.CONTRADICTED in sides and sides & {Verdict.CONFIRMED, Verdict.ORDER}:
            apart = (one for one in lines if one.varied.startswith(depends) and one.verdict in sides - _OPEN)
            shown = "; ".join(f"{one.varied}: {one.verdict}" for one in apart if one.verdict is not principal.verdict)
            because = f"on {depends.removesuffix(' =')}: as read {principal.verdict}; {shown}"
            found = replace(found, verdict=Verdict.DEPENDS, because=because)
        return found

    return Claim(id_, judge, (grid,))


def judge_parts(parts: Sequence[Part], rows: pd.DataFrame) -> Judgement:
    """The gravest verdict over the parts that the rows have, with the first part's number; a line for each part."""
    numbers = [(part, number) for part in parts if (number := part.number(rows)) is not None]
    named = [(part, number, part.must) for part, number in numbers if part.must is not None]
    if not named:
        return Judgement(Verdict.NOT_DECIDED, "no run has the numbers that it needs")
    verdicts = [verdict_of(number, must, part.nearly) for part, number, must in named]
    verdict = all_of(verdicts)
    each = zip(named, verdicts, strict=True)
    open_ = verdict is Verdict.NOT_DECIDED
    deciding = [f"{p.name} {n}, claimed {m}{_missing(n, m) * open_}" for (p, n, m), v in each if v is verdict]
    details = [
        f"{part.name}: {number}"
        + (f", claimed {part.must}: {verdict_of(number, part.must, part.nearly)}" if part.must else "")
        + (f", published {part.published:g}" if part.published is not None else "")
        for part, number in numbers
    ]
    first = numbers[0][1] if numbers[0][0] is parts[0] else None  # another part's number has another meaning
    return Judgement(verdict, "; ".join(deciding[:2]), first, (), details if len(details) > 1 else ())


def _missing(number: Interval, must: Limit) -> str:
    """How many instances would decide a number whose interval reaches across a limit, if its mean stays."""
    if must.holds(number) is not None:
        return ""
    apart = max(min(abs(number.mean - end) for end in (must.low, must.high)), 1e-9)
    wanted = number.n * ((number.high - number.low) / 2 / apart) ** 2
    return f" (about {math.ceil(wanted)} instances would decide)" if wanted < _MOST_WANTED else ""
