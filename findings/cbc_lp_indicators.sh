#!/usr/bin/env bash
# CBC 2.10.3 (in the wheel pulp==3.3.2) and pyscipopt==6.3.0 (SCIP 10.0).
# SCIP writes an indicator constraint into LP files as `b = 1 -> x <= 3`, the form of CPLEX. CBC reads the row `b = 1`,
# drops what follows, and says "Optimal" for a problem in which b is fixed and x is free of the constraint.
# Seen: for `max x + b`, x at most 9, SCIP 9 and CBC "Optimal - objective value 10.00000000".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pulp==3.3.2 pyscipopt==6.3.0 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import subprocess
import pyscipopt
from pulp.apis.coin_api import pulp_cbc_path

scip = pyscipopt.Model()
scip.hideOutput()
x, b = scip.addVar("x", ub=9), scip.addVar("b", vtype="B")
scip.setObjective(x + b, "maximize")
scip.addConsIndicator(x <= 3, b, name="row")
scip.writeProblem("indicator.lp", verbose=False)
scip.optimize()
subprocess.run([pulp_cbc_path, "indicator.lp", "-solve", "-solution", "solution"], stdout=subprocess.DEVNULL)
status = open("solution").readline().strip()
print("SCIP:", scip.getObjVal(), "CBC:", status)
assert "b = 1 ->" in open("indicator.lp").read() and scip.getObjVal() == 9
assert status.startswith("Optimal") and float(status.split()[-1]) == 10
PYTHON
