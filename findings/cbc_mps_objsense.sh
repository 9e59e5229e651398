#!/usr/bin/env bash
# highspy==1.13.1 and PySCIPOpt==6.3.0 with the CBC 2.10.3 that PuLP==3.3.2 carries.
# HiGHS and SCIP write a maximisation into MPS as a section OBJSENSE. CBC reads the file without a complaint, minimises,
# and calls the smallest value optimal.
# Seen: max x with x <= 10 is 10 by HiGHS and SCIP, and 0 by CBC from either file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pulp==3.3.2 highspy==1.13.1 pyscipopt==6.3.0
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import subprocess

import highspy
import pulp
import pyscipopt

highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
highs.addVar(0, 10)
highs.changeColCost(0, 1.0)
highs.addRow(0, 20, 1, [0], [1.0])
highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
highs.writeModel("highs.mps")
scip = pyscipopt.Model()
scip.hideOutput()
x = scip.addVar("x", lb=0, ub=10)
scip.addCons(x <= 20)
scip.setObjective(x, "maximize")
scip.writeProblem("scip.mps", verbose=False)
highs.run()
scip.optimize()
print("HiGHS", highs.getInfo().objective_function_value, "SCIP", scip.getObjVal())
assert highs.getInfo().objective_function_value == scip.getObjVal() == 10
for file in ("highs.mps", "scip.mps"):
    assert "OBJSENSE" in open(file).read()
    subprocess.run([pulp.PULP_CBC_CMD().path, file, "solve", "solu", "answer"], check=True, capture_output=True)
    said = open("answer").readline().strip()
    print(file, "by CBC:", said)
    assert said == "Optimal - objective value 0.00000000"
PYTHON
