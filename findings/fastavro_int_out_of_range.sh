#!/usr/bin/env bash
# fastavro==1.13.1, beside polars==2.1.0.
# fastavro writes what does not belong into a field, unless its writer is called with validator=True: 1.9 into a
# `long` is 1, "no" into a `boolean` is true, and a number beyond 32 bits goes into an `int` as it is. fastavro itself
# reads that back, so that a test of both directions passes, and others read another number. In a union all three are
# refused.
# Seen: 2**31 + 5 in an `int` is 2147483653 for fastavro and -2147483643 for polars; 1.9 in a `long` is 1 for both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install fastavro==1.13.1 polars==2.1.0
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import fastavro
import polars


def again(kind, value):
    schema = {"type": "record", "name": "row", "fields": [{"name": "x", "type": kind}]}
    with open("rows.avro", "wb") as file:
        fastavro.writer(file, schema, [{"x": value}])
    with open("rows.avro", "rb") as file:
        return next(fastavro.reader(file))["x"], polars.read_avro("rows.avro")["x"][0]


seen = {"int": again("int", 2**31 + 5), "long": again("long", 1.9), "boolean": again("boolean", "no")}
print("read by fastavro and by polars:", seen)
assert seen == {"int": (2147483653, -2147483643), "long": (1, 1), "boolean": (True, True)}
for kind, value in (("int", 2**31 + 5), ("long", 1.9), ("boolean", "no")):
    try:
        again(["null", kind], value)
    except ValueError as error:
        print("in a union:", error)
    else:
        raise SystemExit("the union takes it")
PYTHON
