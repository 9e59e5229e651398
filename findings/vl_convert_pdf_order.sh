#!/usr/bin/env bash
# vl-convert-python==1.9.0: svg_to_pdf gives other bytes for the same SVG each time.
# The entries of a page's /XObject dictionary (a group with an opacity each) are in a random order, in one process too;
# charts cannot be compared or kept in version control by their bytes. svg_to_png gives equal bytes.
# Output seen: "20 calls, 20 different files".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check vl-convert-python==1.9.0
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import vl_convert

group = '<g opacity="0.5"><circle cx="9" cy="9" r="9"/><circle cx="14" cy="9" r="9"/></g>'
svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{group * 12}</svg>'
files = {vl_convert.svg_to_pdf(svg) for _ in range(20)}
print(f"20 calls, {len(files)} different files")
sys.exit(len(files) == 1)
PYTHON
