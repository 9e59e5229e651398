"""`python -m compare` is the command overlaybench."""

from compare.command_line import main

main()
