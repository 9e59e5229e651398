"""The steps of a greedy method and overlays of traces, as pictures and as pages with a slider, in a browser too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import overlaybench as ob
from overlaybench.compare.figures import stepping
from overlaybench.compare.figures.stepping import SteppedOverlay, save_steps
from overlaybench.compare.over_time.replay import save_replay
from overlaybench.instances.contract.time_units import SECOND
from overlaybench.instances.over_time.trace_files import TRACES, write_trace
from tests.compare.conftest import Theme, embedded, watched_page
from tests.outcomes import known, output_of, refusal_of
from tests.trace_strategies import links_over_time

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def stepped(method: str = "gm", **parameters: int) -> SteppedOverlay:
    """The steps of a method on a small instance."""
    given = {"nodes": 10, "topics": 6, "subscriptions": 3, **parameters}
    instance = ob.WORKLOADS["zipf"].generate(seed=1, **given)
    result = ob.METHODS[method].run(instance, ob.PROBLEMS["min-tco"], trace=True)
    return SteppedOverlay(instance, known(result.trace))


def test_a_page_has_every_step_in_words_and_its_edges_in_a_group(tmp_path: Path) -> None:
    steps, page = stepped(), tmp_path / "steps.html"
    save_steps(steps, page, "Greedy Merge")
    text = page.read_text()
    count = len(steps.trace)
    listed = embedded(text, "steps")
    assert [step["title"] for step in listed] == [steps.title(number) for number in range(1, count + 1)]
    assert all(f'id="drawing0-step-{number}"' in text for number in range(1, count + 1))
    assert "src=" not in text
    save_steps(stepped(), tmp_path / "again.html", "Greedy Merge")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_a_step_is_told_by_measure_ties_degrees_and_topics() -> None:
    edges, stars = stepped(), stepped("cd-oda")
    step = edges.trace[0]
    assert step.ties == 1
    assert edges.text(1).startswith(
        f"contribution {step.gain}, no other choice is as good; 1 edge added, degrees 1, 1 "
    )
    assert f"{edges.trace[1].ties} equally good choices" in edges.text(2)
    assert edges.text(1).endswith("unites " + " ".join(edges.trace.topic_labels[t] for t in step.topics))
    assert stars.text(1).startswith(f"neighbours {stars.trace[0].gain}, ")
    assert f"degree {stars.trace[0].degrees[0]} afterwards; completes the stars of" in stars.text(1)


@pytest.mark.slow
def test_frames_are_a_page_each_or_a_file_each(tmp_path: Path) -> None:
    steps = stepped(nodes=4, topics=3, subscriptions=2)
    save_steps(steps, tmp_path / "frames.pdf", "")
    count = len(steps.trace)
    assert len(re.findall(rb"/Type /Page\b", (tmp_path / "frames.pdf").read_bytes())) == count
    save_steps(steps, tmp_path / "frames", "")
    assert [file.name for file in sorted((tmp_path / "frames").iterdir())] == [
        f"{number:03}.svg" for number in range(1, count + 1)
    ]
    assert f"Step {count} of {count}" in (tmp_path / "frames" / f"{count:03}.svg").read_text()


def test_too_many_frames_are_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepping, "MOST_FRAMES", 3)
    with pytest.raises(ob.BadInput, match="steps in frames: at most 3: write a page"):
        save_steps(stepped(), tmp_path / "steps.pdf", "")
    assert not list(tmp_path.iterdir())


def assert_fits_and_is_accessible(page: Page, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = Axe().run(page).response["violations"]
    assert [each["id"] for each in violations if each["impact"] in ("serious", "critical")] == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_slider_steps_by_keyboard(browser: Browser, width: int, scheme: Theme, tmp_path: Path) -> None:
    steps, file = stepped(), tmp_path / "steps.html"
    save_steps(steps, file, "Greedy Merge, step by step")
    with watched_page(browser, file.as_uri(), width, scheme) as page:
        assert "Step 1 of" in page.locator("#now").inner_text()
        page.locator("#step").focus()
        for _ in range(2):
            page.keyboard.press("ArrowRight")
        assert page.locator("#now").inner_text().startswith(steps.title(3))
        assert page.locator("#drawing0-step-3").is_visible()
        assert not page.locator("#drawing0-step-4").is_visible()
        page.keyboard.press("End")
        assert page.locator("#now").inner_text().startswith(steps.title(len(steps.trace)))
        page.locator("#row-2 button").press("Enter")
        assert page.locator("#step").input_value() == "2"
        sizes = page.evaluate(
            "[...document.querySelectorAll('svg text')].map(t => parseFloat(getComputedStyle(t).fontSize)"
            " * t.getScreenCTM().a)"
        )
        assert min(sizes) >= 11.0
        assert_fits_and_is_accessible(page, width)


Method = ob.METHODS["gm-recomputed"]


def answered(**given: int) -> tuple[ob.TopicTrace, ob.LinkLog]:
    """A small trace and the overlays of Greedy Merge."""
    trace = ob.generate("churn", seed=2, **{"nodes": 7, "topics": 3, "subscriptions": 2, "events": 9, **given})
    log = Method.run(trace, ob.PROBLEMS["dynamic-tco"]).answer
    assert isinstance(trace, ob.TopicTrace)
    assert isinstance(log, ob.LinkLog)
    return trace, log


@pytest.mark.interpreted
def test_the_page_has_the_links_of_every_moment_and_the_bounds_that_are_known(tmp_path: Path) -> None:
    trace, log = answered()
    page, bounds = tmp_path / "replay.html", [str(at % 3) for at in range(trace.num_steps)]
    given: dict[str, Any] = {"problem": "dynamic-tco", "method": "snapshot-optima", "status": ob.Status.FEASIBLE}
    optima: ob.Result[ob.LinkLog] = ob.Result(**given, answer=log, counters={"snapshot_bounds": " ".join(bounds)})
    save_replay(page, "one", trace, log, optima)
    text = page.read_text()
    data = embedded(text, "replay")
    union = sorted({tuple(link) for link in log.links.tolist()})
    times = trace.step_times.tolist()
    links = set[int]()
    every = list(links_over_time(trace, log, [time / SECOND for time in times]))
    assert len(data["frames"]) == len(times)
    for (words, added, gone), wanted, bound in zip(data["answers"][0], every, bounds, strict=True):
        links = (links | set(added)) - set(gone)
        assert {(trace.node_label(union[at][0]), trace.node_label(union[at][1])) for at in links} == wanted
        assert words.startswith(f"{len(wanted)} links, at least {bound} are needed: ")
    assert all(f'id="drawing0-link-{at}"' in text for at in range(len(union)))
    assert "src=" not in text
    present = set(data["present"])
    for (title, joined, left, acting), now in zip(data["frames"], trace.present(), strict=True):
        present = (present | set(joined)) - set(left)
        assert present == now
        assert all(trace.node_label(v) in title for v in acting[:1])


def test_a_picture_shows_one_time_and_refuses_times_outside_of_the_trace(tmp_path: Path) -> None:
    trace, log = answered()
    file, answer, picture = tmp_path / "one.jsonl", tmp_path / "log.json", tmp_path / "one.svg"
    write_trace(trace, file)
    TRACES.write_answer(log, trace, answer)
    middle = int(trace.step_times[5]) / SECOND
    given = ("draw", file, answer, "-o", picture, "--at")
    output_of(*given, middle)
    assert f"log, at {middle:g} s" in picture.read_text()
    assert "the trace is from" in refusal_of(*given, "1e6")
    assert "name an ANSWER or a --method" in refusal_of("draw", file, "-o", picture)
    figure = ob.draw(trace, log, options=ob.DrawOptions(problem="dynamic-tco@change-cost=2"))
    value = ob.PROBLEMS["dynamic-tco@change-cost=2"].value(trace, log)
    assert any(f"dynamic-tco@change-cost=2 {value:,.0f}" in str(text.get_text()) for text in figure.axes[0].texts)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_slider_shows_links_that_come_and_go(browser: Browser, width: int, tmp_path: Path) -> None:
    trace, log = answered()
    file = tmp_path / "replay.html"
    save_replay(file, "A trace", trace, log)
    data = embedded(file.read_text(), "replay")
    with watched_page(browser, file.as_uri(), width) as page:
        page.locator("#time").focus()
        for frame, moment in enumerate(log.moments(trace.departures(), trace.step_times.tolist())):
            assert page.locator("#now").inner_text() == data["frames"][frame][0]
            counted = {state: page.locator(f"g[id^=drawing0-link].{state}").count() for state in ("now", "gone")}
            assert counted == {"now": len(moment.added), "gone": len(moment.gone)}
            hidden = page.locator("g[id^=drawing0-link].later").count()
            assert page.locator("g[id^=drawing0-link]").count() - hidden == len(moment.links) + len(moment.gone)
            page.keyboard.press("ArrowRight")
        page.click("#back")
        assert page.locator("#now").inner_text() == data["frames"][-2][0]
        assert_fits_and_is_accessible(page, width)
