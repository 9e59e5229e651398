#!/usr/bin/env bash
# uhashring==2.5 and hashring==1.5.1.
# Consistent hashing moves keys to a new node only, never between nodes that stay. With unequal weights, uhashring's
# "ketama" rings and hashring take a node's number of points as its share of the total weight, rounded down, so a node
# more changes the number of points of the others, and keys move between them. uhashring's own rings of the same weights and
# rings of equal weights do not.
# Seen: 20,000 keys on nodes of weights 1, 1, 4, 2, and a fifth of weight 3: between the four old nodes move 508 keys by
# uhashring's ketama, 345 by hashring, 0 by uhashring's own ring; with equal weights none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install uhashring==2.5 hashring==1.5.1
"$folder/env/bin/python" - <<'PYTHON'
import hashring
import uhashring

WEIGHTS = {"a": 1, "b": 1, "c": 4, "d": 2, "e": 3}
KEYS = [f"key{number}" for number in range(20_000)]


def moved_between_old_nodes(ring, weights):
    old = ring({name: weights[name] for name in "abcd"})
    new = ring(weights)
    return sum(new.get_node(key) not in (old.get_node(key), "e") for key in KEYS)


rings = {
    "uhashring ketama": lambda weights: uhashring.HashRing(weights, hash_fn="ketama"),
    "hashring": lambda weights: hashring.HashRing(list(weights), weights),
    "uhashring": uhashring.HashRing,
}
weighted = {name: moved_between_old_nodes(ring, WEIGHTS) for name, ring in rings.items()}
equal = {name: moved_between_old_nodes(ring, dict.fromkeys(WEIGHTS, 1)) for name, ring in rings.items()}
print("moved between old nodes: with weights", weighted, "with equal weights", equal)
assert weighted == {"uhashring ketama": 508, "hashring": 345, "uhashring": 0}
assert not any(equal.values())
PYTHON
