#!/usr/bin/env bash
# scipy==1.17.1 with numpy==2.4.6.
# scipy's `mmwrite` finds out whether a matrix is skew-symmetric in the matrix' own type, where 0 - 56 is 200 for
# uint8. A matrix of counts whose entries across the diagonal sum to 256 (65,536 for uint16) and whose diagonal is 0
# is then written as skew-symmetric, that is, without its upper half, and read back with negative numbers. Of uint32
# and uint64 (sums of 2**32, 2**64) `mmread` refuses the file. With symmetry="general" all is well.
# Seen: [[0, 200], [56, 0]] of uint8 comes back as [[0, -56], [56, 0]], sparse and dense.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install scipy==1.17.1 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import numpy
import scipy.io
import scipy.sparse


def again(matrix, symmetry=None):
    scipy.io.mmwrite("counts.mtx", matrix, symmetry=symmetry)
    result = scipy.io.mmread("counts.mtx")
    return (result.toarray() if scipy.sparse.issparse(result) else result).tolist()


counts = numpy.array([[0, 200], [56, 0]], dtype=numpy.uint8)
sparse, dense = again(scipy.sparse.coo_array(counts)), again(counts)
print(counts.tolist(), "is read back as", sparse, dense)
assert sparse == dense == [[0, -56], [56, 0]]
assert again(counts, "general") == again(counts.astype(int)) == counts.tolist()
wide = numpy.array([[0, 2**32 - 3], [3, 0]], dtype=numpy.uint32)
try:
    again(wide)
except ValueError as error:
    print("uint32:", error)
else:
    raise SystemExit("uint32 is read")
PYTHON
