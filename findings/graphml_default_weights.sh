#!/usr/bin/env bash
# networkx==3.6.1, networkit==11.3, igraph==1.0.0 and rustworkx==0.18.1.
# GraphML gives an attribute a value for all nodes or edges that do not state one (`<default>`). Four readers make three
# weights of one edge with the default 5: igraph and rustworkx 5, networkx none (it keeps the default as an attribute of
# the graph, and its algorithms count 1), and NetworKit 0.
# Seen: the shortest path along that edge is 5 long for igraph, 1 for networkx and 0 for NetworKit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install networkx==3.6.1 networkit==11.3 igraph==1.0.0 rustworkx==0.18.1
cd "$folder"
cat > default.graphml <<'GRAPHML'
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="w" for="edge" attr.name="weight" attr.type="double"><default>5</default></key>
  <graph id="G" edgedefault="undirected">
    <node id="n0"/><node id="n1"/><node id="n2"/>
    <edge source="n0" target="n1"/>
    <edge source="n1" target="n2"><data key="w">2</data></edge>
  </graph>
</graphml>
GRAPHML
"$folder/env/bin/python" - <<'PYTHON'
import igraph
import networkit
import networkx
import rustworkx

file = "default.graphml"
of_networkx, of_igraph = networkx.read_graphml(file), igraph.Graph.Read_GraphML(file)
of_networkit = networkit.readGraph(file, networkit.Format.GraphML)
weights = {
    "networkx": of_networkx.edges["n0", "n1"].get("weight"),
    "NetworKit": of_networkit.weight(0, 1),
    "igraph": of_igraph.es["weight"][0],
    "rustworkx": rustworkx.read_graphml(file)[0].edges()[0]["weight"],
}
lengths = {
    "networkx": networkx.shortest_path_length(of_networkx, "n0", "n1", weight="weight"),
    "NetworKit": networkit.distance.Dijkstra(of_networkit, 0).run().distance(1),
    "igraph": of_igraph.distances(0, 1, weights="weight")[0][0],
}
print("weights", weights, "lengths", lengths)
assert weights == {"networkx": None, "NetworKit": 0, "igraph": 5, "rustworkx": 5}
assert lengths == {"networkx": 1, "NetworKit": 0, "igraph": 5}
PYTHON
