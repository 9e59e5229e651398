#!/usr/bin/env bash
# pyscipopt==6.3.0 (SCIP 10.0).
# Where a constraint has 1/y or log(y) and the bounds of y include 0, SCIP calls a problem with solutions "infeasible" or
# not, depending on the objective: it is so when the objective draws y to 0. A lower bound of 1 helps.
# Guess before: y = 0 is left out, as 1/0 is no number, and the other values are tried; feasibility does not depend on the
# objective.
# Seen: y in {0, ..., 4}, 1/y >= 1 (so y = 1): max y is 1, min y is "infeasible"; log(y) <= 0 likewise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyscipopt==6.3.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import pyscipopt

rows = {"1/y >= 1": lambda y: 1 / y >= 1, "log(y) <= 0": lambda y: pyscipopt.log(y) <= 0}
for name, row in rows.items():
    seen = {}
    for sense, low in (("maximize", 0), ("minimize", 0), ("minimize", 1)):
        scip = pyscipopt.Model()
        scip.hideOutput()
        y = scip.addVar("y", lb=low, ub=4, vtype="I")
        scip.setObjective(y, sense)
        scip.addCons(row(y))
        scip.optimize()
        seen[sense, low] = scip.getStatus(), round(scip.getVal(y)) if scip.getNSols() else None
    print(name, seen)
    assert seen["maximize", 0] == seen["minimize", 1] == ("optimal", 1)
    assert seen["minimize", 0] == ("infeasible", None)
PYTHON
