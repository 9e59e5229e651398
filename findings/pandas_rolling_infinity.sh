#!/usr/bin/env bash
# pandas==3.1.1 with numpy==2.4.6.
# Rolling, expanding and exponential windows of pandas take infinity for a missing value: the largest of 5 and infinity is
# 5, and windows of the required size are NaN. Everything else in pandas has counted infinity as a number for years. pandas'
# issue 57549 (open since 2024) names the line.
# Guess before: `expanding().max()` is `cummax()`, and the mean of a window with infinity is infinity.
# Seen: of 5, infinity, 7 the expanding maximum is 5, 5, 7 and the mean 5, 5, 6; `cummax` and `groupby` have infinity.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pandas==3.1.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
from math import inf, isnan

import pandas

values = pandas.Series([5.0, inf, 7.0])
largest = values.expanding().max().tolist()
mean = values.expanding().mean().tolist()
print("expanding maximum", largest, "mean", mean)
assert largest == [5, 5, 7] and mean == [5, 5, 6]
assert values.rolling(2).sum().isna().all()
assert all(isnan(value) for value in values.rolling(2).max())
assert values.ewm(alpha=0.5).mean().iloc[1] == 5
print("cummax", values.cummax().tolist(), "mean", values.mean(), "of groups", values.groupby([0, 0, 0]).mean()[0])
assert values.cummax().tolist() == [5, inf, inf]
assert values.mean() == values.groupby([0, 0, 0]).mean()[0] == inf
assert values.count() == 3
PYTHON
