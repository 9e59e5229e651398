#!/usr/bin/env bash
# ibis-framework==12.0.0 with duckdb==2.0.1, polars==2.1.0, pyarrow==26.0.1 and pandas==3.1.1.
# Ibis runs one expression on many engines, and passes on what an engine's function of that name does: DuckDB's backend
# rounds numbers to integers where polars' cuts them, counts distinct values without null, rounds 0.25 up and makes NaN the
# upper bound of `clip`. ibis' pull request 12038 (open) is about the count alone.
# Guess before: one table and one expression have one result; engines differ in speed and in the order of rows.
# Seen: of "a", "b" and null there are 2 distinct values in DuckDB and 3 in polars; 1.5 as int64 is 2 and 1, 0.25 rounded to
# one place 0.3 and 0.2, NaN clipped to [0, 1] 1.0 and NaN.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install "ibis-framework[duckdb,polars]==12.0.0" duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1 \
    pandas==3.1.1
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
from math import isnan, nan

import ibis
import pyarrow
import pyarrow.parquet

columns = {"name": ["a", "b", None], "number": [0.25, 1.5, 7.0], "gap": [0.5, 2.0, nan]}
pyarrow.parquet.write_table(pyarrow.table(columns), "rows.parquet")
seen = {}
for name, backend in (("duckdb", ibis.duckdb.connect()), ("polars", ibis.polars.connect())):
    rows = backend.read_parquet("rows.parquet", table_name="rows")
    distinct = rows.name.nunique().to_pyarrow().as_py()
    whole = rows.number.cast("int64").to_pyarrow().to_pylist()
    rounded = rows.number.round(1).to_pyarrow().to_pylist()
    clipped = rows.gap.clip(0, 1).to_pyarrow().to_pylist()
    seen[name] = distinct, whole, rounded, clipped
    print(name, "distinct", distinct, "as int64", whole, "rounded", rounded, "clipped", clipped)
assert seen["duckdb"] == (2, [0, 2, 7], [0.3, 1.5, 7], [0.5, 1, 1])
assert seen["polars"][:3] == (3, [0, 1, 7], [0.2, 1.5, 7])
assert seen["polars"][3][:2] == [0.5, 1] and isnan(seen["polars"][3][2])
PYTHON
