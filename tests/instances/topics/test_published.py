"""Published instances: what their sources say of them, and what happens where the data are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.topics import published
from overlaybench.instances.topics.published import breathe
from tests.instances.topics.test_files import mapping


def test_the_oligomers_of_eif3_are_thirteen_subunits_in_three_modules_and_two_links() -> None:
    subunits = mapping(WORKLOADS["eif3"].generate())
    assert sorted(subunits) == [f"eIF3{letter}" for letter in "abcdefghijklm"]
    modules = [{v for v, oligomers in subunits.items() if f"module {k}" in oligomers} for k in (1, 2, 3)]
    assert sorted(map(len, modules)) == [3, 4, 5]
    assert set(subunits) - set().union(*modules) == {"eIF3j"}
    assert subunits["eIF3c"] == {"complex", "module 1", "link b:c", "link c:h"}


def test_the_semantic_map_of_breathing_is_the_one_that_was_published() -> None:
    if not published._BREATHE.is_file():
        pytest.skip(f"{published._BREATHE} is absent")
    assert WORKLOADS["breathe"].generate().size == {"nodes": 29, "topics": 15, "subscriptions": 181}


def test_a_missing_or_damaged_map_is_refused_with_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist: get the isolectic areas"):
        breathe(seed=0, areas=tmp_path / "areas.tsv")
    (tmp_path / "areas.tsv").write_text("Latin\tanima\t{AIR, \n")
    with pytest.raises(BadInput, match=r"areas\.tsv: line 1: braces"):
        breathe(seed=0, areas=tmp_path / "areas.tsv")


def test_hypergraphs_of_hypernetx_have_their_published_sizes() -> None:
    pytest.importorskip("hypernetx")
    assert WORKLOADS["les-miserables"].generate().size == {"nodes": 80, "topics": 402, "subscriptions": 862}
    genes = WORKLOADS["disease-genes"].generate(nodes=40, seed=2)
    assert genes.num_nodes == 40
    assert all(label.startswith("gene ") for label in genes.node_labels or ())


def test_without_hypernetx_its_workloads_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in ("les-miserables", "disease-genes"):
        with pytest.raises(BadInput, match=r"pip install 'overlaybench\[hypergraph\]'"):
            WORKLOADS[name].generate()
