#!/usr/bin/env bash
# xgi==0.10.2.
# The Hypergraph Interchange Format (HIF) has a member `weight` for edges, nodes and incidences. XGI leaves all of them out when
# it reads a file, without a word, and writes weights where others do not look for them: among the free attributes (`attrs`).
# Guess before: an attribute "weight" of edges and nodes, which XGI's statistics and algorithms look up.
# Seen: an edge of weight 2.5 has no attributes after reading, `attrs` are kept; written again, the file has no weight.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install xgi==0.10.2 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import json

import xgi

file = {
    "network-type": "undirected",
    "nodes": [{"node": "a", "weight": 4, "attrs": {"colour": "red"}}],
    "edges": [{"edge": "e", "weight": 2.5, "attrs": {"kind": "film"}}],
    "incidences": [{"edge": "e", "node": "a", "weight": 3}, {"edge": "e", "node": "b"}],
}
json.dump(file, open("weights.json", "w"))
read = xgi.read_hif("weights.json")
print("edge", read.edges["e"], "node", read.nodes["a"])
assert (read.edges["e"], read.nodes["a"]) == ({"kind": "film"}, {"colour": "red"})
xgi.write_hif(read, "again.json")
assert "weight" not in open("again.json").read()
weighted = xgi.Hypergraph()
weighted.add_edge(["a", "b"], idx="e", weight=2.5)
xgi.write_hif(weighted, "written.json")
edges = json.load(open("written.json"))["edges"]
print("XGI writes", edges)
assert edges == [{"edge": "e", "attrs": {"weight": 2.5}}]
PYTHON
