"""Taking results into the library, and scoring them: what the judge and the checker do not accept stays outside."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from overlaybench.compare.catalogue import kind_named
from overlaybench.compare.library.study import library_runs, select_pairs, study_text, update_table, with_digests
from overlaybench.compare.library.table import LibraryTable, read_table, score_methods, write_table
from overlaybench.compare.studies.row import table_of
from overlaybench.compare.studies.store import Store, write_part
from overlaybench.instances.contract.errors import BadInput
from tests.compare.studies.without_spark import study_done_in
from tests.outcomes import output_of, refusal_of

Rows = tuple[Path, list[dict[str, Any]]]
"""The folder of a study and its rows."""
INSTANCES = """name,group,workload,parameters,seed,digest,sizes,problems
a,small,uniform,nodes=9 subscriptions=3 topics=6,3,,,min-tco
b,small,zipf,nodes=9 subscriptions=3 topics=6,0,,,min-tco
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> LibraryTable:
    folder = tmp_path_factory.mktemp("table")
    (folder / "instances.csv").write_text(INSTANCES)
    filled, missing = with_digests(read_table(folder))
    assert missing == []
    return filled


@pytest.fixture(scope="module")
def rows(table: LibraryTable, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The folder of a study of three methods on the library, without Spark, and its rows."""
    text = study_text(
        select_pairs(table), ["gm", "ring-per-topic", "branch-and-cut"], time_limit=20, memory_limit=2000, proof=True
    )
    store = study_done_in(tmp_path_factory.mktemp("out"), text)
    made = store.table().to_pylist()
    assert len(made) == 6
    for part in store.parts():
        part.unlink()
    return store.folder, made


@pytest.fixture
def tables(table: LibraryTable, tmp_path: Path) -> Path:
    """A folder with the table."""
    folder = tmp_path / "table"
    folder.mkdir()
    write_table(table, folder)
    return folder


def stored(rows: Rows, folder: Path, **changed: Any) -> Store:
    """A copy of the study; `changed` are fields of its rows of branch-and-cut."""
    shutil.copytree(rows[0], folder)
    store = Store(folder)
    written = [row | (changed if row["method"] == "branch-and-cut" else {}) for row in rows[1]]
    write_part(table_of(written), store.runs)
    return store


def test_accepted_runs_are_known_with_their_certified_bounds(table: LibraryTable, rows: Rows, tmp_path: Path) -> None:
    update = update_table(table, stored(rows, tmp_path / "s"))
    assert (update.taken, update.certified, update.refused) == (6, 2, ())
    for name in "ab":
        known = update.table.known(name, "min-tco")
        assert known.gap == 0
        assert known.bounded is not None
        assert known.bounded.method == "branch-and-cut"
        assert len(known.bounded.proof) == 64
        assert known.bounded.seconds < 20
    assert sum(math.isnan(one.bound) for one in update.table.records.values()) == 4
    assert update_table(update.table, stored(rows, tmp_path / "again")).table.records == update.table.records


def test_an_answer_that_the_judge_refuses_is_left_out(table: LibraryTable, rows: Rows, tmp_path: Path) -> None:
    update = update_table(table, stored(rows, tmp_path / "s", answer=[0, 1]))
    assert (update.taken, len(update.refused)) == (4, 2)
    assert all("not valid" in reason for _, reason in update.refused)
    update = update_table(table, stored(rows, tmp_path / "v", value=1.0))
    assert [reason.split(",")[0].startswith("its answer has value") for _, reason in update.refused] == [True, True]
    update = update_table(table, stored(rows, tmp_path / "n", answer=None))
    assert {reason for _, reason in update.refused} == {"it has a value and no answer"}


def test_a_bound_without_an_accepted_proof_does_not_count(table: LibraryTable, rows: Rows, tmp_path: Path) -> None:
    store = stored(rows, tmp_path / "s")
    for proof in store.proofs.iterdir():
        proof.unlink()
    update = update_table(table, store)
    assert (update.taken, update.certified) == (6, 0)
    assert all("is missing" in reason for _, reason in update.refused)
    higher = json.dumps({"certified": 99.0})
    update = update_table(table, stored(rows, tmp_path / "c", counters=higher))
    assert update.certified == 0
    assert all("is not the file that was checked" in reason for _, reason in update.refused)
    assert math.isnan(update.table.known("a", "min-tco").bound)


def test_a_contradiction_takes_nothing_in(table: LibraryTable, rows: Rows, tmp_path: Path) -> None:
    after = update_table(table, stored(rows, tmp_path / "s")).table
    (record,) = (one for one in after.records.values() if one.instance == "a" and one.proof)
    false = after.with_records([structs.replace(record, method="other", value=math.nan, bound=record.bound + 5)])
    with pytest.raises(
        BadInput, match=r"a, min-tco: the bound .* of other lies above the value .* of .*: one is wrong"
    ):
        update_table(false, stored(rows, tmp_path / "again"))


def test_scores_compare_with_the_best_known_and_rank_among_known_methods(
    table: LibraryTable, rows: Rows, tmp_path: Path
) -> None:
    store = stored(rows, tmp_path / "s")
    found = score_methods(table, [run.record for run in library_runs(table, store)]).set_index("method")
    assert found.loc["branch-and-cut", ["mean_gap", "proven", "rank", "compared"]].tolist() == [0, 1, 1, 3]
    assert found.loc["ring-per-topic", "mean_gap"] > 0
    assert found.loc["ring-per-topic", "rank"] == 3
    assert (found["instances"] == 2).all()
    assert found["primal_integral"].between(0, 1).all()
    after = update_table(table, store).table
    again = score_methods(after, [run.record for run in library_runs(after, store)]).set_index("method")
    assert again["compared"].tolist() == [3, 3, 3]
    assert again["improved"].tolist() == [0, 0, 0]


def test_the_commands_list_get_score_update_and_draw(
    table: LibraryTable, tables: Path, rows: Rows, tmp_path: Path
) -> None:
    store = stored(rows, tmp_path / "s")
    page = tmp_path / "page.md"
    page.write_text("# Mine\n<!-- the table -->\n<!-- end of the table -->\n")

    def run(*words: object) -> str:
        return output_of("library", *words, "--table", tables)

    assert "6 runs taken in, 2 with a certified bound" in run("update", store.folder, "--page", page)
    assert "## Proven: 2" in page.read_text()
    assert "small" in run("list")
    assert "2 of 2" in run("score", store.folder)
    run("get", "a", "-o", tmp_path / "a.json")
    assert kind_named("topics").read(tmp_path / "a.json", {}).instance.digest == table.entry("a").digest
    run("map", "-o", tmp_path / "map.svg")
    assert b"proven in 60 s" in (tmp_path / "map.svg").read_bytes()


def test_update_writes_no_table_where_it_cannot_write_the_page(tables: Path, rows: Rows, tmp_path: Path) -> None:
    before = (tables / "records.csv").read_bytes()
    store = stored(rows, tmp_path / "s")
    page = tmp_path / "none.md"
    assert "none.md" in refusal_of("library", "update", store.folder, "--page", page, "--table", tables)
    assert (tables / "records.csv").read_bytes() == before


@pytest.mark.slow
@pytest.mark.spark
def test_a_run_over_the_library_is_a_study_that_goes_on_and_grows(
    table: LibraryTable, tables: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def run(*words: object) -> str:
        given = ("--out", out, "--table", tables, "--master", "local[1]", "--quiet")
        return output_of("library", "run", *words, *given)

    assert "2 runs: 2 feasible" in run("gm", "--time-limit", "5")
    assert "4 runs: 2 feasible, 2 optimal" in run("gm", "branch-and-cut", "--time-limit", "5")
    assert len(list((out / "proofs").iterdir())) == 2
    assert update_table(table, Store.existing(out)).certified == 2
