#!/usr/bin/env bash
# deltalake==1.6.6 (delta-rs) with pyarrow==26.0.1.
# delta-rs writes the least and largest decimal of a file into the log of a Delta table as doubles, and skips files by them.
# A decimal of 16 digits or more may lie outside of the rounded bounds: filters, SQL queries and deletions do not find it.
# Decimals without fraction in 18 digits have exact bounds (its pull request 4757).
# Guess before: the statistics are rounded outwards, and a filter for a value finds its row.
# Seen: of 90071992547409.93 as decimal(18, 2) the log has 90071992547409.92 twice; a filter and a query for the value find
# no row and `delete` deletes none; the row is there without a filter.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install deltalake==1.6.6 pyarrow==26.0.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
from decimal import Decimal

import pyarrow
import pyarrow.compute
from deltalake import DeltaTable, QueryBuilder, write_deltalake


def found(text, digits, places):
    kind = pyarrow.decimal128(digits, places)
    rows = pyarrow.table({"v": pyarrow.array([Decimal(text)], kind)})
    write_deltalake(text, rows)
    delta = DeltaTable(text)
    wanted = pyarrow.compute.field("v") == pyarrow.scalar(Decimal(text), kind)
    by_filter = delta.to_pyarrow_dataset().to_table(filter=wanted).num_rows
    literal = f"v = cast('{text}' as decimal({digits}, {places}))"
    query = QueryBuilder().register("t", delta).execute(f"select * from t where {literal}").read_all()
    deleted = delta.delete(literal)["num_deleted_rows"]
    return by_filter, len(pyarrow.table(query)), deleted, DeltaTable(text).to_pyarrow_dataset().count_rows()


for text, digits, places in (("9007199254.93", 18, 2), ("90071992547409.93", 18, 2)):
    seen = found(text, digits, places)
    print(text, "found by a filter, by a query, deleted, left:", seen)
    assert seen == ((0, 0, 0, 1) if len(text) > 15 else (1, 1, 1, 0))
PYTHON
