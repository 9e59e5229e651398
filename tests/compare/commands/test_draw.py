"""``overlaybench draw`` and ``solve --step``: files of each format, defaults by kind, errors before any work."""

import json
from pathlib import Path

import pytest

from tests.outcomes import output_of

TRIANGLE = {"ann": ["a", "b"], "bob": ["a", "c"], "cid": ["b", "c"], "dee": ["a", "b", "c"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "four.json"
    path.write_text(json.dumps({"format": "topics/1", "subscriptions": TRIANGLE}))
    return path


def test_solve_shows_the_choices_and_the_counters(file: Path) -> None:
    words = ("solve", file, "--method", "gm", "--option", "ties=worst")
    answer = json.loads(output_of(*words, "--json"))
    shown = output_of(*words)
    assert f"choices: {answer['counters']['choices']}" in " ".join(shown.split())
    assert f"states {answer['counters']['states']}" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "steps" not in answer


def test_solve_shows_the_steps_as_text_and_as_json(file: Path) -> None:
    answer = json.loads(output_of("solve", file, "--method", "low-oda", "--step", "--json"))
    assert [step["step"] for step in answer["steps"]] == list(range(1, len(answer["edges"]) + 1))
    assert sorted(sorted(edge) for step in answer["steps"] for edge in step["edges"]) == answer["edges"]
    assert {"contribution", "ties", "degrees", "topics", "nodes"} < set(answer["steps"][0])
    lines = output_of("solve", file, "--method", "low-oda", "--step").splitlines()
    assert lines[-len(answer["steps"]) - 1].split()[:4] == ["step", "choice", "contribution", "ties"]


@pytest.mark.parametrize("words", [("--method", "gm", "--method", "cd-oda", "--differences", "--by-topic"), ()])
def test_draw_writes_the_instance_or_answers_found_by_methods(words: tuple[str, ...], file: Path) -> None:
    picture = file.with_name("four.svg")
    assert output_of("draw", file, *words, "-o", picture) == f"{picture}\n"
    shown = picture.read_text()
    assert "ann" in shown
    assert ("gm (feasible)" in shown) == bool(words)


@pytest.mark.slow
def test_a_page_of_steps_is_drawn_by_the_command(file: Path) -> None:
    page = file.with_name("steps.html")
    output_of("draw", file, "--method", "gm", "--step", "-o", page)
    assert "Step 1 of" in page.read_text()
