#!/usr/bin/env bash
# hypernetx==2.4.3.
# Reading a HIF file from the disk asks a web server for the format's schema each time. A machine without a network, or
# a cluster's worker behind a wall, cannot read its own file; the error names a host and not the file.
# Seen: with the resolution of names refused, `from_hif` of a local file of two members raises ConnectionError.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install hypernetx==2.4.3
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import json
import socket
from pathlib import Path

import hypernetx

asked = []


def refuse(host, *others, **more):
    asked.append(host)
    raise socket.gaierror(socket.EAI_NONAME, "no network here")


socket.getaddrinfo = refuse
Path("two.hif.json").write_text(json.dumps({"incidences": [{"edge": "e", "node": "a"}, {"edge": "e", "node": "b"}]}))
try:
    hypernetx.from_hif(filename="two.hif.json")
except OSError as error:
    print(type(error).__name__, "after it asked for", len(asked), "host or more")
    assert type(error).__name__ == "ConnectionError" and "two.hif.json" not in str(error)
else:
    raise SystemExit("read without a network")
assert asked
PYTHON
