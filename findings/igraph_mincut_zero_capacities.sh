#!/usr/bin/env bash
# igraph==1.0.0.
# `Graph.mincut` gives the right value of a minimum cut of an undirected graph whose edges may have capacity 0, and with it
# the vertices and edges of another cut, which costs more. Between two given vertices, or in a directed graph, value and
# cut agree.
# Guess before: the capacities of the edges in `cut` add up to `value`.
# Seen: the path 0 - 1 - 2 of capacities 5 and 0 has value 0 and the cut {0} against {1, 2}, of capacity 5.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install igraph==1.0.0
"$folder/env/bin/python" - <<'PYTHON'
import igraph

capacities = [5, 0]
edges = [(0, 1), (1, 2)]


def cost(cut):
    return sum(capacities[edge] for edge in cut.cut)


path = igraph.Graph(n=3, edges=edges)
cut = path.mincut(capacity=capacities)
print("value", cut.value, "between", cut.partition, "which costs", cost(cut))
assert cut.value == 0
assert sorted(cut.partition) == [[0], [1, 2]] and cost(cut) == 5
between = path.mincut(0, 2, capacity=capacities)
print("value", between.value, "from 0 to 2 between", between.partition, "which costs", cost(between))
assert between.value == cost(between) == 0
directed = igraph.Graph(n=3, edges=edges, directed=True).mincut(capacity=capacities)
assert directed.value == cost(directed) == 0
PYTHON
