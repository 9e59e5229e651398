#!/usr/bin/env bash
# pybloom_live==4.0.0.
# A scalable Bloom filter adds filters of smaller and smaller error rates, so that all together keep the rate asked for. In
# pybloom_live's `ScalableBloomFilter` the first takes nine tenths of it and each further one nine tenths of the one before:
# their sum is up to nine times the rate. The module promises to grow "without increasing the false positive error_rate".
# Guess before: at most about one false positive in a hundred at the rate 0.01, however many keys there are.
# Seen: 1.0 of a hundred after 1,000 keys, 1.8 after 10,000 and 3.2 after 100,000.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pybloom_live==4.0.0
"$folder/env/bin/python" - <<'PYTHON'
from pybloom_live import ScalableBloomFilter

known = ScalableBloomFilter(initial_capacity=1000, error_rate=0.01)
keys = 0
share = {}
for total in (1000, 10000, 100000):
    while keys < total:
        known.add(("key", keys))
        keys += 1
    share[total] = sum(("other", index) in known for index in range(20000)) / 20000
print("false positives by number of keys:", share)
assert share[1000] < 0.012
assert share[10000] > 0.013 and share[100000] > 0.025
PYTHON
