#!/usr/bin/env bash
# CBC 2.10.3 (in the wheel pulp==3.3.2) and HiGHS (highspy==1.13.1).
# HiGHS writes LP files with the sections `bin` and `gen`, abbreviations that CPLEX' format allows. CBC takes these words
# and the names after them for further columns of the last section: all columns are continuous, and CBC says "Optimal"
# for the relaxation.
# Seen: for the vertex cover of a triangle, HiGHS 2, and CBC on HiGHS' file "Optimal - objective value 1.50000000".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pulp==3.3.2 highspy==1.13.1 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import subprocess
import highspy
from pulp.apis.coin_api import pulp_cbc_path

program = highspy.Highs()
program.setOptionValue("output_flag", False)
x = [program.addBinary(obj=1) for _ in range(3)]
for one, other in ((0, 1), (0, 2), (1, 2)):
    program.addConstr(x[one] + x[other] >= 1)
program.run()
program.writeModel("cover.lp")
subprocess.run([pulp_cbc_path, "cover.lp", "-solve", "-solution", "solution"], stdout=subprocess.DEVNULL)
status = open("solution").readline().strip()
print("HiGHS:", program.getInfo().objective_function_value, "CBC:", status)
assert program.getInfo().objective_function_value == 2
assert status.startswith("Optimal") and float(status.split()[-1]) == 1.5
PYTHON
