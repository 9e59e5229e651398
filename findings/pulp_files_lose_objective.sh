#!/usr/bin/env bash
# PuLP==3.3.2 with highspy==1.13.1.
# `writeMPS` writes that a problem is maximised in a comment alone, and neither `writeMPS` nor `writeLP` writes the
# constant of the objective: a solver that reads the MPS file minimises, and each file has another optimal value. What
# PuLP itself returns is right, so the files differ from the problem that was solved.
# Seen: max 2 x + 7 with x <= 10 is 27 by PuLP, 20 by its LP file and 0 by its MPS file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pulp==3.3.2 highspy==1.13.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import highspy
import pulp

problem = pulp.LpProblem("most", pulp.LpMaximize)
x = pulp.LpVariable("x", 0, 10)
problem += 2 * x + 7
problem += x <= 20
problem.solve(pulp.HiGHS(msg=False))
problem.writeLP("most.lp")
problem.writeMPS("most.mps")
values = {"PuLP": pulp.value(problem.objective)}
for file in ("most.lp", "most.mps"):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(file)
    solver.run()
    values[file] = solver.getInfo().objective_function_value
print(values)
assert values == {"PuLP": 27, "most.lp": 20, "most.mps": 0}
PYTHON
