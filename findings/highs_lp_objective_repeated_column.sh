#!/usr/bin/env bash
# highspy==1.13.1 (HiGHS), the newest that can share a process with ortools 9.15, and pyscipopt==6.3.0 (SCIP 10.0).
# An LP file may name a column several times in one expression. HiGHS sums the coefficients in rows, with a warning; in
# the objective the last coefficient stays, without a warning, and the optimum of that objective is "Optimal". HiGHS'
# issue 2469 asked for the sums and changed the rows only; HiGHS 1.16.0 sums both.
# Seen: for `min x + y + 3 x` with x >= 2 HiGHS 6, and SCIP 8.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install highspy==1.13.1 numpy==2.4.6 pyscipopt==6.3.0
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import highspy
import pyscipopt

open("sum.lp", "w").write("min\n obj: x + y + 3 x\nst\n row: x + y >= 2\nbounds\n x >= 2\nend\n")
highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
read = highs.readModel("sum.lp")
highs.run()
scip = pyscipopt.Model()
scip.hideOutput()
scip.readProblem("sum.lp")
scip.optimize()
value = highs.getInfo().objective_function_value
print(f"HiGHS reads with {read.name}: {value:g}; SCIP: {scip.getObjVal():g}")
assert read == highspy.HighsStatus.kOk
assert (value, scip.getObjVal()) == (6, 8)
PYTHON
