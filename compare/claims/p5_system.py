"""P5's measurements in the system: brokers that know only messages, soft links that adapt while it runs.

The claims beside these, in the accelerated mode, have links chosen before on the traffic that is then measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pandas as pd

from ..papers import grids_p5_system as grids
from ..papers.bench import Bench
from ..papers.figures_p5 import PUBLISHED_DELAYS, PUBLISHED_TRAFFIC
from ..papers.figures_p5_system import PUBLISHED_YIELDS, with_system, with_system_effort
from ..papers.grids_p5 import CAP, UNCAPPED
from .claim import Claim, Finding, Interval, Verdict
from .evidence import above, all_of, at_least, at_most, mean_of, scope_of
from .p5_matching import EFFORT, rises_with_fanout
from .p5_networks import SYMBOLS, by_network, near_published, of_data, order_or_numbers, ranked, shown

_LOAD_BYTES, _PUBLICATION = 0.02, "a publication has 200 bytes, a control message 40 and 4 a number"
_SOCIAL, _FULL, _NEAR_RATIO = {"s1": 0.37, "s2": 1.15}, 0.99, 0.1
_HOPS = {"s1": 5.93, "s2": 3.38, "sh": 5.80}
_DELIVERED = {"s1": 234, "s2": 209, "sh": 238}
_SYMBOLS = {**SYMBOLS, "interval": "seconds between reviews"}


def _finding(
    figure: str,
    subject: str,
    verdict: Verdict,
    text: str,
    intervals: list[Interval],
    rows: pd.DataFrame,
    reading: str = "",
) -> Finding:
    mode = "the system (simulate=system), links adapting from none"
    scope = scope_of(
        rows, grids.SIZES_P5_SYSTEM.get(figure), reading="; ".join(filter(None, (mode, reading))), symbols=_SYMBOLS
    )
    return Finding(subject, verdict, text, len(rows), scope=scope, intervals=intervals)


def _low_rate(bench: Bench) -> Iterable[Finding]:
    for name, rows in of_data(with_system(bench.rows)):
        dense = name == "dense"
        late = by_network(rows, "system_yield_late", "method")
        beside = f" In the second half of the interval {shown(dict(late.mean()))}. Without caps SH is S2."
        for measure, title, change, published, text in (
            ("system_yield", "yields", "rise", PUBLISHED_YIELDS[name], beside),
            ("system_hops", "hops to a delivery", "fall", {}, ""),
            ("system_delay_ms", "ms to a delivery", "fall", PUBLISHED_DELAYS if dense else {}, ""),
            ("traffic", "messages a second", "fall", PUBLISHED_TRAFFIC if dense else {}, ""),
        ):
            own = by_network(rows, measure, "method")
            order = UNCAPPED if change == "fall" else UNCAPPED[::-1]
            verdict, steps = ranked(own, order, title, together=2)
            means = f"Means: {shown(dict(own.mean()))}"
            subject = f"{title} {change} from S0 to S2, {name}"
            yield _finding("P5.T2.system", subject, verdict, f"{means}.{text}", steps, rows)
            if published:
                near = [mean_of(f"{s.upper()}'s {title}", own[s], published[s], together=3) for s in UNCAPPED]
                claimed = shown({s: published[s] for s in UNCAPPED})
                yield _finding(
                    "P5.T2.system",
                    f"the published {title}, {name}",
                    order_or_numbers(verdict, near_published(near, _NEAR_RATIO, relative=True)),
                    f"{means}; published {claimed}.",
                    near,
                    rows,
                    f"within {_NEAR_RATIO:.0%} counts as the same",
                )


def _load_bytes(bench: Bench) -> Iterable[Finding]:
    rows = with_system(bench.rows)
    share = mean_of("share of load exchange in S2's bytes", by_network(rows, "system_load_share", "method")["s2"])
    control = by_network(rows, "system_control_share", "method")
    text = (
        f"Load exchange is {share.mean:.2%} of all bytes; all control messages, with round-trip measurements, are "
        f"{control['s2'].mean():.2%}."
    )
    verdict = at_most(share, _LOAD_BYTES)
    yield _finding(
        "P5.S7.4", "load exchange takes less than 2% of the bytes", verdict, text, [share], rows, _PUBLICATION
    )


def _crashes(bench: Bench) -> Iterable[Finding]:
    rows = with_system(bench.rows)
    delays = by_network(rows, "system_delay_ms", "method")
    bypassed = by_network(rows, "system_bypassed", "method")
    shorter = mean_of("delay in ms, S0 − S2", delays["s0"] - delays["s2"])
    text = (
        f"With crashes of five seconds every publication still arrives exactly once (a run fails otherwise); mean "
        f"delay in ms: {shown(dict(delays.mean()), '.1f')}; copies that met a crashed neighbour: "
        f"{shown(dict(bypassed.mean()), '.0f')}."
    )
    yield _finding("P5.S6.4", "soft links bypass crashed neighbours", above(shorter), text, [shorter], rows)


def _more_than_s0(rows: pd.DataFrame, measure: str, title: str) -> list[Interval]:
    table = by_network(rows, measure, "method")
    return [mean_of(f"{title}, {s.upper()} ÷ S0 − 1", table[s] / table["s0"] - 1, together=2) for s in UNCAPPED[1:]]


def _covering(bench: Bench) -> Iterable[Finding]:
    measured = with_system_effort(bench.rows)
    tables = {column: by_network(measured, column, "p_fanout") for column in EFFORT}
    for subject, verdict, text, intervals, reading in rises_with_fanout(tables):
        yield _finding("P5.F12.system", subject, verdict, text, intervals, measured, reading)


def _saturated(bench: Bench, figure: str) -> Iterable[Finding]:
    rows = with_system(bench.rows)
    for fanout, own in rows.groupby("p_fanout"):
        more = _more_than_s0(own, "system_deliveries", "deliveries")
        last = _more_than_s0(own, "last_quarter", "deliveries in the last quarter")
        text = (
            f"In the interval S1 delivers {more[0].mean:+.0%} and S2 {more[1].mean:+.0%}, in its last quarter "
            f"{last[0].mean:+.0%} and {last[1].mean:+.0%}; published up to +115% in ten minutes. Links adapt from the "
            "second review on."
        )
        subject = f"S1 and S2 deliver more than S0, fanout {fanout}"
        reading = "4 ms a match; the paper gives no matching time"
        yield _finding(figure, subject, all_of(map(above, more)), text, [*more, *last], own, reading)
    fanouts = sorted(set(rows["p_fanout"]))
    if len(fanouts) == 1:
        return
    few, many = fanouts[0], fanouts[-1]
    table = by_network(rows, "system_deliveries", "method", "p_fanout")
    grown = [mean_of(f"{s.upper()}, {many} ÷ {few} − 1", table[s, many] / table[s, few] - 1) for s in UNCAPPED[1:]]
    text = ", ".join(f"{one.of}: {one.mean:+.0%}" for one in grown) + "."
    yield _finding(figure, "deliveries grow with fanout", all_of(map(above, grown)), text, grown, rows)


def _hybrid(bench: Bench) -> Iterable[Finding]:
    for cap, rows in with_system(bench.rows).groupby("p_uplink"):
        table = by_network(rows, "system_deliveries", "method")
        more = mean_of("deliveries, S2 ÷ SH − 1", table["s2"] / table["sh"] - 1)
        text = f"Deliveries in the interval: {shown(dict(table.mean()), ',.0f')}; S2 above SH by {more.mean:+.1%}."
        subject = f"S2 outperforms SH with uplinks of {cap:g} a second"
        yield _finding("P5.F13.hybrid.system", subject, above(more), text, [more], rows)


def _planetlab(bench: Bench) -> Iterable[Finding]:
    for name, data in of_data(with_system(bench.rows)):
        for cap, rows in data.groupby("p_uplink"):
            shares = by_network(rows, "share", "method")
            tree, *rest = (mean_of(f"{s.upper()}'s share delivered", shares[s], together=3) for s in UNCAPPED)
            full = [at_least(one, _FULL) for one in rest]
            if name == "sparse":
                claim, verdict = "S0 is congested, S1 and S2 deliver all", all_of([at_most(tree, _FULL), *full])
            else:
                less = [mean_of(f"{s.upper()} − S0", shares[s] - shares["s0"], together=2) for s in UNCAPPED[1:]]
                claim = "S0 delivers least, S1 and S2 more but not all"
                verdict = all_of([*map(above, less), *(at_most(one, _FULL) for one in rest)])
            text = f"Shares delivered in the interval: {shown(dict(shares.mean()), '.3f')}."
            reading = f"10 KB/s are 50 copies of 200 bytes a second; at least {_FULL:.0%} is all"
            subject = f"{claim}, {name}, {cap:g} copies a second"
            yield _finding("P5.F13c.system", subject, verdict, text, [tree, *rest], rows, reading)


def _capped(bench: Bench) -> Iterable[Finding]:
    every = with_system(bench.rows)
    for minutes, own in every.groupby("minutes"):
        for threshold in sorted(set(own["threshold"]), reverse=True):
            rows = own[(own["threshold"] == threshold) | (own["method"] != "sh")]
            yield from _capped_at(rows, f"threshold {threshold:g}%, {minutes:.3g} minutes")


def _capped_at(rows: pd.DataFrame, setting: str) -> Iterator[Finding]:
    """The deliveries and hops of one threshold of SH in an interval of one length."""
    table, hops = by_network(rows, "system_deliveries", "method"), by_network(rows, "system_hops", "method")
    shares = by_network(rows, "share", "method")
    more = mean_of("deliveries, SH ÷ S2 − 1", table["sh"] / table["s2"] - 1)
    text = (
        f"Thousand deliveries: {shown(dict(table.mean() / 1000), '.0f')}, published 234 or 238 for S1 and SH, 209 for "
        f"S2; shares delivered in the interval: {shown(dict(shares.mean()))}."
    )
    subject = f"SH delivers more than S2 with uplinks of {CAP} a second, {setting}"
    yield _finding("P5.F14.system", subject, above(more), text, [more], rows)
    for name, unit, found, published in (("hops", 1, hops, _HOPS), ("deliveries", 1000, table, _DELIVERED)):
        near = [
            mean_of(f"{s.upper()}'s {name}{' in thousands' if unit > 1 else ''}", found[s] / unit, claimed, together=3)
            for s, claimed in published.items()
        ]
        close = near_published(near, _NEAR_RATIO, relative=True)
        text = (
            f"{name.capitalize()} {shown({s: one.mean for s, one in zip(published, near, strict=True)})}; published "
            f"{shown(published)}, of S1 and SH in an order that the text does not give."
        )
        reading = f"within {_NEAR_RATIO:.0%} counts as the same"
        yield _finding("P5.F14.system", f"{name}, {setting}", close, text, near, rows, reading)


def _social(bench: Bench) -> Iterable[Finding]:
    rows = with_system(bench.rows)
    yields = by_network(rows, "system_yield", "method")
    deliveries = by_network(rows, "system_deliveries", "method")
    for measure, table in (("yield", yields), ("deliveries", deliveries)):
        more = [
            mean_of(f"{measure}, {s.upper()} ÷ S0 − 1", table[s] / table["s0"] - 1, claimed, together=2)
            for s, claimed in _SOCIAL.items()
        ]
        text = ", ".join(f"{s.upper()} {one.mean:+.0%}" for s, one in zip(_SOCIAL, more, strict=True))
        yield _finding(
            "P5.S7.11",
            f"S1 and S2 outperform S0 by 37% and 115%, in {measure}",
            order_or_numbers(all_of(map(above, more)), near_published(more, _NEAR_RATIO)),
            f"In {measure}: {text}; published +37% and +115%.",
            more,
            rows,
            "a synthetic network for the trace, which is not published; 40 ms a match, so that S0 is saturated; within "
            f"{100 * _NEAR_RATIO:.0f} points counts as the same",
        )


CLAIMS_P5_SYSTEM: tuple[Claim, ...] = (
    Claim(
        "P5.T2.system",
        "yield rises, and hops, delay and traffic fall, from S0 over S1 to S2, in the system",
        "P5 Table 2, Fig. 9 to 11",
        _low_rate,
        grids.GRIDS_P5_SYSTEM["P5.T2.system"],
    ),
    Claim(
        "P5.S7.4",
        "load exchange takes less than 2% of the bytes",
        "P5 §7",
        _load_bytes,
        partial(grids.load_bytes, figure="P5.S7.4"),
    ),
    Claim(
        "P5.S6.4",
        "soft links deal with crashes and disconnections of neighbours",
        "P5 §6",
        _crashes,
        partial(grids.crashing, figure="P5.S6.4"),
    ),
    Claim(
        "P5.F12.system",
        "fanout 5 to 10: covering sets +12%, predicate evaluations +34%; both rise with fanout, in the system",
        "P5 Fig. 12",
        _covering,
        grids.GRIDS_P5_SYSTEM["P5.F12.system"],
    ),
    Claim(
        "P5.F13.system",
        "at a very high rate S1 and S2 deliver more than S0, in the system",
        "P5 Fig. 13(a)",
        partial(_saturated, figure="P5.F13.system"),
        grids.GRIDS_P5_SYSTEM["P5.F13.system"],
    ),
    Claim(
        "P5.F13b.system",
        "also with 250 brokers S1 and S2 deliver more than S0 at a very high rate, in the system",
        "P5 Fig. 13(b)",
        partial(_saturated, figure="P5.F13b.system"),
        grids.GRIDS_P5_SYSTEM["P5.F13b.system"],
    ),
    Claim(
        "P5.F13.hybrid.system",
        "at a very high rate S2 delivers slightly more than SH, in the system",
        "P5 §7, on Fig. 13",
        _hybrid,
        partial(grids.hybrid, figure="P5.F13.hybrid.system"),
    ),
    Claim(
        "P5.F13c.system",
        "with uplinks of 10 KB/s S0 is congested, S1 and S2 deliver more, in the system",
        "P5 Fig. 13(c)",
        _planetlab,
        grids.GRIDS_P5_SYSTEM["P5.F13c.system"],
    ),
    Claim(
        "P5.F14.system",
        "under capped uplinks SH delivers more than S2, in the system",
        "P5 Fig. 14",
        _capped,
        grids.GRIDS_P5_SYSTEM["P5.F14.system"],
    ),
    Claim(
        "P5.S7.11",
        "on the trace of a social network S1 and S2 outperform S0 by 37% and 115%",
        "P5 §7",
        _social,
        partial(grids.social, figure="P5.S7.11"),
    ),
)
