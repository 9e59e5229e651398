#!/usr/bin/env bash
# numba==0.68.1 with numpy==2.4.6.
# `numpy.median` of an array with NaN is NaN. Compiled by numba it is a number, which depends on the order of the array:
# NaN compares as neither smaller nor larger while the numbers are partitioned.
# Seen: for NaN, 0, 1, 2 and 3 in 120 orders 66 times 2, 36 times NaN, 16 times 1 and twice 3; always NaN in numpy.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install numba==0.68.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
from collections import Counter
from itertools import permutations
import numba
import numpy


@numba.njit
def compiled(values):
    return numpy.median(values)


orders = [numpy.array(each) for each in permutations((numpy.nan, 0, 1, 2, 3))]
found = Counter(str(compiled(each)) for each in orders)
print("numba:", dict(found))
assert all(numpy.isnan(numpy.median(each)) for each in orders)
assert len(found) > 2
PYTHON
