#!/usr/bin/env bash
# duckdb==2.0.1 and datafusion==55.0.0, beside polars==2.1.0 and pyarrow==26.0.1.
# For DuckDB, DataFusion and polars NaN is greater than all numbers. The statistics of a Parquet file leave NaN out,
# as the format wants, and DuckDB and DataFusion decide by them what they need not read: a query of the file loses
# rows that the same query of a table in memory returns. polars reads them (issues 25521 of DuckDB and 15812 of
# DataFusion).
# Seen: of [1, 2, NaN] by pyarrow, x > 5 gives no row from the file and NaN from memory, and max(x) gives 2 and NaN.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install duckdb==2.0.1 datafusion==55.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import math

import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.parquet

table = pyarrow.table({"x": [1.0, 2.0, math.nan]})
pyarrow.parquet.write_table(table, "rows.parquet")
context = datafusion.SessionContext()
context.register_parquet("file", "rows.parquet")
context.from_arrow(table, "memory")
duckdb.sql("create view file as from 'rows.parquet'; create table memory as from 'rows.parquet'")
engines = {
    "DuckDB": lambda query: [str(row[0]) for row in duckdb.sql(query).fetchall()],
    "DataFusion": lambda query: [str(value) for row in context.sql(query).to_pylist() for value in row.values()],
}
for name, run in engines.items():
    seen = {
        source: (run(f"select x from {source} where x > 5"), run(f"select max(x) from {source}"))
        for source in ("file", "memory")
    }
    print(name, seen)
    assert seen == {"file": ([], ["2.0"]), "memory": (["nan"], ["nan"])}
by_polars = polars.scan_parquet("rows.parquet").filter(polars.col("x") > 5).collect()["x"].to_list()
print("polars", by_polars)
assert len(by_polars) == 1
PYTHON
