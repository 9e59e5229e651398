#!/usr/bin/env bash
# lap==0.5.13 with numpy==2.4.6 and scipy==1.17.1.
# `lap.lapjv` starts its searches for a least value from the constant `lap.LARGE`, a million. Where costs are larger, as
# nanoseconds or squared distances are, it returns assignments that are not optimal, without a word (`lap.lapmod` raises).
# Guess before: the assignment is optimal as in scipy, whatever the unit of the costs.
# Seen: of three workers for two jobs that cost [3, 1], [2, 5] and [4, 4], the first and second are taken at 3; in units of
# a million the first and third, at 5. Of 100 square matrices of costs below ten million, 42 are not solved to optimality.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install lap==0.5.13 numpy==2.4.6 scipy==1.17.1
"$folder/env/bin/python" - <<'PYTHON'
import lap
import numpy
from scipy.optimize import linear_sum_assignment


def least(costs):
    return costs[linear_sum_assignment(costs)].sum()


costs = numpy.array([[3.0, 1.0], [2.0, 5.0], [4.0, 4.0]])
small, rows, _ = lap.lapjv(costs, extend_cost=True)
large, large_rows, _ = lap.lapjv(costs * 1e6, extend_cost=True)
print("lap:", small, rows, "in units of a million:", large, large_rows, "scipy:", least(costs * 1e6))
assert lap.LARGE == 1000000
assert (small, list(rows)) == (3, [1, 0, -1])
assert (large, list(large_rows)) == (5e6, [1, -1, 0])
assert least(costs * 1e6) == 3e6
generator = numpy.random.default_rng(0)
counts = {}
for limit in (1e5, 1e7):
    matrices = [generator.random((5, 5)) * limit for _ in range(100)]
    counts[limit] = sum(int(lap.lapjv(costs)[0] > least(costs) + 1) for costs in matrices)
print("not optimal of 100, by the largest cost:", counts)
assert counts[1e5] == 0 and counts[1e7] > 20
PYTHON
