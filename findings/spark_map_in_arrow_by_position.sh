#!/usr/bin/env bash
# pyspark==4.3.0 with pyarrow==26.0.1 and pandas==2.3.3 (without pandas `mapInArrow` is refused); needs Java 17 or newer.
# Spark takes the columns of batches that a function of `mapInArrow` returns by their place and does not look at their
# names, while `applyInArrow` of grouped data finds them by name. Where types agree nothing is said: a batch with the
# columns `topic`, `node` under the schema `node long, topic long` swaps nodes and topics.
# Seen: the row node 1, topic 10 comes back as node 10, topic 1 from `mapInArrow`, and unchanged from `applyInArrow`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyspark==4.3.0 pyarrow==26.0.1 pandas==2.3.3
cd "$folder"
PYSPARK_PYTHON="$folder/env/bin/python" "$folder/env/bin/python" - 2>log <<'PYTHON' || { tail log; exit 1; }
import pyarrow
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
rows = spark.createDataFrame([(1, 10)], "node long, topic long")
schema = "node long, topic long"


def turned(batches):
    for batch in batches:
        yield batch.select(["topic", "node"])


def turned_table(table):
    return table.select(["topic", "node"])


by_place = rows.mapInArrow(turned, schema).first().asDict()
by_name = rows.groupBy("node").applyInArrow(turned_table, schema).first().asDict()
print("mapInArrow", by_place, "applyInArrow", by_name)
assert by_place == {"node": 10, "topic": 1}
assert by_name == {"node": 1, "topic": 10}
spark.stop()
PYTHON
