"""A claim that is in no folder of ours."""

from overlaybench.compare.claims.claim import Claim

CLAIM = Claim("TEST.1", "nothing", "tests", lambda bench: ())
