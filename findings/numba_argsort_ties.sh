#!/usr/bin/env bash
# numba==0.68.1 with numpy==2.4.6.
# `argsort` in a compiled function puts equal values in another order than numpy's, which it stands for: a heuristic that
# breaks ties by it gives other answers compiled than interpreted. With kind="mergesort" both are stable and equal.
# Seen: of 200 arrays of 50 numbers from 0 to 4 all 200 have another order, and none with "mergesort".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install numba==0.68.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import numba
import numpy


def order(values):
    return numpy.argsort(values)


def stable_order(values):
    return numpy.argsort(values, kind="mergesort")


arrays = [numpy.random.default_rng(seed).integers(0, 5, 50) for seed in range(200)]
differ = {}
for function in (order, stable_order):
    compiled = numba.njit(function)
    differ[function.__name__] = sum(not numpy.array_equal(function(each), compiled(each)) for each in arrays)
print("of 200 orders differ:", differ)
assert differ == {"order": 200, "stable_order": 0}
PYTHON
