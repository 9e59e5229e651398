"""Compact models of the soft link problem: the demands of the traffic, an ILP, a CP-SAT model."""
