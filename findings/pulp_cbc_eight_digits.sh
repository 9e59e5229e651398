#!/usr/bin/env bash
# PuLP==3.3.2 with the CBC that it carries (2.10.3).
# CBC writes the values of a solution with eight significant digits, and PuLP reads them from that text: an integer of
# nine digits comes back as another integer, with the status "Optimal". HiGHS through the same PuLP returns it exactly.
# Seen: the least integer x >= 123456789 is 123456790 by CBC and 123456789 by HiGHS.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pulp==3.3.2 highspy==1.13.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import pulp

found = {}
for name in ("PULP_CBC_CMD", "HiGHS"):
    problem = pulp.LpProblem("least", pulp.LpMinimize)
    x = pulp.LpVariable("x", 0, None, "Integer")
    problem += x
    problem += x >= 123456789
    status = pulp.LpStatus[problem.solve(pulp.getSolver(name, msg=False))]
    found[name] = x.value()
    print(name, status, "%d" % x.value())
    assert status == "Optimal"
assert found == {"PULP_CBC_CMD": 123456790, "HiGHS": 123456789}
PYTHON
