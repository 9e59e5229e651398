"""The problem ``least-relays``."""

import overlaybench as ob


class LeastRelays(ob.Problem):
    """Every topic connected, as in ``min-tco``, with as few nodes as possible that have two links or more."""

    name, kind = "least-relays", "topics"
    summary, source = "fewest nodes with two links or more, every topic connected", "an example"

    def value(self, instance, answer):
        """The number of relays."""
        return float((answer.degrees >= 2).sum())

    def violations(self, instance, answer):
        """Those of ``min-tco``."""
        return ob.PROBLEMS["min-tco"].violations(instance, answer)

    def measures(self, instance, answer):
        """Those of ``min-tco``."""
        return ob.PROBLEMS["min-tco"].measures(instance, answer)


LEAST_RELAYS = LeastRelays()
