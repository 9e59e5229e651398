#!/usr/bin/env bash
# numba==0.68.1 with numpy==2.4.6.
# `numpy.sign` in a compiled function reads unsigned integers as signed ones: the sign of a number from the middle of the
# type's range on is -1, which is the largest number of the type.
# Seen: the signs of 0, 1, 127, 128 and 255 as uint8 are 0, 1, 1, 255 and 255, and 0 1 1 1 1 in numpy.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install numba==0.68.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import numba
import numpy


@numba.njit
def compiled(values):
    return numpy.sign(values)


for kind in (numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64):
    top = numpy.iinfo(kind).max
    values = numpy.array([0, 1, top // 2, top // 2 + 1, top], kind)
    print(kind.__name__, compiled(values), numpy.sign(values))
    assert numpy.sign(values).tolist() == [0, 1, 1, 1, 1]
    assert compiled(values).tolist() == [0, 1, 1, top, top]
PYTHON
