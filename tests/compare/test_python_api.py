"""The Python interface: ways in and out, solving, comparing, and how objects show themselves."""

from __future__ import annotations

import math
import multiprocessing
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import overlaybench as ob
from tests.outcomes import known

WANTED = {"ann": ["chess", "news"], "bob": ["news"], "cid": ["chess"]}
PAIRS = [(node, topic) for node, topics in WANTED.items() for topic in topics]
FRAME = pd.DataFrame(PAIRS, columns=["node", "topic"])
SMALL = {
    "uniform": {"nodes": 12, "topics": 6, "subscriptions": 2},
    "relay-star": {},
    "brokers-sparse": {"brokers": 12, "subscriptions": 100, "publications": 30},
    "steiner-sparse": {"nodes": 30, "edges": 60, "terminals": 5},
}
MATRIX = np.array([[1, 1], [0, 1], [1, 0]])


def small(workload: str) -> Any:
    return ob.generate(workload, seed=1, **SMALL[workload])


def bipartite() -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph(PAIRS)
    nx.set_node_attributes(graph, {v: int(v in ("chess", "news")) for v in graph}, "bipartite")
    return graph


def mapping(instance: ob.TopicInstance) -> dict[str, list[str]]:
    return {node: sorted(rows["topic"]) for node, rows in instance.to_pandas().groupby("node")}


@pytest.mark.parametrize(
    "source",
    [
        WANTED,
        PAIRS,
        iter(PAIRS),
        FRAME,
        FRAME.astype("category"),
        FRAME[["topic", "node"]].sample(frac=1, random_state=1),
        pl.DataFrame(FRAME.to_dict("list")),
        pa.Table.from_pandas(FRAME),
        bipartite(),
    ],
    ids=lambda source: type(source).__name__,
)
def test_every_object_with_subscriptions_is_the_same_instance(source: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        instance = ob.read(source)
    assert mapping(instance) == WANTED
    assert instance == ob.TopicInstance.from_subscriptions(WANTED)


STORED_ZERO = sp.coo_matrix((np.append(MATRIX[MATRIX > 0], 0), np.append(MATRIX.nonzero(), [[1], [0]], axis=1)))


@pytest.mark.parametrize("matrix", [MATRIX, MATRIX.astype(bool), sp.csr_array(5 * MATRIX), STORED_ZERO])
def test_the_entries_of_a_matrix_are_subscriptions_of_numbered_nodes(matrix: object) -> None:
    instance = ob.read(matrix)
    assert mapping(instance) == {"n0": ["t0", "t1"], "n1": ["t1"], "n2": ["t0"]}
    assert (instance.to_scipy().toarray() == MATRIX).all()


def test_every_way_out_is_a_way_in() -> None:
    instance = ob.generate("zipf", nodes=30, topics=12, subscriptions=4, seed=2)
    for out in (instance.to_pandas, instance.to_polars, instance.to_arrow, instance.to_networkx, instance.to_scipy):
        assert ob.read(out()) == instance


def test_labels_of_any_hashable_type_are_known_by_their_texts() -> None:
    instance = ob.read([((1, 2), 7), (3, 7), (3, frozenset({8}))])
    assert [instance.node_label(v) for v in range(2)] == ["3", "(1, 2)"]
    assert ob.read(pd.DataFrame({"node": [1, "a"], "topic": [2.5, 2.5]})).node_label(0) == "1"
    assert ob.check(instance, [(3, (1, 2))]) == []


def test_streams_of_rows_are_read_as_tables_and_other_streams_refused() -> None:
    rows = pa.table({"node": ["ann", "bob", "bob"], "other": [1, 2, 3], "topic": ["news", "news", "chess"]})
    expected = ob.read({"ann": ["news"], "bob": ["news", "chess"]})
    batches = rows.to_batches()
    for source in (pa.RecordBatchReader.from_batches(rows.schema, batches), batches[0], rows):
        assert ob.read(source) == expected
    with pytest.raises(ob.BadInput, match="an object of type ChunkedArray is no table"):
        ob.read(rows["node"])


def test_relations_of_duckdb_are_read() -> None:
    code = """if True:  # in a process of its own, as its end prints what the library leaks
        import duckdb, overlaybench as ob
        values = "(VALUES ('ann', 1, 'news'), ('bob', 2, 'news')) AS rows (node, other, topic)"
        print(ob.read(duckdb.sql("FROM " + values)).digest)
        try:
            ob.read(duckdb.sql("SELECT other FROM " + values))
        except ob.BadInput as error:
            print(error)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    digest, error = done.stdout.splitlines()
    assert digest == ob.read({"ann": ["news"], "bob": ["news"]}).digest
    assert error.startswith("no column 'node' among 'other': name the column that is meant (--node-column NAME)")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([(1, "a"), ("1", "a")], "two nodes have the text '1': 1 and '1': rename one"),
        ([("a", "x"), ("b",)], r"row 1 is \('b',\): give pairs"),
        ([("a", None)], "row 0 has no topic: name it or remove the row"),
        ([("a", math.nan)], "row 0 has no topic"),
        ([("a", [1])], r"row 0: its topic \[1\] is not hashable"),
        ({"a": "xy"}, "node 'a' has 'xy' for its topics: give a list"),
        ({"a": []}, "at least one node with one topic"),
        ([], "at least one node"),
        (np.array([[0, 2]]), r"entry \(0, 1\) of the matrix is 2: give 0 or 1"),
        (np.zeros((2, 2)), "the matrix has no entry"),
        (FRAME.rename(columns={"node": "user"}), "no column 'node' among 'user', 'topic'"),
        (FRAME.replace("bob", None), "row 3: an empty node"),
        (7, "type int has no subscriptions: give a path, a mapping"),
        ("absent.csv", "absent.csv: cannot be read"),
    ],
)
def test_a_source_that_cannot_be_read_is_one_line_with_the_fix(source: object, message: str) -> None:
    with pytest.raises(ob.BadInput, match=message):
        ob.read(source)


def test_columns_may_have_other_names_and_duplicate_rows_are_warned_of(tmp_path: Path) -> None:
    doubled = pd.concat([FRAME, FRAME.head(1)]).rename(columns={"node": "user", "topic": "artist"})
    file = tmp_path / "plays.csv"
    doubled.to_csv(file, index=False)
    for source in (doubled, file, str(file)):
        with pytest.warns(UserWarning, match="1 duplicate .node, topic. row"):
            assert mapping(ob.read(source, node="user", topic="artist")) == WANTED


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("workload", "problem"), [("uniform", "min-tco"), ("relay-star", "content-steiner"), ("steiner-sparse", "steiner")]
)
def test_problem_and_method_have_defaults_by_the_kind_of_the_instance(workload: str, problem: str) -> None:
    result = ob.solve(small(workload), time_limit=10)
    assert (result.problem, result.status) == (problem, ob.Status.OPTIMAL)


def test_a_problem_about_another_kind_is_bad_input() -> None:
    with pytest.raises(ob.BadInput, match="problem 'steiner' is about steiner, the instance about topics"):
        ob.solve(ob.read(WANTED), "steiner")
    with pytest.raises(ob.BadInput, match="type dict is no instance"):
        ob.solve(WANTED)
    problems: Any = ["min-tco"]
    with pytest.raises(ob.BadInput, match=r"\['min-tco'\] is no problem: give its name"):
        ob.solve(ob.read(WANTED), problems)


def test_only_a_method_that_chooses_step_by_step_has_a_trace() -> None:
    instance = ob.read(WANTED)
    trace = known(ob.solve(instance, "min-tco", "gm", trace=True).trace)
    assert trace.to_pandas()["choice"].tolist() == ["ann–bob", "ann–cid"]
    with pytest.raises(ob.BadInput, match=r"trace .*method 'ilp' .*leave it out, or take one of .*gm"):
        ob.solve(instance, "min-tco", "ilp", trace=True)


@pytest.mark.interpreted
def test_an_answer_is_checked_from_a_file_a_graph_or_pairs(tmp_path: Path) -> None:
    instance = ob.read(WANTED)
    edges = [("ann", "bob"), ("ann", "cid")]
    ob.write_overlay(ob.Overlay.from_labels(edges, instance), instance, tmp_path / "o.json")
    for answer in (edges, nx.Graph(edges), tmp_path / "o.json", str(tmp_path / "o.json")):
        assert ob.check(instance, answer, "min-tco") == []
    assert ob.check(instance, edges[:1], "min-tco") == ["topic 'chess' has 2 components"]
    assert ob.check(instance, ob.solve(instance, "min-tco", "gm"), "min-tco") == []
    for wrong in (5, None, ob.solve(ob.generate("relay-star")).answer):
        with pytest.raises(ob.BadInput, match="is no answer: give an object of type Overlay"):
            ob.check(instance, wrong)
    with pytest.raises(ob.BadInput, match="unknown node 'dan'"):
        ob.check(instance, [("ann", "dan")])
    with pytest.raises(ob.BadInput, match="edge 0: 'bob' is not two labels"):
        ob.check(instance, {"bob": ["ann"]})


@pytest.mark.parametrize("wrong", [True, 2.5, [], {1: 2}, object()])
def test_what_is_no_name_or_no_seed_is_bad_input(wrong: Any) -> None:
    listed: Any = [wrong]
    for name, seed in ((wrong, 0), (listed, 0), ("zipf", listed)):
        with pytest.raises(ob.BadInput):
            ob.generate(name, seed=seed)
    with pytest.raises(ob.BadInput):
        ob.problems(listed)
    with pytest.raises(ob.BadInput):
        ob.compare_methods(ob.read(WANTED), "min-tco", wrong)


def test_a_comparison_ranks_by_the_best_bound_and_keeps_failures() -> None:
    @ob.method("nothing", problems=["min-tco"])
    def nothing(instance: ob.TopicInstance) -> list[tuple[int, int]]:
        return []

    table = ob.compare_methods(ob.read(WANTED), "min-tco", ["ring-per-topic", {"method": "low-oda", "k": 3}, nothing])
    assert (table.bound, table.bound_by) == (2.0, "auto")
    frame = table.to_pandas()
    assert frame["method"].tolist() == ["ring-per-topic", "low-oda k=3", "nothing"]
    assert frame["ratio"].tolist()[:2] == [1.0, 1.0]
    assert frame["status"].tolist() == ["feasible", "feasible", "failed"]
    assert frame["edges"].tolist()[:2] == [2.0, 2.0]
    assert "invalid answer" in frame["reason"][2]
    assert table["low-oda k=3"].value == 2
    apart = ob.read({"ann": ["news"], "bob": ["chess"]})
    assert ob.compare_methods(apart, "min-tco", ["gm", ob.METHODS["branch-and-cut"]]).ratios == (1.0, 1.0)
    for shown in (repr(table), table._repr_html_()):
        assert "nothing" in shown
        assert "invalid answer: topic" in shown


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["gm", {"method": "gm", "speed": 2}], "unknown option"),
        ([{"k": 2}], "a method is a name or"),
        ([], "no methods are given"),
        ([len], "<built-in function len> is no method: give its name"),
        ([("low-oda", {"k": 2})], "is no method: give its name"),
    ],
)
def test_a_comparison_checks_all_methods_before_it_runs_one(methods: Any, message: str) -> None:
    with pytest.raises(ob.BadInput, match=message):
        ob.compare_methods(ob.read(WANTED), "min-tco", methods)


def test_a_plain_function_is_a_method_with_its_options() -> None:
    def star(instance: ob.TopicInstance, centre: int = 0) -> list[tuple[int, int]]:
        """One star."""
        return [(centre, v) for v in range(instance.num_nodes) if v != centre]

    inst = ob.read({"ann": ["news"], "bob": ["news"], "cid": ["news"]})
    assert ob.solve(inst, "min-tco", star, centre=2).value == 2
    table = ob.compare_methods(inst, "min-tco", [star, {"method": star, "centre": 1}, "gm"])
    assert table.methods == ("star", "star centre=1", "gm")
    assert table.ratios == (1.0, 1.0, 1.0)


def test_methods_problems_and_workloads_are_listed_by_name() -> None:
    assert {"gm", "branch-and-cut"} <= set(ob.methods("min-tco"))
    assert "gm" not in ob.methods("2d-star")
    assert set(ob.problems("steiner")) == {"steiner"}
    assert {workload.kind for workload in ob.workloads("brokers").values()} == {"brokers"}
    for listing, name, meant in (
        (ob.methods, "min-tc", "min-tco"),
        (ob.problems, "topicss", "topics"),
        (ob.workloads, "topicss", "topics"),
    ):
        with pytest.raises(ob.BadInput, match=f"did you mean '{meant}'"):
            listing(name)
    assert max(map(len, repr(ob.methods()).splitlines())) <= 80


def test_listings_show_names_and_summaries() -> None:
    for listing in (ob.methods(), ob.problems(), ob.workloads()):
        assert [line.split()[0] for line in repr(listing).splitlines()] == list(listing)
        assert listing._repr_html_().count("<tr>") == len(listing) + 1


def test_a_small_object_shows_a_drawing_in_the_colours_of_the_page() -> None:
    drawn: list[Any] = [
        ob.read(WANTED),
        ob.Overlay.from_edges(3, [(0, 1)]),
        ob.SteinerInstance.from_edges(2, [(0, 1, 5)], [0, 1]),
    ]
    for one in drawn:
        html = one._repr_html_()
        assert "<svg" in html
        assert "currentColor" in html
        assert "#" not in html
    assert "<svg" not in ob.generate("uniform", nodes=500)._repr_html_()
    html = ob.read({"<b>": ["&t"]})._repr_html_()
    assert ("<b>" in html, "&lt;b&gt;" in html) == (False, True)


@pytest.mark.interpreted
@pytest.mark.parametrize("workload", SMALL)
def test_what_is_shown_has_no_array_and_the_graph_of_an_answer_the_labels_of_its_instance(workload: str) -> None:
    instance = small(workload)
    result = ob.solve(instance, method="s2" if workload == "brokers-sparse" else None, time_limit=10)
    answer: Any = result.answer
    for one in (instance, result, answer):
        for text in (repr(one), one._repr_html_()):
            assert "array" not in text
            assert "object at 0x" not in text
        assert len(repr(one).splitlines()) == 1
    graph = answer.to_networkx(instance)
    if workload == "relay-star":
        users = {("user", instance.user_label(u)) for u in range(instance.num_users)}
        assert set(graph) == users | {("broker", instance.broker_label(b)) for b in range(instance.num_brokers)}
    elif workload == "brokers-sparse":
        assert set(graph) == {instance.tree.label(b) for b in range(instance.num_brokers)}
    else:
        assert set(graph) == {instance.node_label(v) for v in range(instance.num_nodes)}
    assert len(graph.edges) > 0


@pytest.mark.parametrize("given", [{"time_limit": 0}, {"time_limit": "10"}, {"time_limit": math.nan}, {"seed": "a"}])
def test_a_wrong_seed_or_limit_is_named(given: dict[str, Any]) -> None:
    for call in (ob.solve, ob.compare_methods):
        with pytest.raises(ob.BadInput, match=f"^{next(iter(given))} must be"):
            call(ob.read(WANTED), "min-tco", "gm", **given)


def _compared(_: int) -> int | float | None:
    return ob.compare_methods(small("uniform"), "min-tco", ["gm", "branch-and-cut"], time_limit=10).bound


def test_methods_are_compared_in_a_worker_of_a_pool() -> None:
    """Its processes are daemonic, which multiprocessing does not let have children."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(_compared, [0]) == [_compared(0)]


def test_prices_whose_sum_overflows_are_bad_input() -> None:
    with pytest.raises(ob.BadInput, match="divide them by a common factor"):
        ob.ContentInstance(
            access=np.full((2, 2), 1e308),
            core=np.zeros((2, 2)),
            capacities=np.full(2, np.inf),
            rates=np.ones((2, 1)),
            subscriptions=np.ones((2, 1), np.bool_),
        )


SHARED = {"b": ["x", "y"], "c": ["y", "z"], "d": ["x", "z"], "e": ["x"]}
ALONE = {"a": [], "b": SHARED["b"], "c": SHARED["c"], "cc": [], "d": SHARED["d"], "e": SHARED["e"], "f": []}
WITH_LONE_NODES = ob.read(ALONE)
TOPIC_PROBLEMS = [problem.name for problem in ob.PROBLEMS.values() if problem.kind == "topics"]


@pytest.mark.parametrize(
    "problem", [pytest.param(each, marks=[pytest.mark.interpreted] * (each != "2d-true")) for each in TOPIC_PROBLEMS]
)
def test_every_method_answers_with_them_and_exact_ones_as_without_them(problem: str) -> None:
    least = ob.solve(ob.read(SHARED), problem, time_limit=3).value
    for name, method in ob.METHODS.items():
        if method.answers(problem):
            result = ob.solve(WITH_LONE_NODES, problem, name, time_limit=3 if method.exact else 0.02)
            assert result.status is not ob.Status.FAILED, (name, result.reason)
            assert result.status is not ob.Status.OPTIMAL or result.value == least, name


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_files_keep_them(tmp_path: Path, ending: str) -> None:
    ob.write_topics(WITH_LONE_NODES, tmp_path / f"a.{ending}")
    again = ob.read(tmp_path / f"a.{ending}")
    assert again == WITH_LONE_NODES
    assert again.node_labels == tuple(ALONE)


def test_objects_keep_them() -> None:
    matrix = WITH_LONE_NODES.to_scipy()
    for source in (ALONE, WITH_LONE_NODES.to_networkx(), matrix, matrix.toarray().astype(int)):
        assert ob.read(source) == ob.TopicInstance.from_subscriptions(ALONE)
    assert WITH_LONE_NODES.sample(6, seed=1).num_nodes == 6
    assert WITH_LONE_NODES.induced(np.array([0, 1, 2])).num_subscriptions == 4


def test_the_bound_of_an_instance_without_an_answer_is_infinite() -> None:
    star = ob.read({"a": ["x"], "b": ["x"], "c": ["x"]})
    assert ob.lower_bound(star, "capped-tco@max-degree=1") == math.inf
