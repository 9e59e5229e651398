#!/usr/bin/env bash
# cpmpy==1.1.1 with ortools==9.15.6755 and pindakaas==0.6.1.
# In a WCNF file with the line `p wcnf` a clause is hard if its weight is the "top" of that line. CPMpy writes this form
# (`p_header=True`) and reads its hard clauses as soft ones of a large weight: a model without solutions is "OPTIMAL". An
# empty soft clause, whose weight is always paid, lowers the cost by its weight.
# Guess before: hard clauses are hard in both forms; the cost is a sum of weights, never negative.
# Seen: b and not b, minimise b: UNSATISFIABLE from the newer form, OPTIMAL with cost 2 from the form with `p wcnf`; the hard
# clause 1 and the soft ones "5 0" and "2 -1 0": cost -3 for 7.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install cpmpy==1.1.1 ortools==9.15.6755 pindakaas==0.6.1
"$folder/env/bin/python" - <<'PYTHON'
import cpmpy
from cpmpy.solvers.solver_interface import ExitStatus
from cpmpy.tools.io.dimacs import write_dimacs
from cpmpy.tools.io.wcnf import load_wcnf

b = cpmpy.boolvar(name="b")
model = cpmpy.Model(b, ~b)
model.minimize(b)
for header, status, cost in ((False, ExitStatus.UNSATISFIABLE, None), (True, ExitStatus.OPTIMAL, 2)):
    text = write_dimacs(model, p_header=header)
    read = load_wcnf(text)
    read.solve(solver="ortools")
    print(repr(text), read.status().exitstatus, read.objective_value())
    assert (read.status().exitstatus, read.objective_value()) == (status, cost)
read = load_wcnf("h 1 0\n5 0\n2 -1 0\n")
read.solve(solver="ortools")
print("with an empty soft clause", read.objective_value())
assert read.objective_value() == -3
PYTHON
