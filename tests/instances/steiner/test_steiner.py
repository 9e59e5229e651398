"""Steiner instances, their files, and the judge of trees."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.instances.steiner.workloads import hypercube

KIND, STEINER = ob.KINDS["steiner"], ob.PROBLEMS["steiner"]
SQUARE = ob.SteinerInstance.from_edges(5, [(1, 0, 3), (1, 2, 4), (2, 3, 5), (3, 0, 6), (0, 1, 9)], [2, 0, 2])
HEAD = "33D32945 STP File, STP Format Version 1.0\n"
GRAPH = "SECTION Graph\nNodes 3\nEdges 2\nE 1 2 5\nE 2 3 4\nEND\n"
TERMINALS = "SECTION Terminals\nTerminals 2\nT 1\nT 3\nEND\nEOF\n"
FILE = HEAD + GRAPH + TERMINALS


def test_the_cheapest_of_parallel_edges_counts() -> None:
    assert SQUARE.edges.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert SQUARE.costs.tolist() == [3, 6, 4, 5]
    assert SQUARE.terminals.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("edges", "terminals", "message"),
    [
        ([(0, 5, 1)], [0], "edge 0: its end 5 is outside 0…2"),
        ([(0, 1, 1), (1, 1, 2)], [0], "edge 1: a loop at node 1"),
        ([(0, 1, -2)], [0], "edge 0: the cost -2 is negative"),
        ([(0, 1, 2**53), (1, 2, 1)], [0], "more than 2\\^53"),
        ([(0, 1, 1)], [], "at least one"),
        ([(0, 1, 1)], [3], "terminal 0: its end 3 is outside"),
    ],
)
def test_a_wrong_instance_is_bad_input(edges: list[Any], terminals: list[int], message: str) -> None:
    with pytest.raises(ob.BadInput, match=message):
        ob.SteinerInstance.from_edges(3, edges, terminals)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: an STP file begins with"),
        (HEAD + GRAPH + "EOF\n", "has no section Terminals"),
        (HEAD + TERMINALS, "has no section Graph"),
        (HEAD + "Nodes 3\n", "line 2: 'Nodes 3' is outside a section"),
        (HEAD + "SECTION Presolve\nEND\n", "line 2: section 'Presolve' is not supported"),
        (HEAD + GRAPH.replace("END\n", "") + TERMINALS, "line 2: this section does not end"),
        (FILE.replace("E 2 3 4", "E 2 3"), "line 6: 'E 2 3' must read 'E NODE NODE COST'"),
        (FILE.replace("E 2 3 4", "E 2 3 x"), "line 6: 'x' is no number of at least 0"),
        (FILE.replace("E 2 3 4", "E 2 3 -4"), "line 6: '-4' is no number of at least 0"),
        (FILE.replace("E 2 3 4", "E 2 3 1e80"), "more than 2^53"),
        (FILE.replace("E 2 3 4", "E 2 3 1.5e-40"), "more than 2^53"),
        (FILE.replace("E 2 3 4", "E 2 9 4"), "line 6: node 9 is outside 1…3"),
        (FILE.replace("E 2 3 4", "E 2 2 4"), "line 6: a loop at node 2"),
        (FILE.replace("E 2 3 4", "A 2 3 4"), "line 6: 'A' is unknown or belongs to another problem"),
        (FILE.replace("Nodes 3", "Nodes 3\nNodes 3"), "line 4: a second line 'Nodes': remove one"),
        (HEAD + GRAPH + GRAPH + TERMINALS, "a second section 'Graph': join the two"),
        (FILE.replace("E 2 3 4", "E 2 3 4\x07"), "line 6: the character '\\x07' is not printable ASCII"),
        (FILE.replace("Edges 2", "Edges 7"), "line 4: says 7 edges, but there are 2"),
        (FILE.replace("Nodes 3\n", ""), "has no section Graph with a line 'Nodes NUMBER'"),
        (FILE.replace("T 3", "T 4"), "line 11: node 4 is outside 1…3"),
        (FILE.replace("T 3\n", ""), "line 9: says 2 terminals, but there are 1"),
        (FILE.replace("T 3", "TP 3 4"), "line 11: 'TP' is unknown"),
    ],
)
def test_a_wrong_file_is_said_in_one_line_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.stp"
    path.write_text(text)
    with pytest.raises(ob.BadInput) as caught:
        KIND.read(path, {})
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("edges", "faults"),
    [
        ([(0, 1), (1, 2)], []),
        ([(0, 3), (3, 2)], []),
        ([(0, 1), (1, 2), (2, 3)], []),
        ([(0, 2)], ["1–3 is no edge of the graph"]),
        ([(0, 1)], ["1 of 2 terminals are not connected to the first one"]),
        ([(0, 1), (1, 2), (2, 3), (3, 0)], ["1 edges more than in a tree: they close cycles"]),
        ([], ["1 of 2 terminals are not connected to the first one"]),
    ],
)
def test_the_judge_wants_a_tree_of_the_graph_that_holds_all_terminals(edges: list[Any], faults: list[str]) -> None:
    assert STEINER.violations(SQUARE, ob.Overlay.from_edges(5, edges)) == faults


def test_a_tree_costs_what_its_edges_cost() -> None:
    tree = ob.Overlay.from_edges(5, [(0, 3), (3, 2)])
    assert STEINER.value(SQUARE, tree) == 11
    assert STEINER.measures(SQUARE, tree) == {"edges": 2, "steiner_nodes": 1}
    assert STEINER.value(SQUARE, ob.Overlay.from_edges(5, [(0, 2)])) == np.inf


def test_a_tree_comes_back_by_the_labels_of_stp_files(tmp_path: Path) -> None:
    tree, kind = ob.Overlay.from_edges(5, [(0, 3), (3, 2)]), KIND
    kind.write_answer(tree, SQUARE, tmp_path / "tree.json")
    assert '["1", "4"]' in (tmp_path / "tree.json").read_text()
    assert kind.read_answer(tmp_path / "tree.json", SQUARE) == tree == kind.unpack(kind.pack(tree), SQUARE)


def test_sparse_graphs_have_the_sizes_asked_for_and_are_connected() -> None:
    instance = ob.WORKLOADS["steiner-sparse"].generate(nodes=60, edges=75, terminals=9, seed=3)
    assert KIND.size(instance) == {"nodes": 60, "links": 75, "terminals": 9}
    whole = ob.Overlay.from_edges(60, instance.edges)
    assert "not connected" not in " ".join(STEINER.violations(instance, whole))
    with pytest.raises(ob.BadInput, match="choose from 59"):
        ob.WORKLOADS["steiner-sparse"].generate(nodes=60, edges=7, terminals=9)


@pytest.mark.parametrize("dimension", [1, 2, 3, 6])
def test_a_hypercube_has_a_terminal_at_every_other_corner(dimension: int) -> None:
    instance = hypercube(dimension=dimension, costs="unit", seed=0)
    assert instance.num_nodes == 2**dimension
    assert instance.num_edges == dimension * 2 ** (dimension - 1)
    terminals = set(instance.terminals.tolist())
    assert len(terminals) == instance.num_nodes // 2
    assert all((u in terminals) != (v in terminals) for u, v in instance.edges.tolist())
    assert set(instance.costs.tolist()) == {1}


def test_perturbed_costs_are_drawn_by_the_seed() -> None:
    cubes = [
        ob.WORKLOADS["steiner-hypercube"].generate(dimension=4, costs="perturbed", seed=seed) for seed in (1, 1, 2)
    ]
    assert cubes[0].digest == cubes[1].digest != cubes[2].digest
    assert all(100 <= cost <= 110 for cost in cubes[0].costs.tolist())


@pytest.mark.parametrize(("size", "nodes", "edges", "terminals"), [(2, 3, 2, 1), (11, 66, 110, 55), (13, 91, 156, 78)])
def test_subdivided_complete_graphs_have_the_published_sizes(size: int, nodes: int, edges: int, terminals: int) -> None:
    instance = ob.WORKLOADS["steiner-subdivision"].generate(size=size)
    assert (instance.num_nodes, instance.num_edges, instance.num_terminals) == (nodes, edges, terminals)
    graph = instance.to_networkx()
    assert {graph.degree[t] for t in instance.terminals.tolist()} == {2}
    assert len({frozenset(graph[t]) for t in instance.terminals.tolist()}) == terminals


@pytest.mark.parametrize(
    ("depth", "nodes", "edges", "terminals"), [(1, 15, 35, 8), (2, 106, 399, 50), (3, 743, 2947, 344)]
)
def test_skutellas_graphs_have_the_published_sizes(depth: int, nodes: int, edges: int, terminals: int) -> None:
    instance = ob.WORKLOADS["steiner-skutella"].generate(depth=depth)
    assert (instance.num_nodes, instance.num_edges, instance.num_terminals) == (nodes, edges, terminals)
    assert set(instance.costs.tolist()) == {1}
    graph = instance.to_networkx()
    assert all(len(graph[t]) == 4 for t in instance.terminals.tolist()[1:])


def test_two_of_skutellas_nodes_always_miss_a_point() -> None:
    graph = ob.WORKLOADS["steiner-skutella"].generate(depth=1).to_networkx()
    sets = [set(graph[v]) - {0} for v in graph[0]]
    assert all(len(a | b) == 6 for a, b in itertools.combinations(sets, 2))
    assert any(len(a | b | c) == 7 for a, b, c in itertools.combinations(sets, 3))


COMMENT = '\n# a remark\nSECTION Comment\nName "x"\nEND\n'
SIDE = "SECTION Tree Decomposition\ns td 1 3 3\nb 1 1 2 3\nEND\nSECTION Drawing\nE 1 2 bl\nEND\n"


@pytest.mark.parametrize(
    ("data", "remarks"),
    [
        (FILE.encode(), 0),
        (FILE.replace(HEAD, "").encode(), 0),
        (f"{HEAD}{COMMENT}{GRAPH}SECTION Coordinates\nDD 1 2 3\nEND\n{TERMINALS}".encode(), 0),
        (FILE.replace("EOF", SIDE + "EOF").encode(), 2),
        (FILE.replace(HEAD, HEAD + 'SECTION Comment\nCreator "Caf\xe9"\nEND\n').encode("latin-1"), 0),
        (FILE.replace("2 5", "2 5.0").replace("3 4", "3 4.00").encode(), 0),
    ],
)
def test_what_does_not_change_the_problem_is_left_out(tmp_path: Path, data: bytes, remarks: int) -> None:
    path = tmp_path / "one.gr"
    path.write_bytes(data)
    loaded = KIND.read(path, {})
    assert loaded.instance.digest == ob.SteinerInstance.from_edges(3, [(0, 1, 5), (1, 2, 4)], [0, 2]).digest
    assert len(loaded.remarks) == remarks


def test_costs_with_decimals_are_scaled_exactly(tmp_path: Path) -> None:
    (tmp_path / "one.stp").write_text(FILE.replace("2 5", "2 0.1").replace("3 4", "3 123456789.012345"))
    instance = KIND.read(tmp_path / "one.stp", {}).instance
    assert instance.costs.tolist() == [100_000, 123_456_789_012_345]
    assert STEINER.unit(instance) == 10**6


@pytest.mark.interpreted
@pytest.mark.parametrize("method", [name for name, method in ob.METHODS.items() if method.answers("steiner")])
def test_terminals_that_cannot_be_reached_are_named(method: str) -> None:
    apart = ob.SteinerInstance.from_edges(6, [(0, 1, 1), (2, 3, 1)], [0, 1, 3, 5])
    result = ob.METHODS[method].run(apart, STEINER)
    assert result.status is ob.Status.INFEASIBLE
    assert result.reason == "no path leads from terminal 1 to terminals 4, 6"


@pytest.mark.parametrize("wrong", ["E 3 3 4", "E 2 9 4", "E 0 3 4", "E 2 3 x", "E 2 3 1e80", "e 2 3 0.5", "E 2 3"])
def test_runs_of_plain_edges_are_read_as_single_lines_are(tmp_path: Path, wrong: str) -> None:
    edges = [f"E {u} {u + 1} {7 * u % 5}" for u in range(1, 8)]
    for at in range(len(edges) + 1):
        listed = [*edges[:at], wrong, *edges[at:]]
        ends = []
        for spaced in (listed, [each.replace(" ", "  ") for each in listed]):
            graph = "\n".join(["SECTION Graph", "Nodes 8", *spaced, "END", ""])
            (tmp_path / "one.stp").write_text(HEAD + graph + TERMINALS)
            try:
                instance = KIND.read(tmp_path / "one.stp", {}).instance
                ends.append(f"{instance.digest} {instance.unit}")
            except ob.BadInput as error:
                ends.append(str(error).replace("  ", " "))
        assert ends[0] == ends[1]
        assert wrong == "e 2 3 0.5" or wrong == "E 2 3 1e80" or f"line {4 + at}: " in ends[0]
