"""The command ``optima`` and `ob.optima`: what they print, write and refuse."""

import json
from pathlib import Path

import pytest

import overlaybench as ob
from tests.outcomes import output_of

PATH = {"ann": ["x"], "bob": ["x", "y"], "cid": ["y", "z"], "dan": ["z", "y"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    ob.write_topics(ob.read(PATH), tmp_path / "path.json")
    return tmp_path / "path.json"


def test_json_lists_overlays_and_classes_by_label(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.json"
    shown = json.loads(output_of("optima", file, "--json", "-o", out, "--proof", tmp_path / "proofs"))
    assert shown == json.loads(out.read_text())
    assert (shown["value"], shown["complete"], len(shown["overlays"])) == (3, True, 2)
    classes = {(u, v): name for u, v, name, _ in shown["edges"]}
    assert classes == {("ann", "bob"): "every", ("cid", "dan"): "every", ("bob", "cid"): "some", ("bob", "dan"): "some"}
    assert [note for note in shown["notes"] if "proven: min-tco 3 is optimal" in note]
    assert output_of("check-proof", file, tmp_path / "proofs" / "edges.proof.gz").startswith("shared: of 4 pairs")


def test_a_picture_has_the_backbone_and_the_others(file: Path, tmp_path: Path) -> None:
    output_of("optima", file, "-o", tmp_path / "shared.svg")
    labels = (tmp_path / "shared.svg").read_text()
    assert "in every optimum" in labels
    assert labels.count("stroke-opacity: 0.55") == 2, "each edge of one of the two"
    assert "in some" in labels


@pytest.mark.parametrize("given", [{"most": 0}, {"within": -1}, {"problem": "minmax-tco"}, {"most": 2.5}])
def test_what_is_out_of_range_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ob.BadInput):
        ob.optima(ob.read(PATH), **given)  # type: ignore[arg-type]


def test_edges_are_listed_by_class() -> None:
    found = ob.optima(ob.read(PATH))
    assert sorted(found.edges("some")) == [("bob", "cid"), ("bob", "dan")]
    with pytest.raises(ob.BadInput, match="'all' is no class of edges"):
        found.edges("all")
