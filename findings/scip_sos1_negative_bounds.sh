#!/usr/bin/env bash
# pyscipopt==6.3.0 (SCIP 10.0).
# At most one variable of an SOS1 constraint is not 0. Where the variables are continuous and may be negative, SCIP cuts
# off the optimum and calls another point "optimal". With integer variables the answer is right.
# Guess before: the optimum; the signs of bounds do not matter to "at most one is not 0".
# Seen: min x + y, x in [-1, 1], y in [-2, 1], SOS1(x, y): -0.75 at y = -0.75 for the optimum -2 at y = -2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyscipopt==6.3.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import pyscipopt

found = {}
for kind in ("C", "I"):
    scip = pyscipopt.Model()
    scip.hideOutput()
    x = scip.addVar("x", lb=-1, ub=1, vtype=kind)
    y = scip.addVar("y", lb=-2, ub=1, vtype=kind)
    scip.setObjective(x + y)
    scip.addConsSOS1([x, y], [1, 2])
    scip.optimize()
    found[kind] = scip.getStatus(), scip.getObjVal()
    print("continuous" if kind == "C" else "integer", *found[kind], "at", scip.getVal(x), scip.getVal(y))
assert found["I"] == ("optimal", -2)
assert found["C"][0] == "optimal" and found["C"][1] > -1.5
PYTHON
