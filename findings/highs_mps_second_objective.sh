#!/usr/bin/env bash
# highspy==1.16.0, beside pyscipopt==6.3.0 (SCIP 10.0) and swiglpk==5.0.13 (GLPK).
# An MPS file may have several rows of type N; the first is the objective, the others are free rows. HiGHS takes the
# constant (in the section RHS) of such another row for one of the objective.
# Guess before: the constant of a row that is not the objective changes no value.
# Seen: min x, x >= 3, and a second row N with the right-hand side -7 or 7: HiGHS' objective value is 10 or -4, that of
# SCIP and of GLPK 3.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install highspy==1.16.0 pyscipopt==6.3.0 swiglpk==5.0.13 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import highspy
import pyscipopt
import swiglpk

swiglpk.glp_term_out(swiglpk.GLP_OFF)
file = "NAME m\nROWS\n N cost\n N time\n G row\nCOLUMNS\n x cost 1\n x time 1\n x row 1\nRHS\n RHS row 3\n{}ENDATA\n"


def of_highs():
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel("m.mps")
    solver.run()
    return solver.getObjectiveValue()


def of_scip():
    solver = pyscipopt.Model()
    solver.hideOutput()
    solver.readProblem("m.mps")
    solver.optimize()
    return solver.getObjVal()


def of_glpk():
    problem = swiglpk.glp_create_prob()
    assert swiglpk.glp_read_mps(problem, swiglpk.GLP_MPS_FILE, None, "m.mps") == 0
    swiglpk.glp_simplex(problem, None)
    return swiglpk.glp_get_obj_val(problem)


for constant, highs in ((None, 3), (-7, 10), (7, -4)):
    open("m.mps", "w").write(file.format("" if constant is None else f" RHS time {constant}\n"))
    values = of_highs(), of_scip(), of_glpk()
    print("right-hand side of the second row N:", constant, "HiGHS, SCIP, GLPK:", *values)
    assert values == (highs, 3, 3)
PYTHON
