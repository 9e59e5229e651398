#!/usr/bin/env bash
# hypergraphx==1.8.0.
# `write_hif` writes objects where the Hypergraph Interchange Format has lists, "type" for "network-type", and no
# incidence at all: the members of hyperedges are lost. `read_hif` needs the lists "nodes" and "edges", which the format
# leaves open.
# Seen: of two hyperedges with 5 members the file has "incidences": {}; a file without "nodes" ends in a KeyError.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install hypergraphx==1.8.0
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import json
from hypergraphx import Hypergraph
from hypergraphx.readwrite import read_hif, write_hif

write_hif(Hypergraph([("a", "b", "c"), ("c", "d")]), "two.json")
written = json.load(open("two.json"))
print("edges", written["edges"], "incidences", written["incidences"])
assert len(written["edges"]) == 2 and not written["incidences"]
json.dump({"network-type": "undirected", "incidences": [{"edge": "x", "node": "a"}]}, open("least.json", "w"))
try:
    read_hif("least.json")
except KeyError as error:
    print("read_hif:", repr(error))
else:
    raise SystemExit("the least HIF file is read")
PYTHON
