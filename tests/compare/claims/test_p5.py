"""The claims of P5 on small networks, with broken strategies, rules or data; its figures against a recount."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import overlaybench as ob
from overlaybench.compare.claims import p5
from overlaybench.compare.claims.bench import Experiment, rows_here, runs
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.data import FIGURES, TABLES
from overlaybench.compare.claims.delta_move import MovingNetwork
from overlaybench.compare.claims.p5 import BOTH, COVERING, DENSE, SPARSE, UNCAPPED
from overlaybench.compare.studies.task import Recipe, freeze
from overlaybench.heuristics.brokers.kernels.working_map import working_maps
from overlaybench.heuristics.brokers.soft_links import disseminate_over
from overlaybench.instances.brokers.files import BROKERS
from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from overlaybench.instances.brokers.problems import Dissemination
from tests.compare.claims.faults import Fault, Methods, judged_on_rows, tiered, with_answers, with_options
from tests.outcomes import known

CONFIRMED, ORDER, DEPENDS = Verdict.CONFIRMED, Verdict.ORDER, Verdict.DEPENDS
CONTRADICTED, UNDECIDED = Verdict.CONTRADICTED, Verdict.NOT_DECIDED
STRATEGIES = ("s0", "s1", "s2", "sh")
SIZE = {"brokers": 30, "subscriptions": 240, "publications": 120, "fanout": 9}
MANAGED = {"rounds": 12, "window": 120}


def recipes(workloads: tuple[str, ...], seeds: int = 6, **lists: Any) -> tuple[Recipe, ...]:
    """The same seeds for every workload and for every value of the one parameter that is a tuple."""
    name, values = next(((k, v) for k, v in lists.items() if isinstance(v, tuple)), ("fanout", (SIZE["fanout"],)))
    return tuple(
        Recipe(
            "small",
            seed,
            workload=workload,
            parameters=freeze(ob.WORKLOADS[workload].complete({**SIZE, **lists, name: value})),
        )
        for workload in workloads
        for value in values
        for seed in range(1, seeds + 1)
    )


def small(
    workloads: tuple[str, ...], methods: tuple[str, ...], *options: Mapping[str, Any], seeds: int = 6, **lists: Any
) -> Experiment:
    given = [(s, {**each, **(MANAGED if s != "s0" else {})}) for each in options or ({},) for s in methods]
    return Experiment(recipes(workloads, seeds, **lists), (runs("soft-links", *given),))


def in_system(
    workloads: tuple[str, ...], methods: tuple[str, ...], shape: Mapping[str, Any], **given: Any
) -> Experiment:
    options = {"simulate": "system", "service": 500, "interval": 0.5, **given}
    own = recipes(workloads, 5, **{"publications": 300, **shape})
    return Experiment(own, (runs("soft-links", *((s, options) for s in methods)),))


def joined(*experiments: Experiment) -> Experiment:
    """The runs of several experiments, each on its own networks."""
    named = [
        (tuple(Recipe(str(rank), r.seed, workload=r.workload, parameters=r.parameters) for r in one.recipes), one.runs)
        for rank, one in enumerate(experiments)
    ]
    return Experiment(
        tuple(recipe for own, _ in named for recipe in own),
        tuple(
            runs("soft-links", *((name, dict(options)) for name, options in each.methods), families=[own[0].family])
            for own, every in named
            for each in every
        ),
    )


def losing_a_message(instance: Any, answer: Any) -> Any:
    return Dissemination(answer.soft_links, answer.messages[1:])


def without_soft_links(*names: str) -> Methods:
    return {**ob.METHODS, **{name: with_options(name, rounds=0)[name] for name in names}}


NO_LINKS = without_soft_links("s1", "s2", "sh")
low_rate = partial(small, BOTH, STRATEGIES, {"service": 1000})
NO_REVIEWS = with_options("s2", interval=0.0)
by_fanout = partial(small, BOTH, UNCAPPED, {"service": 4000}, fanout=(5, 35), rate=72_000, brokers=120)
possible_moves = p5.possible_moves


def larger() -> Experiment:
    """The networks of `by_fanout` under the name of 250 brokers."""
    return small((SPARSE,), UNCAPPED, {"service": 4000}, fanout=(5, 35), rate=72_000, brokers=250, seeds=3)


FAULTS: Mapping[str, Fault] = {
    "P5.T2": Fault(NO_LINKS, ORDER, grid=low_rate),
    "P5.F9": Fault(NO_LINKS, UNDECIDED, grid=partial(small, BOTH, STRATEGIES, {"service": 1}, publications=1200)),
    "P5.F10": Fault(NO_LINKS, ORDER, grid=low_rate),
    "P5.F11": Fault(NO_LINKS, UNDECIDED, grid=low_rate),
    "P5.F10.1": Fault(NO_LINKS, grid=low_rate),
    "P5.S2.3": Fault(NO_LINKS, grid=partial(small, BOTH, UNCAPPED, seeds=12)),
    "P5.S7.5": Fault(
        with_options("s2", rounds=0),
        UNDECIDED,
        grid=partial(small, (DENSE,), ("s0", "s2"), {"service": 500}, rate=(3600, 36000, 72000)),
    ),
    "P5.F12": Fault(
        with_options("s2", rounds=0),
        ORDER,
        grid=partial(small, (COVERING,), ("s2",), fanout=(5, 10), brokers=60, subscriptions=800, seeds=5),
    ),
    "P5.F13": Fault(NO_LINKS, grid=by_fanout),
    "P5.F13b": Fault(NO_LINKS, UNDECIDED, grid=larger),
    "P5.F13.1": Fault(
        NO_LINKS,
        DEPENDS,
        UNDECIDED,
        grid=partial(
            small,
            (SPARSE,),
            UNCAPPED,
            *({"service": each} for each in p5.SERVICES),
            rate=144000,
            fanout=(35,),
            brokers=120,
        ),
    ),
    "P5.S7.4": Fault(
        with_options("s2", interval=0.05),
        UNDECIDED,
        grid=partial(in_system, (DENSE,), ("s2",), {"publications": 600}, interval=2.0),
    ),
    "P5.S6.4": Fault(
        NO_REVIEWS,
        broken=UNDECIDED,
        grid=partial(in_system, (SPARSE,), ("s0", "s2"), {"publications": 1500}, crashes=20),
    ),
    "P5.S7.11": Fault(
        NO_REVIEWS,
        ORDER,
        grid=partial(
            in_system, ("brokers-social",), UNCAPPED, {"publications": 900}, service=40000, interval=1.0, drain=False
        ),
    ),
    "P5.I.1": Fault(NO_LINKS),
    "P5.S2.1": Fault(
        replaced={"p5.disseminate_over": lambda network, strategy, links: disseminate_over(network, 1, links)}
    ),
    "P5.S3.1": Fault(
        replaced={"p5.working_maps": lambda tree, links, capacity: working_maps(tree, links[1:], capacity)}
    ),
    "P5.S4.1": Fault(replaced={"p5.anchors_along": lambda path, radius, towards: [path[0]] * len(path)}),
    "P5.S4.3": Fault(replaced={"p5.covering_set": lambda lows, highs, order: order[:1]}),
    "P5.S5.1": Fault(with_answers("s1", losing_a_message)),
    "P5.S6.1": Fault(with_options("s2", load_factor="min")),
    "P5.S6.5": Fault(
        sound=CONTRADICTED,
        broken=CONFIRMED,
        replaced={"p5.MovingNetwork": lambda *given, one_view: MovingNetwork(*given, one_view=True)},
    ),
    "P5.S6.6": Fault(replaced={"p5._near": lambda radius, *centres: set()}),
    "P5.S6.7": Fault(replaced={"p5.possible_moves": lambda tree, radius: possible_moves(tree, radius)[:1]}),
    "P5.S7.1": Fault(replaced={"p5.DeltaMove.affected": property(lambda move: frozenset({0}))}),
    "W.DATA": Fault(replaced={"p5.matched_share": lambda workload, seed, *shape: 0.5 + seed % 2}),
    "W.SUMS": Fault(replaced={"p5._YIELDS": {SPARSE: (0.19, 0.25, 0.3, 0.32), DENSE: (0.25, 0.3, 0.38, 0.38)}}),
}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller data sets, fewer moves, a lower rise to be reached, and rows that need no second look."""
    monkeypatch.setattr(p5, "DATA_SETS", (("DT1", SPARSE, 120, 900, 0.08),))
    monkeypatch.setattr(p5, "MOVED_SEEDS", {True: range(155, 162)})


QUICK = {"P5.S2.1", "P5.S3.1", "P5.S4.1", "P5.S4.3", "P5.S5.1", "P5.S6.1", "P5.S6.5", "P5.S6.7", "P5.S7.1"}


@pytest.mark.usefixtures("short")
@tiered({*FAULTS} - QUICK, FAULTS)
def test_a_broken_strategy_rule_or_data_change_the_verdict(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[id_].check(id_, monkeypatch)


def made_up(done: Mapping[tuple[str, str], float], **columns: Any) -> pd.DataFrame:
    """Runs of four networks, whose strategies deliver these shares of 100 on data sets, give or take a little."""
    usual = {"o_simulate": "static", "o_periods": 1, "p_publications": 7200, "p_rate": 7200, "deliveries": 100}
    usual |= {"yield": 0.5, "average_hops": 3.0, "o_output_threshold": 80, "status": "feasible", "ties": "lowest"}
    rows = [
        {"law": law, "method": s, "draw": d, "instance": d, "c_queued_deliveries": share + 0.1 * d, "c_queued_hops": h}
        for (law, s), share in done.items()
        for d in range(4)
        for h in (3.0 + 0.01 * d + (s == "sh"),)
    ]
    return pd.DataFrame(rows).assign(**{**usual, **columns})


def test_hybrid_and_capped_strategies_win_only_if_they_deliver_more() -> None:
    ten = {"p_uplink": 150, "o_periods": 10}
    wins, equal = ({(SPARSE, "s1"): 80.0, (SPARSE, "s2"): 70.0, (SPARSE, "sh"): share} for share in (77.0, 70.0))
    assert judged_on_rows("P5.F14", made_up(wins, **ten)).verdict is CONFIRMED
    assert judged_on_rows("P5.F14", made_up(equal, **ten)).verdict is CONTRADICTED
    for share, expected in ((68.0, CONFIRMED), (70.0, CONTRADICTED)):
        done = {(law, s): each for law in BOTH for s, each in (("s2", 70.0), ("sh", share))}
        assert judged_on_rows("P5.F13.2", made_up(done, p_uplink=150)).verdict is expected
    dense = {(DENSE, "s0"): 50.0, (DENSE, "s1"): 60.0, (DENSE, "s2"): 80.0}
    fits = {(SPARSE, "s0"): 95.0, (SPARSE, "s1"): 99.5, (SPARSE, "s2"): 99.6, **dense}
    for done, expected in ((fits, DEPENDS), (fits | {(SPARSE, "s0"): 99.5}, UNDECIDED)):
        assert judged_on_rows("P5.F13c", made_up(done, p_uplink=40)).verdict is expected


def test_the_routes_counted_are_those_of_a_path_with_a_soft_link() -> None:
    tree = BrokerTree.of(4, [(0, 1), (1, 2), (2, 3)])
    routes = p5.route_counts(tree, np.array([[0, 2]], dtype=np.int32))
    assert (routes[0, 3], routes[3, 0], routes[0, 2], routes[1, 1]) == (2, 1, 2, 1)


@pytest.fixture(scope="module")
def low() -> pd.DataFrame:
    """Runs at a low rate, and of the system."""
    tree = small(BOTH, STRATEGIES, {"service": 1000}, seeds=2, rate=300)
    options = {"simulate": "system", "service": 1000, "interval": 0.5, "predicate": 1}
    system = Experiment(recipes(BOTH, 1, publications=60), (runs("soft-links", *((s, options) for s in UNCAPPED)),))
    return rows_here(joined(tree, system), ob.METHODS)


def shown(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    return FIGURES[name].prepare(rows)


@pytest.mark.parametrize("name", ["P5.F8", "P5.F9", "P5.F10", "P5.F11"])
def test_a_figure_has_rows_for_every_curve_in_every_panel(name: str, low: pd.DataFrame) -> None:
    figure, table = FIGURES[name], shown(name, low)
    for curve in (*figure.curves, *(one for some in figure.more.values() for one in some)):
        own = table.query(curve.where)
        assert all(own[panel.column].notna().any() for panel in figure.panels)
        assert own[figure.x[0]].notna().all()


def test_every_published_number_of_table_two_has_one_of_ours_beside_it(low: pd.DataFrame) -> None:
    table = TABLES["P5.T2"]
    rows = table.prepare(low).query(table.where)
    ours = {part.name: part.number(rows) for part in table.parts}
    assert all(np.isfinite(known(number).mean) for number in ours.values())
    of = low[(low["law"] == SPARSE) & (low["method"] == "s2") & (low["o_simulate"] != "system")]
    forwarders = (of["value"] - of["deliveries"]) / SIZE["publications"]
    number = known(ours["sparse S2 yield, %"])
    assert number.mean == pytest.approx(100 * (of["deliveries"] / of["value"]).mean())
    number = known(ours["sparse S2 pure forwarders a publication"])
    assert number.mean == pytest.approx(forwarders.mean())


def test_path_lengths_are_those_of_following_messages_back_to_the_source(low: pd.DataFrame) -> None:
    run = next(r for r in low.to_dict("records") if r["method"] == "s2" and r["o_simulate"] != "system")
    network: BrokerNetwork = Recipe.from_json(run["recipe"]).make()
    messages = BROKERS.unpack(np.asarray(run["answer"], dtype=np.int32), network).messages.tolist()
    sender = {(p, receiver): sender for p, sender, receiver in messages}
    offsets, brokers = network.destinations
    lengths: Counter[int] = Counter()
    pairs: dict[tuple[int, int], list[int]] = {}
    for p in range(len(network.publications)):
        source = int(network.publications.sources[p])
        for wanted in brokers[offsets[p] : offsets[p + 1]].tolist():
            at, hops = wanted, 0
            while at != source:
                at, hops = sender[p, at], hops + 1
            lengths[hops] += 1
            pairs.setdefault((source, wanted), []).append(2 * hops + 1)
    table = shown("P5.F9", low)
    mine = table[(table["instance"] == run["instance"]) & (table["method"] == "s2")].set_index("hops")
    for hops, share in mine[run["law"].partition("-")[2]].items():
        assert share == pytest.approx(100 * sum(lengths[k] for k in range(int(hops) + 1)) / lengths.total())
    delays = p5.pair_delays(run)
    assert len(delays) > 0
    for (source, receiver), mean in delays.items():
        assert mean == pytest.approx(np.mean(pairs[source, receiver]))


def test_traffic_of_all_seconds_is_the_messages_counted(low: pd.DataFrame) -> None:
    static = low[low["o_simulate"] != "system"]
    found = shown("P5.F11", static).groupby("method")["messages"].sum() * 10
    counted = static[static["law"] == DENSE].groupby("method")["c_queued_messages"].sum()
    assert (found <= counted).all()
    assert (found >= 0.5 * counted).all(), "an incomplete last interval of ten seconds is left out"
    assert found["s2"] < found["s1"] < found["s0"]


def test_the_matching_figure_counts_subscriptions_and_brokers(low: pd.DataFrame) -> None:
    table = shown("P5.F8", low)
    recipe = table["recipe"].iloc[0]
    network: BrokerNetwork = Recipe.from_json(recipe).make()
    subscriptions, few = network.subscriptions, 0
    for point in network.publications.values:
        matched = ((subscriptions.lows <= point) & (point <= subscriptions.highs)).all(axis=1)
        few += matched.sum() <= 0.06 * len(subscriptions)
    own = table[(table["recipe"] == recipe) & (table["percent"] == 6)]
    assert own["of_subscriptions"].tolist() == [pytest.approx(100 * few / len(network.publications))]
    assert (table[table["percent"] == 100]["of_brokers"] == 100.0).all()


def test_the_measures_of_a_run_of_the_system_are_its_counters(low: pd.DataFrame) -> None:
    rows = p5.measured(low)
    system = rows[rows["o_simulate"] == "system"]
    for row in system.to_dict("records"):
        counters = json.loads(row["counters"])
        counts = np.array(json.loads(counters["system_hop_counts"]))
        assert row["hops"] == pytest.approx(float((counts * np.arange(len(counts))).sum() / counts.sum()))
        assert row["yields"] == pytest.approx(counters["system_deliveries"] / counters["system_messages"])
    tree = rows[(rows["o_simulate"] != "system") & (rows["method"] == "s0")]
    assert (tree["done"] * 1000 <= tree["deliveries"]).all()
