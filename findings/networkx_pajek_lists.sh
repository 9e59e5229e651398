#!/usr/bin/env bash
# networkx==3.6.1, beside igraph==1.0.0.
# In Pajek's sections *Edgeslist and *Arcslist a line is a vertex and all its neighbours. networkx takes the sections
# for *Edges and *Arcs, so the line `1 2 3 4` is one edge 1-2 of weight 3 to it: the other edges are gone and a weight
# is invented, without a word. A section *Vertices with the number alone, as igraph writes for vertices without names,
# it refuses (issue 3122 of networkx).
# Seen: `1 2 3 4` is a-b with weight 3 for networkx, and a-b, a-c, a-d for igraph; igraph's own file is refused.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install networkx==3.6.1 igraph==1.0.0
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import igraph
import networkx

for section in ("*Edgeslist", "*Arcslist"):
    with open("lists.net", "w") as file:
        file.write(f'*Vertices 4\n1 "a"\n2 "b"\n3 "c"\n4 "d"\n{section}\n1 2 3 4\n')
    by_networkx = list(networkx.read_pajek("lists.net").edges(data="weight"))
    graph = igraph.Graph.Read_Pajek("lists.net")
    by_igraph = [tuple(graph.vs[edge.tuple]["name"]) for edge in graph.es]
    print(section, "networkx", by_networkx, "igraph", by_igraph)
    assert by_networkx == [("a", "b", 3)]
    assert by_igraph == [("a", "b"), ("a", "c"), ("a", "d")]
igraph.Graph(3, [(0, 1)]).write_pajek("plain.net")
try:
    networkx.read_pajek("plain.net")
except ValueError as error:
    print("igraph's file without names is refused by networkx:", error)
else:
    raise SystemExit("igraph's file is read")
PYTHON
