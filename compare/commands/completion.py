"""``overlaybench completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and names in a SHELL.

    \b
    bash  overlaybench completion bash > ~/.local/share/bash-completion/completions/overlaybench
    zsh   overlaybench completion zsh > ~/.zfunc/_overlaybench
    fish  overlaybench completion fish > ~/.config/fish/completions/overlaybench.fish

    The folder of zsh must be in your fpath. The next shell completes commands, options, files, and the names of
    methods, problems, workloads and claims.
    """  # noqa: D301
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(context.find_root().command, {}, "overlaybench", "_OVERLAYBENCH_COMPLETE").source())
