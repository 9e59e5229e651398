"""The commands of ``overlaybench``, a file a command: options and what the command does."""
