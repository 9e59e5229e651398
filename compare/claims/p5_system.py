"""P5's measurements in the system: brokers that know only messages, soft links that adapt while it runs.

The claims beside these, in the accelerated mode, have links chosen before on the traffic that is then measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import pandas as pd

from ..papers.bench import Bench
from ..papers.figures_p5 import PUBLISHED_DELAYS, minutes
from ..papers.grids_p5 import CAP, STRATEGIES
from ..papers.grids_p5_system import GRIDS_P5_SYSTEM, SIZES_P5_SYSTEM
from .claim import Claim, Finding, Interval, Verdict
from .evidence import above, all_of, at_most, mean_of, scope_of
from .p5_networks import by_network, near_published, of_data, order_or_numbers, ranked, shown

_MEASURES = (
    "yield",
    "yield_late",
    "hops",
    "delay_ms",
    "deliveries",
    "messages",
    "load_share",
    "control_share",
    "bypassed",
)
_YIELDS = {
    "sparse": dict(zip(STRATEGIES, (0.38, 0.50, 0.61, 0.64), strict=True)),
    "dense": dict(zip(STRATEGIES, (0.50, 0.60, 0.76, 0.77), strict=True)),
}
_NEAR, _LOAD_BYTES, _PUBLICATION = 0.05, 0.02, "a publication has 200 bytes, a control message 40 and 4 a number"
_SYMBOLS = {
    "workload": "data",
    "p_brokers": "brokers",
    "p_fanout": "fanout",
    "p_rate": "publications a minute",
    "minutes": "minutes",
    "p_uplink": "uplink",
    "interval": "seconds between reviews",
}


def with_system(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the system's counters as columns ``system_…``, and the interval between reviews."""
    counters = [json.loads(text) for text in rows["counters"]]
    measured = {f"system_{name}": [one.get(f"system_{name}") for one in counters] for name in _MEASURES}
    # The default is no part of the stored options.
    intervals = [json.loads(text).get("interval", 20.0) for text in rows["options"]]
    return rows.assign(**measured, minutes=minutes(rows), interval=intervals)


def _finding(
    bench: Bench,
    figure: str,
    subject: str,
    verdict: Verdict,
    text: str,
    intervals: list[Interval],
    rows: pd.DataFrame,
    reading: str = "",
) -> Finding:
    mode = "the system (simulate=system), links adapting from none"
    compressed = "time compressed: reviews a second apart or less" if bench.quick else ""
    reading = "; ".join(filter(None, (mode, reading, compressed)))
    scope = scope_of(rows, SIZES_P5_SYSTEM.get(figure), reading=reading, symbols=_SYMBOLS)
    return Finding(subject, verdict, text, len(rows), scope=scope, intervals=intervals)


def _low_rate(bench: Bench) -> Iterable[Finding]:
    for name, rows in of_data(with_system(bench.rows)):
        table = by_network(rows, "system_yield", "method")
        late = by_network(rows, "system_yield_late", "method")
        yields = [
            mean_of(f"{s.upper()}'s yield", table[s], _YIELDS[name][s], together=len(STRATEGIES)) for s in STRATEGIES
        ]
        rising, differences = ranked(-table, ("s0", "s1", "s2"), "−yield", together=2)
        verdict = order_or_numbers(rising, near_published(yields, _NEAR))
        text = (
            f"Yields: {shown(dict(table.mean()))}; in the second half {shown(dict(late.mean()))}; "
            f"published {shown(_YIELDS[name])}."
        )
        yield _finding(
            bench,
            "P5.T2.system",
            f"yields of S0, S1 and S2, {name}",
            verdict,
            text,
            [*yields, *differences],
            rows,
            f"within {_NEAR:.2f} counts as the same",
        )
        for measure, title, published in (
            ("system_hops", "hops to a delivery", {}),
            ("system_delay_ms", "ms to a delivery", PUBLISHED_DELAYS if name == "dense" else {}),
            ("system_messages", "messages", {}),
        ):
            own = by_network(rows, measure, "method")
            falling, steps = ranked(own, ("s0", "s1", "s2"), title, together=2)
            beside = f"; published {shown(published)}" if published else ""
            text = f"Means: {shown(dict(own.mean()))}{beside}."
            yield _finding(bench, "P5.T2.system", f"{title} fall from S0 to S2, {name}", falling, text, steps, rows)


def _load_bytes(bench: Bench) -> Iterable[Finding]:
    rows = with_system(bench.rows)
    rows = rows[rows["method"] != "s0"]
    shares = by_network(rows, "system_load_share", "method")
    control = by_network(rows, "system_control_share", "method")
    each = [mean_of(f"{s.upper()}'s share of load exchange", shares[s], together=3) for s in STRATEGIES[1:]]
    text = (
        f"Load exchange is {100 * shares.to_numpy().mean():.2f}% of all bytes; all control messages, with round-trip "
        f"measurements, are {100 * control.to_numpy().mean():.2f}%."
    )
    verdict = all_of(at_most(one, _LOAD_BYTES) for one in each)
    yield _finding(
        bench, "P5.S7.4", "load exchange takes less than 2% of the bytes", verdict, text, each, rows, _PUBLICATION
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
    yield _finding(bench, "P5.S6.4", "soft links bypass crashed neighbours", above(shorter), text, [shorter], rows)


def _saturated(bench: Bench) -> Iterable[Finding]:
    for cap, rows in with_system(bench.rows).groupby("p_uplink"):
        table = by_network(rows, "system_deliveries", "method")
        more = mean_of("deliveries, S2 ÷ SH − 1", table["s2"] / table["sh"] - 1, together=2)
        text = f"Deliveries in the interval: {shown(dict(table.mean()), ',.0f')}; S2 above SH by {more.mean:+.1%}."
        subject = f"S2 outperforms SH with uplinks of {cap:g} a second"
        yield _finding(bench, "P5.F13.system", subject, above(more), text, [more], rows)


def _capped(bench: Bench) -> Iterable[Finding]:
    rows = with_system(bench.rows)
    table, hops = by_network(rows, "system_deliveries", "method"), by_network(rows, "system_hops", "method")
    more = mean_of("deliveries, SH ÷ S2 − 1", table["sh"] / table["s2"] - 1)
    text = (
        f"Deliveries: {shown(dict(table.mean()), ',.0f')}; hops {shown(dict(hops.mean()))}, published 5.93 or 5.80 for "
        f"S1 and SH, 3.38 for S2."
    )
    subject = f"SH delivers more than S2 with uplinks of {CAP} a second"
    yield _finding(bench, "P5.F14.system", subject, above(more), text, [more], rows)


CLAIMS_P5_SYSTEM: tuple[Claim, ...] = (
    Claim(
        "P5.T2.system",
        "yield rises, and hops, delay and traffic fall, from S0 over S1 to S2, in the system",
        "P5 Table 2, Fig. 9 to 11",
        _low_rate,
        GRIDS_P5_SYSTEM["P5.T2.system"],
    ),
    Claim("P5.S7.4", "load exchange takes less than 2% of the bytes", "P5 §7", _load_bytes, GRIDS_P5_SYSTEM["P5.S7.4"]),
    Claim(
        "P5.S6.4",
        "soft links deal with crashes and disconnections of neighbours",
        "P5 §6",
        _crashes,
        GRIDS_P5_SYSTEM["P5.S6.4"],
    ),
    Claim(
        "P5.F13.system",
        "at a very high rate S2 delivers slightly more than SH, in the system",
        "P5 §7, on Fig. 13",
        _saturated,
        GRIDS_P5_SYSTEM["P5.F13.system"],
    ),
    Claim(
        "P5.F14.system",
        "under capped uplinks SH delivers more than S2, in the system",
        "P5 Fig. 14",
        _capped,
        GRIDS_P5_SYSTEM["P5.F14.system"],
    ),
)
