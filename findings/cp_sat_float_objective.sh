#!/usr/bin/env bash
# ortools==9.15.6755 (CP-SAT).
# CP-SAT takes objectives with fractional coefficients, stops within an absolute gap of 0.0001, and calls the solution
# OPTIMAL. Where the whole objective is smaller than that, every solution is "optimal", with a bound below its value.
# The same costs as integers give the optimum.
# Seen: ten choices of one of three costs of 1 to 41 units: with a unit of 1e-7 OPTIMAL at 207 units, bound 0; with a unit
# of 1 OPTIMAL at 114 units.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install ortools==9.15.6755
"$folder/env/bin/python" - <<'PYTHON'
from ortools.sat.python import cp_model

costs = [(7 * k * k + 3 * k) % 41 + 1 for k in range(30)]
least = sum(min(costs[k : k + 3]) for k in range(0, 30, 3))
found = {}
for unit in (1e-7, 1):
    model = cp_model.CpModel()
    chosen = [model.new_bool_var("") for _ in costs]
    for k in range(0, 30, 3):
        model.add_bool_or(chosen[k : k + 3])
    model.minimize(sum(unit * cost * x for cost, x in zip(costs, chosen)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.status_name(solver.solve(model))
    found[unit] = sum(cost * solver.value(x) for cost, x in zip(costs, chosen))
    bound = solver.best_objective_bound / unit
    print(f"unit {unit:g}: {status}, {found[unit]} units, bound {bound:g}, the least is {least}")
    assert status == "OPTIMAL" and bound <= least
assert found[1] == least < found[1e-7]
PYTHON
