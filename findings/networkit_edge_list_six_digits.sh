#!/usr/bin/env bash
# networkit==11.3.
# NetworKit's edge lists (`EdgeListSpaceZero`, `EdgeListTabOne`) have six digits of each weight, and a node that was removed
# is there again after reading, as a component of its own. Its METIS files keep all digits, and number the nodes anew.
# Guess before: the weights come back as they were, as from METIS; removed nodes stay removed, as there.
# Seen: the weight 1234567.125 comes back as 1234570; a graph of two nodes and one removed between them comes back with three.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install networkit==11.3
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import networkit

graph = networkit.Graph(3, weighted=True)
graph.addEdge(0, 2, 1234567.125)
graph.removeNode(1)
seen = {}
for name in ("EdgeListSpaceZero", "EdgeListTabOne", "METIS"):
    file_format = getattr(networkit.Format, name)
    networkit.writeGraph(graph, name, file_format)
    read = networkit.readGraph(name, file_format)
    seen[name] = read.numberOfNodes(), [weight for _, _, weight in read.iterEdgesWeights()]
    print(name, "nodes", seen[name][0], "weights", seen[name][1])
assert graph.numberOfNodes() == 2
assert seen["EdgeListSpaceZero"] == seen["EdgeListTabOne"] == (3, [1234570])
assert seen["METIS"] == (2, [1234567.125])
PYTHON
