"""The claim ``HUB.1``."""

from overlaybench.compare.claims.claim import Claim, Finding, verdict_of

from .topic_ring import topic_ring

_HUB = "hub_overlays.hub_per_topic:hub_per_topic"  # or hub-per-topic, once the package is installed


def _judge(bench):
    """Compare the two methods on rings; `bench` gives algorithms by name, so that a test can replace one."""
    seeds = range(3 if bench.quick else 10)
    worse = []
    for seed in seeds:
        instance = topic_ring.generate(seed=seed, nodes=12 + seed, topics=4)
        hubs, rings = (bench.run(name, instance).value for name in (_HUB, "ring-per-topic"))
        if hubs > rings:
            worse.append(f"seed {seed}: {hubs:g} edges, {rings:g} with rings")
    evidence = worse[0] if worse else "fewer or as many edges on every topic ring"
    yield Finding("hub-per-topic", verdict_of(not worse), evidence, len(seeds))


HUBS_AND_RINGS = Claim("HUB.1", "a hub per topic needs no more edges than a ring per topic", "an example", _judge)
