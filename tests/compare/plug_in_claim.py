"""A claim that is in no folder of ours."""

from overlaybench.compare.claims.claim import Claim, Judgement, Verdict

CLAIM = Claim("TEST.1", lambda bench: Judgement(Verdict.CONFIRMED), said="nothing", place="tests")
