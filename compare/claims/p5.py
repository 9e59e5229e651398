"""Table 2 and Figures 9 to 11 of P5 as checks; runs are simulated, where the paper measured a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..papers.bench import Bench
from ..papers.figures_p5 import PUBLISHED, PUBLISHED_DELAYS, PUBLISHED_TRAFFIC, with_path_lengths, with_queues
from ..papers.grids_p5 import GRIDS_P5, SERVICES, STRATEGIES, UNCAPPED, copies, rising_rate
from .claim import Claim, Finding, Interval, Verdict, verdict_of
from .evidence import above, all_of, at_least, mean_of, share_of
from .p5_networks import by_network, finding, near_published, of_data, order_or_numbers, ranked, shown
from .p5_published import PUBLISHED_DELIVERIES

_POINTS, _NEAR, _ALL, _DELIVERED = 0.05, 0.1, 0.999, 0.99
_MATCHING = "1 ms a match; the paper gives no matching time"
_TRIVIAL = "No uplink is capped, so SH trivially equals S2 and does not count."


def _table_two(bench: Bench) -> Iterable[Finding]:
    for name, rows in of_data(bench.rows):
        forwarders, published = by_network(rows, "pure_forwarders", "method"), PUBLISHED[name][0]
        fall = {s: 1 - forwarders[s] / forwarders["s0"] for s in UNCAPPED[1:]}
        intervals = [
            mean_of(f"fall under {s.upper()}", fall[s], 1 - published[STRATEGIES.index(s)] / published[0], together=2)
            for s in fall
        ]
        order, differences = ranked(forwarders, UNCAPPED, "pure forwarders", together=2)
        numbers = near_published(intervals, _POINTS)
        text = f"Fall against S0: {shown({s: float(fall[s].mean()) for s in fall})}. {_TRIVIAL}"
        reading = f"within {100 * _POINTS:.0f} points of the published number counts as the same"
        yield finding(
            bench,
            "P5.T2",
            f"pure forwarders, {name}",
            order_or_numbers(order, numbers),
            text,
            [*intervals, *differences],
            rows=rows,
            reading=reading,
        )
        yields = by_network(rows, "yield", "method")
        intervals = [
            mean_of(f"yield of {s.upper()}", yields[s], PUBLISHED[name][1][STRATEGIES.index(s)] / 100, together=3)
            for s in UNCAPPED
        ]
        order, differences = ranked(yields, UNCAPPED[::-1], "yield", together=2)
        yield finding(
            bench,
            "P5.T2",
            f"yields, {name}",
            order_or_numbers(order, near_published(intervals[1:], _POINTS)),
            f"{shown({s: float(yields[s].mean()) for s in UNCAPPED})}. The workload was fitted to the deliveries and "
            f"messages of S0, whose yield is therefore not judged. {_TRIVIAL}",
            [*intervals, *differences],
            rows=rows,
            reading=reading,
        )
    yield _without_caps(bench)


def _without_caps(bench: Bench) -> Finding:
    """Whether SH gives the links and messages of S2, on every network."""
    runs = bench.rows[bench.rows["method"].isin(("s2", "sh"))].sort_values("method")
    pairs = [list(answers) for _, answers in runs.groupby("instance")["answer"]]
    same = sum(len(pair) == 2 and np.array_equal(*pair) for pair in pairs)
    text = f"SH's links and messages are S2's on {same} of {len(pairs)} networks. In Table 2 their yields differ."
    share = [share_of("networks with equal links and messages", same, len(pairs))]
    return finding(bench, "P5.T2", "without caps SH is S2", verdict_of(same == len(pairs)), text, share, rows=runs)


def _hop_counts(bench: Bench) -> Iterable[Finding]:
    saved = {}
    for name, rows in of_data(bench.rows):
        hops = by_network(rows, "average_hops", "method")
        order, differences = ranked(hops, UNCAPPED, "hops", together=4)
        saved[name] = 1 - hops["s1"] / hops["s0"]
        text = f"Mean hops to a delivery: {shown({s: float(hops[s].mean()) for s in UNCAPPED})}. {_TRIVIAL}"
        yield finding(bench, "P5.F9", f"S2 < S1 < S0, {name}", order, text, differences, rows=rows)
        yield _curves(bench, name, rows[rows["method"].isin(UNCAPPED)])
        yield _no_hotspots(bench, name, rows)
    gap = mean_of("share of hops that S1 saves, sparse − dense", saved["sparse"] - saved["dense"])
    text = f"S1 saves {saved['sparse'].mean():.3f} of S0's hops when sparse, {saved['dense'].mean():.3f} when dense."
    yield finding(bench, "P5.F9", "S1 nearer S0 when dense", above(gap), text, [gap])


def _curves(bench: Bench, name: str, rows: pd.DataFrame) -> Finding:
    """Whether S1 has at least S0's share of deliveries within each number of hops, and S2 at least S1's."""
    curves = with_path_lengths(rows).pivot_table(index="recipe", columns=["method", "hops"], values="share") / 100
    lengths = [hops for hops in curves["s0"] if not np.allclose(curves.xs(hops, axis=1, level="hops"), 1.0)]
    shifts = [
        mean_of(
            f"share within {hops} hops, {after.upper()} − {before.upper()}",
            curves[after, hops] - curves[before, hops],
            together=2 * len(lengths),
        )
        for before, after in pairwise(UNCAPPED)
        for hops in lengths
    ]
    at = max(shifts, key=lambda one: one.mean)
    text = f"The largest shift is {at.mean:.3f} ({at.of}), the least {min(one.mean for one in shifts):.3f}, over "
    text += f"{lengths[0]} to {lengths[-1]} hops. {_TRIVIAL}"
    held = all_of(at_least(one, 0) for one in shifts)
    return finding(bench, "P5.F9", f"curves lie to the left at each length, {name}", held, text, shifts, rows=rows)


def _no_hotspots(bench: Bench, name: str, rows: pd.DataFrame) -> Finding:
    queued = with_queues(rows)
    queued = queued.assign(share=1000 * queued["queued"] / queued["deliveries"])
    shares = by_network(queued, "share", "method")
    intervals = [mean_of(f"share delivered by {s.upper()}", shares[s], 1.0, together=3) for s in UNCAPPED]
    return finding(
        bench,
        "P5.F9",
        f"all strategies deliver the same, {name}",
        all_of(at_least(one, _ALL) for one in intervals),
        f"Delivered when the last publication is sent: {shown({s: float(shares[s].mean()) for s in UNCAPPED}, '.5f')}. "
        "What is missing is on its way.",
        intervals,
        rows=rows,
        reading=f"at least {_ALL:.1%} delivered; {_MATCHING}",
    )


def _beside(
    bench: Bench,
    figure: str,
    subject: str,
    rows: pd.DataFrame,
    column: str,
    published: Mapping[str, float],
    fitted: tuple[str, ...] = (),
) -> Iterator[Finding]:
    """The means beside the published ones, except those that the workload was fitted to, and what S2 saves."""
    table = by_network(rows, column, "method")
    intervals = [mean_of(s.upper(), table[s], published[s], together=3) for s in UNCAPPED]
    judged = [one for s, one in zip(UNCAPPED, intervals, strict=True) if s not in fitted]
    order, differences = ranked(table, UNCAPPED, subject, together=2)
    fit = f" Fitted and not judged: {', '.join(map(str.upper, fitted))}." if fitted else ""
    yield finding(
        bench,
        figure,
        subject,
        order_or_numbers(order, near_published(judged, _NEAR, relative=True)),
        f"{shown({s: float(table[s].mean()) for s in UNCAPPED}, '.4g')}.{fit} {_TRIVIAL}",
        [*intervals, *differences],
        reading=f"within {_NEAR:.0%} of the published number counts as the same; {_MATCHING}",
    )
    improved = mean_of("share saved by S2", 1 - table["s2"] / table["s0"], 1 - published["s2"] / published["s0"])
    yield finding(
        bench,
        figure,
        f"{subject}: share saved by S2",
        order_or_numbers(above(improved), near_published([improved], _POINTS)),
        f"S2 saves {improved.mean:.3f} of S0's; published {improved.claimed:.3f}.",
        [improved],
        reading=f"within {100 * _POINTS:.0f} points of the published number counts as the same; {_MATCHING}",
    )


def _delays(bench: Bench) -> Iterable[Finding]:
    yield from _beside(bench, "P5.F10", "average delay in ms", with_queues(bench.rows), "delay", PUBLISHED_DELAYS)
    hops = by_network(bench.rows, "average_hops", "method")
    listed, fits, intervals = [], [], list[Interval]()
    for milliseconds in (service / 1000 for service in (*SERVICES, 1000 * _between(hops["s0"]))):
        found = [
            mean_of(
                f"{s.upper()} at {milliseconds:.3g} ms",
                hops[s] + (hops[s] + 1) * milliseconds,
                PUBLISHED_DELAYS[s],
                together=3,
            )
            for s in UNCAPPED
        ]
        fits.append(near_published(found, _NEAR, relative=True))
        listed.append(f"{', '.join(f'{one.mean:.3g}' for one in found)} at {milliseconds:.3g}")
        intervals += found
    yield finding(
        bench,
        "P5.F10",
        "some matching time gives the published delays",
        Verdict.HOLDS if Verdict.HOLDS in fits else Verdict.OPEN,
        f"Delay of S0, S1 and S2 in ms by ms a match: {'; '.join(listed)}. The last is that under which S0's is as "
        "published.",
        intervals,
        reading=f"no queues: 1 ms a hop and a match at each broker on the way; within {_NEAR:.0%} counts as the same",
    )


def _between(hops: pd.Series) -> float:
    """The milliseconds a match under which S0's mean delay is the published one, if there are no queues."""
    return float((PUBLISHED_DELAYS["s0"] - hops.mean()) / (hops.mean() + 1))


def _traffic(bench: Bench) -> Iterable[Finding]:
    rows = with_queues(bench.rows)
    rows = rows.assign(rate=rows["messages"] / rows["duration"])
    yield from _beside(bench, "P5.F11", "messages a second", rows, "rate", PUBLISHED_TRAFFIC, fitted=("s0",))


def _at_higher_rates(bench: Bench) -> Iterable[Finding]:
    queued = with_queues(bench.rows)
    queued = queued.assign(share=1000 * queued["queued"] / queued["deliveries"])
    delays, shares = (by_network(queued, column, "p_rate", "method") for column in ("delay", "share"))
    rates = sorted(set(delays.columns.get_level_values("p_rate")))
    saved = {rate: 1 - delays[rate, "s2"] / delays[rate, "s0"] for rate in rates}
    rises = [
        mean_of(f"share saved at {high} − at {low}", saved[high] - saved[low], together=len(rates) - 1)
        for low, high in pairwise(rates)
    ]
    text = ", ".join(f"{saved[rate].mean():.3f} at {rate}" for rate in rates)
    least = min(float(shares[rate, "s0"].mean()) for rate in rates)
    risen = all_of(map(above, rises))
    yield finding(
        bench,
        "P5.S7.5",
        "saves more delay at a higher rate",
        Verdict.OPEN if risen is Verdict.REFUTED and least < _DELIVERED else risen,
        f"Share of S0's delay that S2 saves, by publications a minute: {text}. S0 delivers at least {least:.1%}"
        f"{'; what it does not deliver has no delay to save' if least < _DELIVERED else ''}.",
        rises,
        reading=f"delay of what is delivered when the last publication is sent; {_MATCHING}",
    )


def _copies(bench: Bench) -> Iterable[Finding]:
    counted = bench.rows.assign(
        copies=[
            _copies_each(answer, int(links))
            for answer, links in zip(bench.rows["answer"], bench.rows["soft_links"], strict=True)
        ]
    )
    saved: dict[str, dict[str, pd.Series]] = {s: {} for s in UNCAPPED[1:]}
    for name, rows in of_data(counted):
        each, messages = by_network(rows, "copies", "method"), by_network(rows, "value", "method")
        order, more = ranked(each, ("s2", "s1"), "copies a forwarding broker sends", together=4)
        fewer, less = ranked(messages, UNCAPPED, "messages", together=4)
        for s, by_name in saved.items():
            by_name[name] = 1 - messages[s] / messages["s0"]
        text = (
            "Copies of a publication that a forwarding broker sends: "
            f"{shown({s: float(each[s].mean()) for s in UNCAPPED})}; "
            f"messages in all: {shown({s: float(messages[s].mean()) for s in UNCAPPED}, '.0f')}."
        )
        verdict = all_of((order, fewer))
        yield finding(
            bench,
            "P5.S2.3",
            f"S2 sends fewer messages, more at a time, {name}",
            verdict,
            text,
            [*more, *less],
            rows=rows,
        )
    gains = [
        mean_of(f"share of messages that {s.upper()} saves, sparse − dense", each["sparse"] - each["dense"], together=2)
        for s, each in saved.items()
    ]
    own = "; ".join(
        f"{s.upper()} {each['sparse'].mean():.3f} and {each['dense'].mean():.3f}" for s, each in saved.items()
    )
    published = "; ".join(
        f"{s.upper()} {' and '.join(f'{_published_fall(s, name):.3f}' for name in ('sparse', 'dense'))}" for s in saved
    )
    yield finding(
        bench,
        "P5.S2.3",
        "both save more when publications match fewer",
        all_of(map(above, gains)),
        f"Share of S0's messages saved, sparse and dense: {own}; by Table 2, {published}.",
        gains,
        reading="advantage as messages saved; more selective as the sparse data",
    )


def _published_fall(strategy: str, name: str) -> float:
    """The share of S0's messages (deliveries and pure forwarders) that a strategy saves by Table 2."""
    forwarders, deliveries = PUBLISHED[name][0], PUBLISHED_DELIVERIES[name]
    return (forwarders[0] - forwarders[STRATEGIES.index(strategy)]) / (deliveries + forwarders[0])


def _copies_each(answer: npt.NDArray[np.int32], links: int) -> float:
    """Messages of a packed answer, divided by the pairs of a publication and a broker that forwards it."""
    publication, sender, _ = np.asarray(answer)[1 + 2 * links :].reshape(-1, 3).astype(np.int64).T
    return len(sender) / len(np.unique((publication << 20) + sender))


CLAIMS_P5: tuple[Claim, ...] = tuple(
    Claim(id_, statement, source, judge, experiment, seconds)
    for id_, statement, source, judge, experiment, seconds in (
        (
            "P5.T2",
            "pure forwarders fall by up to 70%; yields 38/50/61/64% sparse, 50/60/76/77% dense",
            "P5 Table 2",
            _table_two,
            GRIDS_P5["P5.T2"],
            None,
        ),
        (
            "P5.F9",
            "hop counts S2 < S1 < S0; S1 nearer S0 when dense; all strategies deliver the same",
            "P5 Fig. 9",
            _hop_counts,
            GRIDS_P5["P5.F9"],
            None,
        ),
        (
            "P5.F10",
            "average delays 14.0, 12.5, 9.3, 9.3 ms (dense)",
            "P5 Fig. 10",
            _delays,
            GRIDS_P5["P5.F10"],
            None,
        ),
        (
            "P5.F11",
            "average traffic 3400, 2850, 2200, 2200 messages a second (dense)",
            "P5 Fig. 11",
            _traffic,
            GRIDS_P5["P5.F11"],
            None,
        ),
        (
            "P5.S7.5",
            "more traffic increases the saving of delay",
            "P5 §7, on Fig. 10",
            _at_higher_rates,
            partial(rising_rate, figure="P5.S7.5"),
            None,
        ),
        (
            "P5.S2.3",
            "S2 sends fewer messages than S1 in all and more copies at a time; both save more when publications match "
            "varied, small sets",
            "P5 §2",
            _copies,
            partial(copies, figure="P5.S2.3"),
            None,
        ),
    )
)
