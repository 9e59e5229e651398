#!/usr/bin/env bash
# scipy==1.17.1 with numpy==2.4.6.
# Functions of `scipy.spatial.distance` differ in what they do with unsigned vectors: `euclidean`, `minkowski`, `cityblock`
# and `chebyshev` wrap around where the first vector has the smaller number, and the order of the two vectors changes the
# distance; `sqeuclidean`, `canberra` and `cdist` do not. scipy's issue 9961 (open since 2019) has two of them.
# Guess before: a distance is symmetric, and `euclidean` squared is `sqeuclidean`.
# Seen: from 1 to 3 as uint8 the Euclidean distance is 254 and its square 4; from 3 to 1 it is 2. `cityblock` as uint64 is
# 18446744073709551614.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install scipy==1.17.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import numpy
from scipy.spatial import distance

small, large = numpy.array([1], numpy.uint8), numpy.array([3], numpy.uint8)
for measure in (distance.euclidean, distance.minkowski, distance.cityblock, distance.chebyshev):
    there, back = measure(small, large), measure(large, small)
    print(measure.__name__, "from 1 to 3:", there, "from 3 to 1:", back)
    assert (round(there), round(back)) == (254, 2)
assert distance.sqeuclidean(small, large) == distance.sqeuclidean(large, small) == 4
assert distance.cdist([small], [large])[0, 0] == 2
assert distance.cityblock(small.astype(numpy.uint64), large.astype(numpy.uint64)) == 2**64 - 2
PYTHON
