"""The claim ``HUB.1``."""

from overlaybench.compare.claims.claim import CaseTally, claim

from .topic_ring import topic_ring

_HUB = "hub_overlays.hub_per_topic:hub_per_topic"  # or hub-per-topic, once the package is installed


@claim("HUB.1", said="a hub per topic needs no more edges than a ring per topic", place="an example")
def HUBS_AND_RINGS(bench):
    """Compare the two methods on rings; `bench` gives algorithms by name, so that a test can replace one."""
    tally = CaseTally()
    for seed in range(3 if bench.quick else 10):
        instance = topic_ring.generate(seed=seed, nodes=12 + seed, topics=4)
        hubs, rings = (bench.run(name, instance).value for name in (_HUB, "ring-per-topic"))
        tally.add(hubs <= rings, f"seed {seed}: {hubs:g} edges, {rings:g} with rings")
    return tally.judgement()
