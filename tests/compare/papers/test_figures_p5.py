"""P5's claims and figures on small grids: their measures equal a recount of the messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.papers.bench import Experiment, rows_here, runs
from overlaybench.compare.papers.drawing import draw
from overlaybench.compare.papers.figures import FIGURES, TABLES, rows_for
from overlaybench.compare.papers.grids_p5 import STRATEGIES, UNCAPPED
from overlaybench.compare.studies.recipe import Recipe, freeze
from overlaybench.instances.brokers.files import BROKERS
from overlaybench.instances.brokers.network import BrokerNetwork
from overlaybench.instances.contract.catalogue import WORKLOADS

SIZE = {"brokers": 40, "subscriptions": 400, "publications": 150, "fanout": 9}


def small(figure: str, *methods: Any, workloads: tuple[str, ...], **parameters: Any) -> Experiment:
    recipes = []
    for name in workloads:
        shape = WORKLOADS[name].complete({**SIZE, **parameters})
        recipes += [Recipe(figure, seed, workload=name, parameters=freeze(shape)) for seed in (1, 2)]
    return Experiment(tuple(recipes), (runs("soft-links", *methods),))


BOTH = ("brokers-sparse", "brokers-dense")


def low_rate(figure: str) -> Experiment:
    return small(figure, *STRATEGIES, workloads=BOTH)


def timed(figure: str, service: int, workloads: tuple[str, ...] = BOTH, **parameters: Any) -> Experiment:
    return small(figure, *((s, {"service": service}) for s in STRATEGIES), workloads=workloads, **parameters)


def in_system(
    figure: str, workloads: tuple[str, ...] = BOTH, *methods: str, publications: int = 60, **parameters: Any
) -> Experiment:
    options = {"simulate": "system", "service": 1000, "interval": 0.5, "predicate": 1}
    named = ((s, options) for s in methods or STRATEGIES)
    return small(figure, *named, workloads=workloads, publications=publications, **parameters)


def over(experiments: list[Experiment]) -> Experiment:
    recipes = tuple(recipe for one in experiments for recipe in one.recipes)
    return Experiment(recipes, experiments[0].runs)


SMALL: Mapping[str, Callable[[], Experiment]] = {
    "P5.T2": lambda: low_rate("P5.T2"),
    "P5.F8": lambda: low_rate("P5.F8"),
    "P5.F9": lambda: low_rate("P5.F9"),
    "P5.F10": lambda: timed("P5.F10", 1000, ("brokers-dense",)),
    "P5.F11": lambda: timed("P5.F11", 1000, ("brokers-dense",), rate=300),
    "P5.F12": lambda: over([small("P5.F12", "s2", workloads=("brokers-covering",), fanout=f) for f in (5, 10)]),
    "P5.F13": lambda: over([timed("P5.F13", 2000, rate=72_000, fanout=f) for f in (5, 9)]),
    "P5.F14": lambda: timed("P5.F14", 500, (BOTH[0],), rate=7200, uplink=20),
    "P5.T2.system": lambda: in_system("P5.T2.system", BOTH, *UNCAPPED),
    "P5.F9.system": lambda: in_system("P5.F9.system"),
    "P5.F10.system": lambda: in_system("P5.F10.system", ("brokers-dense",)),
    "P5.F11.system": lambda: in_system("P5.F11.system", ("brokers-dense",), rate=300),
    "P5.F12.system": lambda: over([in_system("P5.F12.system", ("brokers-covering",), "s2", fanout=f) for f in (5, 10)]),
    "P5.F13.system": lambda: over([in_system("P5.F13.system", (BOTH[0],), rate=72_000, fanout=f) for f in (5, 9)]),
    "P5.F13b.system": lambda: over([in_system("P5.F13b.system", (BOTH[0],), rate=72_000, fanout=f) for f in (5, 9)]),
    "P5.F13c.system": lambda: over([in_system("P5.F13c.system", uplink=cap) for cap in (5, 20)]),
    "P5.F14.system": lambda: in_system("P5.F14.system", (BOTH[0],), rate=7200, uplink=20),
}


@pytest.fixture(scope="module")
def rows() -> Callable[[str], pd.DataFrame]:
    kept: dict[str, pd.DataFrame] = {}

    def of(figure: str) -> pd.DataFrame:
        if figure not in kept:
            kept[figure] = rows_here(SMALL[figure](), METHODS)
        return kept[figure]

    return of


SYSTEM = {name for name in SMALL if name.endswith(".system")}


def slow_if_system(names: set[str]) -> list[Any]:
    """The runs of the system take longer; one of its figures is drawn in the quick tests too."""
    slow = SYSTEM - {"P5.F14.system"}
    return [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in sorted(names)]


@pytest.mark.parametrize("figure", slow_if_system(set(SMALL) & set(FIGURES)))
def test_a_figure_shows_every_line_in_every_panel(figure: str, rows: Callable[[str], pd.DataFrame]) -> None:
    table = rows_for(figure, rows(figure))
    lines = table[list(FIGURES[figure].lines)].drop_duplicates()
    assert len(lines) >= {"P5.F8": 2, "P5.F12": 1, "P5.F12.system": 1}.get(figure, 4)
    for column, _ in FIGURES[figure].panels:
        assert table.groupby(list(FIGURES[figure].lines))[column].count().min() > 0


@pytest.mark.parametrize(
    "figure", ["P5.F8", *(pytest.param(f, marks=pytest.mark.slow) for f in sorted({*SMALL} & {*FIGURES} - {"P5.F8"}))]
)
def test_a_drawn_figure_labels_its_panels(figure: str, rows: Callable[[str], pd.DataFrame]) -> None:
    table = rows_for(figure, rows(figure))
    text = draw(figure, table).svg_file.decode()
    assert all(label in text for _, label in FIGURES[figure].panels)


@pytest.mark.parametrize("table", slow_if_system(set(SMALL) & set(TABLES)))
def test_every_published_figure_has_one_of_ours_beside_it(table: str, rows: Callable[[str], pd.DataFrame]) -> None:
    ours = TABLES[table].means(rows(table))
    assert set(ours) >= set(TABLES[table].published)
    assert all(np.isfinite(value) for value in ours.values())


@pytest.mark.slow
def test_the_figures_of_the_system_show_its_counters(rows: Callable[[str], pd.DataFrame]) -> None:
    own = rows("P5.T2.system")
    table = TABLES["P5.T2.system"].means(own)
    s2 = own[(own["workload"] == "brokers-sparse") & (own["method"] == "s2")]
    yields = [_counter(text, "system_deliveries") / _counter(text, "system_messages") for text in s2["counters"]]
    assert table["sparse S2 yield, %"] == pytest.approx(100 * np.mean(yields))
    paths = rows_for("P5.F9.system", rows("P5.F9.system"))
    for _, curve in paths.groupby(["recipe", "method"]):
        shares = curve.sort_values("hops")["share"].to_numpy()
        assert (np.diff(shares) >= 0).all()
        assert shares[-1] == pytest.approx(100)
    pairs = rows_for("P5.F10.system", rows("P5.F10.system"))
    assert set(pairs["percent"]) == set(range(0, 101, 10))
    assert pairs.groupby(["recipe", "method"])["delay"].is_monotonic_increasing.all()
    for text in rows("P5.F9.system")["counters"]:
        counts = np.array(json.loads(json.loads(text)["system_hop_counts"]))
        mean = float((counts * np.arange(len(counts))).sum() / counts.sum())
        assert _counter(text, "system_hops") == pytest.approx(mean)


def test_table_two_counts_deliveries_and_messages(rows: Callable[[str], pd.DataFrame]) -> None:
    own = rows("P5.T2")
    of = own[(own["workload"] == "brokers-sparse") & (own["method"] == "s2")]
    tree = own[(own["workload"] == "brokers-sparse") & (own["method"] == "s0")]
    assert of["deliveries"].tolist() == tree["deliveries"].tolist()
    table = TABLES["P5.T2"].means(own)
    forwarders = (of["value"] - of["deliveries"]).sum()
    assert table["sparse S2 yield, %"] == pytest.approx(100 * (of["deliveries"] / of["value"]).mean())
    assert table["sparse S2 pure forwarders a publication"] == pytest.approx(forwarders / (2 * SIZE["publications"]))
    fall = 1 - forwarders / (tree["value"] - tree["deliveries"]).sum()
    assert table["sparse S2 fewer than S0, %"] == pytest.approx(100 * fall)


def test_path_lengths_are_those_of_following_messages_back_to_the_source(
    rows: Callable[[str], pd.DataFrame],
) -> None:
    run = next(one for one in rows("P5.F9").to_dict("records") if one["method"] == "s2")
    network: BrokerNetwork = Recipe.from_json(run["recipe"]).make()
    messages = BROKERS.unpack(np.asarray(run["answer"], dtype=np.int32), network).messages.tolist()
    sender = {(p, receiver): sender for p, sender, receiver in messages}
    offsets, brokers = network.destinations
    lengths: Counter[int] = Counter()
    for p in range(len(network.publications)):
        for at in brokers[offsets[p] : offsets[p + 1]].tolist():
            hops = 0
            while at != network.publications.sources[p]:
                at, hops = sender[p, at], hops + 1
            lengths[hops] += 1
    table = rows_for("P5.F9", rows("P5.F9"))
    mine = table[(table["recipe"] == run["recipe"]) & (table["method"] == "s2")].set_index("hops")["share"]
    for hops, share in mine.items():
        assert share == pytest.approx(100 * sum(lengths[k] for k in range(int(hops) + 1)) / lengths.total())
    assert mine.iloc[-1] == pytest.approx(100)


def test_traffic_of_all_seconds_is_the_messages_counted(rows: Callable[[str], pd.DataFrame]) -> None:
    table = rows_for("P5.F11", rows("P5.F11"))
    shown = table.groupby("method")["messages"].sum() * 10
    own = rows("P5.F11")
    counted = own.groupby("method")["counters"].agg(
        lambda texts: sum(_counter(text, "queued_messages") for text in texts)
    )
    assert (shown <= counted).all()
    assert (shown >= 0.7 * counted).all(), "an incomplete last interval of ten seconds is left out"
    assert shown["s2"] < shown["s1"] < shown["s0"]


def _counter(text: str, name: str) -> float:
    return float(json.loads(text)[name])


def test_the_matching_figure_counts_subscriptions_and_brokers(rows: Callable[[str], pd.DataFrame]) -> None:
    table = rows_for("P5.F8", rows("P5.F8"))
    recipe = table["recipe"].iloc[0]
    network: BrokerNetwork = Recipe.from_json(recipe).make()
    subscriptions, few = network.subscriptions, 0
    for point in network.publications.values:
        matched = ((subscriptions.lows <= point) & (point <= subscriptions.highs)).all(axis=1)
        few += matched.sum() <= 0.06 * len(subscriptions)
    own = table[(table["recipe"] == recipe) & (table["percent"] == 6)]
    assert own["of_subscriptions"].tolist() == [pytest.approx(100 * few / len(network.publications))]
    assert table[table["percent"] == 100]["of_brokers"].tolist() == [100.0] * 4
