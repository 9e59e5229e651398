"""The claim ``HUB.1``."""

import overlaybench as ob
from overlaybench.compare.claims.claim import Claim, Finding, verdict_of


def _judge(bench):
    """Compare the two methods on rings; `bench` gives algorithms by name, so that a test can replace one."""
    seeds = range(3 if bench.quick else 10)
    worse = []
    for seed in seeds:
        instance = ob.WORKLOADS["topic-ring"].generate(seed=seed, nodes=12 + seed, topics=4)
        hubs, rings = (bench.run(name, instance).value for name in ("hub-per-topic", "ring-per-topic"))
        if hubs > rings:
            worse.append(f"seed {seed}: {hubs:g} edges, {rings:g} with rings")
    evidence = worse[0] if worse else "fewer or as many edges on every topic ring"
    yield Finding("hub-per-topic", verdict_of(not worse), evidence, len(seeds))


HUBS_AND_RINGS = Claim("HUB.1", "a hub per topic needs no more edges than a ring per topic", "an example", _judge)
