"""Results in a terminal and in a pipe."""

import pandas as pd
import pytest

from overlaybench.compare.commands import results as command_of_results
from overlaybench.compare.python_api import studies as study_results
from overlaybench.compare.studies import results as module_of_results
from overlaybench.compare.studies.columns import researched
from overlaybench.instances.contract.errors import BadInput
from tests.compare.report_rows import frame, recipe, run

REASON = "memory: 1612 MiB held, 1500 MiB allowed, and the solver had not ended by itself when it was asked to do so"
RECIPE = recipe(nodes=10, subscriptions=2)
LONG = "low-oda k=8 partitions=16 ties=random"


def rows() -> pd.DataFrame:
    """Runs of long names, of which one failed and one has no counterpart."""
    stored = frame(
        *(run(problem="content-shared-tree", method=method, recipe=RECIPE, cpu_seconds=0.1, value=1234567.0)
          for method in ("migration", LONG)),
        run(problem="content-mst", method="steiner-mixing", recipe=RECIPE, value=98.7654321, lower_bound=91.5),
        run(problem="content-mst", method=LONG, recipe=RECIPE, status="failed", reason=REASON),
    )  # fmt: skip
    return researched(stored).assign(current=True)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for module in (study_results, module_of_results):
        monkeypatch.setattr(module, "results", lambda *given, **others: rows())
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    command_of_results.results.main(["folder", *words], standalone_mode=False)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("words", [[], ["--by", "problem", "--by", "variant"], ["--all"], ["--by", "nodes"]])
def test_80_columns_show_all_columns_and_the_reasons_of_failed_runs(
    shown: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    shown.setattr("sys.stdout.isatty", lambda: True)
    lines = printed(capsys, *words)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "1,234,567" in text or "823,0" in text
    assert "ratio" in text
    assert "…" not in text
    of_runs = (
        "variant",
        "status",
        "content-",
        "steiner-",
        *rows()["key"].str[:8],
        "Failed or skipped",
        *REASON.split(),
    )
    assert [word for word in of_runs if "--by" not in words and word not in text] == []


def test_a_pipe_gets_narrow_rows_with_keys_last(shown: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys)
    assert [line.split()[-1] for line in lines[2:6]] == [
        key[:8] for key in rows().sort_values(["problem", "variant"])["key"]
    ]
    assert REASON in lines[-1]
    assert max(map(len, lines[:6])) <= 100
    grouped = printed(capsys, "--by", "variant")
    assert max(map(len, grouped[:-2])) <= 100
    assert any("95 MiB" in line for line in printed(capsys, "--by", "nodes"))


def test_groups_say_how_many_instances_they_have(shown: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "--by", "problem", "--by", "variant")
    (failed,) = [line for line in lines if "content-mst" in line and LONG in line]
    assert "0 of 1" in failed
    assert lines[-2:] == [
        "Each mean is over the instances that its group answered; see --common.",
        "Mean ratios are over the instances with a proven bound (ratio instances).",
    ]
    assert "see --common" not in "\n".join(printed(capsys, "--by", "problem", "--by", "variant", "--common"))
    with pytest.raises(BadInput, match="--common: give --by as well"):
        printed(capsys, "--common")


def test_by_method_says_which_variants_it_merges(shown: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    two = rows().assign(problem="content-mst", method=["low-oda", "gm", "gm", "low-oda"])
    two["variant"] = ["low-oda k=2", "gm", "gm", "low-oda k=8"]
    shown.setattr(module_of_results, "results", lambda *given, **others: two)
    for words, said in (
        (["--by", "method"], "one line for low-oda k=2, low-oda k=8: --by variant has a line each"),
        (["--by", "method", "--by", "variant"], ""),
        (["--by", "problem"], ""),
        (["--by", "method", "--by", "value"], ""),  # nothing is merged
    ):
        command_of_results.results.main(["folder", *words], standalone_mode=False)
        assert said in (err := capsys.readouterr().err)
        assert bool(err) == bool(said)
