#!/usr/bin/env bash
# PuLP==3.3.2 with its CBC 2.10.3, highspy==1.13.1 and PySCIPOpt==6.3.0.
# A solver that its time limit stops with some solution gets the status "Optimal" in PuLP, also `problem.solve`'s return
# value. Only `sol_status`, which most programs never read, says that it is just a solution.
# Seen: after one second on a covering problem of 243 columns status "Optimal", `sol_status` "Solution Found" by all three.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pulp==3.3.2 highspy==1.13.1 pyscipopt==6.3.0
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import itertools

import pulp

# Each line of the affine space of dimension 5 over three elements is hit: far from proven in a second.
points = list(itertools.product(range(3), repeat=5))
number = {point: k for k, point in enumerate(points)}
third = lambda p, q: tuple((-a - b) % 3 for a, b in zip(p, q))
lines = {frozenset((number[p], number[q], number[third(p, q)])) for p, q in itertools.combinations(points, 2)}
for name in ("PULP_CBC_CMD", "HiGHS", "SCIP_PY"):
    problem = pulp.LpProblem("cover", pulp.LpMinimize)
    x = [pulp.LpVariable(f"x{k}", cat="Binary") for k in range(len(points))]
    problem += pulp.lpSum(x)
    for line in lines:
        problem += pulp.lpSum(x[k] for k in line) >= 1
    problem.solve(pulp.getSolver(name, msg=False, timeLimit=1))
    said = pulp.LpStatus[problem.status], pulp.LpSolution[problem.sol_status]
    print(name, *said, pulp.value(problem.objective))
    assert said == ("Optimal", "Solution Found")
PYTHON
