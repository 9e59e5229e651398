"""The command ``overlaybench``."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from ..instances.contract.errors import BadInput, missing_extra, unknown
from ..instances.runtime.signals import SIGNALS, handle_signals

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Entry(NamedTuple):
    section: str
    place: str
    summary: str
    example: str


_ONE, _MANY, _PAPERS, _HERE = "Instances and answers", "Studies", "The papers", "Installation"
COMMANDS = {
    name: _Entry(section, place, summary, f"overlaybench {example}")
    for section, name, place, summary, example in (
        (_ONE, "generate", "solving:generate", "Write an instance of a WORKLOAD.",
         "generate zipf --nodes 60 --topics 30 --subscriptions 5 -o zipf.json"),
        (_ONE, "solve", "solving:solve", "Solve a problem on the instance in FILE and check the answer.",
         "solve zipf.json --problem min-tco --method gm -o overlay.json"),
        (_ONE, "trace", "solving:trace", "Make the trace of two files, as of yesterday and today.",
         "trace from old.csv new.csv -o change.jsonl"),
        (_ONE, "optima", "solving:optima", "List all optimal overlays of the instance in FILE, and what they share.",
         "optima zipf.json --problem min-tco -o shared.svg"),
        (_ONE, "check", "solving:check", "Check an ANSWER to the instance in FILE.",
         "check zipf.json overlay.json --problem min-tco"),
        (_ONE, "check-proof", "solving:check_proof", "Check a PROOF about the instance in FILE.",
         "check-proof zipf.json zipf.proof.gz"),
        (_ONE, "draw", "solving:draw", "Draw the instance in FILE, or ANSWERS to it side by side.",
         "draw zipf.json overlay.json -o overlay.svg"),
        (_ONE, "export", "solving:export", "Write the instance in FILE or an ANSWER to it for other programs.",
         "export gossipsub ethereum.json overlay.json -o params.json"),
        (_ONE, "list", "listing:list_", "List methods, problems, workloads, kinds or claims, or explain one.",
         "list gm"),
        (_MANY, "study", "studies:study", "Run the study in SPEC.toml on Spark.",
         "study study.toml --out results/mine"),
        (_MANY, "status", "studies:status", "Show how far the study in FOLDER is.", "status results/mine"),
        (_MANY, "report", "studies:report", "Write the report of the study in FOLDER.", "report results/mine"),
        (_MANY, "watch", "studies:watch", "Serve the report of the study in FOLDER while it runs.",
         "watch results/mine"),
        (_MANY, "results", "results:results", "Show the results of the study in FOLDER as a table.",
         "results results/mine --by method"),
        (_MANY, "compare", "results:compare",
         "Compare the studies in FOLDER and OTHER run by run; or, with --paired, two or more METHODs in FOLDER.",
         "compare results/mine --paired gm low-oda"),
        (_MANY, "verify", "studies:verify",
         "Check every stored row, answer and proof of the study in FOLDER again.", "verify results/mine"),
        (_MANY, "rerun", "studies:rerun", "Repeat the run with this KEY and compare.", "rerun results/mine 3f2a"),
        (_MANY, "library", "library:library_", "List, get and run the library's instances, and score methods on them.",
         "library run gm best --time-limit 10 --out results/library"),
        (_PAPERS, "claims", ".claims.commands:claims",
         "Show the papers' claims with these IDS (P1 for all of P1) as they stand on record, or run them.",
         "claims P3.F10"),
        (_PAPERS, "reproduce", ".claims.commands:reproduce", "Draw the papers' figures and tables.", "reproduce P1.F2"),
        (_PAPERS, "atlas", ".atlas.command:atlas",
         "Survey every instance up to a size: how far a method misses the optimum, or whether a claim holds.",
         "atlas --method gm --problem min-tco --nodes 5 --topics 5"),
        (_PAPERS, "worst", ".claims.commands:worst",
         "Search for an instance on which a heuristic is far from the proven optimum.",
         "worst --method gm --problem min-tco --nodes 5 --topics 5"),
        (_HERE, "doctor", "installation:doctor", "Check this installation: Java, memory, cores, versions, solvers.",
         "doctor"),
        (_HERE, "completion", "installation:completion",
         "Print the script that completes commands and names in a SHELL.",
         "completion fish > ~/.config/fish/completions/overlaybench.fish"),
        (_HERE, "archive", "studies:archive", "Write the code that a cluster's workers import to one file.",
         "archive -o overlaybench.zip"),
    )
}  # fmt: skip
"""Each command's section, place, summary and example, in the order of ``--help``, which imports none.

A place is a module, relative to the folder commands, and a function.
"""


_OUT_OF_MEMORY = "out of memory: allow this process more (see ulimit -v), or make the input smaller"
_STOPPED = "stopped"
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


class _Commands(click.Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        file, _, function = COMMANDS[cmd_name].place.partition(":")
        command: click.Command = getattr(import_module(f".{file}", f"{__package__}.commands"), function)
        command.epilog = f"\b\nExample:\n  {COMMANDS[cmd_name].example}"
        _refuse_repeats(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise unknown("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        starting = (name for name in COMMANDS if name.startswith(incomplete))
        found = [CompletionItem(name, help=COMMANDS[name].summary) for name in starting]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title in dict.fromkeys(one.section for one in COMMANDS.values()):
            with formatter.section(title):
                formatter.write_dl([(name, one.summary) for name, one in COMMANDS.items() if one.section == title])


def _refuse_repeats(command: click.Command) -> None:
    """Make an option that is given twice an error, unless it takes several values: click takes the last one."""
    for each in getattr(command, "commands", {}).values():
        _refuse_repeats(each)
    make_parser = command.make_parser

    def make(ctx: click.Context) -> Any:
        parser = make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            opts, rest, order = parse(args)
            for one, times in Counter(order).items():
                several = not isinstance(one, click.Option) or one.multiple or one.count
                if times > 1 and not several and not ctx.resilient_parsing:
                    raise click.UsageError(f"{one.opts[-1]} is given twice: leave one out.", ctx)
            return opts, rest, order

        vars(parser)["parse_args"] = parse_once
        return parser

    if "make_parser" not in vars(command):  # it is asked for again
        vars(command)["make_parser"] = make


_EXAMPLE = "\n  ".join(["\b\nExample:", *(COMMANDS[name].example for name in ("generate", "solve"))])


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    epilog=_EXAMPLE,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="overlaybench")
@click.pass_context
def cli(context: click.Context) -> None:
    """Build publish/subscribe overlays, and prove how far each is from the optimum.

    `overlaybench COMMAND --help` explains a command, `overlaybench list NAME` a method, problem or workload.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> NoReturn:
    """Run the command line; bad input is one line and exit status 2, a signal one line and 128 + its number."""
    received = handle_signals()
    os.environ.setdefault("PANDAS_COPY_ON_WRITE", "1")  # half the memory; read, as the next one, by an import
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")  # gives back what temporary columns had
    try:
        message, status = _run()
    except KeyboardInterrupt:  # a second one
        message, status = _STOPPED, 130
    if received:
        message, status = message or f"stopped by {signal.Signals(received[0]).name}", 128 + received[0]
    for number in (*SIGNALS, signal.SIGALRM):  # a signal that an import holds back waits for an alarm
        signal.signal(number, signal.SIG_IGN)  # the command has ended
    from .printable import printable

    try:
        if message:
            click.echo(f"overlaybench: {printable(message)}", err=True)
        sys.stdout.flush()
    except OSError:  # the terminal is gone, or who reads the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if received:
        os._exit(status)  # at once: unloading libraries takes up to a second
    sys.exit(status)


def _run() -> tuple[str, int]:
    """Run the command line; the line that is said of its end, if any, and the exit status."""
    try:
        return "", cli.main(standalone_mode=False) or 0
    except SystemExit as end:
        return "", int(end.code or 0)
    except BadInput as error:
        return str(error), 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "overlaybench"
        return f"{' '.join(error.format_message().split())} (see `{command} --help`)", 2
    except click.ClickException as error:
        return error.format_message(), 2
    except (KeyboardInterrupt, click.Abort) as end:
        return str(end.__cause__ or end) or _STOPPED, 130
    except MemoryError:
        return _OUT_OF_MEMORY, 2
    except UnicodeEncodeError as error:  # as Arrow raises for a path
        return f"{error.object[:200]}: is not UTF-8: choose another name", 2
    except (ImportError, OSError) as error:
        if isinstance(error, ModuleNotFoundError) and isinstance(lacking := missing_extra(error), BadInput):
            return str(lacking), 2
        if (
            getattr(error, "errno", None) is None
            and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
        ):
            return _OUT_OF_MEMORY, 2  # a library cannot be loaded
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            return f"{error.filename:.60}…: the name is too long: give a shorter one", 2
        if not isinstance(error, OSError) or error.errno not in _DISK_ERRORS:
            raise
        where = error.filename or "the disk"
        return f"{where}: cannot be written ({error.strerror}): free some space and run the command again", 2
