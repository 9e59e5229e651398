#!/usr/bin/env bash
# hypernetx==2.4.3.
# To import HyperNetX raises the recursion limit of the whole process to 10,000, also where nothing of it is called
# (two of its files on centrality and clustering do so as they are loaded). Whatever tells deep input by Python's
# RecursionError then takes what it refused before: a document of one program is read or not by what else was imported.
# Seen: the limit is 1000 before and 10000 after; 5,000 nested calls raise RecursionError before, and none after.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install hypernetx==2.4.3
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys


def depth(levels):
    """Of nested calls, which a parser by recursive descent makes for nested lists."""
    return 0 if levels == 0 else 1 + depth(levels - 1)


def is_taken(levels):
    try:
        return depth(levels) == levels
    except RecursionError:
        return False


before = sys.getrecursionlimit(), is_taken(5000)
import hypernetx  # noqa: E402, F401

after = sys.getrecursionlimit(), is_taken(5000)
print("limit %d, 5,000 levels taken: %s; with HyperNetX %d, %s" % (*before, *after))
assert before == (1000, False)
assert after == (10000, True)
PYTHON
