#!/usr/bin/env bash
# GLPK 5.0 (swiglpk==5.0.13) and highspy==1.13.1 (HiGHS).
# GLPK takes bounds of 1e30, by which many programs mean infinity, for finite ones, computes with them, and calls a point
# optimal that is not: all digits of the other numbers are lost.
# Seen: the least x with x >= -9 and -1e30 <= x <= 1e30: HiGHS -9, GLPK 0 and GLP_OPT.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install swiglpk==5.0.13 highspy==1.13.1 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import highspy
import swiglpk

open("least.lp", "w").write("min\n obj: x\nst\n row: x >= -9\nbounds\n -1e30 <= x <= 1e30\nend\n")
swiglpk.glp_term_out(swiglpk.GLP_OFF)
problem = swiglpk.glp_create_prob()
assert swiglpk.glp_read_lp(problem, None, "least.lp") == 0
assert swiglpk.glp_simplex(problem, None) == 0
highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
highs.readModel("least.lp")
highs.run()
value = swiglpk.glp_get_obj_val(problem)
print("HiGHS:", highs.getInfo().objective_function_value, "GLPK:", value)
assert swiglpk.glp_get_status(problem) == swiglpk.GLP_OPT
assert highs.getInfo().objective_function_value == -9 and value == 0
PYTHON
