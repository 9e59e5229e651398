"""The steps of a greedy method as frames and as a page with a slider, in a browser too."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import overlaybench as ob
from overlaybench.compare.figures import stepping
from overlaybench.compare.figures.stepping import SteppedOverlay, save_steps
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.errors import BadInput

WIDTHS, LEAST_TEXT = (1280, 390), 11.0


def stepped(method: str = "gm", **parameters: int) -> SteppedOverlay:
    """The steps of a method on a small instance."""
    given = {"nodes": 10, "topics": 6, "subscriptions": 3, **parameters}
    instance = WORKLOADS["zipf"].generate(seed=1, **given)
    result = ob.METHODS[method].run(instance, ob.PROBLEMS["min-tco"], trace=True)
    assert result.trace is not None
    return SteppedOverlay(instance, result.trace)


def test_a_page_has_every_step_in_words_and_its_edges_in_a_group(tmp_path: Path) -> None:
    steps, page = stepped(), tmp_path / "steps.html"
    save_steps(steps, page, "Greedy Merge")
    text = page.read_text()
    count = len(steps.trace)
    found = re.search(r'<script type="application/json" id="steps">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    listed = json.loads(found[1])
    assert [step["title"] for step in listed] == [steps.title(number) for number in range(1, count + 1)]
    assert all(f'id="drawing-step-{number}"' in text for number in range(1, count + 1))
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


def test_other_endings_and_too_many_frames_are_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"unknown ending '\.svg': use \.html, \.pdf"):
        save_steps(stepped(), tmp_path / "steps.svg", "")
    monkeypatch.setattr(stepping, "MOST_FRAMES", 3)
    with pytest.raises(BadInput, match="steps in frames: at most 3: write a page"):
        save_steps(stepped(), tmp_path / "steps.pdf", "")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium: apt-get install chromium")
def test_the_slider_steps_by_keyboard_and_the_page_fits_a_phone(tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    steps, page_file = stepped(), tmp_path / "steps.html"
    save_steps(steps, page_file, "Greedy Merge, step by step")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
                page, requests, errors = context.new_page(), list[str](), list[str]()
                page.on("request", lambda request: requests.append(request.url))  # noqa: B023
                page.on("pageerror", lambda error: errors.append(str(error)))  # noqa: B023
                page.goto(page_file.as_uri())
                assert "Step 1 of" in page.locator("#now").inner_text()
                page.locator("#step").focus()
                for _ in range(2):
                    page.keyboard.press("ArrowRight")
                assert page.locator("#now").inner_text().startswith(steps.title(3))
                assert page.locator("#drawing-step-3").is_visible()
                assert not page.locator("#drawing-step-4").is_visible()
                page.keyboard.press("End")
                assert page.locator("#now").inner_text().startswith(steps.title(len(steps.trace)))
                page.locator("#row-2 button").press("Enter")
                assert page.locator("#step").input_value() == "2"
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                sizes = page.evaluate(
                    "[...document.querySelectorAll('svg text')].map(t => parseFloat(getComputedStyle(t).fontSize)"
                    " * t.getScreenCTM().a)"
                )
                assert min(sizes) >= LEAST_TEXT
                assert requests == [page_file.as_uri()]
                assert errors == []
                serious = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
                assert [violation["id"] for violation in serious] == []
                context.close()
        browser.close()
