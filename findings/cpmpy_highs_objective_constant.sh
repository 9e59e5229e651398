#!/usr/bin/env bash
# cpmpy==1.1.1 with highspy==1.13.1 (HiGHS).
# CPMpy takes a constant in the objective for the number of a column: `+ 1` adds one to the cost of HiGHS' column 1. Where
# there is no such column HiGHS refuses all costs, CPMpy ignores this, and any solution is optimal.
# Seen: for `min 3 x + 2 y + 5` with x + y >= 7 OPTIMAL at 35 with HiGHS and at 19 with OR-Tools; for `min x + y + 1` with
# 2 x + 3 y >= 12 OPTIMAL at 7 with HiGHS and at 5 with OR-Tools.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install cpmpy==1.1.1 highspy==1.13.1 ortools==9.15.6755 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import cpmpy
from cpmpy.solvers.solver_interface import ExitStatus


def found(solver, bound, objective):
    x, y = cpmpy.intvar(0, 10, shape=2)
    model = cpmpy.Model(bound(x, y), minimize=objective(x, y))
    model.solve(solver=solver)
    assert model.status().exitstatus == ExitStatus.OPTIMAL
    return model.objective_value()


for bound, objective, expected in (
    (lambda x, y: x + y >= 7, lambda x, y: 3 * x + 2 * y, {"highs": 14, "ortools": 14}),
    (lambda x, y: x + y >= 7, lambda x, y: 3 * x + 2 * y + 5, {"highs": 35, "ortools": 19}),
    (lambda x, y: 2 * x + 3 * y >= 12, lambda x, y: x + y + 1, {"highs": 7, "ortools": 5}),
):
    values = {solver: found(solver, bound, objective) for solver in ("highs", "ortools")}
    print(values)
    assert values == expected
PYTHON
