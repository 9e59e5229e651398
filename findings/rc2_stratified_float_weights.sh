#!/usr/bin/env bash
# python-sat==1.9.dev24 (PySAT).
# PySAT's documentation says that weights of soft clauses may be floating point numbers. `RC2Stratified` then returns
# None, which means that there is no solution, for satisfiable formulas: a difference of two weights is 1e-16, not 0.
# The same weights as decimals, or `RC2`, give the optimum.
# Seen: four soft clauses and one hard clause: None with floats, and cost 0.8 with decimals; None for 38 of 200 formulas
# whose weights are tenths.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install python-sat==1.9.dev24
"$folder/env/bin/python" - <<'PYTHON'
from decimal import Decimal
from random import Random
from pysat.examples.rc2 import RC2, RC2Stratified
from pysat.formula import WCNF


def cost(method, hard, soft):
    formula = WCNF()
    formula.extend(hard)
    for clause, weight in soft:
        formula.append(clause, weight=weight)
    with method(formula) as solver:
        return None if solver.compute() is None else solver.cost


hard, soft = [[4, 2]], [([-2], "0.1"), ([-3], "1.1"), ([3], "0.7"), ([-4], "1.1")]
as_float = [(clause, float(weight)) for clause, weight in soft]
as_decimal = [(clause, Decimal(weight)) for clause, weight in soft]
found = cost(RC2Stratified, hard, as_float), cost(RC2, hard, as_float), cost(RC2Stratified, hard, as_decimal)
print("floats:", found[0], "floats, RC2:", found[1], "decimals:", found[2])
assert found[0] is None and abs(found[1] - 0.8) < 1e-9 and found[2] == Decimal("0.8")
lost = 0
for seed in range(200):
    random = Random(seed)
    hard = [[1, 2]]
    soft = [([random.choice([-1, 1]) * random.randint(1, 4)], random.randint(1, 12) / 10) for _ in range(9)]
    lost += cost(RC2Stratified, hard, soft) is None
print("of 200 formulas without a solution:", lost)
assert lost > 0
PYTHON
