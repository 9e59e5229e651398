#!/usr/bin/env bash
# pcst_fast==1.0.10 with numpy==2.4.6, and with numpy==1.26.4.
# pcst_fast (prize-collecting Steiner trees) takes any numpy, and with numpy 2 returns arrays of the right length whose
# elements all have one value, without a word: neither tree nor error. Its issue 16 (open since 2024) shows a failing test.
# Guess before: the tree is the same with both, or the import fails.
# Seen: the path 0 - 1 - 2 - 3 has the vertices [0, 1, 2, 3] with numpy 1, and [0, 0, 0, 0] with numpy 2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/path.py" <<'PYTHON'
import numpy
import pcst_fast

edges = numpy.array([[0, 1], [1, 2], [2, 3]])
prizes = numpy.array([10.0, 0.0, 0.0, 10.0])
vertices, chosen = pcst_fast.pcst_fast(edges, prizes, numpy.ones(3), -1, 1, "gw", 0)
print(sorted(vertices.tolist()), len(set(chosen.tolist())))
PYTHON
for version in 1.26.4 2.4.6; do
    python3 -m venv "$folder/env-$version"
    "$folder/env-$version/bin/pip" -q install pcst_fast==1.0.10 "numpy==$version"
    "$folder/env-$version/bin/python" "$folder/path.py" | tee "$folder/seen-$version"
done
test "$(cat "$folder/seen-1.26.4")" = "[0, 1, 2, 3] 3"
test "$(cat "$folder/seen-2.4.6")" = "[0, 0, 0, 0] 1"
