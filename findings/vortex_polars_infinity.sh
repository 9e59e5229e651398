#!/usr/bin/env bash
# vortex-data==0.93.0 with polars==2.1.0.
# polars hands its filter to the reader of a Vortex file (`to_polars`). A comparison with infinity, as in "the nodes that can
# be reached", then has no row, whatever the values are. The same filter after `collect` is right.
# Guess before: the same rows, or an error for what cannot be handed over.
# Seen: of [1, 2, infinity] x < infinity, x != infinity, x == infinity and x > -infinity have no row; polars finds 2, 2, 1
# and 3.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install vortex-data==0.93.0 polars==2.1.0 pyarrow==25.0.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import math

import polars
import pyarrow
import vortex

vortex.io.write(pyarrow.table({"x": [1.0, 2.0, math.inf]}), "rows.vortex")
x = polars.col("x")
filters = {
    "x < infinity": (x < math.inf, 2),
    "x != infinity": (x != math.inf, 2),
    "x == infinity": (x == math.inf, 1),
    "x > -infinity": (x > -math.inf, 3),
}
for name, (rows, count) in filters.items():
    frame = vortex.open("rows.vortex").to_polars()
    from_file, in_memory = frame.filter(rows).collect(), frame.collect().filter(rows)
    print(name, "from the file:", from_file["x"].to_list(), "in memory:", in_memory["x"].to_list())
    assert len(from_file) == 0 and len(in_memory) == count
frame = vortex.open("rows.vortex").to_polars()
assert frame.filter(x < 1e300).collect()["x"].to_list() == [1, 2]
PYTHON
