#!/usr/bin/env bash
# altair==6.3.0 with vl-convert-python==1.9.0.post1 and pandas==2.3.3.
# Error bars of extent "ci" are drawn from a bootstrap whose random numbers have no seed: the same chart of the same data
# has other bars each time. Extents "stderr" and "stdev" are computed and stay.
# Seen: four conversions to SVG of one chart are four pictures with "ci", and one with "stderr".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install altair==6.3.0 vl-convert-python==1.9.0.post1 pandas==2.3.3
"$folder/env/bin/python" - <<'PYTHON'
import altair
import pandas
import vl_convert

rows = pandas.DataFrame({"method": ["a", "b"] * 20, "value": [(7 * k * k) % 41 for k in range(40)]})
pictures = {}
for extent in ("ci", "stderr"):
    chart = altair.Chart(rows).mark_errorbar(extent=extent).encode(x="method:N", y="value:Q").to_json()
    pictures[extent] = len({vl_convert.vegalite_to_svg(chart) for _ in range(4)})
print("vl-convert", vl_convert.__version__, "different pictures of four:", pictures)
assert pictures == {"ci": 4, "stderr": 1}
PYTHON
