"""The pages on the claims, their figures, and the outcomes from which they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from overlaybench.compare.claims.claim import Finding, Interval, NotRun, Scope, Verdict
from overlaybench.compare.claims.comparison import comparison_drawings, curves_of
from overlaybench.compare.claims.markdown import WIDTH, shortened, wrapped
from overlaybench.compare.claims.page import page_texts
from overlaybench.compare.claims.page_paper import anchor_of, compared, figure_of
from overlaybench.compare.claims.page_summary import finding_on
from overlaybench.compare.claims.register import CLAIMS, RECORD, ClaimOutcome, judge, outcomes_in
from overlaybench.compare.claims.what_matters import FOREMOST, MATTERS
from overlaybench.compare.command_line import cli
from overlaybench.compare.figures.constructions import DRAWN

DOCS = Path(__file__).parents[3] / "docs"
SCOPE = Scope(
    {"|V|": (1000, 2000), "law": ("uniform", "zipf")},
    {"|V|": tuple(range(1000, 10_001, 1000)), "samples": (20,)},
    samples=5,
    points=4,
    ties=("lowest", "highest", "random"),
    seeds=3,
    reading="rings in the order of numbers",
)
RATIOS = tuple(Interval(f"RingPT ÷ GM at |V| = {n}", 3.2, 3.1, 3.3, 5, 3.0) for n in (1000, 2000, 3000))
SHARES = (Interval("D_GMM", 8.1, 8.0, 8.2, 5, 8.01), Interval("T ÷ T_GMM", 0.2, None, None, 1, 0.112))
FULL = ClaimOutcome(
    "P1.F4a",
    False,
    2.0,
    (
        Finding("RingPT ÷ GM", Verdict.ORDER, "Grows with |V|.", 20, ({"law": "zipf", "ratio": 3.2},), SCOPE, RATIOS),
        Finding("degrees", Verdict.REFUTED, "Not so.", 20, scope=SCOPE, intervals=SHARES),
    ),
    10.0,
    "abc",
)


@pytest.fixture(scope="module")
def record() -> Mapping[str, ClaimOutcome]:
    """The outcomes on record: of full versions where there are any."""
    return {one.id: one for one in sorted(outcomes_in(RECORD), key=lambda one: not one.quick)}


def test_an_outcome_survives_its_json_with_sizes_intervals_and_reading() -> None:
    stored = json.loads(json.dumps(FULL.to_dict(), allow_nan=False))
    assert ClaimOutcome.from_dict(stored) == ClaimOutcome.from_dict(ClaimOutcome.from_dict(stored).to_dict())
    found = ClaimOutcome.from_dict(stored).findings[0]
    assert (found.verdict, found.scope, found.intervals) == (Verdict.ORDER, SCOPE, RATIOS)
    assert stored["findings"][0]["scale"] == "at |V| up to 2000 of 10000, 5 of 20 samples"
    assert stored["findings"][0]["scope"]["reading"] == SCOPE.reading


def test_numbers_that_json_lacks_are_stored_as_null() -> None:
    endless = Interval("T", 1.0, -np.inf, np.inf, 2)
    table = ({"runs": np.int64(3), "share": np.nan, "each": np.array([1.5])},)
    finding = Finding("x", Verdict.OPEN, "", 1, table, intervals=(endless, Interval("none", np.nan, None, None, 0)))
    text = json.dumps(ClaimOutcome("P1.F2", True, 1.0, (finding,)).to_dict(), allow_nan=False)
    (stored,) = json.loads(text)["findings"]
    assert stored["table"] == [{"runs": 3, "share": None, "each": [1.5]}]
    (kept,) = ClaimOutcome.from_dict(json.loads(text)).findings[0].intervals
    assert (kept.low, kept.high) == (None, None)


def test_an_outcome_of_an_earlier_version_has_no_scope_and_no_intervals() -> None:
    finding = {"subject": "GM", "verdict": "holds", "evidence": "So it is.", "runs": 3, "table": []}
    old = {"id": "P1.L6.1", "quick": True, "seconds": 1.0, "grid_seconds": 0.0, "findings": [finding]}
    outcome = ClaimOutcome.from_dict(old)
    assert (outcome.version, outcome.findings[0].scope, outcome.findings[0].intervals) == ("", Scope(), ())
    assert "**GM: holds.** So it is." in page_texts([outcome])["claims/p1.md"]


def test_the_pages_name_sizes_instances_ties_seeds_intervals_and_reading() -> None:
    texts = page_texts([FULL])
    assert "|  | RingPT ÷ GM | **order holds at \\|V\\| up to 2000 of 10000, 5 of 20 samples** |" in texts["claims.md"]
    assert "1 claims are judged by their full version" in texts["claims.md"]
    page = texts["claims/p1.md"]
    assert "sizes: |V| 1000/2000, law uniform/zipf; in the paper |V| 1000 … 10000 (10 values)" in page
    assert "5 instances a point; 4 points; ties lowest, highest, random; 3 seeds; 20 runs" in page
    assert "reading: rings in the order of numbers" in page
    assert "| RingPT ÷ GM at \\|V\\| = 1000 | 3.2 | 3.1 to 3.3 | 3 | 5 |" in page
    assert "| T ÷ T_GMM | 0.2 |  | 0.112 | 1 |" in page
    assert f"](figures/{figure_of('P1.F4a')}.svg)" in page
    assert "Not run for this page." in page


def test_a_sentence_that_is_not_run_stands_on_the_pages_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("page_summary", "page_paper"):
        monkeypatch.setattr(
            f"overlaybench.compare.claims.{module}.not_run",
            lambda: [NotRun("P1.I.9", "systems use lists", "P1 §1", "It is about systems of 2007.")],
        )
    texts = page_texts([])
    for page in ("claims.md", "claims/p1.md"):
        assert "* **P1.I.9** (P1 §1): systems use lists. *Not run*: It is about systems of 2007." in texts[page]
    assert "P1.I.9" not in texts["claims/p2.md"]


def test_no_line_of_a_page_is_longer_than_120_characters(record: Mapping[str, ClaimOutcome]) -> None:
    texts = page_texts([*record.values(), FULL])
    long = [(name, line) for name, text in texts.items() for line in text.splitlines() if len(line) > WIDTH]
    assert long == []
    assert shortened("one two three four", 12) == "one two …"
    lines = wrapped(f"{'x ' * 59}- and more {'word ' * 30}").splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert not any(re.match(r"[-+*#>|]", line) for line in lines[1:])


def test_every_link_of_the_summary_leads_to_a_heading(record: Mapping[str, ClaimOutcome]) -> None:
    texts = page_texts(list(record.values()))
    links = dict(re.findall(r"^\[([^]]+)\]: (\S+)$", texts["claims.md"], re.MULTILINE))
    assert set(links) == set(CLAIMS)
    for id_, link in links.items():
        page, _, anchor = link.partition("#")
        assert anchor == anchor_of(id_)
        assert f"\n## {id_}\n" in texts[page]


def test_the_pages_in_the_documents_are_written_from_the_record(record: Mapping[str, ClaimOutcome]) -> None:
    texts = page_texts(list(record.values()))
    for name in texts.keys() - {"claims/constructions.md"}:
        assert (DOCS / name).read_text(encoding="utf-8") == texts[name], name
    drawn = (DOCS / "claims" / "constructions.md").read_text(encoding="utf-8")
    for name in DRAWN:
        assert f"![{name}](../constructions/{name}.svg)" in drawn
        assert (DOCS / "constructions" / f"{name}.svg").is_file()


def test_the_documents_have_the_figure_of_every_claim_with_a_published_number_and_no_other(
    record: Mapping[str, ClaimOutcome],
) -> None:
    expected = {f"{figure_of(one.id)}.svg" for one in record.values() if compared(one.findings)}
    files = {file.name: file.stat().st_size for file in (DOCS / "claims" / "figures").glob("*")}
    assert set(files) == expected
    assert all(size <= 60_000 for size in files.values())


def test_a_figure_has_published_numbers_and_ours_in_the_same_axes() -> None:
    (drawn,) = comparison_drawings(FULL.id, FULL.findings)
    text = drawn.svg_file.decode()
    assert drawn.svg_file == comparison_drawings(FULL.id, FULL.findings)[0].svg_file
    for label in ("|V|", "D_GMM", "T ÷ T_GMM", "published", "ours, 95% interval", "degrees: refuted"):
        assert label in text
    assert comparison_drawings("P1.F2", [Finding("x", Verdict.HOLDS, "", 1)]) == []


def test_intervals_that_differ_in_a_number_are_curves_along_it() -> None:
    along = curves_of(RATIOS)
    assert along is not None
    symbol, curves = along
    assert symbol == "|V|"
    assert [x for x, _ in curves["RingPT ÷ GM"]] == [1000, 2000, 3000]
    two = [Interval(f"{law}, |T|={t}, |V|={n}", 1, 1, 1, 5, 1) for law in ("a", "b") for t in (1, 2) for n in (1, 2, 3)]
    found = curves_of(two)
    assert found is not None
    assert (found[0], set(found[1])) == ("|V|", {f"{law}, |T|={t}" for law in ("a", "b") for t in (1, 2)})
    assert curves_of(SHARES) is None
    assert curves_of(()) is None


def test_the_ten_findings_that_matter_most_are_on_record(record: Mapping[str, ClaimOutcome]) -> None:
    assert len(FOREMOST) == 10
    missing = [(id_, subject) for id_, subject, _ in FOREMOST if finding_on(record, id_, subject) is None]
    assert missing == []


def test_every_refuted_claim_says_why_it_matters(record: Mapping[str, ClaimOutcome]) -> None:
    refuted = {one.id for one in record.values() for finding in one.findings if finding.verdict is Verdict.REFUTED}
    assert sorted(refuted - set(MATTERS)) == []
    assert sorted(set(MATTERS) - set(CLAIMS)) == []


def test_the_command_prints_verdicts_keeps_the_evidence_and_succeeds_when_a_claim_is_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlaybench.compare.figures.constructions.DRAWN", {"relay-star": DRAWN["relay-star"]})
    out, page = tmp_path / "evidence", tmp_path / "claims.md"
    command = ["claims", "P1.L5.1", "--quick", "--json", "--out", str(out), "--page", str(page)]
    ran = CliRunner().invoke(cli, command)
    assert ran.exit_code == 0
    printed = json.loads(ran.stdout)
    assert "refuted" in [finding["verdict"] for finding in printed[0]["findings"]]
    assert {one.id for one in outcomes_in(out / "claims.json")} == {"P1.L5.1"}
    assert "overlaybench claims P1.L5.1 --quick" in (tmp_path / "claims" / "p1.md").read_text()
    assert (tmp_path / "constructions" / "relay-star.svg").is_file()
    assert "[P1.L5.1]: claims/p1.md#p1l51" in page.read_text()
    again = CliRunner().invoke(cli, ["claims", "P1.L5.1", "--quick", "--out", str(out)])
    assert "intervals" in again.stdout


def test_a_judged_claim_can_be_shown() -> None:
    outcome = judge(CLAIMS["P1.L5.2"], quick=True)
    assert all(finding.line in page_texts([outcome])["claims/p1.md"] for finding in outcome.findings)
