#!/usr/bin/env bash
# polars==2.1.0.
# `mean_horizontal` returns a float, and adds the columns in their own type before it divides: the mean of two large
# integers of one type is negative, without a word. `mean` of a column or of a list has no such limit. polars' issue 21515
# (open) knows that `sum_horizontal` does not take a larger type.
# Guess before: the mean lies between the smallest and the largest value, as that of `concat_list(...).list.mean()`.
# Seen: the mean of 100 and 100 as Int8 is -28.0, that of the two largest integers of Int8, Int16, Int32 or Int64 is -1.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install polars==2.1.0
"$folder/env/bin/python" - <<'PYTHON'
import polars

pairs = [(polars.Int8, 100), (polars.Int8, 2**7 - 1), (polars.Int16, 2**15 - 1), (polars.Int32, 2**31 - 1)]
seen = []
for kind, value in [*pairs, (polars.Int64, 2**63 - 1)]:
    row = polars.DataFrame({"a": [value], "b": [value]}, schema={"a": kind, "b": kind})
    lists = polars.concat_list("a", "b").list.mean()
    across, of_list = row.select(polars.mean_horizontal("a", "b"), lists.alias("list")).row(0)
    print(kind, value, "mean_horizontal", across, "mean of the list", of_list)
    assert of_list == float(value)
    seen.append(across)
assert seen == [-28, -1, -1, -1, -1]
PYTHON
