"""The table of the library: what its files hold, and what is known of each instance."""

import math
import shutil
from pathlib import Path

import pytest

import overlaybench as ob
from overlaybench.compare.catalogue import kind_named, problem_named
from overlaybench.compare.library.study import runnable_pairs, select_pairs, study_text
from overlaybench.compare.library.table import (
    LibraryTable,
    Record,
    law_points,
    read_table,
    score_methods,
    write_page,
    write_table,
)
from overlaybench.compare.studies.library_entries import TABLE
from overlaybench.compare.studies.study import study_of

PAGE = Path(__file__).parents[3] / "docs" / "library.md"
INSTANCES = """name,group,workload,parameters,seed,digest,sizes,problems
a,small,uniform,nodes=6 subscriptions=2 topics=4,3,,,min-tco minmax-tco
b,small,zipf,nodes=6 subscriptions=2 topics=4,0,,,min-tco minmax-tco
c,cubes,steiner-hypercube,dimension=3,0,,,steiner
"""


def record(instance: str = "a", method: str = "gm", **given: object) -> Record:
    fields: dict[str, object] = {
        "problem": "min-tco",
        "time_limit": 10.0,
        "status": ob.Status.FEASIBLE,
        "bound": math.nan,
    }
    fields |= {"value": 7.0, "seconds": 1.0, "integral": 0.1, "proof": "", "version": "v"} | given
    return Record(instance=instance, method=method, **fields)  # type: ignore[arg-type]


@pytest.fixture
def small(tmp_path: Path) -> LibraryTable:
    (tmp_path / "instances.csv").write_text(INSTANCES)
    return read_table(tmp_path)


def test_the_library_has_200_instances_and_every_one_is_made_by_a_known_workload() -> None:
    table = read_table()
    assert len(table.entries) >= 199
    assert len(table.by_digest) == len(table.entries)
    for entry in table.entries.values():
        kind = kind_named(entry.kind)
        assert [size.split("=")[0] for size in entry.sizes.split()] == list(kind.sizes)
        assert all(problem_named(problem).kind == entry.kind for problem in entry.problems)
    assert sum((TABLE / name).stat().st_size for name in ("instances.csv", "records.csv")) < 600_000


@pytest.mark.slow
def test_every_instance_without_data_of_others_has_the_digest_of_the_table() -> None:
    for entry in read_table().entries.values():
        if not ob.WORKLOADS[entry.workload].needs:
            assert entry.make().digest == entry.digest, entry.name


def test_no_bound_of_the_table_lies_above_a_value_and_every_bound_has_a_proof() -> None:
    table = read_table()
    for entry, problem in table.pairs():
        known = table.known(entry.name, problem)
        assert not known.bound > known.value * (1 + 1e-6), (entry.name, problem)
    for one in table.runs:
        assert math.isnan(one.bound) == (one.proof == "")


def test_the_page_shows_the_table(small: LibraryTable, tmp_path: Path) -> None:
    copy = tmp_path / "library.md"
    shutil.copy(PAGE, copy)
    table = small.with_records([record(), record("b", bound=7.0, proof="p")])
    write_page(table, copy)
    text = copy.read_text()
    assert all(f"| {name} |" in text for name in table.entries)
    write_page(table, copy)
    assert copy.read_text() == text
    (tmp_path / "plain.md").write_text("no marks")
    with pytest.raises(ob.BadInput, match="has no lines"):
        write_page(small, tmp_path / "plain.md")


def test_a_table_that_is_written_is_read_the_same(small: LibraryTable, tmp_path: Path) -> None:
    table = small.with_records(
        [record(value=1234567.125), record(problem="minmax-tco", value=math.nan, status=ob.Status.FAILED)]
    )
    write_table(table, tmp_path)
    again = read_table(tmp_path)
    assert again.entries == table.entries
    assert repr(again.records) == repr(table.records)
    before = (tmp_path / "records.csv").read_bytes()
    write_table(again, tmp_path)
    assert (tmp_path / "records.csv").read_bytes() == before


def test_the_run_of_highest_bound_stays_beside_the_run_of_lowest_value(small: LibraryTable, tmp_path: Path) -> None:
    best, bounded = record(value=8.0, bound=5.0, proof="p"), record(value=9.0, bound=6.0, proof="q")
    for runs in ([best, bounded], [bounded, best]):
        table = small.with_records(runs).with_records([record(value=9.0, bound=5.5, proof="r")])
        assert list(table.runs) == [best, bounded]
        known = table.known("a", "min-tco")
        assert (known.best, known.bounded) == (best, bounded)
        write_table(table, tmp_path)
        assert list(read_table(tmp_path).runs) == [best, bounded]
    closed = record(value=8.0, bound=6.0, proof="s")
    assert list(table.with_records([closed]).runs) == [closed]


def test_of_two_runs_the_better_one_stays_and_the_best_of_all_methods_is_known(small: LibraryTable) -> None:
    table = small.with_records([record(value=8.0), record(value=9.0), record(method="best", value=7.0, seconds=5.0)])
    table = table.with_records([record(method="lp-bound", value=9.0, bound=6.0, proof="x")])
    assert table.records["a", "min-tco", "gm", 10.0].value == 8.0
    known = table.known("a", "min-tco")
    assert (known.value, known.bound, known.is_open) == (7.0, 6.0, True)
    assert known.gap == pytest.approx(1 / 7)
    proven = table.with_records([record(method="branch-and-cut", bound=7.0, proof="y")]).known("a", "min-tco")
    assert (proven.gap, proven.is_open) == (0.0, False)
    assert small.known("b", "min-tco").is_open


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,small,uniform,,0,,,min-tco", "another instance 'a'"),
        ("d,new,uniform,nodes=x,0,,,min-tco", "takes a whole number, not 'x'"),
        ("d,new,uniform,,0,,,steiner", "no problems of topics"),
        ("d,small,uniform,,0,,,min-tco", "other problems"),
        ("d,new", "has 2 fields, not 8"),
    ],
)
def test_a_damaged_table_is_bad_input_that_names_the_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "instances.csv").write_text(
        INSTANCES + line.replace("a,small,uniform,,0,,,min-tco", "a,x,uniform,,0,,,min-tco") + "\n"
    )
    with pytest.raises(ob.BadInput, match=message) as error:
        read_table(tmp_path)
    assert "instances.csv: line 5" in str(error.value)


def test_a_record_of_no_instance_is_bad_input(small: LibraryTable, tmp_path: Path) -> None:
    write_table(small.with_records([record()]), tmp_path)
    file = tmp_path / "records.csv"
    file.write_text(file.read_text().replace("\na,", "\nz,"))
    with pytest.raises(ob.BadInput, match=r"line 2: .*no 'z' with 'min-tco'"):
        read_table(tmp_path)


def test_a_choice_of_instances_becomes_a_study_of_exactly_these(small: LibraryTable) -> None:
    pairs = select_pairs(small, problems=["min-tco"])
    text = study_text(pairs, ["gm", "low-oda k=8"], time_limit=5, memory_limit=100, proof=True)
    study = study_of(text, Path("library.toml"))
    assert {recipe.to_json() for recipe in study.recipes} == {small.entry(name).recipe.to_json() for name in "ab"}
    (runs,) = study.runs
    assert (runs.problems, runs.families, runs.time_limit, runs.proof) == (("min-tco",), ("small",), 5.0, False)
    assert [name for name, _ in runs.methods] == ["gm", "low-oda"]
    both = study_of(
        study_text(select_pairs(small), ["branch-and-cut"], time_limit=5, memory_limit=90, proof=True), Path("x")
    )
    assert [(one.problems, one.families, one.proof) for one in both.runs] == [
        (("min-tco",), ("small",), True),
        (("minmax-tco",), ("small",), True),
        (("steiner",), ("cubes",), True),
    ]


def test_a_choice_of_nothing_is_bad_input(small: LibraryTable) -> None:
    with pytest.raises(ob.BadInput, match="unknown instance 'z' of the library"):
        select_pairs(small, names=["z"])
    with pytest.raises(ob.BadInput, match="unknown group 'large' of the library"):
        select_pairs(small, groups=["large"])
    with pytest.raises(ob.BadInput, match="no such instances"):
        select_pairs(small, problems=["content-mst"])
    with pytest.raises(ob.BadInput, match="'mehlhorn' answers none"):
        study_text(select_pairs(small, problems=["min-tco"]), ["mehlhorn"], time_limit=1, memory_limit=100, proof=False)
    solved = small.with_records([record(bound=7.0, proof="p")])
    assert ("a", "min-tco") not in [(entry.name, problem) for entry, problem in select_pairs(solved, only_open=True)]


def test_an_instance_whose_data_are_elsewhere_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = INSTANCES.splitlines()[0]
    lines = ["x,real,lastfm,nodes=0,0,,,min-tco", "y,made,uniform,nodes=6 subscriptions=2 topics=4,3,,,min-tco"]
    (tmp_path / "instances.csv").write_text("\n".join([head, *lines, ""]))
    monkeypatch.setenv("LASTFM", str(tmp_path / "absent"))
    pairs, (reason,) = runnable_pairs(select_pairs(read_table(tmp_path)))
    assert [entry.name for entry, _ in pairs] == ["y"]
    assert "instance 'x' is not here" in reason
    assert "set LASTFM to its path" in reason
    listeners = tmp_path / "user_artists.dat"
    listeners.write_text("userID\tartistID\tweight\n1\t5\t9\n2\t5\t9\n")
    monkeypatch.setenv("LASTFM", str(listeners))
    assert len(runnable_pairs(select_pairs(read_table(tmp_path)))[0]) == 2
    (tmp_path / "instances.csv").write_text("\n".join([head, lines[0].replace(",0,,,", ",0,abc,,"), ""]))
    with pytest.raises(ob.BadInput, match="another version"):
        read_table(tmp_path).entry("x").make()


def test_methods_are_ranked_by_their_mean_gap_on_common_instances(small: LibraryTable) -> None:
    table = small.with_records(
        [
            record("a", value=10.0),
            record("b", value=10.0),
            record("a", "best", value=8.0),
            record("b", "best", value=10.0),
            record("b", "polish", value=20.0, status="optimal"),
        ]
    )
    lines = {line.method: line for line in score_methods(table).itertuples()}
    assert lines["best"].mean_gap == 0
    assert lines["gm"].mean_gap == pytest.approx(0.2 / 2)
    assert (lines["best"].rank, lines["gm"].rank, lines["polish"].rank) == (1, 2, 3)
    assert lines["gm"].compared == 3
    assert lines["polish"].proven == 1
    assert {line.improved for line in lines.values()} == {0}
    assert score_methods(table, [record("b", "polish", value=9.0)])["improved"].tolist() == [1]


def test_the_map_has_a_point_for_each_instance_of_a_law(small: LibraryTable) -> None:
    table = small.with_records([record(bound=7.0, proof="p", seconds=90.0), record("b", bound=6.0, proof="p")])
    points = law_points(table)
    assert points.to_dict("list") == {
        "law": ["uniform", "zipf"],
        "nodes": [6.0, 6.0],
        "subscriptions": [2.0, 2.0],
        "gap": [0.0, pytest.approx(1 / 7)],
        "seconds": [90.0, 1.0],
    }
