#!/usr/bin/env bash
# pyspark==4.3.0 with pyarrow==26.0.1 and pandas==2.3.3 (needs Java 17).
# Arrow's maps may hold a key twice, and Python's dictionaries made of them keep the last value. Spark refuses such a map
# where it makes one itself (DUPLICATED_MAP_KEY), but takes it from Arrow unseen, and then looks up the first value: the
# same table has two answers, by who reads it.
# Guess before: Spark refuses the table, or keeps one value of each key.
# Seen: of {k: 1, k: 2}, Spark's a['k'] is 1, size is 2; Python's dictionary of the same row from Spark has {'k': 2};
# map(k, 1, k, 2) in SQL raises DUPLICATED_MAP_KEY.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyspark==4.3.0 pyarrow==26.0.1 pandas==2.3.3
cd "$folder"
SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON="$folder/env/bin/python" "$folder/env/bin/python" - 2>"$folder/log" <<'PYTHON' || { tail "$folder/log"; exit 1; }
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
kind = pa.map_(pa.string(), pa.int32())
frame = session.createDataFrame(pa.table({"a": pa.array([[("k", 1), ("k", 2)]], kind)}))
looked_up, size = frame.selectExpr("a['k']", "size(a)").collect()[0]
in_python = frame.collect()[0]["a"]
print("looked up:", looked_up, "size:", size, "in Python:", in_python)
assert (looked_up, size, in_python) == (1, 2, {"k": 2})
try:
    session.sql("select map('k', 1, 'k', 2)").collect()
    refused = ""
except PySparkException as error:
    refused = error.getCondition()
print("made in SQL:", refused)
assert refused == "DUPLICATED_MAP_KEY"
PYTHON
