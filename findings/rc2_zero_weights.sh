#!/usr/bin/env bash
# python-sat==1.9.dev24 (PySAT).
# The MaxSAT solver `RC2` returns solutions that are not optimal where a soft clause has weight 0, as a cost of 0 or a
# multiplier does. Without that clause, which changes no cost, the answer is optimal.
# Seen: soft clauses "not 1" of weight 1 and "1" of weight 0: cost 1, and 0 without the second.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install python-sat==1.9.dev24
"$folder/env/bin/python" - <<'PYTHON'
from pysat.examples.rc2 import RC2, RC2Stratified
from pysat.formula import WCNF

for method in (RC2, RC2Stratified):
    costs = {}
    for soft in ([(-1, 1), (1, 0)], [(-1, 1)]):
        formula = WCNF()
        formula.append([1, 2])
        for literal, weight in soft:
            formula.append([literal], weight=weight)
        with method(formula) as solver:
            model = solver.compute()
            costs[len(soft)] = solver.cost
            print(method.__name__, soft, "model", model, "cost", solver.cost)
            assert solver.cost == (1 in model)
    assert costs == {2: 1, 1: 0}
PYTHON
