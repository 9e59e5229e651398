"""The report's page in a browser: what a reader does with it, at two widths and in both themes, offline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import overlaybench as ob
from overlaybench.compare.figures.draw import save_page
from overlaybench.compare.figures.stepping import SteppedOverlay, save_steps
from overlaybench.compare.report.writing import write_report
from tests.compare.conftest import Theme, watched_page
from tests.compare.report_rows import INSTANCES, frame, run, study_rows
from tests.outcomes import answer_of, known

if TYPE_CHECKING:  # quick tests do without the second that its import takes
    from playwright.sync_api import Browser, Page

POINTS = "#plot path[aria-roledescription=point]"

pytestmark = pytest.mark.slow

SMALL_TEXTS = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), small = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
    if (!text || element.closest("script") || !element.checkVisibility()) continue;
    const drawn = element.ownerSVGElement && element.getScreenCTM();
    const size = parseFloat(getComputedStyle(element).fontSize) * (drawn ? Math.hypot(drawn.a, drawn.b) : 1);
    if (size < 10.99) small.push([size, text]);
  }
  return small;
}"""


FAINT_TEXTS = """() => {
  const numbers = colour => colour.match(/[0-9.]+/g).map(Number);
  const luminance = rgb => rgb.slice(0, 3).map(c => c / 255)
    .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  return [...document.querySelectorAll("svg text")].filter(text => text.checkVisibility()).flatMap(text => {
    let ground = text;
    while (ground && (numbers(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) ground = ground.parentElement;
    const colours = [getComputedStyle(text).fill, getComputedStyle(ground).backgroundColor].map(numbers).map(luminance);
    const contrast = (Math.max(...colours) + .05) / (Math.min(...colours) + .05);
    return contrast < 4.5 ? [[contrast, text.textContent]] : [];
  });
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("study")
    file = write_report(folder, study_rows(), INSTANCES.__getitem__, title="A study", spec="name = 1")
    return file.as_uri()


def expect(one: Any) -> Any:
    from playwright.sync_api import expect

    return expect(one)


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Opens the page of the study or another one; all are closed at the end."""
    contexts = list[Any]()

    def open_page(width: int = 1280, theme: Theme = "light", at: str = address, **given: Any) -> Page:
        viewport: Any = {"width": width, "height": 800}
        contexts.append(browser.new_context(viewport=viewport, color_scheme=theme, **given))
        page: Page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.goto(at)
        return page

    yield open_page
    for context in contexts:
        context.close()


def plotted(page: Page) -> Page:
    """The page with the plot of every run of the first problem drawn."""
    page.select_option("[name=show]", "runs")
    expect(page.locator("#plot")).to_have_attribute("data-drawn", re.compile("[1-9]"), timeout=60_000)
    return page


@pytest.fixture
def page(opened: Callable[..., Page]) -> Page:
    return plotted(opened())


@contextmanager
def redrawn(page: Page) -> Iterator[None]:
    """Waits until the plot is drawn again after what is done within."""
    before = int(page.locator("#plot").get_attribute("data-drawn") or 0)
    yield
    page.wait_for_function("before => Number(document.getElementById('plot').dataset.drawn) > before", arg=before)


def test_a_head_sorts_its_table_up_and_down_and_back_and_times_by_their_length(page: Page) -> None:
    table = page.locator("section:has(> #tables) table").nth(0)
    head = table.locator("thead tr").last.locator("th").nth(1)  # the mean ratio
    names = "table => [...table.tBodies[0].rows].map(row => row.cells[0].textContent)"
    original = table.evaluate(names)
    assert original == ["gm", "ilp exact", "cp-sat exact"]
    orders = []
    for direction in ("ascending", "descending", "none"):
        head.locator("button").focus()
        page.keyboard.press("Enter")
        expect(head).to_have_attribute("aria-sort", direction)
        orders.append(table.evaluate(names))
    assert orders[0][:2] == ["ilp exact", "gm"]
    assert orders[1][:2] == ["gm", "ilp exact"]
    assert orders[0][2] == orders[1][2] == "cp-sat exact", "without a ratio it is last"
    assert orders[2] == original
    page.evaluate(
        """() => {
          const body = document.querySelector("section:has(> #tables) table").tBodies[0];
          const texts = ["2.0 min", "900 ms", "1,000 s"];
          texts.forEach((text, row) => { body.rows[row].cells[11].textContent = text; });
        }"""
    )
    table.locator("thead tr").last.locator("th").nth(11).locator("button").click()
    times = table.evaluate("table => [...table.tBodies[0].rows].map(row => row.cells[11].textContent)")
    assert times == ["900 ms", "2.0 min", "1,000 s"]


def test_the_filter_leaves_the_rows_with_all_words_and_opens_their_lists(page: Page) -> None:
    page.fill("#filter", "failed cp-sat minmax-tco")
    expect(page.locator("#filter-count")).to_contain_text(" of ")
    shown = page.locator(".lists tbody tr:visible")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("alert(1)")
    page.fill("#filter", "no such word")
    expect(page.locator("#filter-count")).to_contain_text("No row")
    page.fill("#filter", "")
    expect(page.locator("#filter-count")).to_have_text("")
    assert page.locator("tr[hidden]").count() == 0


def test_a_point_names_its_run_and_leads_to_its_row_and_a_link_shows_a_row_that_the_filter_hides(page: Page) -> None:
    point = page.locator(POINTS).nth(1)
    point.hover()
    tooltip = page.locator("#vg-tooltip-element")
    expect(tooltip).to_be_visible()
    facts = tooltip.inner_text()
    assert "method" in facts
    assert "real & <true>" in facts
    assert "null" not in facts
    number = tooltip.locator("tr", has_text="run").first.locator("td").last.inner_text()
    point.click()
    page.wait_for_url(f"**#run-{number}")
    expect(page.locator(f"#run-{number}")).to_be_in_viewport()
    page.fill("#filter", "cp-sat")
    expect(page.locator("#run-1")).to_be_hidden()
    page.evaluate("location.hash = '#run-1'")
    expect(page.locator("#run-1")).to_be_in_viewport()


def test_the_legend_switches_methods_by_the_keyboard(page: Page) -> None:
    before = page.locator(POINTS).count()
    page.locator("#plot-legend label", has_text="gm").locator("input").focus()
    with redrawn(page):
        page.keyboard.press("Space")
    without = page.locator(POINTS).count()
    assert 0 < without < before
    with redrawn(page):
        page.click("#legend-none")
    assert page.locator(POINTS).count() == 0


@pytest.mark.parametrize("show", ["runs", "means", "profile"])
def test_problem_axes_and_scale_are_chosen(page: Page, show: str) -> None:
    for name, choice in (("problem", "low-tco"), ("y", "degree"), ("x", "time"), ("show", show)):
        with redrawn(page):
            page.select_option(f"[name={name}]", choice)
    labels = " ".join(page.locator("#plot svg text").all_text_contents())
    assert ("factor of the best bound" if show == "profile" else "maximum degree") in labels
    assert ("time (s)" in labels) == (show != "profile")
    with redrawn(page):
        page.check("[name=logarithmic]")
    assert page.locator("#plot svg").is_visible()


def test_two_overlays_of_an_instance_show_the_edges_of_one_only(page: Page) -> None:
    star = next(digest for digest, instance in INSTANCES.items() if instance.num_nodes == 6)
    option = page.locator("[name=instance] option", has_text=star[:8]).get_attribute("value")
    page.select_option("[name=instance]", option)
    figures = page.locator("#overlay-pair figure")
    expect(figures).to_have_count(2)
    assert figures.nth(0).locator("line").count() == 7, "of Greedy Merge"
    assert figures.nth(1).locator("line").count() == 5, "of the optimum"
    alone = [figures.nth(side).locator("line.alone").count() for side in (0, 1)]
    assert alone[0] - alone[1] == 2
    assert f"{alone[0]} only here" in figures.nth(0).inner_text()
    page.locator("summary", has_text="The edges that only one").click()
    assert len(page.locator("#overlay-edges p").nth(0).inner_text().split("–")) - 1 == alone[0]
    page.select_option("[name=topic]", label="hub")
    page.select_option("[name=right]", page.input_value("[name=left]"))
    expect(page.locator("line.alone")).to_have_count(0)


def test_the_theme_follows_the_system_and_is_switched(opened: Callable[..., Page]) -> None:
    page = opened(theme="dark")
    paper = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(22, 24, 28)"
    page.click("#theme")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate(paper) == "rgb(255, 255, 255)", "the choice is remembered"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_readable_and_accessible(opened: Callable[..., Page], width: int, theme: Theme) -> None:
    from axe_playwright_python.base import AXE_SCRIPT
    from axe_playwright_python.sync_playwright import Axe

    judging_letters = AXE_SCRIPT.replace("ignoreLength:!1", "ignoreLength:!0")
    page = plotted(opened(width, theme))
    page.evaluate("document.querySelectorAll('details').forEach(list => { list.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALL_TEXTS) == []
    assert page.evaluate(FAINT_TEXTS) == []
    found = Axe(judging_letters).run(page, options=None).response  # options: lists every doubt
    faults = [(rule["id"], rule["impact"], node["html"]) for rule in found["violations"] for node in rule["nodes"]]
    doubts = [(rule["id"], node["html"], node["any"]) for rule in found["incomplete"] for node in rule["nodes"]]
    doubts = [doubt for doubt in doubts if not doubt[1].startswith("<text")]  # axe judges no text of a picture
    assert faults + doubts == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_with_its_picture_and_the_bar_stays(opened: Callable[..., Page], width: int) -> None:
    page = opened(width)
    first = page.locator("#figure-overview svg:visible").first
    expect(first).to_be_visible()
    assert first.evaluate("picture => picture.getBoundingClientRect().top") < 400
    page.locator("#all-runs").scroll_into_view_if_needed()
    for name in ("problem", "family", "show"):
        expect(page.locator(f"[name={name}]")).to_be_in_viewport()
    page.select_option("[name=problem]", "minmax-tco")
    expect(page.locator(POINTS).first).to_be_in_viewport(timeout=60_000)
    expect(page.locator("#figure-overview")).to_be_hidden()
    page.select_option("[name=show]", "overview")
    expect(page.locator("#figure-overview")).to_be_visible()
    assert page.input_value("[name=problem]") == ""
    page.locator("#all-runs").scroll_into_view_if_needed()
    page.click("text=Top")
    expect(page.locator("h1")).to_be_in_viewport()


def test_a_table_takes_a_screen_at_most_until_all_its_rows_are_asked_for(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    rows = frame(*(run(method="gm", variant=f"gm ties={k}", value=3, lower_bound=2) for k in range(60)))
    file = write_report(tmp_path, rows, INSTANCES.__getitem__, title="Variants", spec="")
    page = opened(at=file.as_uri())
    box = page.locator("#problem-min-tco ~ .scroll").first
    height = "box => box.getBoundingClientRect().height"
    assert box.evaluate(height) < 800
    page.locator("button", has_text="All 60 rows").first.click()
    assert box.evaluate(height) > 1200


def test_heads_and_first_columns_stay_in_view(opened: Callable[..., Page]) -> None:
    page = opened(390)
    box = page.locator(".scroll:has(table):not(details .scroll)").first
    first = "box => box.querySelector('tbody td').getBoundingClientRect().left - box.getBoundingClientRect().left"
    box.evaluate("box => { box.scrollLeft = 200; }")
    assert box.evaluate("box => box.scrollLeft") > 50
    assert abs(box.evaluate(first)) < 1
    assert page.locator("thead").first.evaluate("head => getComputedStyle(head).position") == "sticky"
    cell = box.locator("tbody td").first
    cell.evaluate("cell => { cell.textContent = 'a long name of a method and all its options '.repeat(3); }")
    assert cell.evaluate("cell => cell.getBoundingClientRect().width") < 0.5 * 390, "numbers are beside it"


def test_without_scripts_every_table_and_figure_is_there(opened: Callable[..., Page]) -> None:
    page = opened(java_script_enabled=False)
    expect(page.locator("#plot-controls")).to_be_hidden()
    expect(page.locator("#filter")).to_be_hidden()
    expect(page.locator("#figure-ratio svg")).to_be_visible()
    expect(page.locator("table:not(details table)").first).to_be_visible()


def test_in_print_there_is_ink_on_white_and_no_control(opened: Callable[..., Page]) -> None:
    page = opened(theme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for control in ("#filter", "#theme", "#plot-controls"):
        expect(page.locator(control)).to_be_hidden()
    expect(page.locator("#figure-ratio svg")).to_be_visible()
    page.set_viewport_size({"width": 690, "height": 1000})  # A4 within its margins
    expect(page.locator("#figure-overview .wide")).to_be_visible()
    expect(page.locator("#figure-overview .narrow")).to_be_hidden()


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "=1+1",
    "\x00\x1b[31m\u202efdp",
    "{{ 7*7 }} ${7*7} \\input{x}",
    "javascript:alert(3)",
    r"$\frac{1$ $x$",
)


def assert_is_text(page: Page) -> None:
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0


def test_hostile_labels_are_text_in_drawings_and_notebooks(browser: Browser, tmp_path: Path) -> None:
    instance = ob.read({label: [HOSTILE[0], HOSTILE[1], "t"] for label in HOSTILE})
    result = ob.solve(instance, "min-tco", "gm", trace=True)
    answer, trace = answer_of(result), known(result.trace)
    compared = ob.compare_methods(instance, "min-tco", ["gm", "cd-oda"])
    shown: list[Any] = [instance, result, answer, trace, compared]
    (tmp_path / "notebook.html").write_text("".join(each._repr_html_() for each in shown), encoding="utf-8")
    save_page(tmp_path / "drawn.html", HOSTILE[1], instance, answer, options=ob.DrawOptions(by_topic=True))
    save_steps(SteppedOverlay(instance, trace), tmp_path / "steps.html", HOSTILE[1])
    for name in ("notebook", "drawn", "steps"):
        with watched_page(browser, (tmp_path / f"{name}.html").as_uri()) as page:
            for button in page.locator("button").all():
                button.click()
            assert_is_text(page)
            assert HOSTILE[0] in page.content().replace("&lt;", "<").replace("&gt;", ">")


def test_the_page_runs_offline_and_hostile_labels_are_text_everywhere(browser: Browser, tmp_path: Path) -> None:
    rows = study_rows().assign(reason=HOSTILE[0])
    for name in ("family", "variant"):
        rows[name] = [f"{HOSTILE[at % len(HOSTILE)]} {label}" for at, label in enumerate(rows[name])]
    file = write_report(tmp_path, rows, INSTANCES.__getitem__, title=HOSTILE[0], spec=HOSTILE[1], notes=HOSTILE)
    with watched_page(browser, file.as_uri()) as page:
        plotted(page)
        for point in page.locator(POINTS).all()[:3]:
            point.hover(force=True)
        assert_is_text(page)
        shown = page.locator("body").inner_text()
        assert HOSTILE[0] in shown
        assert HOSTILE[4] in shown
    for table in (tmp_path / "tables").glob("*.csv"):
        lines = table.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.startswith(("=", "+", "-", "@")) or ",=" in line], table
