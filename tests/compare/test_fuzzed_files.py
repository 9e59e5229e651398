"""Files damaged at random: every reader reads them, or raises one line of bad input.

OVERLAYBENCH_FUZZ_SECONDS=3600 fuzzes each reader of the slow test for its share of an hour.
"""

import gzip
import json
import math
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from msgspec import structs

import overlaybench as ob
from overlaybench.compare.commands.studies import status_of
from overlaybench.compare.library.study import library_runs, update_table
from overlaybench.compare.library.table import LibraryTable, Record, read_table, score_methods, write_page, write_table
from overlaybench.compare.studies.isolation import IsolatedRun, memory_bounded
from overlaybench.compare.studies.library_entries import Entry
from overlaybench.compare.studies.results import results, write_answers
from overlaybench.compare.studies.row import row, to_bytes
from overlaybench.compare.studies.store import Plan, RowWriter, Store, checksum, index_of
from overlaybench.compare.studies.study import read_study
from overlaybench.compare.studies.task import Recipe, Task
from overlaybench.instances.contract.kind import AS_STORED
from overlaybench.instances.topics import real_data
from overlaybench.instances.topics.evidence import priced as priced_by_pairs
from overlaybench.instances.topics.real_data import debian_packages, debian_tags, lastfm_listeners, movielens_sample
from tests.compare.conftest import shrink_machine
from tests.models.checker.tiny import draw_tiny, falsehood, verdict
from tests.models.topics.small_instances import priced

Case = tuple[Path, Callable[[], None]]

SHAPES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "topics": ("uniform", "min-tco", "gm", {"nodes": 5, "topics": 4, "subscriptions": 2}),
    "content": ("content", "content-mst", "greedy-packing", {"users": 4, "brokers": 2, "intervals": 3}),
    "brokers": ("brokers-sparse", "soft-links", "s2", {"brokers": 4, "subscriptions": 6, "publications": 4}),
    "steiner": ("steiner-sparse", "steiner", "mehlhorn", {"nodes": 6, "edges": 8, "terminals": 3}),
    "trace": ("churn", "dynamic-tco", "gm-recomputed", {"nodes": 5, "topics": 3, "subscriptions": 2, "events": 8}),
}
ENDINGS = {
    "topics": (".json", ".csv", ".tsv", ".parquet", ".sets", ".oligomers", ".hif.json"),
    "content": (".json", ".npz"),
    "trace": (".jsonl", ".trace.parquet"),
}
TOKENS = [
    *(b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b".", b"=", b"#", b"\n", b"\r", b"\t", b" ", b"\x00", b"\xff"),
    *(b"-1", b"0", b"1e999", b"-0.0", b"NaN", b"Infinity", b"null", b"true", b"2147483648", b"9" * 40, b"\\ud800"),
    *(b"../../x", b"/", b"\xef\xbb\xbf", b"[[", b"]]", b"{}", b"SECTION Graph", b"END", b'"format"', b'""'),
]
STUDY = """
name = "fuzzed"
seed = 3
time_limit = 2.5
[[instances]]
workload = "zipf"
nodes = [4, 6]
topics = 5
subscriptions = 2
seeds = 2
[[instances]]
file = "rows.csv"
sample = [0, 3]
stand_in = { workload = "uniform", nodes = 5, topics = 3, subscriptions = 2 }
[[runs]]
problems = ["min-tco"]
methods = ["gm", { method = "low-oda", k = [2, 3] }]
nodes_at_most = 9
"""
STUDY_OF_FAMILIES = """
instances = [
  { workload = "brokers-social", brokers = 5, tree = "path", seeds = 2 },
  { workload = "transit-stub", nodes = 6, popularity = "zipf", transits = 2, stubs = 2 },
]
[[runs]]
problems = ["filtering@max-degree=4", "topic-diameter=2@edges"]
methods = [{ method = "edge-exchange", steps = 20 }]
[[runs]]
problems = ["weighted-tco", "k-tco"]
methods = ["polish"]
[[runs]]
problems = ["soft-links"]
methods = [{ method = "s2", simulate = "system", rate = [0, 600], interval = 2.5, churn = 1, losses = 1 }]
"""
PACKAGES = """Package: a
Status: install ok installed
Depends: c (>= 1.2) | d, e:any
 , f
Tag: role::program, use::editing,
 scope::utility

Package: b
Status: install ok installed
Pre-Depends: c, e
Tag: role::program, scope::utility
"""
RATINGS = "1::2::3::1424380312\n1::3::5::1424380312\n2::2::1::1424380312\n3::3::4::1424380312\n"
PLAYS = "userID\tartistID\tweight\n2\t51\t13883\n2\t52\t11690\n3\t51\t1\n"
PAIRS = "node,other,seen\nn0,n1,3\nn1,n2,0.5\nn3,n0,-2\n"
LIBRARY = Entry(
    "u-5", "u", "uniform", (("nodes", "5"), ("subscriptions", "2"), ("topics", "4")), 1, "", "", ("min-tco",)
)


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file's bytes after a few edits: cut, repeated, replaced, or with tokens of another format."""
    data = whole
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        kind = draw(st.sampled_from(["remove", "repeat", "token", "bytes", "cut"]))
        middle = data[start:end] * 2 if kind == "repeat" else b""
        if kind == "token":
            middle = draw(st.sampled_from(TOKENS))
        elif kind == "bytes":
            middle = draw(st.binary(max_size=6))
        data = data[:start] + middle + (b"" if kind == "cut" else data[end:])
    return data


def generated(name: str) -> Any:
    return ob.WORKLOADS[SHAPES[name][0]].generate(seed=1, **SHAPES[name][3])


@cache
def solved(name: str) -> tuple[Any, ob.Result[Any]]:
    _, problem, method, _ = SHAPES[name]
    instance = generated(name)
    return instance, ob.METHODS[method].answering(problem).run(instance, ob.PROBLEMS[problem], seed=1, time_limit=20)


def instance_case(name: str, ending: str, folder: Path, costs: int | None = None) -> Case:
    """An instance; of topics perhaps with the costs of its links: points, all pairs or sites."""
    kind, instance = ob.KINDS[name], generated(name) if costs is None else priced(generated(name), costs)
    file = folder / f"instance{ending}"
    kind.write(instance, file)

    def read() -> None:
        again = folder / f"again{kind.ending if costs is None else '.json'}"
        found = kind.read(file, AS_STORED).instance
        kind.write(found, again)
        assert kind.read(again, AS_STORED).instance.digest == found.digest

    return file, read


def data_case(text: str, read_data: Callable[[Path], Any], folder: Path, name: str = "x_Packages") -> Case:
    """A file of another program or author that a workload reads."""
    file = folder / name
    file.write_text(text)
    return file, lambda: ob.KINDS["topics"].write(read_data(file), folder / "again.json")


def packages(make: Callable[..., Any], chosen: str, file: Path) -> Any:
    real_data._subscriptions.cache_clear()  # which knows files by their names
    return make(seed=1, nodes=0, packages=chosen, lists=file.parent, status=file)


def answer_case(name: str, folder: Path, ending: str = ".json") -> Case:
    kind, (instance, result) = ob.KINDS[name], solved(name)
    file = folder / f"answer{ending}"
    kind.write_answer(result.answer, instance, file)

    def read() -> None:
        found = kind.read_answer(file, instance)
        judge = ob.PROBLEMS[result.problem]
        assert judge.violations(instance, found) or judge.value(instance, found) is not None

    return file, read


def study_case(text: str, folder: Path) -> Case:
    file = folder / "study.toml"
    file.write_text(text)

    def read() -> None:
        for recipe in islice(read_study(file).recipes, 50):
            assert Recipe.from_json(recipe.to_json()) == recipe

    return file, read


def store_case(name: str, folder: Path) -> Case:
    """A results folder of one finished run, of which one file is damaged."""
    store, (instance, result) = Store(folder / "out"), solved("topics")
    store.open_for(STUDY)
    recipe = Recipe("u", 1, "uniform", tuple(sorted(SHAPES["topics"][3].items()))).to_json()
    store.write_index(index_of([recipe], [instance.digest], [5], [""]))
    run = {"instance": instance.digest, "recipe": recipe, "family": "u", "seed": 1}
    task = Task("min-tco", "gm", "{}", 2.0, 100, "abc", **run)
    store.write_plan(Plan("n", [], STUDY), [pa.table({"key": [task.key]})])
    writer = RowWriter(store)
    writer.add(to_bytes([row(task, instance, IsolatedRun(result, 1.0, 1.0))]))
    if name == "part":
        writer.close()
    (file,) = {
        "plan": [store.folder / "plan.parquet"],
        "spec": [store.folder / "study.toml"],
        "index": [store.folder / "instances.parquet"],
        "journal": [store.journal],
        "part": list(store.runs.glob("*.parquet")),
    }[name]

    def read() -> None:
        if name == "part":
            forge(store, file)
        store.open_for(STUDY)
        store.index()
        write_answers(store.folder, results(store.folder), folder / "answers")
        status_of(store.folder)
        assert {each.suffix for each in (folder / "answers").iterdir()} <= {".json"}

    return file, read


def forge(store: Store, part: Path) -> None:
    """Give a damaged part the name of its checksum, in place of all others."""
    for other in set(store.runs.glob("*.parquet")) - {part}:
        other.unlink()
    part.replace(part.with_name(f"{checksum(part)}.parquet"))


def library_case(name: str, folder: Path) -> Case:
    """The table of the library, which takes in a results folder and scores it: one file of the two is damaged."""
    digest = generated("topics").digest
    record = Record("u-5", "min-tco", "gm", 60.0, ob.Status.FEASIBLE, 9.0, math.nan, 0.1, 0.5, "", "abc")
    write_table(LibraryTable({"u-5": structs.replace(LIBRARY, digest=digest)}, {record.key: record}), folder)
    _, use = store_case("part", folder)
    file = next((folder / "out" / "runs").glob("*.parquet")) if name == "part" else folder / f"{name}.csv"

    def read() -> None:
        if name == "part":
            use()
        table, store = read_table(folder), Store.existing(folder / "out")
        score_methods(table, [run.record for run in library_runs(table, store)])
        again = update_table(table, store).table
        write_table(again, folder / "again")
        write_page(again, folder / "page.md")
        assert read_table(folder / "again").records.keys() == again.records.keys()

    (folder / "again").mkdir()
    (folder / "page.md").write_text("<!-- the table -->\n<!-- end of the table -->\n")
    return file, read


def proof_case(problem: str, folder: Path) -> Case:
    """A proof, whose text is damaged before it is compressed: it is refused in one line, or all of it is true."""
    tiny = draw_tiny(random.Random(3), problem)
    _, lines = tiny.prove(folder)
    instance, proof = folder / f"instance{tiny.suffix}", folder / "damaged.proof.gz"
    tiny.write(instance)
    file = folder / "lines"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def read() -> None:
        proof.write_bytes(gzip.compress(file.read_bytes(), 0))
        outcome = verdict(instance, proof)
        assert len(outcome.splitlines()) == 1 if isinstance(outcome, str) else not falsehood(tiny, outcome), outcome

    return file, read


def archive_case(folder: Path) -> Case:
    """A proof whose compressed bytes are damaged."""
    _, read = proof_case("min-tco", folder)
    read()
    instance, proof = folder / "instance.csv", folder / "damaged.proof.gz"

    def read_archive() -> None:
        outcome = verdict(instance, proof)
        assert isinstance(outcome, tuple) or len(outcome.splitlines()) == 1, outcome

    return proof, read_archive


CASES: dict[str, Callable[[Path], Case]] = {
    **{
        f"{name}{ending}": partial(instance_case, name, ending)
        for name, kind in ob.KINDS.items()
        for ending in ENDINGS.get(name, (kind.ending,))
    },
    **{f"{name} answer": partial(answer_case, name) for name in ob.KINDS},
    **{
        f"topics answer{ending}": partial(answer_case, "topics", ending=ending)
        for ending in (".graphml", ".dot", ".csv")
    },
    **{
        f"topics {name}.json": partial(instance_case, "topics", ".json", costs=costs)
        for costs, name in enumerate(("points", "links", "sites"))
    },
    "topics costs.parquet": partial(instance_case, "topics", ".parquet", costs=2),
    "movielens": partial(
        data_case, RATINGS, lambda file: movielens_sample(seed=1, nodes=2, least_rating=1, ratings=file)
    ),
    "costs of pairs": partial(
        data_case, PAIRS, lambda file: priced_by_pairs(generated("topics"), file, score="seen"), name="pairs.csv"
    ),
    "lastfm": partial(data_case, PLAYS, lambda file: lastfm_listeners(seed=1, nodes=0, plays=file)),
    "dpkg status": partial(data_case, PACKAGES, partial(packages, debian_packages, "installed")),
    "apt lists": partial(data_case, PACKAGES, partial(packages, debian_packages, "available")),
    "debtags": partial(data_case, PACKAGES, partial(packages, debian_tags, "available")),
    "study": partial(study_case, STUDY),
    "study of problem families": partial(study_case, STUDY_OF_FAMILIES),
    **{f"library {name}": partial(library_case, name) for name in ("instances", "records", "part")},
    **{f"proof of {problem}": partial(proof_case, problem) for problem in ("min-tco", "weighted-tco", "k-tco")},
    **{f"proof of {problem}": partial(proof_case, problem) for problem in ("2d-star", "steiner", "content-mst")},
    "proof, compressed": archive_case,
    **{f"results {name}": partial(store_case, name) for name in ("plan", "spec", "index", "journal", "part")},
}


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink_machine(monkeypatch, 2**32)


def attempt(file: Path, data: bytes, read: Callable[[], None]) -> bool:
    """Whether the damaged file is read."""
    file.write_bytes(data)
    try:
        with memory_bounded(str(file)):
            read()
        return True
    except ob.BadInput as error:
        message = str(error)
        assert message
        assert len(message.splitlines()) == 1
        assert len(message) < 2000
        assert str(file.parents[1] if file.parent.name in ("runs", "instances") else file.parent) in message
        return False


def fuzz(case: str, folder: Path, examples: int, number: int) -> Counter[str]:
    """Damage a file so often; how many tries were read and refused."""
    file, read = CASES[case](folder)
    whole, seen = file.read_bytes(), Counter[str]()
    assert attempt(file, whole, read), case

    @seed(number)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(damaged(whole))
    def each(data: bytes) -> None:
        seen.update(("tries", "accepted" if attempt(file, data, read) else "refused"))

    each()
    return seen


@pytest.mark.interpreted
@pytest.mark.parametrize("case", CASES)
def test_a_damaged_file_is_read_or_refused_in_one_line(case: str, tmp_path: Path, small_machine: None) -> None:
    fuzz(case, tmp_path, 4, 0)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("case", CASES)
def test_a_long_sequence_of_damaged_files_is_read_or_refused(case: str, tmp_path: Path, small_machine: None) -> None:
    fuzz(case, tmp_path, 40, 0)
    end = time.monotonic() + float(os.environ.get("OVERLAYBENCH_FUZZ_SECONDS", "60")) / len(CASES)
    number = 0
    while time.monotonic() < end:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        fuzz(case, folder, 200, number)
    print(f"{case}: {200 * number} damaged files")
