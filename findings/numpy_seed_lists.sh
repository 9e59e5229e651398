#!/usr/bin/env bash
# numpy==2.4.6.
# `default_rng` of a list of numbers reads them as one sequence of 32-bit words without the zeros at its end. So the
# stream of [seed, 0] is the stream of the seed itself, and two different pairs may be one: streams of runs numbered
# from 0 repeat the numbers that were drawn before the runs. `SeedSequence(seed).spawn` keeps them apart.
# Seen: 5 and [5, 0] give the same numbers, [5, 2**32] and [5, 0, 1] too; the first spawned stream differs from both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import numpy


def drawn(seed):
    return numpy.random.default_rng(seed).integers(1 << 60, size=8).tolist()


same = {repr(pair): drawn(pair[0]) == drawn(pair[1]) for pair in ((5, [5, 0]), ([5, 2**32], [5, 0, 1]), (5, [0, 5]))}
apart = drawn(numpy.random.SeedSequence(5).spawn(1)[0]) != drawn(5)
print(same, "spawned apart:", apart)
assert list(same.values()) == [True, True, False] and apart
PYTHON
