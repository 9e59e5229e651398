"""What every exact method stands on: LPs, cuts, the search tree, solvers, clocks."""
