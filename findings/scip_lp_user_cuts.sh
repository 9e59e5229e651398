#!/usr/bin/env bash
# pyscipopt==6.3.0 (SCIP 10.0).
# The section `user cuts` of an LP file has cuts that the rows and the integrality imply; a solver may leave them out.
# SCIP does so, and leaves out the row as well that such a cut makes redundant: the problem without both is "unbounded",
# and the solution that SCIP returns violates a row of the file.
# Seen: `max x + y`, `2 x + 2 y <= 9`, x and y integer: 4; with the user cut `x + y <= 4` "unbounded", and 200000.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyscipopt==6.3.0 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import pyscipopt

model = "max\n obj: x + y\nst\n row: 2 x + 2 y <= 9\n{}generals\n x y\nend\n"
found = {}
for name, cut in (("without", ""), ("with", "user cuts\n cut: x + y <= 4\n")):
    open(f"{name}.lp", "w").write(model.format(cut))
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.readProblem(f"{name}.lp")
    scip.optimize()
    found[name] = scip.getStatus(), scip.getObjVal()
    print(name, "the cut:", *found[name])
assert found["without"] == ("optimal", 4)
assert found["with"][0] == "unbounded" and found["with"][1] > 4.5
PYTHON
