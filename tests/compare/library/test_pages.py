"""The pages of the library's instances: easy, hard or open, and who improved what, when."""

import math
from pathlib import Path

import pytest

from overlaybench.compare.library.table import LibraryTable, Record, read_table
from overlaybench.docs.library_pages import difficulty, instance_page, page_of, table_page
from overlaybench.instances.contract.result import Status
from tests.compare.library.test_table import record as any_record

INSTANCES = """name,group,workload,parameters,seed,digest,sizes,problems
a,small,uniform,nodes=6 subscriptions=2 topics=4,3,,nodes=6 topics=4 subscriptions=12,min-tco minmax-tco
"""


def record(method: str = "branch-and-cut", value: float = 7.0, bound: float = math.nan, **given: object) -> Record:
    proof = "" if math.isnan(bound) else f"{method[0]}{bound:g}" * 20
    fields: dict[str, object] = {"time_limit": 60.0, "proof": proof, "date": "2026-01-02"}
    return any_record("a", method, value=value, bound=bound, **fields | given)


@pytest.fixture
def table(tmp_path: Path) -> LibraryTable:
    (tmp_path / "instances.csv").write_text(INSTANCES)
    return read_table(tmp_path)


def test_easy_hard_and_open_are_as_defined(table: LibraryTable) -> None:
    def of(*records: Record) -> str:
        return difficulty(table.with_records(records), "a", "min-tco")

    quick = record(bound=7.0, status=Status.OPTIMAL)
    assert of() == of(record()) == of(record(bound=6.0)) == "open"
    assert of(quick) == of(record(bound=7.0, status=Status.OPTIMAL, seconds=10.0)) == "easy"
    assert of(record(bound=7.0, status=Status.OPTIMAL, seconds=11.0)) == "hard"
    assert of(record("branch-and-cut cuts=9", bound=7.0, status=Status.OPTIMAL)) == "hard"
    assert of(record(), record("lp-bound", value=math.nan, bound=7.0)) == "hard"


def test_the_page_of_an_instance_says_who_improved_what_and_when(table: LibraryTable) -> None:
    records = [
        record("gm", 9.0, date="2026-01-01"),
        record("best", 8.0, date="2026-01-01"),
        record("branch-and-cut", 8.0, 6.0),
        record("cp-sat", 7.0, date="2026-01-03"),
        record("lp-bound", 9.0, 5.0, date="2026-01-04"),
    ]
    page = instance_page(table.with_records(records), table.entries["a"], "![drawn](a.svg)")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| 2026")]
    assert [(row[0][-1], row[1].split(",")[0], row[2], row[3]) for row in rows] == [
        ("1", "gm", "**9**", "–"),
        ("1", "best", "**8**", "–"),
        ("2", "branch-and-cut", "8", "**6**"),
        ("3", "cp-sat", "**7**", "–"),
        ("4", "lp-bound", "9", "5"),
    ]
    assert "**value** 7, by cp-sat, 1 s of 60 s" in page
    assert f"SHA-256 `{'b6' * 20}`" in page
    assert "## min-tco: open" in page
    assert page.count("No result yet.") == 1
    assert "nodes = 6, subscriptions = 2, topics = 4, seed 3" in page


def test_the_table_has_a_row_a_pair_that_leads_to_its_page() -> None:
    table = read_table()
    page = table_page(table)
    rows = [line for line in page.splitlines() if line.startswith("| [")]
    assert len(rows) == len(list(table.pairs()))
    assert all(f"]({page_of(name)})" in page for name in table.entries)
    assert {row.split(" | ")[2] for row in rows} == {"easy", "hard", "open"}
