"""The command ``atlas`` and ``ob.atlas``: the worst instance, claims and their counterexamples, and own methods."""

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import overlaybench as ob
from overlaybench.compare.atlas.every_instance import number_of_instances
from tests.outcomes import output_of

OWN = '''
import overlaybench as ob

@ob.method("all-pairs-mine", problems=["min-tco"])
def all_pairs(instance):
    """Connect every two subscribers of a topic."""
    for topic in range(instance.num_topics):
        nodes = instance.subscribers(topic).tolist()
        yield from ((u, v) for u in nodes for v in nodes if u < v)
'''


def test_the_worst_instance_is_shown_and_written_and_solved_again(tmp_path: Path) -> None:
    file = tmp_path / "worst.json"
    words = ["atlas", "--method", "gm", "--nodes", "4", "--topics", "4"]
    shown = output_of(*words, "-o", file)
    assert "5/4 on 4 nodes and 4 topics; none of all 154 instances is worse" in shown
    assert "t3: n1 n2 n3" in shown
    solved = json.loads(output_of("solve", file, "--method", "gm", "--option", "ties=worst", "--json"))
    assert solved["value"] == 5
    document = json.loads(output_of(*words, "--json"))
    assert document["values"] == {"gm": 5, "optimum": 4}
    assert len(document["instance"]) == 4
    every = sum(number_of_instances(n, t) for n in (2, 3, 4) for t in (1, 2, 3, 4))
    assert sum(document["histogram"]["worst"].values()) == every
    rows = [row for row in document["sizes"] if row["ties"] == "worst" and (row["nodes"], row["topics"]) == (4, 4)]
    assert [(row["not_optimal"], row["worst"], row["as_bad"]) for row in rows] == [(1, "5/4", 1)]


def test_the_worst_instance_is_drawn_with_the_overlay_and_an_optimum() -> None:
    found = ob.atlas("gm", nodes=4, topics=4)
    figure = found.plot()
    assert isinstance(figure, Figure)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(titles) == 2
    assert "gm" in titles[0]
    assert str(found).endswith(found.answer)


def test_a_claim_gets_its_smallest_counterexample_or_all_instances() -> None:
    found = ob.atlas(claim="gm <= 1.2 * low-oda[k=3]", nodes=5, topics=5)
    assert found.values == {"gm": 5, "low-oda[k=3]": 4, "optimum": 4}
    assert found.instance is not None
    assert (found.instance.num_nodes, found.instance.num_topics) == (4, 4)
    assert ob.solve(found.instance, "min-tco", "gm", ties="worst").value == 5
    assert ob.solve(found.instance, "min-tco", "low-oda", ties="worst").value == 4
    held = ob.atlas(claim="gm <= 2 * optimum", where="max_degree <= 3", nodes=4, topics=4)
    assert "holds on all" in held.answer
    assert held.instance is None
    assert 0 < int(held.rows["instances"].sum()) < 154
    none = ob.atlas(claim="gm <= optimum", where="nodes > 9", nodes=3, topics=2)
    assert none.answer.endswith("no instance of this size satisfies the condition")


@pytest.mark.usefixtures("own_plug_ins")
def test_a_method_of_ones_own_is_surveyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_of_the_atlas.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    found = ob.atlas("mine_of_the_atlas:all_pairs", nodes=3, topics=2)
    assert found.values is not None
    assert found.values["optimum"] == 2
    assert set(found.rows["ties"]) == {"own"}
    assert found.answer.endswith("as their nodes are numbered")
    claim = ob.atlas(claim="mine_of_the_atlas:all_pairs <= gm", nodes=3, topics=2)
    assert (claim.values or {})["gm"] == 2
