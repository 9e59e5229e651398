"""The catalogue and plug-ins: plain functions, objects named as module:NAME, and packages that register items."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.instances.contract.catalogue import Catalogue, modules_beside

STAR = ob.TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"]})
MIN_TCO = ob.PROBLEMS["min-tco"]
Methods = Catalogue[ob.Method[Any, Any]]
OWN: ob.Method[Any, Any] = ob.Method(
    name="own", problems=("min-tco",), summary="", source="", solve=lambda *_, **__: ob.Proposal(), pace=1
)
MINE = '''
import overlaybench as ob

@ob.method("path", problems=["min-tco"])
def path(instance, **given):
    """Consecutive nodes are adjacent."""
    return [(v, v + 1) for v in range(instance.num_nodes - 1)]

NUMBER = 7
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with nothing of it on Python's path, and a module `plug_in_here` in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "plug_in_here.py").write_text(MINE)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("plug_in"):  # others need not be imported again
            del sys.modules[name]


@pytest.fixture
def methods() -> Methods:
    return Catalogue("method", lambda name: (OWN,), kind=ob.Method, join=ob.Method.joined)


def test_a_function_gets_what_its_signature_names() -> None:
    passed: list[tuple[Any, ...]] = []
    functions: tuple[Any, ...] = (
        lambda instance, seed: passed.append((seed,)),
        lambda instance, problem, time_limit, seed: passed.append((problem, time_limit, seed)),
        lambda instance, seed, k=3, ties="lowest": passed.append((seed, k, ties)),
    )
    for function in functions:
        ob.method("trial", problems=["min-tco"])(function).run(STAR, MIN_TCO, seed=5, time_limit=2.0)
    assert passed == [(5,), (MIN_TCO, 2.0, 5), (5, 3, "lowest")]


def test_a_function_gets_everything_as_keywords() -> None:
    passed: dict[str, Any] = {}

    @ob.method("trial", problems=["min-tco"], options=[ob.Option("k", 3, "a number", least=1)])
    def trial(instance: ob.TopicInstance, **given: Any) -> list[tuple[int, int]]:
        passed.update(given)
        return [(0, 1), (1, 2)]

    assert trial.run(STAR, MIN_TCO, seed=4, k="5").value == 2
    assert passed == {"seed": 4, "time_limit": None, "k": 5, "problem": MIN_TCO}
    with pytest.raises(ob.BadInput, match="'k' must be at least 1"):
        trial.run(STAR, MIN_TCO, k=0)


def test_a_parameter_with_a_default_is_an_option() -> None:
    @ob.method("trial", problems=["min-tco"])
    def trial(instance: ob.TopicInstance, seed: int, k: int = 3, share: float = 0.5) -> None:
        """Do nothing.

        At all.
        """

    assert [(option.name, option.default) for option in trial.options] == [("k", 3), ("share", 0.5)]
    assert (trial.summary, trial.source, trial.random, trial.anytime) == ("Do nothing", __name__, True, False)
    assert trial.run(STAR, MIN_TCO).reason == "trial returned no answer"


def test_a_signature_that_nothing_fits_is_an_error_of_its_author() -> None:
    decorate = ob.method("trial", problems=["min-tco"], options=[ob.Option("k", 3, "")])
    with pytest.raises(TypeError, match="<lambda> does not take its option 'k'"):
        decorate(lambda instance: None)
    with pytest.raises(TypeError, match="parameter 'other' of <lambda> needs a default"):
        decorate(lambda instance, k, other: None)
    with pytest.raises(TypeError, match="must take an instance"):
        decorate(lambda: None)


EDGES = ob.Overlay.from_edges(3, [(0, 1), (1, 2)])


@pytest.mark.parametrize(
    "answer",
    [[(1, 0), (1, 2)], {(0, 1), (2, 1)}, EDGES.edges, EDGES, ob.Proposal(EDGES, lower_bound=2)],
    ids=["list", "set", "array", "overlay", "proposal"],
)
def test_an_answer_may_be_edges_an_overlay_or_a_proposal(answer: object) -> None:
    result = ob.method("trial", problems="min-tco")(lambda instance: answer).run(STAR, MIN_TCO)
    assert result.value == 2
    assert result.status is (ob.Status.OPTIMAL if isinstance(answer, ob.Proposal) else ob.Status.FEASIBLE)


def _labels(instance: ob.TopicInstance) -> list[tuple[str, str]]:
    return [("n0", "n1")]


def _faulty(instance: ob.TopicInstance) -> Iterator[tuple[int, int]]:
    yield 0, len(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "message"), [(_labels, "_labels returned a list: .* numbers from 0"), (_faulty, "has no len")]
)
def test_labels_are_no_nodes_and_an_error_of_a_generator_is_its_own(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ob.method("trial", problems="min-tco")(function).run(STAR, MIN_TCO)


def test_a_skipped_run_has_its_reason_and_no_answer() -> None:
    def large(instance: ob.TopicInstance, problem: ob.Problem[Any, Any]) -> str:
        return f"{instance.num_nodes} nodes, at most 2" if instance.num_nodes > 2 else ""

    skipping = ob.method("trial", problems=["min-tco"], skip=large)(lambda instance: [(0, 1)])
    result = skipping.run(STAR, MIN_TCO)
    assert (result.status, result.reason, result.answer) == (ob.Status.SKIPPED, "3 nodes, at most 2", None)
    assert skipping.run(ob.TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"]}), MIN_TCO).value == 1
    joined = skipping.joined(replace(skipping, problems=("2d-star",), skip=None))
    assert joined.run(STAR, MIN_TCO).status is ob.Status.SKIPPED


def test_a_workload_gets_its_parameters_and_the_seed_if_it_names_it() -> None:
    @ob.workload("nodes-of-one-topic")
    def one_topic(nodes: int = 4) -> ob.TopicInstance:
        """One topic for all."""
        return ob.TopicInstance.from_subscriptions({f"n{v}": ["t"] for v in range(nodes)})

    assert one_topic.summary == "One topic for all"
    assert one_topic.generate(seed=3, nodes="6").num_nodes == 6
    seeded = ob.workload("seeded")(lambda seed: ob.TopicInstance.from_subscriptions({f"n{seed}": ["t"]}))
    assert seeded.generate(seed=3).node_label(0) == "n3"


def test_a_reference_leads_to_the_current_folder(folder: Path, methods: Methods) -> None:
    path = methods.named("plug_in_here:path")
    assert methods["path"] is path is methods.named("path") is methods.named("plug_in_here:path")
    assert methods.named(path) is path
    assert list(methods) == ["own", "path"]
    assert methods.plug_ins == {"plug_in_here:path": path}
    assert path.run(STAR, MIN_TCO).value == 2


def test_a_reference_leads_to_a_module_beside_a_study(folder: Path, methods: Methods) -> None:
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "plug_in_beside.py").write_text(MINE)
    with pytest.raises(ob.BadInput, match="no module 'plug_in_beside' is in"):
        methods.named("plug_in_beside:path")
    with modules_beside(folder / "one"):
        assert methods.named("plug_in_beside:path").name == "path"
    with modules_beside(folder / "two"), pytest.raises(ob.BadInput, match="is loaded under this name already: rename"):
        methods.named("plug_in_beside:PATH")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("plug_in_here:paths", "unknown method 'paths' of module plug_in_here: did you mean 'path'?"),
        ("plug_in_here:NUMBER", "method 'plug_in_here:NUMBER' is of type int: name an object of type Method"),
        ("plug_in_class:Mine", "method 'plug_in_class:Mine' is a class: name an object of type Method"),
        ("plug_in_signature:own", "plug_in_signature.py:4: TypeError: parameter 'rnak' of own needs a default"),
        ("plug_in_syntax:own", "SyntaxError: '(' was never closed (plug_in_syntax.py, line 2)"),
        ("plug_in_here:", "method 'plug_in_here:': write it as module:NAME"),
        ("plug-in:path", "method 'plug-in:path': write it as module:NAME"),
        ("plug_in_here.inner:path", "method 'plug_in_here.inner:path': no module 'plug_in_here.inner' is in "),
        ("plug_in_broken:path", "plug_in_broken.py:2: ZeroDivisionError: division by zero"),
        ("plug_in_exiting:path", "plug_in_exiting.py:2: SystemExit: 3"),
        ("plug_in_lacking:path", "plug_in_lacking.py:1: ModuleNotFoundError: No module named 'no_such_library'"),
        ("plug_in_same:path", "there is another method 'own': give it another name"),
    ],
)
def test_a_reference_that_leads_nowhere_is_one_line(folder: Path, reference: str, message: str) -> None:
    (folder / "plug_in_broken.py").write_text("\n1 / 0\n")
    (folder / "plug_in_exiting.py").write_text("import sys\nsys.exit(3)\n")
    (folder / "plug_in_lacking.py").write_text("import no_such_library\n")
    (folder / "plug_in_class.py").write_text("class Mine:\n    pass\n")
    decorated = "@ob.method('own', problems=['min-tco'])\ndef own(instance, rnak):\n    return []\n"
    (folder / "plug_in_signature.py").write_text(f"import overlaybench as ob\n\n\n{decorated}")
    (folder / "plug_in_syntax.py").write_text("x = 1\ny = (\n")
    (folder / "plug_in_same.py").write_text(MINE.replace('"path"', '"own"'))
    with pytest.raises(ob.BadInput, match=re.escape(message)):
        Catalogue("method", lambda name: (OWN,), kind=ob.Method).named(reference)


def test_a_notebooks_cell_that_is_run_again_replaces_its_method(methods: Methods) -> None:
    first, second = (ob.method("mine", problems=["min-tco"])(lambda instance: [(0, 1)]) for _ in range(2))
    methods.register("__main__:mine", first)
    methods.register("__main__:mine", second)
    assert methods["mine"] is second
    methods.register("__main__:renamed", first)
    assert methods["mine"] is first
    with pytest.raises(ob.BadInput, match=r"method 'elsewhere:mine': .* give it another name"):
        methods.register("elsewhere:mine", second)
    methods.register("elsewhere:other_problem", replace(second, problems=("2d-star",)))
    assert methods["mine"].problems == ("min-tco", "2d-star")


ENTRIES = """[overlaybench.methods]
absent = no_such_module:METHOD
good = example_of_methods:GOOD
number = example_of_methods:NUMBER
own = example_of_methods:OWN
same = example_of_methods:SAME
"""
MODULE = """from dataclasses import replace
from tests.instances.test_plug_ins import OWN as own
GOOD, NUMBER, SAME = replace(own, name="good"), 7, own
OWN = replace(own, problems=("minmax-tco",))
SAME = replace(own)
"""


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Methods:
    (tmp_path / "example_of_methods.py").write_text(MODULE)
    information = tmp_path / "example_of_methods-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: example-of-methods\nVersion: 1\n")
    (information / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    return Catalogue("method", lambda name: (OWN,), group="overlaybench.methods", kind=ob.Method, join=ob.Method.joined)


def test_a_registered_method_that_cannot_be_loaded_hides_no_other(registered: Methods) -> None:
    assert list(registered) == ["own", "good"]
    assert registered["own"].problems == ("min-tco", "minmax-tco")
    assert registered["own"].answering("minmax-tco").members == ()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("absent", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("number", "TypeError: it is a int, not a Method"),
        ("same", "ValueError: two methods 'own' answer 'min-tco'"),
    ],
)
def test_its_error_is_a_line_with_the_package(registered: Methods, name: str, reason: str) -> None:
    with pytest.raises(ob.BadInput) as caught:
        registered.named(name)
    expected = f"package 'example-of-methods': its method '{name}' cannot be loaded ({reason})"
    assert str(caught.value) == f"{expected}: correct or uninstall the package"
    assert caught.value in registered.errors
    assert len(registered.errors) == 3


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


def test_threads_wait_for_the_search_for_packages(registered: Methods) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda _: registered["good"].name, range(4))] == ["good"] * 4


def test_names_must_be_distinct_where_items_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="another method 'own'"):
        len(Catalogue("method", lambda name: (OWN, ob.Method(**{**vars(OWN), "pace": 2.0}))))


@pytest.mark.parametrize("catalogue", [ob.METHODS, ob.PROBLEMS, ob.KINDS, ob.WORKLOADS], ids=lambda each: each._noun)
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
