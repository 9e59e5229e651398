"""The page of a study: it is self-contained, its links have targets, its numbers are those of the tables."""

import base64
import gzip
import itertools
import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.figures.draw import most_informative_pair, overlay_drawing
from overlaybench.compare.report import page_data as overlays
from overlaybench.compare.report import writing
from overlaybench.compare.report.cells import Anchors, carried
from overlaybench.compare.report.page_data import overlay_data, plot_data
from overlaybench.compare.report.tables import judged_runs, method_table, run_columns
from overlaybench.compare.report.writing import sampled_runs, write_report
from overlaybench.compare.studies.plot import Plot
from overlaybench.instances.topics.instance import TopicInstance
from tests.compare.conftest import embedded, leave_out_pdf, slow
from tests.compare.report_rows import INSTANCES, PATH, STAR, STAR_EDGES, answered, frame, recipe, run, study_rows
from tests.outcomes import CLASSES, assert_latex_compiles, known, needs_latex

FEW = frame(run(value=3), run(method="ilp", value=2, status="optimal"))
VOID = {"meta", "link", "br", "hr", "img", "input", "col"}


def write(folder: Path, rows: pd.DataFrame, **given: object) -> str:
    texts = {"title": "A study", "spec": "name = 1", "notes": [], **given}
    return write_report(folder, rows, INSTANCES.__getitem__, **texts).read_text(encoding="utf-8")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_pdf(patch)
        write(folder, study_rows())
    return folder


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drawn(html: str) -> dict[str, str]:
    """The figures of the page by name."""
    return dict(re.findall(r'<figure id="figure-([^"]+)">(.*?)</figure>', html, flags=re.DOTALL))


class Page(HTMLParser):
    """Identifiers, links, addresses, text, and whether every element that opens is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.scripts = 0
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.scripts += tag == "script"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "script":
            self.text += data


def without_library(html: str) -> str:
    """The page without the script that is not its own."""
    return re.sub(r'(<script id="library">).*?(</script>)', r"\1\2", html, flags=re.DOTALL)


def assert_stands_alone(html: str) -> Page:
    html = without_library(html)
    page = Page(html)
    assert not page.faults
    assert not page.open
    assert len(set(page.ids)) == len(page.ids)
    for tag, name, value in page.attributes:
        if name in ("src", "href", "xlink:href", "action", "data", "srcset", "poster"):
            assert not re.match(r"\s*(https?:)?//", value), (tag, value)
            if tag not in ("a", "use"):
                assert value.startswith(("#", "data:")), (tag, value)
        if name == "href" and value.startswith("#"):
            assert value[1:] in page.ids, (tag, value)
    assert "@import" not in html
    assert all(address.startswith("#") for address in re.findall(r"url\(['\"]?([^)'\"]*)", html))
    for name in re.findall(r"url\(#([^)]*)\)", html):
        assert name in page.ids
    return page


def test_the_page_fetches_nothing_and_every_link_leads_somewhere(html: str, folder: Path) -> None:
    assert_stands_alone(html)
    assert 'role="alert"' not in html, "no contradiction"
    relative = [v for t, n, v in Page(html).attributes if t == "a" and n == "href" and not v.startswith(("#", "data:"))]
    assert {"figures/ratio.svg", "figures/overlay.pdf"} <= set(relative)
    for name in relative:
        assert (folder / name).stat().st_size > 0


@pytest.mark.usefixtures("no_charts")
def test_labels_reasons_notes_and_the_study_are_escaped(tmp_path: Path) -> None:
    evil = "</pre><script>alert(2)</script>"
    rows = study_rows()
    html = write(tmp_path, rows[rows["problem"] == "min-tco"], title=evil, spec=evil, notes=[evil])
    page = assert_stands_alone(html)
    assert page.scripts == 5 + html.count('class="chart"'), "only the page's own scripts"
    assert "alert(1)" in page.text
    assert "real & <true>" in page.text
    assert page.text.count(evil) >= 3


@pytest.mark.usefixtures("no_charts")
def test_names_that_climb_out_of_a_folder_write_nothing_outside(tmp_path: Path) -> None:
    up = "../../../climbed/out"
    rows = FEW
    named = dict.fromkeys(("problem", "family", "variant", "method", "reason", "code_version"), up)
    keys = [f"{up}{number}" for number in range(len(rows))]
    write(tmp_path / "a" / "b" / "report", rows.assign(**named, key=keys), title=up)
    kept = tmp_path / "a" / "b" / "report"
    assert {entry for entry in tmp_path.rglob("*") if not entry.is_relative_to(kept)} == {kept.parent, tmp_path / "a"}
    assert {entry.parent.parent for entry in kept.rglob("*climbed*")} == {kept}, "the problem's tables"


@pytest.mark.usefixtures("no_charts")
def test_modules_that_results_name_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "foreign.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    named = dict.fromkeys(["variant", "method", "problem"], "foreign:NAME")
    recipe = '{"family": "f", "seed": 1, "workload": "foreign:NAME", "parameters": {}}'
    spec = '[[runs]]\nproblems = ["foreign:NAME"]\nmethods = ["foreign:NAME"]\n'
    write(tmp_path / "report", FEW.assign(**named, recipe=recipe), spec=spec)
    assert "foreign" not in sys.modules


def test_the_page_has_landmarks_a_skip_link_and_a_name_for_every_table(html: str) -> None:
    html = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    page = Page(html)
    tags = re.findall(r"<(header|nav|main|footer|h[1-6])\b", html)
    assert [tags.count(name) for name in ("header", "nav", "main", "footer", "h1")] == [1, 1, 1, 1, 1]
    levels = [int(tag[1]) for tag in tags if tag[0] == "h" and tag[1].isdigit()]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert ("a", "href", "#main") in page.attributes
    boxes = [value for _, name, value in page.attributes if name == "aria-label" and value.startswith("Table: ")]
    assert len(boxes) == html.count("<table>")


def test_every_run_is_on_the_page_with_its_key_and_its_data_once(html: str) -> None:
    rows = study_rows()
    data = embedded(html, "plot-data")
    assert len(data["codes"]["instance"]) == len(rows)
    assert set(embedded(html, "overlay-data")["runs"]) <= {str(number) for number in range(1, len(rows) + 1)}
    assert html.count('type="application/json" id=') == 2
    for key in rows["key"]:
        assert f">{key}</td>" in html
    assert {f"run-{number}" for number in range(1, len(rows) + 1)} <= set(Page(html).ids)


@pytest.mark.usefixtures("no_charts")
def test_a_page_of_many_runs_carries_their_rows_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PACKED_FROM", 3)
    rows = frame(*(run(value=3, seed=seed, instance=f"i{seed}") for seed in range(4)))
    html = write(tmp_path, rows)
    found = re.findall(r'data-first="(\d+)" data-last="(\d+)" data-packed="([^"]*)"', html)
    assert [each[:2] for each in found] == [("1", "4")]
    shown = gzip.decompress(base64.b64decode(found[0][2])).decode()
    assert all(f">{key}</td>" in shown and f">{key}</td>" not in html for key in rows["key"])
    folded = re.findall(r'data-prefix="([^"]*)" data-packed="([^"]*)"', html)
    inside = "".join(gzip.decompress(base64.b64decode(text)).decode() for _, text in folded)
    anchors = set(re.findall(r'href="#(in(?:stance|put)-[^"]*)"', shown + inside))
    assert anchors <= set(Page(html + inside).ids)
    assert {prefix for prefix, _ in folded} == {"instance-", "input-"}
    assert anchors


@pytest.mark.usefixtures("no_charts")
def test_a_page_of_very_many_runs_shows_a_sample_and_links_to_the_rows(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MOST_SHOWN", 5)
    monkeypatch.setattr(writing, "_SAMPLED", 0)
    rows = study_rows()
    many = [rows, rows.assign(key=rows["key"] + "b", instance=rows["instance"] + "b", answer=None)]
    page = Page(sampled := write(tmp_path, pd.concat(many, ignore_index=True)))
    shown = len(set(re.findall(r'<tr id="(run-\d+)"', sampled)))
    assert 0 < shown < 2 * len(rows)
    assert f"a sample: the {shown} runs on some instances, of {2 * len(rows)}" in page.text
    links = [value for tag, name, value in page.attributes if (tag, name) == ("a", "href")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(page.ids)
    assert {link for link in links if link.startswith("tables/")} >= {"tables/runs.csv"}
    assert not any(link.startswith("data:") for link in links)
    assert len(pd.read_csv(tmp_path / "tables" / "runs.csv")) == 2 * len(rows)
    both = [pd.read_csv(of / "tables" / "min-tco.csv") for of in (folder, tmp_path)]
    assert (2 * both[0]["runs"]).tolist() == both[1]["runs"].tolist()
    pd.testing.assert_series_equal(*(each["mean_ratio"] for each in both))


def test_the_sample_has_all_runs_of_its_instances_and_the_worst_of_each_method(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = judged_runs(frame(*(run(instance=f"{i:08x}", value=3 + i % 7, seed=s) for i in range(40) for s in (1, 2))))
    assert sampled_runs(runs).all()
    monkeypatch.setattr(writing, "MOST_SHOWN", 79)
    monkeypatch.setattr(writing, "_SAMPLED", 10)
    chosen = runs[sampled_runs(runs, [runs["key"].iloc[-1]])]
    assert 10 <= len(chosen) <= 16
    assert (chosen.groupby("instance").size() == 2).all()
    assert runs["key"].iloc[-1] in set(chosen["key"])


def test_short_tables_are_latex_too_and_nothing_but_the_report_is_left_in_the_folder(folder: Path) -> None:
    kinds = {file.suffix for file in folder.rglob("*") if file.is_file()}
    assert kinds == {".html", ".csv", ".tex", ".svg", ".pdf"}
    assert not list(folder.rglob(".*"))
    assert r"\toprule" in (folder / "tables" / "min-tco.tex").read_text(encoding="utf-8")
    assert len(list((folder / "tables").glob("*.tex"))) == len(list((folder / "tables").glob("*.csv")))


@pytest.mark.usefixtures("no_charts")
def test_tables_for_papers_have_heads_in_words_and_no_column_twice(tmp_path: Path) -> None:
    rows = [
        run("min-tco", method, f"i{nodes}-{i}", nodes=nodes, value=10.0 + i * (method == "gm"), status=status)
        for method, status in (("gm", "feasible"), ("ilp", "optimal"))
        for nodes in (10, 20)
        for i in range(3)
    ]
    write(tmp_path, frame(*rows), plots=[Plot("nodes")])
    text = (tmp_path / "tables" / "ratio-against-nodes.tex").read_text(encoding="utf-8")
    (heads,) = [line for line in text.splitlines() if "nodes" in line and "mean" in line and "caption" not in line]
    assert "method" in heads
    assert not {"curve", "x", "low", "high"} & set(re.findall(r"\w+", heads))
    text = (tmp_path / "tables" / "min-tco.tex").read_text(encoding="utf-8")
    lines = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if line.startswith(("gm", "ilp"))]
    columns = list(zip(*lines, strict=True))
    assert len(columns) > 3
    assert len(set(columns)) == len(columns)


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("of", CLASSES)
def test_no_table_is_wider_than_the_columns_of_a_paper(folder: Path, tmp_path: Path, of: str) -> None:
    tables = [file.read_text(encoding="utf-8") for file in sorted((folder / "tables").glob("*.tex"))]
    assert len(tables) > 5
    for table in tables:
        assert_latex_compiles(tmp_path, rf"\title{{x}}{table}", of=of, overfull=False)


def test_every_number_of_the_method_tables_links_to_rows(html: str) -> None:
    tables = html[html.index('id="tables"') : html.index('id="figures"')]
    cells = re.findall(r'<td class="n">(.*?)</td>', tables)
    assert len(cells) > 100
    for cell in cells:
        assert cell == "–" or cell.startswith('<a href="#'), cell


def test_a_method_table_on_the_page_shows_the_table_s_numbers(html: str) -> None:
    line = method_table(judged_runs(study_rows()), "min-tco").set_index("method").loc["gm"]
    block = html[html.index('id="problem-min-tco"') :]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", block[block.index("<tbody>") : block.index("</tbody>")])
    texts = [re.sub(r"<[^>]*>", "", cell) for cell in cells[:10]]
    assert texts[1:3] == [f"{line['mean_ratio']:.3f}", f"{line['worst_ratio']:.3f}"]
    assert texts == ["gm", "1.200", "1.400", "2", "2", "2", "2", "1", "50%", "0"], "what repeats the bounds is left out"


def test_csv_files_hold_the_tables_and_stand_within_the_page(html: str, folder: Path) -> None:
    runs = judged_runs(study_rows())
    read = pd.read_csv(folder / "tables" / "min-tco.csv")
    read["worst_run"] = read["worst_run"].fillna("")
    pd.testing.assert_frame_equal(read, method_table(runs, "min-tco"), check_dtype=False)
    assert len(pd.read_csv(folder / "tables" / "runs.csv")) == len(runs)
    assert list(pd.read_csv(folder / "tables" / "runs.csv").columns) == run_columns(runs)
    inside = dict(re.findall(r'href="data:text/csv;charset=utf-8;base64,([^"]*)" download="([^"]*)"', html))
    carried_files = {name: base64.b64decode(content) for content, name in inside.items()}
    assert {"min-tco.csv", "runs.csv", "failures.csv", "methods.csv", "inputs.csv"} <= set(carried_files)
    for name, content in carried_files.items():
        assert (folder / "tables" / name).read_bytes() == content


def test_a_large_csv_file_is_carried_compressed() -> None:
    content = b"a,b\n" + b"1,2\n" * 300_000
    file = carried("runs.csv", content)
    assert file.name == "runs.csv.gz"
    assert gzip.decompress(base64.b64decode(file.address.split(",", 1)[1])) == content


@pytest.mark.slow
def test_rows_in_any_order_give_the_same_bytes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_pdf(monkeypatch)
    write(tmp_path, study_rows().sample(frac=1, random_state=1))
    for file in folder.rglob("*"):
        if file.is_file():
            assert (tmp_path / file.relative_to(folder)).read_bytes() == file.read_bytes(), file.name


@pytest.mark.usefixtures("no_charts")
def test_contradictions_stand_above_everything_else(tmp_path: Path) -> None:
    pairs = [(f"i{number}", value) for number in range(30) for value in (10, 11)]
    rows = [run(method=("ilp", "cp-sat")[v - 10], instance=i, value=v, status="optimal") for i, v in pairs]
    html = write(tmp_path, frame(*rows))
    page = assert_stands_alone(html)
    assert "These results contradict each other" in page.text
    assert page.text.count("proved 10 optimal") == 30, "every one is listed"
    assert html.index('role="alert"') < html.index('id="in-short"')
    assert (tmp_path / "tables" / "contradictions.csv").is_file()


@pytest.mark.usefixtures("no_charts")
def test_every_kind_of_instance_has_its_verdict_and_its_runs(tmp_path: Path) -> None:
    shape = {"kind": "content", "users": 5, "brokers": 2, "channels": 3, "nodes": None, "topics": None}
    shape |= {"subscriptions": None, "family": "P4"}
    rows = [
        run("content-mst", "ilp", "c1", value=70.0, status="optimal", **shape),
        run("content-mst", "clustering", "c1", value=91.0, **shape),
        run("content-steiner", "cp-sat", "c1", status="failed", reason="out of memory", **shape),
        run("min-tco", "ilp", value=4, status="optimal"),
    ]
    table = pd.DataFrame(rows)
    page = assert_stands_alone(write(tmp_path, table))
    assert "4 runs" in page.text
    assert "out of memory" in page.text
    assert "5 users, 2 brokers, 3 channels" in page.text
    assert re.search(r"content-mst\s*1\s*clustering\s*1\.300", page.text), "the closest heuristic of the summary"
    assert "contradict" not in page.text


@pytest.mark.usefixtures("no_charts")
def test_runs_of_several_code_versions_are_noted(tmp_path: Path) -> None:
    rows = frame(run(value=3, code_version="aaa"), run(value=3, seed=2, code_version="bbb"))
    assert "on min-tco are of 2 versions of the code: aaa, bbb" in write(tmp_path, rows)


DEGENERATE = {
    "no rows": [],
    "one row without a bound": [run(value=5)],
    "one proven row": [run(method="ilp", value=5, status="optimal")],
    "all failed": [run(), run(method="ilp")],
    "zero": [run(method="ilp", value=0, status="optimal", edges=0, max_degree=0), run(value=0), run(value=2, seed=2)],
    "bound zero": [run(method="ilp", value=4, lower_bound=0, status="time-limit")],
    "a bound and no answer": [run(method="ilp", lower_bound=3, status="time-limit")],
    "infeasible": [run(method="ilp", status="infeasible")],
    "no time limit": [run(value=5, time_limit=None, lower_bound=4)],
    "an unknown problem and method": [run("content", "mst", value=2.5, lower_bound=2.25, variant="mst a=$b$")],
    "no seconds": [run(value=5, seconds=None, peak_memory=None)],
}
LIKE_OTHERS = (
    "one row without a bound",
    "one proven row",
    "a bound and no answer",
    "infeasible",
    "no time limit",
    "bound zero",
)


@pytest.mark.usefixtures("figure_files")
@pytest.mark.parametrize("name", [slow(name) if name in LIKE_OTHERS else name for name in DEGENERATE])
def test_degenerate_studies_are_reported(tmp_path: Path, name: str) -> None:
    page = assert_stands_alone(write(tmp_path, frame(*DEGENERATE[name])))
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", page.text.lower())


def test_every_run_with_a_ratio_is_a_dot_that_links_to_it(drawn: dict[str, str]) -> None:
    runs = judged_runs(study_rows())
    assert list(drawn) == ["overview", "ratio", "profile", "time", "overlay"]
    with_ratio = sorted(runs.loc[runs["ratio"].notna(), "anchor"])
    assert sorted(re.findall(r'<a href="#(run-\d+)">', drawn["ratio"])) == with_ratio
    finished = sorted(runs.loc[runs["status"] != "failed", "anchor"])
    assert sorted(re.findall(r'<a href="#(run-\d+)">', drawn["time"])) == finished


def test_pictures_are_well_formed_and_their_files_have_no_links_into_a_page(
    drawn: dict[str, str], folder: Path
) -> None:
    for name in drawn:
        content = (folder / "figures" / f"{name}.svg").read_bytes()
        assert ET.fromstring(content).tag.endswith("svg")
        assert b"#run-" not in content


def test_the_overlay_drawn_is_one_where_greedy_merge_is_worse(drawn: dict[str, str]) -> None:
    pair = known(most_informative_pair(judged_runs(study_rows())))
    assert pair.worse
    assert (pair.optimal.method, pair.other.method, pair.optimal.problem) == ("ilp", "gm", "min-tco")
    assert pair.optimal.instance == STAR.digest
    assert "ilp: 5 edges (proven optimal)" in drawn["overlay"]
    assert "gm: 7 edges (+2)" in drawn["overlay"]
    assert all(f'href="#{run.anchor}"' in drawn["overlay"] for run in (pair.optimal, pair.other))
    rows = study_rows()
    assert most_informative_pair(judged_runs(rows[rows["status"] != "optimal"])) is None, "without a proven overlay"
    overlay = overlay_drawing(judged_runs(rows[rows["instance"] == PATH.digest]), INSTANCES.__getitem__)
    assert "no heuristic that can be drawn was worse" in known(overlay).caption


def test_identifiers_are_distinct_even_where_their_words_are_the_same() -> None:
    anchors = Anchors()
    names = [anchors.of("rows", "min-tco", label) for label in ("low-oda k=1", "low-oda k 1", "low-oda k=1")]
    assert names[0] == names[2] != names[1]
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def test_every_run_has_its_numbers_in_the_order_of_its_anchor() -> None:
    runs = judged_runs(study_rows())
    data = plot_data(runs)
    for name, column in (("ratio", "ratio"), ("time", "seconds"), ("value", "value")):
        shown = [np.nan if value is None else value for value in data["numbers"][name]]
        np.testing.assert_allclose(shown, runs[column], rtol=1e-5)
    assert [data["texts"]["label"][code] for code in data["codes"]["label"]] == runs["label"].tolist()
    assert data["texts"]["problem"][0] == "min-tco"
    assert list(data["y"]) == ["ratio", "value", "time", "degree", "gap", "memory"]
    seed = 2_135_562_980
    assert plot_data(judged_runs(frame(run(value=3, seed=seed))))["numbers"]["seed"] == [seed], "exact"
    assert plot_data(runs, [Plot("nodes", "time")])["first"] == [["nodes", "time"]], "what a study chooses is first"


def test_what_a_study_varied_is_an_axis_and_what_it_did_not_is_none() -> None:
    made = {n: recipe(subscriptions=n, alpha=0.5) for n in (2, 3)}
    rows = [run(instance=f"i{n}", value=3, subscriptions=4 * n, recipe=one) for n, one in made.items()]
    axes = plot_data(judged_runs(frame(*rows)))["x"]
    assert {"subscriptions", "total_subscriptions"} <= set(axes)
    assert not {"alpha", "topics"} & set(axes)


def test_a_parameter_called_like_a_measure_does_not_replace_it() -> None:
    rows = [run(instance=f"i{n}", value=3, recipe=recipe(value=n, family=f"f{n}")) for n in (2, 3)]
    data = plot_data(judged_runs(frame(*rows)))
    assert data["numbers"]["value"] == [3, 3]
    assert data["numbers"]["parameter value"] == [2, 3]
    assert data["texts"]["family"] == ["by hand"]


def test_answers_are_two_characters_an_edge() -> None:
    runs = judged_runs(study_rows())
    data = known(overlay_data(runs, INSTANCES.__getitem__))
    star = next(row for row in runs.itertuples() if row.method == "gm" and row.instance == STAR.digest)
    code = data["answers"][data["runs"][star.anchor.removeprefix("run-")]]
    ends = [ALPHABET.index(character) for character in code]
    assert sorted(zip(ends[::2], ends[1::2], strict=True)) == sorted(STAR_EDGES)
    assert [instance["nodes"] for instance in data["instances"]] == [[f"n{v}" for v in range(n)] for n in (5, 6)]
    assert not data["left_out"]
    assert overlay_data(judged_runs(frame(run(value=3))), INSTANCES.__getitem__) is None, "without answers"


def test_what_a_lost_plug_in_made_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_pdf(monkeypatch)
    rows, lost = study_rows(), most_informative_pair(judged_runs(study_rows()))
    held = {digest: one for digest, one in INSTANCES.items() if digest != known(lost).optimal.instance}
    assert overlay_drawing(judged_runs(rows), held.get) is None
    assert known(overlay_data(judged_runs(rows), held.get))["left_out"].endswith("are left out: 1 of 2.")
    html = write_report(tmp_path, rows, lambda _: None, title="A study", spec="").read_text(encoding="utf-8")
    assert 'id="figure-overlay"' not in html
    assert 'id="figure-overview"' in html


def test_large_instances_are_left_out_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    path = TopicInstance.from_subscriptions({f"n{v}": [f"t{v}", f"t{v + 1}"] for v in range(61)})
    rows = answered(path, [(v, v + 1) for v in range(60)], "min-tco", "gm")
    both = judged_runs(pd.concat([study_rows(), frame(rows)], ignore_index=True))
    found = {**INSTANCES, path.digest: path}
    data = known(overlay_data(both, found.__getitem__))
    assert len(data["instances"]) == 2
    assert data["left_out"].endswith("are left out: 1 of 3.")
    monkeypatch.setattr(overlays, "MOST_BYTES", 600)
    smallest = known(overlay_data(both, found.__getitem__))
    assert len(smallest["instances"]) == 1
    assert "2 of 3" in smallest["left_out"]
