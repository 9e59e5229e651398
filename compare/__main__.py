"""``python -m overlaybench.compare`` is the command ``overlaybench``."""

from .command_line import main

main()
