#!/usr/bin/env bash
# ortools==9.15.6755 with highspy==1.13.1 (HiGHS).
# OR-Tools writes numbers with six significant digits into LP and MPS files: costs and limits from a million on are
# rounded, without a warning, and so is 1/3. A fork knows this and has an option (rte-france/or-tools, pull request 56).
# Seen: one of two columns of costs 1234567 and 1234561 must be 1: OR-Tools 1234561, and HiGHS on both files 1234560.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install ortools==9.15.6755 highspy==1.13.1 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import highspy
from ortools.linear_solver.python import model_builder

model = model_builder.Model()
chosen = [model.new_bool_var(name) for name in "xy"]
model.add(chosen[0] + chosen[1] >= 1)
model.minimize(1234567 * chosen[0] + 1234561 * chosen[1])
solver = model_builder.Solver("sat")
solver.solve(model)
open("chosen.lp", "w").write(model.export_to_lp_string())
model.write_to_mps_file("chosen.mps")
print("OR-Tools:", solver.objective_value)
assert solver.objective_value == 1234561
for name in ("chosen.lp", "chosen.mps"):
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(name)
    highs.run()
    value = highs.getInfo().objective_function_value
    print(name, value)
    assert value == 1234560
PYTHON
