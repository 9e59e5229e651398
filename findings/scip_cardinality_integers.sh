#!/usr/bin/env bash
# pyscipopt==6.3.0 (SCIP 10.0).
# A cardinality constraint says how many of its variables are not 0 at most. With integer variables SCIP's "optimal"
# solution is not the best one, or has more such variables than the constraint allows.
# Guess before: right, as the constraint does not depend on the types of its variables.
# Seen: min -3x - 2y + z, x and z in {0, 1}, y in {0, ..., 3}, at most two not 0: -6 for the optimum -9 at x = 1, y = 3;
# min 3x - y, x in {-1, 0}, y in {0, ..., 4}, at most one not 0: -7 with both not 0, for the optimum -4.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyscipopt==6.3.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import itertools

import pyscipopt

for costs, domains, most in (([-3, -2, 1], [(0, 1), (0, 3), (0, 1)], 2), ([3, -1], [(-1, 0), (0, 4)], 1)):
    points = itertools.product(*(range(low, high + 1) for low, high in domains))
    allowed = (point for point in points if sum(map(bool, point)) <= most)
    least = min(sum(cost * value for cost, value in zip(costs, point)) for point in allowed)
    scip = pyscipopt.Model()
    scip.hideOutput()
    columns = [scip.addVar(lb=low, ub=high, vtype="I") for low, high in domains]
    scip.setObjective(pyscipopt.quicksum(cost * column for cost, column in zip(costs, columns)))
    scip.addConsCardinality(columns, most)
    scip.optimize()
    values = [round(scip.getVal(column)) for column in columns]
    print("at most", most, "not 0: least cost", least, "SCIP:", scip.getStatus(), scip.getObjVal(), values)
    assert scip.getStatus() == "optimal"
    assert scip.getObjVal() > least or sum(map(bool, values)) > most
PYTHON
