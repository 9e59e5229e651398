#!/usr/bin/env bash
# networkit==11.3 with networkx==3.6.1.
# NetworKit writes formats that others, or NetworKit itself, do not read. Its GraphML misspells the declaration of the
# namespace (`xmlnsi`), so networkx refuses it; its SNAP files begin with a line that its own reader takes for an edge;
# its GML has neither labels, which networkx needs, nor weights, which are 1 after reading without a word.
# Seen: one weighted edge, of 2.5: GraphML and GML refused by networkx, SNAP refused by NetworKit, weight 1 from GML.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install networkit==11.3 networkx==3.6.1
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import networkit
import networkx

graph = networkit.Graph(2, weighted=True)
graph.addEdge(0, 1, 2.5)
for name in ("GraphML", "GML", "SNAP"):
    networkit.writeGraph(graph, f"one.{name}", getattr(networkit.Format, name))
readers = {
    "GraphML by networkx": lambda: networkx.read_graphml("one.GraphML"),
    "GML by networkx": lambda: networkx.read_gml("one.GML"),
    "SNAP by NetworKit": lambda: networkit.readGraph("one.SNAP", networkit.Format.SNAP),
}
for name, read in readers.items():
    try:
        read()
    except (networkx.NetworkXError, OSError) as error:
        print(name, "is refused:", str(error).splitlines()[0][:70])
    else:
        raise SystemExit(f"{name} is read")
weight = networkit.readGraph("one.GML", networkit.Format.GML).weight(0, 1)
print("weight by GML", weight)
assert weight == 1
assert networkit.readGraph("one.GraphML", networkit.Format.GraphML).weight(0, 1) == 2.5
PYTHON
