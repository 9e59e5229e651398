"""The command ``overlaybench``."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from ..instances.contract.errors import BadInput

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SUMMARIES = {
    "generate": "Write an instance of a WORKLOAD.",
    "solve": "Solve a problem on the instance in FILE and check the answer.",
    "check": "Check an ANSWER to the instance in FILE.",
    "check-proof": "Check a PROOF about the instance in FILE.",
    "draw": "Draw the instance in FILE, or ANSWERS to it side by side.",
    "list": "List methods, problems, workloads, kinds or claims, or explain one.",
    "study": "Run the study in SPEC.toml on Spark.",
    "status": "Show how far the study in FOLDER is.",
    "report": "Write the report of the study in FOLDER.",
    "results": "Show the results of the study in FOLDER as a table.",
    "compare": "Compare the studies in FOLDER and OTHER run by run; or, with --paired, two or more METHODs in FOLDER.",
    "verify": "Check every stored row, answer and proof of the study in FOLDER again, on Spark.",
    "rerun": "Repeat the run with this KEY and compare.",
    "library": "List, get and run the library's instances, and score methods on them.",
    "claims": "Test the papers' claims.",
    "reproduce": "Draw the papers' figures and tables.",
    "worst": "Search for an instance on which a heuristic is far from the proven optimum.",
    "archive": "Write the code that a cluster's workers import to one file.",
    "doctor": "Check this installation: Java, memory, cores, versions, solvers.",
    "completion": "Print the script that completes commands and names in a SHELL.",
}
"""The commands in the order of ``overlaybench --help``, which imports none of them; each is a file of commands/."""

_SECTIONS = {
    "Instances and answers": ("generate", "solve", "check", "check-proof", "draw", "list"),
    "Studies": ("study", "status", "report", "results", "compare", "verify", "rerun", "library"),
    "The papers": ("claims", "reproduce", "worst"),
    "Installation": ("doctor", "completion", "archive"),
}
EXAMPLES = {
    "generate": "overlaybench generate zipf --nodes 60 --topics 30 --subscriptions 5 -o zipf.json",
    "solve": "overlaybench solve zipf.json --problem min-tco --method gm -o overlay.json",
    "check": "overlaybench check zipf.json overlay.json --problem min-tco",
    "check-proof": "overlaybench check-proof zipf.json zipf.proof.gz",
    "draw": "overlaybench draw zipf.json overlay.json -o overlay.svg",
    "list": "overlaybench list gm",
    "study": "overlaybench study study.toml --out results/mine",
    "status": "overlaybench status results/mine",
    "report": "overlaybench report results/mine",
    "results": "overlaybench results results/mine --by method",
    "compare": "overlaybench compare results/mine --paired gm low-oda",
    "verify": "overlaybench verify results/mine",
    "rerun": "overlaybench rerun results/mine 3f2a",
    "library": "overlaybench library run gm best --time-limit 10 --out results/library",
    "claims": "overlaybench claims --quick P1.L6.6",
    "reproduce": "overlaybench reproduce P1.F2",
    "worst": "overlaybench worst --method gm --problem min-tco --nodes 5 --topics 5",
    "archive": "overlaybench archive -o overlaybench.zip",
    "doctor": "overlaybench doctor",
    "completion": "overlaybench completion fish > ~/.config/fish/completions/overlaybench.fish",
}
"""A command line for each command, shown by its ``--help`` and in the documentation."""


_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


class _Commands(click.Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUMMARIES:
            return None
        command: click.Command = import_module(f"{__package__}.commands.{cmd_name.replace('-', '_')}").command
        if cmd_name in EXAMPLES:
            command.epilog = f"\b\nExample:\n  {EXAMPLES[cmd_name]}"
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=text) for name, text in SUMMARIES.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = {name: title for title, names in _SECTIONS.items() for name in names}
        for title in (*_SECTIONS, "More"):
            if rows := [(name, text) for name, text in SUMMARIES.items() if sections.get(name, "More") == title]:
                with formatter.section(title):
                    formatter.write_dl(rows)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="overlaybench")
def cli() -> None:
    """Build publish/subscribe overlays, and prove how far each is from the optimum.

    `overlaybench COMMAND --help` explains a command, `overlaybench list NAME` a method, problem or workload.
    """


def main() -> NoReturn:
    """Run the command line; bad input is one line and exit status 2."""
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except BadInput as error:
        _stop(str(error), 2)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "overlaybench"
        _stop(f"{' '.join(error.format_message().split())} (see `{command} --help`)", 2)
    except click.ClickException as error:
        _stop(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort) as end:
        _stop(str(end.__cause__ or end) or "stopped; finished runs are kept", 130)
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        where = error.filename or "the disk"
        _stop(f"{where}: cannot be written ({error.strerror}): free some space and run the command again", 2)


def _stop(message: str, status: int) -> NoReturn:
    from .printable import printable

    with suppress(OSError):  # the terminal is gone
        click.echo(f"overlaybench: {printable(message)}", err=True)
    sys.exit(status)
