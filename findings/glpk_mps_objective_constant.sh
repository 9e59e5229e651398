#!/usr/bin/env bash
# GLPK 5.0 (swiglpk==5.0.13) and HiGHS (highspy==1.13.1).
# A constant of the objective stands in the section RHS of an MPS file, on the row of the objective. CPLEX, HiGHS and CBC
# read it as minus the constant, GLPK (and lp_solve) as the constant. So a model whose optimum is 7 has another in GLPK.
# Seen: HiGHS writes min x + 7 with x = 0 as "RHS_V Obj -7"; HiGHS reads 7 back, GLPK -7.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install swiglpk==5.0.13 highspy==1.13.1 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import highspy
import swiglpk

program = highspy.Highs()
program.setOptionValue("output_flag", False)
program.addVariable(0, 1, 1)
program.changeObjectiveOffset(7)
program.writeModel("constant.mps")
again = highspy.Highs()
again.setOptionValue("output_flag", False)
again.readModel("constant.mps")
swiglpk.glp_term_out(swiglpk.GLP_OFF)
problem = swiglpk.glp_create_prob()
assert swiglpk.glp_read_mps(problem, swiglpk.GLP_MPS_FILE, None, "constant.mps") == 0
constants = again.getLp().offset_, swiglpk.glp_get_obj_coef(problem, 0)
print("the constant 7: HiGHS %g, GLPK %g" % constants)
assert constants == (7, -7)
PYTHON
