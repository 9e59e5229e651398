"""The command ``overlaybench``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

import click

from ..instances.errors import BadInput

SUMMARIES = {
    "generate": "Write an instance of a WORKLOAD.",
    "solve": "Solve a problem on the instance in FILE and check the answer.",
    "check": "Check an ANSWER to the instance in FILE.",
    "list": "List the problems, methods, workloads or claims.",
    "study": "Run the study in SPEC.toml on Spark.",
    "status": "Show how far the study in FOLDER is.",
    "report": "Write the report of the study in FOLDER.",
    "results": "Show the results of the study in FOLDER as a table.",
    "compare": "Compare two studies run by run, or methods on the instances they share.",
    "verify": "Check every stored answer of the study in FOLDER again.",
    "rerun": "Repeat the run with this KEY and compare.",
    "claims": "Test the papers' claims.",
    "reproduce": "Draw the papers' figures and tables.",
    "worst": "Search for an instance on which a heuristic is far from the proven optimum.",
    "archive": "Write the code that a cluster's workers import to one file.",
}
"""The commands in the order of ``overlaybench --help``, which imports none of them; each is a file of commands/."""


class _Commands(click.Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUMMARIES:
            return None
        command: click.Command = import_module(f"{__package__}.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="overlaybench")
def cli() -> None:
    """Build publish/subscribe overlays, and prove how far each is from the optimum."""


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


def _stop(message: str, status: int) -> NoReturn:
    click.echo(f"overlaybench: {message}", err=True)
    sys.exit(status)
