"""The parts that all exact methods share: LPs, cuts, the search tree and ILP solvers."""
