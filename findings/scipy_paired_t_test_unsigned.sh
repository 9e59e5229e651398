#!/usr/bin/env bash
# scipy==1.17.1 with numpy==2.4.6.
# `scipy.stats.ttest_rel` subtracts the two samples in their own type. Differences of counts in unsigned or small integers
# wrap around, without a word: the p-value and even the sign of the effect are wrong. `ttest_ind`, and `wilcoxon` for these
# samples, give what they give for floats.
# Guess before: the result is that of the same numbers as floats.
# Seen: [1, 2, 3] against [2, 3, 5] has t = -4 and p = 0.057 as floats, and t = 764 and p = 0.0000017 as uint8; larger values
# as int8 have t = -14.8 instead of 62.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install scipy==1.17.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import numpy
from scipy import stats


def paired(kind, first, second):
    result = stats.ttest_rel(numpy.array(first, kind), numpy.array(second, kind))
    print(kind, "t", result.statistic, "p", result.pvalue)
    return result.statistic, result.pvalue


counts = [1, 2, 3], [2, 3, 5]
statistic, chance = paired("float64", *counts)
assert abs(statistic + 4) < 1e-9 and abs(chance - 0.0572) < 1e-4
for kind in ("uint8", "uint16", "uint32"):
    statistic, chance = paired(kind, *counts)
    assert statistic > 700 and chance < 2e-6
assert stats.ttest_ind(*(numpy.array(sample, "uint8") for sample in counts)) == stats.ttest_ind(*counts)
large = [100, 120, 110], [-100, -90, -100]
assert paired("float64", *large)[0] > 0 > paired("int8", *large)[0]
PYTHON
