#!/usr/bin/env bash
# numba==0.68.1 with numpy==2.4.6.
# `sum` and `mean` in a compiled function add one number after the other in the type of the array; numpy adds pairwise.
# From 2**24 on a sum of ones as float32 does not grow: the mean of many equal numbers is far from them. numba's issues
# 2855 and 3702 (open since 2018) know the lower accuracy.
# Seen: the mean of 2**25 ones is 0.5, and 1.0 in numpy.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install numba==0.68.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import numba
import numpy


@numba.njit
def compiled(values):
    return values.sum(), values.mean()


ones = numpy.ones(2**25, numpy.float32)
print("numba:", compiled(ones), "numpy:", ones.sum(), ones.mean())
assert compiled(ones) == (2**24, 0.5)
assert (ones.sum(), ones.mean()) == (2**25, 1)
PYTHON
