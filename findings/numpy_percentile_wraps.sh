#!/usr/bin/env bash
# numpy==2.4.6 with pandas==3.1.1.
# `percentile` and `quantile` of integers interpolate with a difference in the type of the array, which wraps around: the
# quartiles of values far apart lie outside of them, while `median` is right. `quantile` and `describe` of pandas pass this
# on. numpy's pull request 30376 (open) has a correction.
# Guess before: `percentile(values, 50)` is `median(values)`, and a percentile lies between the least and largest value.
# Seen: of -100 and 100 as int8 the percentiles 25, 50 and 75 are -114, 128 and 114, and numpy's median is 0; the same with
# int16 to int64 from half of their range on.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install numpy==2.4.6 pandas==3.1.1
"$folder/env/bin/python" - <<'PYTHON'
import numpy
import pandas

values = numpy.array([-100, 100], numpy.int8)
quartiles = numpy.percentile(values, [25, 50, 75])
described = pandas.Series(values).describe()
print("percentiles", quartiles, "median", numpy.median(values), "as float", numpy.percentile(values.astype(float), 50))
print("pandas:", described.to_dict())
assert list(quartiles) == [-114, 128, 114]
assert numpy.median(values) == numpy.percentile(values.astype(float), 50) == 0
assert described["50%"] == 128 > described["max"] and described["mean"] == 0
for bits in (16, 32, 64):
    wide = numpy.array([-(2 ** (bits - 2)) - 1, 2 ** (bits - 2) + 1], f"int{bits}")
    assert numpy.median(wide) == 0
    assert numpy.percentile(wide, 50) > wide.max()
PYTHON
