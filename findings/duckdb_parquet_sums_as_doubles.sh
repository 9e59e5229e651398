#!/usr/bin/env bash
# duckdb==2.0.0 with pyarrow==26.0.1.
# The sum of a column of 64-bit integers is a HUGEINT in DuckDB, and Parquet has no such type: `COPY ... TO` writes it as
# a double, without a word. Sums above 2^53 lose digits in the file, although DuckDB prints them right.
# Seen: the sum 9007199254740993 is 9007199254740992.0 in the file, a column of doubles.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install duckdb==2.0.0 pyarrow==26.0.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import duckdb
import pyarrow.parquet

query = "select sum(weight) as total from (values (9007199254740992), (1)) as rows(weight)"
printed = duckdb.sql(query).fetchall()[0][0]
duckdb.sql(f"copy ({query}) to 'sums.parquet'")
column = pyarrow.parquet.read_table("sums.parquet").column("total")
print("printed %d, in the file %s of type %s" % (printed, column[0].as_py(), column.type))
assert printed == 9007199254740993
assert str(column.type) == "double" and column[0].as_py() == 9007199254740992.0
PYTHON
