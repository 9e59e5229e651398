#!/usr/bin/env bash
# autorank==1.3.0 with numpy==2.4.6 and pandas==3.1.1.
# autorank, which compares methods on benchmarks, names the magnitude of an effect whose size is NaN "large". Two methods
# with one value on every instance, as when both are optimal, have such an effect: 0 divided by the deviation 0.
# Guess before: no difference is "negligible", or has no magnitude.
# Seen: of two methods that are 1.0 on ten instances, the second has the effect NaN on the first, of magnitude "large"; so
# has the best method on itself. Where values vary and are equal, the effect is 0.0 and "negligible".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install autorank==1.3.0 numpy==2.4.6 pandas==3.1.1
"$folder/env/bin/python" -W ignore - <<'PYTHON'
from math import isnan

import autorank
import pandas

costs = [2.0, 3.0, 5.0, 8.0, 9.0, 11.0, 12.0, 15.0, 17.0, 18.0]
seen = {}
for name, first in (("constant", [1.0] * 10), ("varying", [cost / 10 for cost in costs])):
    table = pandas.DataFrame({"first": first, "second": first, "third": costs})
    ranks = autorank.autorank(table, order="ascending", verbose=False).rankdf
    seen[name] = ranks.loc["second", "effect_size_above"], ranks.loc["second", "magnitude_above"]
print(seen)
assert isnan(seen["constant"][0]) and seen["constant"][1] == "large"
assert seen["varying"] == (0.0, "negligible")
PYTHON
