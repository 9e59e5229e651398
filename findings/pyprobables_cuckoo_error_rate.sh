#!/usr/bin/env bash
# pyprobables==0.7.0.
# pyprobables' `CuckooFilter` derives both buckets of a key from its fingerprint alone. A filter made for an error rate
# therefore has as many false positives as two keys in the whole filter have equal fingerprints, not two in a bucket, and
# keys with equal fingerprints are stored once: removing one key removes others, which are then reported absent.
# Guess before: about one false positive in a hundred at the rate 0.01, and no key that was added and not removed is absent.
# Seen: with 1000 keys of a capacity of 1000, at the rate 0.01, 69 of 100 unknown keys are "in" the filter, and all at 0.05;
# after the removal of 500 keys, 182 of the other 500 are absent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyprobables==0.7.0
"$folder/env/bin/python" - <<'PYTHON'
from probables import CuckooFilter

keys = [f"k{index}" for index in range(1000)]
share = {}
for rate in (0.05, 0.01, 0.000001):
    known = CuckooFilter.init_error_rate(rate, capacity=1000)
    for key in keys:
        known.add(key)
    assert all(known.check(key) for key in keys)
    share[rate] = sum(known.check(f"q{index}") for index in range(10000)) / 10000
    if rate == 0.01:
        for key in keys[:500]:
            known.remove(key)
        absent = sum(not known.check(key) for key in keys[500:])
print("false positives by error rate:", share, "absent of 500 kept keys:", absent)
assert share[0.05] > 0.9 and share[0.01] > 0.5 and share[0.000001] < 0.01
assert absent > 100
PYTHON
