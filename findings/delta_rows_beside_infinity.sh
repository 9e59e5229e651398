#!/usr/bin/env bash
# deltalake==1.6.6 (delta-rs) with pyarrow==25.0.1, beside duckdb==2.0.1.
# delta-rs writes null for the greatest (or least) value of a column with an infinite number, as JSON has none. Its dataset
# for pyarrow then finds no row of that file for any comparison of the column, not even those of the finite values; so does
# `to_pyarrow_table(filters=…)`. A distance to a node that cannot be reached is enough. Without a filter all rows are there.
# Guess before: no statistics, so the file is read; or at worst the infinite rows are lost.
# Seen: of [1, 2, infinity] neither x > 1.5 nor x < 5 has a row; of [1, 2] one and two; DuckDB, which filters itself, finds 2
# and infinity.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install deltalake==1.6.6 pyarrow==25.0.1 duckdb==2.0.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import math

import deltalake
import duckdb
import pyarrow
import pyarrow.compute

x = pyarrow.compute.field("x")
for name, values, above, below in (
    ("finite", [1.0, 2.0], [2.0], [1.0, 2.0]),
    ("infinite", [1.0, 2.0, math.inf], [], []),
    ("minus", [1.0, 2.0, -math.inf], [], []),
):
    deltalake.write_deltalake(name, pyarrow.table({"x": values}))
    table = deltalake.DeltaTable(name)
    dataset = table.to_pyarrow_dataset()
    seen = [dataset.to_table(filter=rows)["x"].to_pylist() for rows in (x > 1.5, x < 5)]
    by_table = table.to_pyarrow_table(filters=[("x", ">", 1.5)])["x"].to_pylist()
    all_rows = dataset.to_table()["x"].to_pylist()
    by_duckdb = [value for (value,) in duckdb.sql("select x from dataset where x > 1.5").fetchall()]
    print(values, "x > 1.5:", seen[0], "x < 5:", seen[1], "table:", by_table, "DuckDB:", by_duckdb)
    assert all_rows == values and seen == [above, below] and by_table == above
    assert by_duckdb == [value for value in values if value > 1.5]
PYTHON
