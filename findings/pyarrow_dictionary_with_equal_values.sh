#!/usr/bin/env bash
# pyarrow==26.0.1.
# Arrow's format permits a dictionary with equal values, and the usual way to change the few values of a large column makes
# one: `DictionaryArray.from_arrays(column.indices, utf8_lower(column.dictionary))`. pyarrow then groups, counts and makes
# unique by the indices, also after `unify_dictionaries`; joins and comparisons go by the values.
# Guess before: rows with one value are one group, as in polars, DuckDB and for the same column as strings.
# Seen: "News" and "news" in lower case are two groups "news" of one row, and `unique` has "news" twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyarrow==26.0.1
"$folder/env/bin/python" - <<'PYTHON'
import pyarrow
import pyarrow.compute

topics = pyarrow.array(["News", "news", "Sport"]).dictionary_encode()
lower = pyarrow.DictionaryArray.from_arrays(topics.indices, pyarrow.compute.utf8_lower(topics.dictionary))
lower.validate(full=True)


def groups(column):
    table = pyarrow.table({"topic": column}).unify_dictionaries()
    counted = table.group_by("topic").aggregate([([], "count_all")])
    return sorted(zip(counted["topic"].to_pylist(), counted["count_all"].to_pylist()))


print("dictionary", groups(lower), "strings", groups(lower.cast("string")), "unique", lower.unique().to_pylist())
assert groups(lower) == [("news", 1), ("news", 1), ("sport", 1)]
assert groups(lower.cast("string")) == [("news", 2), ("sport", 1)]
assert lower.unique().to_pylist() == ["news", "news", "sport"]
assert [entry["counts"] for entry in pyarrow.compute.value_counts(lower).to_pylist()] == [1, 1, 1]
assert pyarrow.compute.equal(lower, "news").to_pylist() == [True, True, False]
other = pyarrow.table({"topic": pyarrow.array(["news"]).dictionary_encode()})
assert pyarrow.table({"topic": lower}).join(other, "topic", join_type="inner").num_rows == 2
PYTHON
