"""Figures 13 and 14 of P5 as checks: saturated brokers and capped uplinks, in a queueing simulation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

import pandas as pd

from ..papers import grids_p5
from ..papers.bench import Bench
from ..papers.figures_p5 import with_queues, with_thresholds
from ..papers.grids_p5 import GRIDS_P5, SERVICE, SERVICES, THRESHOLDS
from .claim import Claim, Finding, Interval, Verdict
from .evidence import above, all_of, at_least, at_most, mean_of, within
from .p5_networks import Judged, by_network, finding, near_published, of_data, order_or_numbers, ranked, shown

_MORE, _NEAR, _FULL, _SLIGHTLY = 1.15, 0.1, 0.99, 0.1
_BARS = {
    "238 is SH's": {"s1": 234.0, "s2": 209.0, "sh": 238.0},
    "238 is S1's": {"s1": 238.0, "s2": 209.0, "sh": 234.0},
}
_HOPS = {
    "5.93 is S1's": {"s1": 5.93, "s2": 3.38, "sh": 5.80},
    "5.93 is SH's": {"s1": 5.80, "s2": 3.38, "sh": 5.93},
}
_USUAL = 80
_SERVICE = f"{SERVICE / 1000:g} ms a match; the paper gives no matching time"
_MINUTES_OF_FIGURE = 10


def _rises(table: pd.DataFrame, name: str, together: int) -> dict[str, Interval]:
    """The deliveries of S1 and S2 above those of S0, as shares."""
    return {
        s: mean_of(f"{s.upper()} ÷ S0 − 1, {name}", table[s] / table["s0"] - 1, together=together) for s in ("s1", "s2")
    }


def _throughput(bench: Bench, figure: str) -> Iterable[Finding]:
    fanouts = sorted(set(bench.rows["p_fanout"]))
    for name, rows in of_data(with_queues(bench.rows)):
        table = by_network(rows, "queued", "p_fanout", "method")
        rises = [
            one for fanout in fanouts for one in _rises(table[fanout], f"fanout {fanout}", 2 * len(fanouts)).values()
        ]
        text = f"From {min(one.mean for one in rises):+.0%} to {max(one.mean for one in rises):+.0%}."
        more = all_of(map(above, rises))
        yield finding(
            bench, figure, f"S1 and S2 deliver more than S0, {name}", more, text, rises, rows=rows, reading=_SERVICE
        )
        grown = {
            s: [
                mean_of(f"{s.upper()}, fanout {wide} ÷ {low} − 1", table[wide, s] / table[low, s] - 1, together=4)
                for low, wide in (*pairwise(fanouts), (fanouts[0], fanouts[-1]))
            ]
            for s in ("s1", "s2")
        }
        wider = all_of(above(each[-1]) for each in grown.values())
        text = (
            f"Deliveries from fanout {fanouts[0]} to {fanouts[-1]}: S1 {grown['s1'][-1].mean:+.1%}, "
            f"S2 {grown['s2'][-1].mean:+.1%}."
        )
        intervals = list(dict.fromkeys(one for each in grown.values() for one in each))
        yield finding(bench, figure, f"grow with fanout, {name}", wider, text, intervals, rows=rows, reading=_SERVICE)
        yield _shorter(bench, figure, name, rows, fanouts)


def _shorter(bench: Bench, figure: str, name: str, rows: pd.DataFrame, fanouts: list[int]) -> Finding:
    """Whether paths of S1 and S2 are shorter at the largest fanout than at the smallest."""
    hops = by_network(rows, "average_hops", "p_fanout", "method")
    falls = [
        mean_of(f"hops of {s.upper()}, fanout {low} − {wide}", hops[low, s] - hops[wide, s], together=2)
        for low, wide in [(fanouts[0], fanouts[-1])]
        for s in ("s1", "s2")
    ]
    listed = "; ".join(f"{each}: {shown({s: float(hops[each, s].mean()) for s in ('s1', 's2')})}" for each in fanouts)
    text = f"Mean hops to a delivery by fanout: {listed}."
    subject = f"paths shorten with fanout, {name}"
    return finding(bench, figure, subject, all_of(map(above, falls)), text, falls, rows=rows)


def _matching_times(bench: Bench) -> Iterable[Finding]:
    largest: dict[int, Interval] = {}
    for service in SERVICES:
        own = with_queues(bench.rows)
        own = own[own["service"] == service]
        rises = [
            one
            for name, rows in of_data(own)
            for one in _rises(by_network(rows, "queued", "method"), name, 4 * len(SERVICES)).values()
        ]
        largest[service] = max(rises, key=lambda one: one.mean)
        reached = within(largest[service], _MORE - _NEAR, _MORE + _NEAR)
        yield finding(
            bench,
            "P5.F13.times",
            f"up to 115% with {service / 1000:g} ms a match",
            order_or_numbers(all_of(map(above, rises)), reached),
            f"The largest rise is {largest[service].of.partition(' ÷')[0]}'s, {largest[service].mean:+.0%}.",
            [*rises],
            rows=own,
            reading=f"within {100 * _NEAR:.0f} points of 115% counts as the same",
        )
    lowest, highest = (pick(largest.values(), key=lambda one: one.mean) for pick in (min, max))
    reached = all_of((at_most(lowest, _MORE), at_least(highest, _MORE)))
    yield finding(
        bench,
        "P5.F13.times",
        "some matching time gives 115%",
        Verdict.OPEN if reached is Verdict.REFUTED else reached,
        "Largest rise by ms a match: "
        + ", ".join(f"{one.mean:+.0%} at {service / 1000:g}" for service, one in largest.items())
        + ".",
        list(largest.values()),
        reading="the matching time that the paper does not give is chosen so that the number fits",
    )


def _minutes(bench: Bench) -> Iterable[Finding]:
    rows = with_queues(bench.rows)
    shortest, longest = sorted(set(rows["duration"]))
    for name, own in of_data(rows):
        table = by_network(own, "queued", "duration", "method")
        by_length = {seconds: _rises(table[seconds], f"{seconds:g} s", 4) for seconds in (shortest, longest)}
        change = [
            mean_of(
                f"{s.upper()} ÷ S0, {longest:g} s − {shortest:g} s",
                table[longest, s] / table[longest, "s0"] - table[shortest, s] / table[shortest, "s0"],
                together=2,
            )
            for s in ("s1", "s2")
        ]
        text = "; ".join(
            f"{seconds:g} s: {', '.join(f'{s.upper()} {one.mean:+.1%}' for s, one in each.items())}"
            for seconds, each in by_length.items()
        )
        yield finding(
            bench,
            "P5.F13.minutes",
            f"S1 and S2 deliver more than S0, {name}",
            all_of(map(above, by_length[longest].values())),
            f"Deliveries above S0's in {text}.",
            [*by_length[longest].values(), *change],
            rows=own,
            reading=_SERVICE,
        )


def _hybrid_saturated(bench: Bench) -> Iterable[Finding]:
    rows = with_queues(bench.rows)
    for cap, capped in rows.groupby("p_uplink"):
        for name, own in of_data(capped):
            table = by_network(own, "queued", "method")
            ratio = mean_of("S2 ÷ SH − 1", table["s2"] / table["sh"] - 1)
            slightly = within(ratio, 0.0, _SLIGHTLY)
            yield finding(
                bench,
                "P5.F13.hybrid",
                f"S2 delivers more than SH, {name}, uplinks of {cap} a second",
                order_or_numbers(above(ratio), slightly),
                f"Thousand deliveries: {shown({s: float(table[s].mean()) for s in ('s1', 's2', 'sh')})}.",
                [ratio],
                rows=own,
                reading=f"slightly is up to {_SLIGHTLY:.0%}; saturated uplinks, 0.5 ms a match: without caps SH is S2 "
                "and the sentence has no content",
            )


def _planetlab(bench: Bench) -> Iterable[Finding]:
    rows = with_queues(bench.rows)
    rows = rows.assign(share=1000 * rows["queued"] / rows["deliveries"])
    fitting: dict[str, list[int]] = {}
    for name, own in of_data(rows):
        shares = by_network(own, "share", "p_uplink", "method")
        caps = sorted(set(shares.columns.get_level_values("p_uplink")))
        judged = {cap: _as_on_planetlab(shares[cap], name == "sparse", len(caps)) for cap in caps}
        fitting[name] = [cap for cap in caps if judged[cap][0] is Verdict.HOLDS]
        listed = "; ".join(
            f"{cap}: {shown({s: float(shares[cap][s].mean()) for s in ('s0', 's1', 's2')}, '.3f')}" for cap in caps
        )
        claim = "S0 congested, S1 and S2 in full" if name == "sparse" else "S0 least, S1 and S2 not in full"
        yield finding(
            bench,
            "P5.F13c",
            f"{claim} ({name})",
            _some(verdict for verdict, _ in judged.values()),
            f"Share delivered by publications a second on an uplink: {listed}. "
            f"As published with uplinks of {_listed(fitting[name])}.",
            [one for _, intervals in judged.values() for one in intervals],
            rows=own,
            reading=f"10 KB/s is as many publications as fit the claim; at least {_FULL:.0%} delivered is in full",
        )
    common = sorted(set(fitting["sparse"]) & set(fitting["dense"]))
    yield finding(
        bench,
        "P5.F13c",
        "both with messages of one size",
        Verdict.HOLDS if common else Verdict.OPEN,
        f"Uplinks that fit both: {_listed(common)}; the paper gives bytes a second and no size of a message.",
        reading="the same number of publications a second in both data sets",
    )


def _as_on_planetlab(shares: pd.DataFrame, in_full: bool, together: int) -> Judged:
    """Whether S0 is congested and S1 and S2 deliver more, in full or not."""
    delivered = {
        s: mean_of(f"share delivered by {s.upper()}", shares[s], together=5 * together) for s in ("s0", "s1", "s2")
    }
    more = [mean_of(f"{s.upper()} − S0", shares[s] - shares["s0"], together=5 * together) for s in ("s1", "s2")]
    full = [at_least(delivered[s], _FULL) if in_full else at_most(delivered[s], _FULL) for s in ("s1", "s2")]
    return all_of([at_most(delivered["s0"], _FULL), *map(above, more), *full]), [*delivered.values(), *more]


def _some(verdicts: Iterable[Verdict]) -> Verdict:
    """``holds`` if one of them does, otherwise open: values that were not tried may do."""
    return Verdict.HOLDS if Verdict.HOLDS in set(verdicts) else Verdict.OPEN


def _listed(caps: list[int]) -> str:
    return ", ".join(map(str, caps)) or "none"


def _letter(bench: Bench) -> Iterable[Finding]:
    rows = with_thresholds(bench.rows)
    thresholds = rows["threshold"]
    usual = rows[thresholds == _USUAL]
    yield from _against(
        bench, "P5.F14", usual, "", f"an uplink busy for {_USUAL}% of the previous second makes SH save it"
    )
    delivered, hops = by_network(usual, "queued", "method"), by_network(usual, "queued_hops", "method")
    tenfold = delivered * (_MINUTES_OF_FIGURE * 60 / float(usual["duration"].iloc[0]))
    for which, published in _BARS.items():
        bars = [
            mean_of(f"thousand deliveries in ten minutes, {s.upper()}", tenfold[s], bar, together=3)
            for s, bar in published.items()
        ]
        yield finding(
            bench,
            "P5.F14",
            f"deliveries, if {which}",
            near_published(bars, _NEAR, relative=True),
            "The published bars are a third of what the publications of ten minutes match; they fit three to four "
            "minutes.",
            bars,
            rows=usual,
            reading=f"{which}; ten minutes of traffic; within {_NEAR:.0%} counts as the same",
        )
    for which, published in _HOPS.items():
        own = [mean_of(f"hops of {s.upper()}", hops[s], number, together=3) for s, number in published.items()]
        falling = sorted(published, key=lambda s: -published[s])
        order, differences = ranked(hops, falling, "hops", together=2)
        yield finding(
            bench,
            "P5.F14",
            f"hop counts, if {which}",
            order_or_numbers(order, near_published(own, _NEAR, relative=True)),
            f"Mean hops {shown({s: float(hops[s].mean()) for s in published})}; published {shown(published)}: there SH "
            "used S1 nearly everywhere, here only where an uplink is busy.",
            [*own, *differences],
            rows=usual,
            reading=f"{which}; within {_NEAR:.0%} counts as the same",
        )
    for percent in THRESHOLDS:
        earlier = pd.concat([rows[thresholds == percent], usual[usual["method"] != "sh"]])
        text = f"an uplink busy for {percent}% of the previous second makes SH save it"
        yield from _against(bench, "P5.F14", earlier, f", threshold {percent}%", text)


def _others(bench: Bench) -> Iterable[Finding]:
    rows = with_queues(bench.rows)
    for cap, capped in rows.groupby("p_uplink"):
        for name, own in of_data(capped):
            yield from _against(bench, "P5.F14.others", own, f", {name}, uplinks of {cap} a second", "threshold of 80%")


def _against(bench: Bench, figure: str, rows: pd.DataFrame, where: str, reading: str) -> Iterable[Finding]:
    table = by_network(rows, "queued", "method")
    hops = by_network(rows, "queued_hops", "method")
    text = (
        f"Thousand deliveries {shown({s: float(table[s].mean()) for s in ('s1', 's2', 'sh')})}, mean hops "
        f"{shown({s: float(hops[s].mean()) for s in ('s1', 's2', 'sh')})}."
    )
    for more, less, which in (("sh", "s2", ""), *zip(("sh", "s1"), ("s1", "sh"), _BARS, strict=True)):
        ratio = mean_of(f"{more.upper()} ÷ {less.upper()} − 1", table[more] / table[less] - 1, together=2)
        subject = f"{more.upper()} delivers more than {less.upper()}{where}"
        named = "; ".join(filter(None, (reading, which)))
        yield finding(bench, figure, subject, above(ratio), text, [ratio], rows=rows, reading=named)


CLAIMS_P5_LOADS: tuple[Claim, ...] = (
    Claim(
        "P5.F13",
        "under saturation S1 and S2 deliver more than S0, and more with more fanout",
        "P5 Fig. 13(a)",
        partial(_throughput, figure="P5.F13"),
        GRIDS_P5["P5.F13"],
    ),
    Claim(
        "P5.F13.times",
        "deliveries under saturation rise by up to 115% over S0",
        "P5 abstract, Fig. 13",
        _matching_times,
        partial(grids_p5.matching_times, figure="P5.F13.times"),
    ),
    Claim(
        "P5.F13.minutes",
        "within ten minutes S1 and S2 deliver more than S0",
        "P5 Fig. 13(a)",
        _minutes,
        partial(grids_p5.ten_minutes, figure="P5.F13.minutes"),
    ),
    Claim(
        "P5.F13.hybrid",
        "at a very high rate S2 delivers slightly more than SH",
        "P5 §7, on Fig. 13",
        _hybrid_saturated,
        partial(grids_p5.hybrid_saturated, figure="P5.F13.hybrid"),
    ),
    Claim(
        "P5.F13b",
        "both trends of Fig. 13(a) hold with 250 brokers",
        "P5 Fig. 13(b)",
        partial(_throughput, figure="P5.F13b"),
        partial(grids_p5.larger, figure="P5.F13b"),
    ),
    Claim(
        "P5.F13c",
        "with 21 brokers and capped uplinks S0 is congested; S1 and S2 deliver all (sparse) or more than S0 (dense)",
        "P5 Fig. 13(c)",
        _planetlab,
        partial(grids_p5.planetlab, figure="P5.F13c"),
    ),
    Claim(
        "P5.F14",
        "under capped uplinks SH delivers more than S2; the bars 234 and 238 are S1's and SH's in an order that the "
        "text does not give",
        "P5 Fig. 14",
        _letter,
        GRIDS_P5["P5.F14"],
    ),
    Claim(
        "P5.F14.others",
        "SH delivers more than S2 under other caps and data; SH or S1 delivers most",
        "P5 §7, on Fig. 14",
        _others,
        partial(grids_p5.other_caps, figure="P5.F14.others"),
    ),
)
