#!/usr/bin/env bash
# pyarrow==26.0.1, beside duckdb==2.0.0.
# The sum of a column of 64-bit integers in pyarrow wraps around in silence. `add_checked` and `cumulative_sum_checked`
# exist, a checked sum does not; DuckDB sums to 128 bits.
# Seen: 2**63 - 1 plus 1 is -2**63 by pyarrow and 2**63 by DuckDB on the same table; `cumulative_sum_checked` raises.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyarrow==26.0.1 duckdb==2.0.0
"$folder/env/bin/python" - <<'PYTHON'
import duckdb
import pyarrow
import pyarrow.compute

rows = pyarrow.table({"cost": [2**63 - 1, 1]})
wrapped = pyarrow.compute.sum(rows["cost"]).as_py()
right = duckdb.sql("select sum(cost) from rows").fetchall()[0][0]
print("pyarrow", wrapped, "DuckDB", right)
assert (wrapped, right) == (-(2**63), 2**63)
assert "sum_checked" not in pyarrow.compute.list_functions()
try:
    pyarrow.compute.cumulative_sum_checked(rows["cost"])
except pyarrow.ArrowInvalid as error:
    print("cumulative_sum_checked:", error)
else:
    raise SystemExit("no overflow seen")
PYTHON
