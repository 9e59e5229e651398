#!/usr/bin/env bash
# CBC 2.10.3 (in the wheel pulp==3.3.2) and highspy==1.13.1 (HiGHS).
# CBC keeps the constant of an LP file's objective where it is maximised, and loses it where the objective is minimised.
# Where a column follows the constant, CBC calls a bounded problem unbounded.
# Seen: for x between 2 and 4 "min x + 5" is 2, "max x + 5" is 9, "max 5 + x" is "Unbounded"; HiGHS has 7, 9 and 9.
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

expected = {"min obj: x + 5": ("Optimal", 2, 7), "max obj: x + 5": ("Optimal", 9, 9), "max obj: 5 + x": ("Unbounded", 4, 9)}
for objective, found in expected.items():
    open("constant.lp", "w").write(f"{objective.replace(' ', chr(10), 1)}\nst\n low: x >= 2\n high: x + y <= 4\nend\n")
    subprocess.run([pulp_cbc_path, "constant.lp", "-solve", "-solution", "solution"], stdout=subprocess.DEVNULL)
    status = open("solution").readline().split()
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel("constant.lp")
    highs.run()
    print(objective, "CBC:", *status, "HiGHS:", highs.getInfo().objective_function_value)
    assert (status[0], float(status[-1]), highs.getInfo().objective_function_value) == found
PYTHON
