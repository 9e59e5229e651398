"""``overlaybench export``: conversions, and the scripts of libp2p's interoperability tests."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from click.testing import CliRunner

import overlaybench as ob
from overlaybench.compare.command_line import cli
from overlaybench.compare.python_api.instances import read
from overlaybench.instances.topics.gossipsub import random_mesh
from tests.models.engine.other_solvers import INSTALLED, optima
from tests.models.topics.small_instances import uniform_instance
from tests.outcomes import output_of, refusal_of

INSTANCE = read({"a": ["x", "y"], "b": ["x"], "c": ["x", "y"], "d": ["y"]})
OVERLAY = [["a", "b"], ["a", "c"], ["c", "d"]]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    instance, answer = tmp_path / "wanted.json", tmp_path / "overlay.json"
    ob.write_topics(INSTANCE, instance)
    answer.write_text(json.dumps({"format": "overlay/1", "edges": OVERLAY}))
    return instance, answer


def script_of(path: Path) -> list[dict[str, Any]]:
    script: list[dict[str, Any]] = json.loads(path.read_text())["script"]
    return script


def of_type(script: list[dict[str, Any]], name: str) -> list[tuple[int, dict[str, Any]]]:
    """The nodes that have an instruction, and it."""
    inner = [(each["nodeID"], each["instruction"]) for each in script if each["type"] == "ifNodeIDEquals"]
    return [(node, each) for node, each in inner if each["type"] == name]


def test_a_script_has_each_edge_once_and_each_subscription_after_the_start(files: tuple[Path, Path]) -> None:
    out = files[0].with_name("params.json")
    output_of("export", "gossipsub", *files, "-o", out, "--messages", "5", "--bytes", "64")
    script = script_of(out)
    assert [each["instruction"]["type"] for each in script[:4]] == ["initGossipSub"] * 4
    assert {node for node, _ in of_type(script, "initGossipSub")} == {0, 1, 2, 3}
    edges = [(node, other) for node, each in of_type(script, "connect") for other in each["connectTo"]]
    assert sorted(edges) == [(0, 1), (0, 2), (2, 3)]
    subscribed = Counter((node, each["topicID"]) for node, each in of_type(script, "subscribeToTopic"))
    assert subscribed == Counter((v, INSTANCE.topic_label(int(t))) for v in range(4) for t in INSTANCE.topics_of(v))
    sent = of_type(script, "publish")
    assert [each["messageID"] for _, each in sent] == [0, 1, 2, 3, 4]
    assert all((node, each["topicID"]) in subscribed and each["messageSizeBytes"] == 64 for node, each in sent)
    waits = [each["elapsedSeconds"] for each in script if each["type"] == "waitUntil"]
    assert waits == sorted(waits)
    assert len(waits) == 6


def test_a_random_mesh_gives_every_node_its_connections() -> None:
    for nodes, connections in ((30, 4), (5, 20), (1, 20), (2, 1)):
        mesh = random_mesh(nodes, connections, 3)
        assert int(mesh.degrees.min()) >= min(connections, nodes - 1)
        assert mesh.num_edges <= nodes * connections
        assert mesh.edges.tolist() == random_mesh(nodes, connections, 3).edges.tolist()


@pytest.mark.parametrize("size", [8, 10 * 2**20])
def test_a_message_has_room_for_its_identifier_and_fits_the_runners(files: tuple[Path, Path], size: int) -> None:
    out = files[0].with_name("params.json")
    output_of("export", "gossipsub", files[0], "--mesh", "2", "--messages", "1", "--bytes", size, "-o", out)
    assert sum(len(each["connectTo"]) for _, each in of_type(script_of(out), "connect")) >= 4


@pytest.mark.parametrize("ending", [".hif.json", ".sets", ".csv", ".parquet"])
def test_an_instance_is_converted(files: tuple[Path, Path], ending: str) -> None:
    out = files[0].with_name(f"converted{ending}")
    output_of("export", "instance", files[0], "-o", out)
    assert read(out) == INSTANCE


def test_an_answer_is_converted_and_checked_in_the_other_format(files: tuple[Path, Path]) -> None:
    out = files[0].with_name("overlay.graphml")
    output_of("export", "answer", *files, "-o", out)
    assert {*map(frozenset, nx.read_graphml(out).edges)} == {*map(frozenset, OVERLAY)}
    output_of("check", files[0], out, "--problem", "min-tco")


@pytest.mark.interpreted
@pytest.mark.parametrize("ending", [".lp", ".mps", ".opb"])
def test_a_model_is_exported_with_its_optimum_and_a_table_of_columns(tmp_path: Path, ending: str) -> None:
    """By CBC, a row of HiGHS' LP files is none, and the answer that of the relaxation, 4.5."""
    file, model = tmp_path / "seven.csv", tmp_path / f"model{ending}"
    ob.write_topics(read({**{each: ["t0", "t1"] for each in "abc"}, "d": ["t1"]}), file)
    output_of("export", "model", file, "--problem", "k-tco", "-o", model)
    found = optima(model)
    assert found == dict.fromkeys(found, pytest.approx(5))
    assert ",1,edge,a,c,\n" in (tmp_path / f"model{ending}.columns.csv").read_text()


@pytest.mark.interpreted
def test_a_model_without_rows_keeps_its_constant(tmp_path: Path) -> None:
    (tmp_path / "pair.csv").write_text("node,topic\na,t\nb,t\n")
    for ending in INSTALLED:
        output_of(
            "export", "model", tmp_path / "pair.csv", "--problem", "partial-tco", "-o", tmp_path / f"model{ending}"
        )
        found = optima(tmp_path / f"model{ending}")
        assert found == dict.fromkeys(found, pytest.approx(0))


def test_what_has_no_model_leaves_the_file(tmp_path: Path) -> None:
    file, old = tmp_path / "instance.json", tmp_path / "old.mps"
    ob.write_topics(uniform_instance(6, 4, 2), file)
    old.write_text("kept")
    refusal_of("export", "model", file, "--problem", "low-tco", "-o", old)
    assert old.read_text() == "kept"


def test_texts_and_drawings_have_the_words_that_are_asked_for_and_json_has_not(files: tuple[Path, Path]) -> None:
    instance, answer = files
    broken = answer.with_name("broken.json")
    broken.write_text(json.dumps({"format": "overlay/1", "edges": OVERLAY[:1]}))
    checked = CliRunner().invoke(cli, ["check", str(instance), str(broken), "--as", "oligomers"]).output
    assert "oligomer 'x' has 2 components" in checked
    assert "contacts 1" in checked
    assert "(links 3, max degree" in output_of("solve", instance, "--as", "semantic-map")
    figures = json.loads(output_of("solve", instance, "--json", "--as", "semantic-map"))
    assert figures["measures"]["edges"] == 3
    assert len(figures["edges"]) == 3
    out = answer.with_name("drawn.svg")
    output_of("draw", instance, "-o", out, "--as", "hypergraph")
    assert "4 vertices, 2 hyperedges, 6 incidences" in out.read_text()
    output_of("draw", instance, "-o", out)
    assert "4 nodes, 2 topics, 6 subscriptions" in out.read_text()


def test_costs_of_a_second_file_make_the_problem_the_one_about_costs(files: tuple[Path, Path], tmp_path: Path) -> None:
    pairs, proof = tmp_path / "pairs.tsv", tmp_path / "proof.gz"
    pairs.write_text("u\tv\tcost\tseen\na\tb\t9\t1\na\tc\t5\t4\nb\tc\t1\t2\na\td\t3\t0\nc\td\t2\t0\n")
    solved = output_of("solve", files[0], "--costs", pairs, "--proof", proof)
    assert "weighted-tco by auto: optimal" in solved
    assert "value 8 " in solved
    assert "weighted-tco 8 is optimal" in output_of("check-proof", files[0], proof, "--costs", pairs)
    found = json.loads(output_of("solve", files[0], "--costs", pairs, "--score-column", "seen", "--json"))
    assert ["a", "c"] in found["edges"]
    assert ["b", "c"] in found["edges"]


def test_a_value_is_shown_in_the_unit_of_the_costs_in_the_file(files: tuple[Path, Path], tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("u,v,ms\na,b,9.5\na,c,5\nb,c,1.25\na,d,3\nc,d,2\n")
    costs = ("--costs", pairs, "--cost-column", "ms")
    assert "value 8.25 " in output_of("solve", files[0], *costs)
    shown = json.loads(output_of("solve", files[0], "--json", *costs))
    assert (shown["value"], shown["unit"]) == (825, 100)
    assert "value 16.5 " in output_of("check", *files, *costs)
