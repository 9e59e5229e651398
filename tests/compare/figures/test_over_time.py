"""Overlays of traces in pictures: one time, and a page with a slider, in a browser too."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import overlaybench as ob
from overlaybench.compare.command_line import cli
from overlaybench.compare.figures.over_time import save_replay
from overlaybench.instances.contract.timed import SECOND
from overlaybench.instances.topics.trace_files import TRACES, write_trace
from tests.trace_strategies import links_over_time

Method = ob.METHODS["gm-recomputed"]


def answered(**given: int) -> tuple[ob.TopicTrace, ob.LinkLog]:
    """A small trace and the overlays of Greedy Merge."""
    trace = ob.generate("churn", seed=2, **{"nodes": 7, "topics": 3, "subscriptions": 2, "events": 9, **given})
    log = Method.run(trace, ob.PROBLEMS["dynamic-tco"]).answer
    assert isinstance(trace, ob.TopicTrace)
    assert isinstance(log, ob.LinkLog)
    return trace, log


def shown_data(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="replay">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.interpreted
def test_the_page_has_the_links_of_every_moment_and_the_bounds_that_are_known(tmp_path: Path) -> None:
    trace, log = answered()
    page, bounds = tmp_path / "replay.html", [str(at % 3) for at in range(trace.num_steps)]
    given: dict[str, Any] = {"problem": "dynamic-tco", "method": "snapshot-optima", "status": ob.Status.FEASIBLE}
    optima: ob.Result[ob.LinkLog] = ob.Result(**given, answer=log, counters={"snapshot_bounds": " ".join(bounds)})
    save_replay(page, "one", trace, log, optima)
    data, text = shown_data(page), page.read_text()
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
    given = ["draw", str(file), str(answer), "-o", str(picture), "--at"]
    assert CliRunner().invoke(cli, [*given, str(middle)], catch_exceptions=False).exit_code == 0
    assert f"log, at {middle:g} s" in picture.read_text()
    with pytest.raises(ob.BadInput, match="the trace is from"):
        CliRunner().invoke(cli, [*given, "1e6"], catch_exceptions=False, standalone_mode=False)
    with pytest.raises(ob.BadInput, match="name an ANSWER or a --method"):
        CliRunner().invoke(cli, ["draw", str(file), "-o", str(picture)], catch_exceptions=False, standalone_mode=False)
    figure = ob.draw(trace, log, options=ob.DrawOptions(problem="dynamic-tco@change-cost=2"))
    value = ob.PROBLEMS["dynamic-tco@change-cost=2"].value(trace, log)
    assert any(f"dynamic-tco@change-cost=2 {value:,.0f}" in str(text.get_text()) for text in figure.axes[0].texts)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium: apt-get install chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_slider_shows_links_that_come_and_go_and_the_page_fits_a_phone(width: int, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    trace, log = answered()
    file = tmp_path / "replay.html"
    save_replay(file, "A trace", trace, log)
    data = shown_data(file)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page, requests, errors = browser.new_page(viewport={"width": width, "height": 800}), list[str](), list[str]()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
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
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        serious = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
        assert [violation["id"] for violation in serious] == []
        assert (requests, errors) == ([file.as_uri()], [])
        browser.close()
