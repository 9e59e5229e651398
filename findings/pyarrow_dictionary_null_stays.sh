#!/usr/bin/env bash
# pyarrow==26.0.1.
# In Arrow a value of a dictionary may be null, and so may an index. pyarrow's `is_null` and `count` know both; `drop_null`,
# `fill_null` and the `count` of a group know the index alone: nulls are there after they were dropped or filled, and are
# counted as values. Groups by such a column have one null for each kind.
# Guess before: no value is null after `drop_null` or `fill_null`, and a group's `count` is that of its column.
# Seen: of "a", null by value and null by index, `drop_null` keeps "a" and a null, `fill_null("z")` is "a", null, "z", and
# the `count` of the group of all is 2 instead of 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyarrow==26.0.1
"$folder/env/bin/python" - <<'PYTHON'
import pyarrow
import pyarrow.compute

column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, None]), pyarrow.array(["a", None]))
column.validate(full=True)
table = pyarrow.table({"topic": column})
dropped = pyarrow.compute.drop_null(column).to_pylist()
filled = pyarrow.compute.fill_null(column, "z").to_pylist()
groups = table.group_by("topic").aggregate([([], "count_all")])["topic"].to_pylist()
print("values", column.to_pylist(), "dropped", dropped, "filled", filled, "groups", groups)
assert column.to_pylist() == ["a", None, None]
assert column.is_null().to_pylist() == [False, True, True]
counted = table.append_column("all", pyarrow.array([0, 0, 0])).group_by("all").aggregate([("topic", "count")])
assert pyarrow.compute.count(column).as_py() == 1 and counted["topic_count"].to_pylist() == [2]
assert dropped == ["a", None] and filled == ["a", None, "z"]
assert table.drop_null().num_rows == 2 and groups == ["a", None, None]
plain = column.cast("string")
assert plain.null_count == 2 and plain.drop_null().to_pylist() == ["a"]
PYTHON
