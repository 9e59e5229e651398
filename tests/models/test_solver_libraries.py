"""OR-Tools and highspy each bring a HiGHS, and PuLP imports highspy: they must share a process, whichever comes first.

OR-Tools' own HiGHS (pywraplp) is not tried: after `import pulp` it solves nothing, and nothing here uses it.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations

import pytest

IMPORTS = {
    "ortools": "from ortools.sat.python import cp_model\nfrom ortools.linear_solver import pywraplp",
    "highspy": "import highspy",
    "pulp": "import pulp\npulp.listSolvers()",
}
# Each finds that the smallest even number of at least 3 is 4.
SOLVE = """
model = cp_model.CpModel()
half = model.new_int_var(0, 9, "half")
model.add(2 * half >= 3)
model.minimize(2 * half)
solver = cp_model.CpSolver()
assert solver.solve(model) == cp_model.OPTIMAL
assert solver.objective_value == 4

for name in ("SCIP", "GLOP"):
    linear = pywraplp.Solver.CreateSolver(name)
    half = linear.NumVar(0, 9, "half") if name == "GLOP" else linear.IntVar(0, 9, "half")
    linear.Add(2 * half >= (4 if name == "GLOP" else 3))
    linear.Minimize(2 * half)
    assert linear.Solve() == pywraplp.Solver.OPTIMAL
    assert abs(linear.Objective().Value() - 4) < 1e-6

highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
half = highs.addIntegral(0, 9)
highs.addConstr(2 * half >= 3)
highs.minimize(2 * half)
assert abs(highs.getObjectiveValue() - 4) < 1e-6

for backend in (pulp.HiGHS(msg=False), pulp.PULP_CBC_CMD(msg=False)):
    program = pulp.LpProblem("even")
    half = program.add_variable("half", 0, 9, pulp.LpInteger)
    program += 2 * half
    program += 2 * half >= 3
    assert pulp.LpStatus[program.solve(backend)] == "Optimal"
    assert pulp.value(program.objective) == 4
"""


QUICK = (("ortools", "highspy", "pulp"), ("pulp", "highspy", "ortools"))
ORDERS = [
    pytest.param(order, id="-".join(order), marks=() if order in QUICK else pytest.mark.slow)
    for order in permutations(IMPORTS)
]


@pytest.mark.parametrize("order", ORDERS)
def test_the_solver_libraries_share_a_process(order: tuple[str, ...]) -> None:
    script = "\n".join([*(IMPORTS[name] for name in order), SOLVE])
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]


def test_listing_the_models_loads_no_solver_and_no_compiler() -> None:
    script = (
        "import sys; from overlaybench.instances.contract.catalogue import DOMAINS, methods_of;"
        "[methods_of(f'overlaybench.models.{domain}') for domain in DOMAINS];"
        "print([name for name in ('pulp', 'ortools', 'highspy', 'scipy', 'networkx', 'numba') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
