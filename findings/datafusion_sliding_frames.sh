#!/usr/bin/env bash
# datafusion==55.0.0 with pyarrow==26.0.1.
# DataFusion computes `sum`, `avg`, `stddev` and `corr` over a sliding frame by subtracting the rows that leave the frame.
# After a NaN or an infinity all further frames are NaN although they hold numbers, and after a large number they are wrong.
# Guess before: each frame's value is that of its own rows, as with `max` and as in DuckDB.
# Seen: after 1e20 the frame (1, 2) has sum 0 instead of 3; after NaN or infinity it has NaN. A frame of three points has
# the correlation 1.15.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install datafusion==55.0.0 pyarrow==26.0.1
"$folder/env/bin/python" - <<'PYTHON'
from math import isnan

from datafusion import SessionContext

context = SessionContext()


def over(call, first, preceding):
    rows = f"(values (1, cast('{first}' as double)), (2, 1.0), (3, 2.0), (4, 4.0), (5, 5.0)) as t(i, x)"
    frame = f"over (order by i rows between {preceding} preceding and current row)"
    return context.sql(f"select {call} {frame} as v from {rows} order by i").to_pydict()["v"]


for first in ("0", "1e20", "NaN", "inf"):
    print("first", first, "sums", over("sum(x)", first, 1), "largest", over("max(x)", first, 1))
assert over("sum(x)", "0", 1)[2:] == [3, 6, 9]
assert over("sum(x)", "1e20", 1)[2] == 0
for first in ("NaN", "inf"):
    assert all(isnan(value) for value in over("sum(x)", first, 1)[2:])
    assert over("max(x)", first, 1)[2:] == [2, 4, 5]
correlations = over("corr(x, i)", "1e20", 2)
print("correlations", correlations)
assert correlations[-1] > 1
PYTHON
