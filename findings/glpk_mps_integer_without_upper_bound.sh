#!/usr/bin/env bash
# swiglpk==5.0.13 (GLPK 5.0) with PuLP==3.3.2 and highspy==1.13.1.
# PuLP writes an integer variable of 0 or more into MPS as a column between markers with one bound, `LO 0`. For GLPK
# such a column is still 0 or 1 (only an upper bound, or `PL`, ends that); HiGHS, SCIP and CBC take it for 0 or more.
# Seen: min -x with x <= 10 written by PuLP is -10 by HiGHS and -1, optimal, by GLPK.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pulp==3.3.2 highspy==1.13.1 swiglpk==5.0.13
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import highspy
import pulp
import swiglpk

problem = pulp.LpProblem("most", pulp.LpMinimize)
x = pulp.LpVariable("x", 0, None, "Integer")
problem += -x
problem += x <= 10
problem.writeMPS("most.mps")
highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
highs.readModel("most.mps")
highs.run()
swiglpk.glp_term_out(swiglpk.GLP_OFF)
glpk = swiglpk.glp_create_prob()
assert swiglpk.glp_read_mps(glpk, swiglpk.GLP_MPS_FILE, None, "most.mps") == 0
options = swiglpk.glp_iocp()
swiglpk.glp_init_iocp(options)
options.presolve = swiglpk.GLP_ON
assert swiglpk.glp_intopt(glpk, options) == 0
values = highs.getInfo().objective_function_value, swiglpk.glp_mip_obj_val(glpk)
print("HiGHS %g, GLPK %g" % values)
assert swiglpk.glp_mip_status(glpk) == swiglpk.GLP_OPT
assert values == (-10, -1)
PYTHON
