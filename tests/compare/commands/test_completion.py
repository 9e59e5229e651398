"""Shells complete commands, options, and the names of methods, problems, workloads and claims."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from overlaybench.compare.command_line import COMMANDS, cli


def completed(*words: str) -> list[str]:
    shell = ShellComplete(cli, {}, "overlaybench", "_OVERLAYBENCH_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("re",), ["report", "results", "rerun", "reproduce"]),
        (("solve", "f.json", "--problem", "content-m"), ["content-mst"]),
        (("solve", "f.json", "--method", "low"), ["low-oda"]),
        (("solve", "f.json", "--problem", "2d-star", "--method", "2"), ["2d-oda"]),
        (("solve", "f.json", "--problem", "steiner", "--method", "g"), []),
        (("generate", "zipf-"), ["zipf-varying", "zipf-fitted"]),
        (
            ("generate", "zipf", "--"),
            ["--nodes", "--topics", "--subscriptions", "--alpha", "--seed", "--master", "--output", "--help"],
        ),
        (("generate", "zipf", "--nodes", "9", "--to"), ["--topics"]),
        (("claims", "P1.L6."), ["P1.L6.1", "P1.L6.2", "P1.L6.4", "P1.L6.5", "P1.L6.6"]),
        (("list", "min-"), ["min-tco"]),
        (("library", "u"), ["update"]),
        (("library", "get", "hypercube-6-u"), ["hypercube-6-unit"]),
        (("solve", "--prob"), ["--problem"]),
    ],
)
def test_what_is_typed_is_completed(words: tuple[str, ...], found: list[str]) -> None:
    assert completed(*words) == found


def test_the_first_word_is_any_command() -> None:
    assert completed("") == list(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_the_program_itself(shell: str) -> None:
    words = [sys.executable, "-m", "overlaybench.compare", "completion", shell]
    script = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert f"_OVERLAYBENCH_COMPLETE={shell}_complete" in script


def test_completing_a_command_imports_none() -> None:
    code = (
        "import sys\n"
        "from click.shell_completion import ShellComplete\n"
        "from overlaybench.compare.command_line import cli\n"
        "ShellComplete(cli, {}, 'overlaybench', '_X').get_completions([], 're')\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
