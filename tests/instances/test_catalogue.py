"""The catalogue: names, and packages that register items."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, Catalogue

OWN: ob.Method[Any, Any] = ob.Method(
    name="own", problems=("min-tco",), summary="", source="", solve=lambda *_, **__: ob.Proposal(), pace=1
)
ENTRIES = """[overlaybench.methods]
absent = no_such_module:METHOD
good = example_of_methods:GOOD
number = example_of_methods:NUMBER
own = example_of_methods:OWN
same = example_of_methods:SAME
"""
MODULE = """from dataclasses import replace
from tests.instances.test_catalogue import OWN as own
GOOD, NUMBER, SAME = replace(own, name="good"), 7, own
OWN = replace(own, problems=("minmax-tco",))
SAME = replace(own)
"""


@pytest.fixture
def methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalogue[ob.Method[Any, Any]]:
    (tmp_path / "example_of_methods.py").write_text(MODULE)
    information = tmp_path / "example_of_methods-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: example-of-methods\nVersion: 1\n")
    (information / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    return Catalogue("method", lambda name: (OWN,), group="overlaybench.methods", kind=ob.Method, join=ob.Method.joined)


def test_a_registered_method_that_cannot_be_loaded_hides_no_other(methods: Catalogue[ob.Method[Any, Any]]) -> None:
    assert list(methods) == ["own", "good"]
    assert methods["own"].problems == ("min-tco", "minmax-tco")
    assert methods["own"].answering("minmax-tco").members == ()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("absent", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("number", "TypeError: it is a int, not a Method"),
        ("same", "ValueError: two methods 'own' answer 'min-tco'"),
    ],
)
def test_its_error_is_a_line_with_the_package(methods: Catalogue[ob.Method[Any, Any]], name: str, reason: str) -> None:
    with pytest.raises(ob.BadInput) as caught:
        methods.named(name)
    expected = f"package 'example-of-methods': its method '{name}' cannot be loaded ({reason})"
    assert str(caught.value) == f"{expected}: correct or uninstall the package"
    assert caught.value in methods.errors
    assert len(methods.errors) == 3


def test_threads_that_look_up_one_name_at_once_get_one_item() -> None:
    parts = [OWN, replace(OWN, problems=("minmax-tco",))]
    together = Barrier(4)

    def load(name: str) -> Iterator[ob.Method[Any, Any]]:
        for part in parts:
            together.wait(20)
            yield part

    catalogue = Catalogue("method", load, kind=ob.Method, join=ob.Method.joined)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: catalogue["own"], range(4)))
    assert [method is found[0] for method in found] == [True] * 4
    assert found[0].problems == ("min-tco", "minmax-tco")


def test_threads_wait_for_the_search_for_packages(methods: Catalogue[ob.Method[Any, Any]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda _: methods["good"].name, range(4))] == ["good"] * 4


def test_names_must_be_distinct_where_items_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="another method 'own'"):
        len(Catalogue("method", lambda name: (OWN, ob.Method(**{**vars(OWN), "pace": 2.0}))))


@pytest.mark.parametrize("catalogue", [ob.METHODS, PROBLEMS, KINDS, WORKLOADS], ids=lambda each: each._noun)
def test_the_files_that_contain_a_name_define_all_items_of_that_name(catalogue: Catalogue[Any]) -> None:
    every = list(catalogue._load(""))
    for name in {item.name for item in every}:
        named = [item for item in catalogue._load(name) if item.name == name]
        assert {id(item) for item in named} == {id(item) for item in every if item.name == name}


def test_no_option_has_the_name_of_a_parameter_that_calls_and_studies_have_themselves() -> None:
    taken = {name for call in (ob.solve, ob.Method.run) for name in signature(call).parameters} | {"method", "methods"}
    used = {option.name for method in ob.METHODS.values() for option in method.options}
    assert "time_limit" in taken
    assert not used & taken
