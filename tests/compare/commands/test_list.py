"""``overlaybench list``: what a terminal of 80 columns shows, what a pipe gets, and that the examples work."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import overlaybench as ob
from overlaybench.compare.claims.statements import statements
from overlaybench.compare.command_line import COMMANDS, cli
from overlaybench.compare.commands.listing import explain, explanations
from tests.compare.conftest import slow
from tests.outcomes import output_of


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], list[str]]:
    """The lines of a list on a terminal of 80 columns."""

    def lines(what: str) -> list[str]:
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        cli.main(["list", what], standalone_mode=False)
        return capsys.readouterr().out.splitlines()

    return lines


@pytest.mark.parametrize("what", ["problems", "methods", "workloads", "kinds", "min-tco"])
def test_a_table_fits_80_columns_and_has_no_narrow_one(what: str, terminal: Callable[[str], list[str]]) -> None:
    lines = terminal(what)
    tables = [line for line in lines if "overlaybench" not in line]
    assert max(map(len, tables)) <= 80
    assert len(lines) < 4 * len(ob.METHODS)
    names = {line.split()[0] for line in lines if line.strip()}
    assert names >= {"min-tco": {"gm", "zipf"}, "methods": {"gm", "branch-and-cut"}}.get(what, set())


def test_without_a_word_the_index_names_everything_on_one_screen() -> None:
    lines = CliRunner().invoke(cli, ["list"], env={"COLUMNS": "80"}).stdout.splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    words = {word.strip(",*") for line in lines for word in line.split()}
    assert words >= {*ob.PROBLEMS, *ob.METHODS, *ob.WORKLOADS, *ob.KINDS}
    claims = next(line for line in lines if line.startswith("Claims"))
    assert sum(int(word) for word in claims.split() if word.isdigit()) == len(statements())
    steiner = next(line for line in lines if "mehlhorn" in line)
    assert steiner.split()[0] == "steiner"
    assert "branch-and-cut*" in steiner  # also of topics and content
    assert "gm," not in steiner.split()


def test_in_a_pipe_every_row_is_one_line_with_its_options() -> None:
    lines = output_of("list", "methods").splitlines()
    low_oda = next(line for line in lines if line.split()[:1] == ["low-oda"])
    assert "min-tco, minmax-tco, low-tco" in low_oda
    assert "k=3.0 ties=lowest" in low_oda
    assert low_oda.endswith("P2 §3")
    assert not any(sign in line for line in lines for sign in "│─┃")


def test_a_method_is_explained_with_guarantee_options_source_and_example(terminal: Callable[[str], list[str]]) -> None:
    text = " ".join(" ".join(terminal("gm")).split())
    for part in (
        "Greedy Merge",
        "ln(Σ|T_v|) times the fewest edges",
        "time O(Σ_t |V_t|²)",
        "lowest, highest, random,",
        "Chockler, Melamed, Tock and Vitenberg",
        "overlaybench solve topics.json --problem min-tco --method gm",
    ):
        assert part in text


def test_problems_claims_and_methods_of_several_kinds_are_explained() -> None:
    out = output_of("list", "content-mst")
    assert "steiner-mixing" in out
    assert not {"ring-per-topic", "zipf"} & set(out.split())
    assert len(explanations("ilp")) == len(ob.METHODS["ilp"].members) == 4
    out = output_of("list", "P1.L6.6")
    assert "Lemma 6.6" in out
    assert "overlaybench claims P1.L6.6 --quick" in out


def test_everything_listed_is_explained_and_its_examples_parse() -> None:
    entries: list[Any] = [*ob.PROBLEMS.values(), *ob.KINDS.values(), *ob.METHODS.values(), *ob.WORKLOADS.values()]
    for entry in entries:
        for one in explain(entry):
            assert one.summary, entry.name
            assert one.examples, entry.name
            for line in one.examples:
                parsed(line)
            assert not isinstance(entry, ob.Method) or (one.facts["guarantee"] and one.facts["cost"]), entry.name


def commands() -> Iterator[tuple[str, ...]]:
    """The words of every command and of those in groups; () is the command itself."""
    yield ()
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        yield (name,)
        yield from ((name, each) for each in getattr(command, "commands", {}))


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_the_help_of_each_command_ends_with_an_example_that_parses(words: tuple[str, ...]) -> None:
    lines = output_of(*words, "--help").partition("Example:\n")[2].splitlines()
    assert lines
    for line in lines:
        parsed(line)
        assert shlex.split(line)[1 : 1 + len(words)] == list(words)


def parsed(line: str) -> None:
    """Parse a command line without running it; a usage error fails the test."""
    program, *words = shlex.split(line.partition(" > ")[0])
    assert program == "overlaybench"
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None
        command = found
    command.make_context(name, words)


QUICK = ("gm", "zipf", "greedy-packing")


@pytest.mark.interpreted
@pytest.mark.parametrize("name", [*QUICK, *map(slow, sorted({*ob.METHODS, "min-tco"} - {*QUICK}))])
def test_examples_run_one_after_the_other(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in (line for one in explanations(name) for line in one.examples):
        output_of(*shlex.split(line)[1:])
