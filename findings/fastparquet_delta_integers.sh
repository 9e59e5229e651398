#!/usr/bin/env bash
# fastparquet==2026.9.0, beside pyarrow==25.0.1 and duckdb==2.0.1.
# fastparquet reads integers that DuckDB writes in version 2 of Parquet (encoding DELTA_BINARY_PACKED) as other integers, and
# booleans in the encoding RLE, as pyarrow writes them on request, as other booleans. It raises NotImplementedError for
# encodings that it does not know; for these two it says nothing. Small differences of integers are read rightly.
# Guess before: right, or an error.
# Seen: of 200 integers below 2**33 160 are others, some negative; True, False, True is False, True, False; pyarrow reads all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install fastparquet==2026.9.0 pyarrow==25.0.1 duckdb==2.0.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import duckdb
import fastparquet
import pyarrow
import pyarrow.parquet


def columns(path):
    return pyarrow.parquet.read_table(path)["x"].to_pylist(), fastparquet.ParquetFile(path).to_pandas()["x"].tolist()


numbers = pyarrow.table({"x": [index * 2654435761 * 97 % 2**33 for index in range(200)]})
duckdb.sql("copy (from numbers) to 'numbers.parquet' (format parquet, parquet_version v2)")
by_pyarrow, by_fastparquet = columns("numbers.parquet")
assert by_pyarrow == numbers["x"].to_pylist()
wrong = [pair for pair in zip(by_pyarrow, by_fastparquet) if pair[0] != pair[1]]
print("integers:", len(wrong), "of", len(numbers), "differ, as", wrong[:2])
assert len(wrong) > 100 and min(by_fastparquet) < 0
flags = pyarrow.table({"x": [True, False, True]})
pyarrow.parquet.write_table(flags, "flags.parquet", use_dictionary=False, column_encoding={"x": "RLE"})
by_pyarrow, by_fastparquet = columns("flags.parquet")
print("booleans:", by_pyarrow, by_fastparquet)
assert by_pyarrow == [True, False, True] and by_fastparquet == [False, True, False]
PYTHON
