"""A method, a problem, a workload and a claim for Overlaybench, one file each."""
